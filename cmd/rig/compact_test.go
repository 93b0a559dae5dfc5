package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// guided writes a rig whose policy texts make the stand-in do what a model would:
// write the restore map, acknowledge the restore, and pass or fail the audit.
func (w *world) guided(name, extra, audit string, members ...string) string {
	w.t.Helper()
	script := w.write("map.sh", `d=$(ls -td `+w.project+`/.rig/compaction/*/ | head -n 1)
a=$(basename "$d")
printf '# Restore map\n1. notes.md\n<!-- rig-compaction-complete {"attempt":"%s","seat":"%s","generation":"1"} -->\n' "$a" "$1" > "$d/RESTORE-MAP.md.tmp"
`)
	path := w.spec(name, members...)
	b, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	policy := fmt.Sprintf("policies:\n  claude_compaction:\n    enabled: false\n%s    pre_compact_instruction: %q\n    message_inline: %q\n    post_restore_audit_instruction: %q\n",
		extra, "[[child:sh "+script+" dev-impl@"+name+"]] Prepare.", "[[say:restored from packet at .rig; resumed at step 2]]", "[[say:"+audit+"]]")
	return w.write(name+".yaml", string(b)+policy)
}

type compactStateDoc struct {
	Stage     string `json:"stage"`
	State     string `json:"state"`
	Verdict   string `json:"verdict"`
	Operation string `json:"operation"`
	Map       string `json:"map"`
	Packet    string `json:"packet"`
	Directive string `json:"directive"`
	Code      string `json:"code"`
}

// providers reads every file of the client's home that holds a conversation, a
// login or settings.
func (w *world) providers() map[string][]byte {
	w.t.Helper()
	out := map[string][]byte{}
	for _, root := range []string{filepath.Join(w.home, ".claude.json"), filepath.Join(w.home, ".claude", "projects"), filepath.Join(w.home, ".claude", "settings.json")} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil //nolint:nilerr // what is not there cannot be changed
			}
			out[path], err = os.ReadFile(path)
			return err
		})
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return out
}

// transcript gives the only conversation of the world's Claude home.
func (w *world) transcript() string {
	w.t.Helper()
	list, err := filepath.Glob(filepath.Join(w.home, ".claude", "projects", "*", "*.jsonl"))
	if err != nil || len(list) != 1 {
		w.t.Fatalf("%d transcripts: %v", len(list), err)
	}
	b, err := os.ReadFile(list[0])
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

// TestGuidedCompaction takes a full seat through prep, /compact, restore and
// audit, and finds them in the seat's own transcript in that order, once each. The
// client's own files only ever grow.
func TestGuidedCompaction(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.guided("gc", "", "Current work: the codeword HERON. Next owner: dev-qa@gc", "impl:claude-code"))
	w.fill("dev.impl", 900_000)
	before := w.providers()
	var rec receiptDoc
	if r := w.into(&rec, "compact", "dev.impl"); r.code != 0 || !rec.OK {
		t.Fatalf("exit %d: %s%s", r.code, r.out, r.err)
	}
	ev := rec.Seats[0].Evidence
	if ev["passed"] != true || ev["directive"] != "delivered" || ev["acknowledged"] != true || ev["next_owner"] != "dev-qa@gc" {
		t.Errorf("%+v", ev)
	}
	text := w.transcript()
	at := 0
	for _, want := range []string{"Write your restore map", "compact_boundary", "restore directive, given once", " restore: restore now", " audit: before any other work"} {
		i := strings.Index(text[at:], want)
		if i < 0 {
			t.Fatalf("%q is not in the transcript, or not in order", want)
		}
		at += i
	}
	if n := strings.Count(text, `"compact_boundary"`); n != 1 {
		t.Errorf("%d boundaries", n)
	}
	if n := strings.Count(text, `"type":"hook_additional_context"`); n != 1 {
		t.Errorf("the directive was given %d times", n)
	}
	for path, old := range before {
		now, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, ".jsonl") && !bytes.HasPrefix(now, old) || !strings.HasSuffix(path, ".jsonl") && !bytes.Equal(now, old) {
			t.Errorf("%s was changed", path)
		}
	}
	var st compactStateDoc
	w.into(&st, "compact", "dev.impl", "--state")
	if st.Stage != "audited" || st.Verdict != "" || st.Directive != "delivered" {
		t.Errorf("%+v", st)
	}
	for _, p := range []string{st.Map, filepath.Join(st.Packet, "restore-instructions.md")} {
		if _, err := os.Stat(p); err != nil {
			t.Error(err)
		}
	}
	for _, kind := range []string{"seat.compacted", "seat.compaction_audited"} {
		if got := w.must("events", "--type", kind, "--json"); strings.Count(got, `"type":"`+kind+`"`) != 1 {
			t.Errorf("%s: %s", kind, got)
		}
	}
	w.refuse("no_compaction", 1, "compact", "dev.impl", "--cancel")
}

// An audit that cannot name work and next owner leaves the seat as it is: compacted,
// not audited.
func TestCompactionNotAudited(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.guided("na", "", "I am here. Next owner: unknown", "impl:claude-code"))
	w.fill("dev.impl", 900_000)
	var rec receiptDoc
	if r := w.into(&rec, "compact", "dev.impl", "--skip-map"); r.code != 1 || rec.OK {
		t.Fatalf("exit %d: %s%s", r.code, r.out, r.err)
	}
	if rec.Seats[0].Outcome != "attention_required" || rec.Operation.State != "partial" {
		t.Errorf("%+v", rec)
	}
	var st compactStateDoc
	w.into(&st, "compact", "dev.impl", "--state")
	if st.Verdict != "compacted, not audited" || st.Map != "" {
		t.Errorf("%+v", st)
	}
}

// A compaction that fails for lack of room ends there: no restore, no audit, no
// other key, and the seat is not called compacted.
func TestCompactionFails(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.guided("cf", "", "x", "impl:claude-code"))
	w.fill("dev.impl", 900_000)
	w.must("send", "dev.impl", "[[compactfail:Conversation too long.]] go on", "--verify")
	w.must("wait", "dev.impl", "--until", "idle")
	var rec struct {
		receiptDoc
		Error struct {
			Code string         `json:"code"`
			More map[string]any `json:"details"`
		} `json:"error"`
	}
	r := w.into(&rec, "compact", "dev.impl", "--skip-map")
	if r.code != 1 || rec.Error.Code != "compaction_failed" || rec.Operation.State != "failed" || !strings.Contains(r.out, "Conversation too long") {
		t.Fatalf("exit %d: %s%s", r.code, r.out, r.err)
	}
	text := w.transcript()
	for _, never := range []string{"restore: restore now", "audit: before any other", "compact_boundary", "restore directive"} {
		if strings.Contains(text, never) {
			t.Errorf("%q is in the transcript", never)
		}
	}
	var st compactStateDoc
	w.into(&st, "compact", "dev.impl", "--state")
	if st.Verdict != "" || st.Stage != "skipped-or-failed" || st.Code != "compaction_failed" || st.Directive != "" {
		t.Errorf("%+v", st)
	}
}

func TestCompactRefusals(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("cr", "impl:claude-code", "qa:codex", "sh:terminal"))
	w.refuse("runtime_filter", 1, "compact", "dev.qa")
	w.refuse("runtime_filter", 1, "compact", "dev.sh")
	w.refuse("no_usage_data", 1, "compact", "dev.impl")
	w.fill("dev.impl", 900_000)
	before := w.transcript()
	w.must("send", "dev.impl", "[[ask]] which one", "--verify")
	w.must("wait", "dev.impl", "--until", "waiting")
	w.refuse("target_needs_input", 1, "compact", "dev.impl")
	if strings.Contains(strings.TrimPrefix(w.transcript(), before), "/compact") {
		t.Error("something was typed")
	}
	w.must("seat", "stop", "dev.impl", "--reason", "r")
	w.refuse("session_missing", 1, "compact", "dev.impl")
	w.refuse("no_compaction", 1, "compact", "dev.impl", "--cancel")
	w.refuse("invalid", 2, "compact", "dev.impl", "--cancel", "--state")
}

// A compaction that nobody guided, typed by a person in the pane, has its packet
// and its one directive too.
func TestCompactionByHand(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("ch", "impl:claude-code"))
	w.fill("dev.impl", 900_000)
	w.must("send", "dev.impl", "/compact keep the plan")
	w.eventually("a boundary", func() (bool, string) {
		text := w.transcript()
		return strings.Contains(text, "compact_boundary"), ""
	})
	w.eventually("the directive", func() (bool, string) {
		text := w.transcript()
		return strings.Count(text, "restore directive, given once") > 0, ""
	})
	list, err := filepath.Glob(filepath.Join(w.project, ".rig", "packets", "dev-impl-compaction-*", "restore-summary.json"))
	if err != nil || len(list) != 1 {
		t.Fatalf("%v %v", list, err)
	}
	b, err := os.ReadFile(list[0])
	if err != nil || !json.Valid(b) {
		t.Error(err)
	}
}

// client gives the pid of a seat's client.
func (w *world) client(ref string) int {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.dir, "rig", "run", "*.json"))
	if err != nil || len(files) != 1 {
		w.t.Fatalf("%v %v (%s)", files, err, ref)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		w.t.Fatal(err)
	}
	var st struct {
		PID int `json:"pid"`
	}
	if err := json.Unmarshal(b, &st); err != nil {
		w.t.Fatal(err)
	}
	return st.PID
}
