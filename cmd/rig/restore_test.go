package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rig/engine"
	"rig/engine/runtimes"
)

// restoreDoc is what the tests read of the receipt of a restore.
type restoreDoc struct {
	OK    bool `json:"ok"`
	Seats []struct {
		Seat     string         `json:"seat"`
		Outcome  string         `json:"outcome"`
		Action   string         `json:"action"`
		Evidence map[string]any `json:"evidence"`
		Error    *engine.Error  `json:"error"`
	} `json:"seats"`
	Operation struct {
		ID    string `json:"id"`
		State string `json:"state"`
	} `json:"operation"`
	Extra struct {
		Restore []engine.RestoreVerdict `json:"restore"`
	} `json:"extra"`
}

func (d restoreDoc) outcomes() map[string]string {
	out := map[string]string{}
	for _, s := range d.Seats {
		if out[s.Seat] = s.Outcome; s.Outcome == "" {
			out[s.Seat] = s.Action
		}
	}
	return out
}

// reboot ends the tmux server and every process in it without warning, as a
// machine does that loses power: registry and lock files stay behind.
func (w *world) reboot() {
	w.t.Helper()
	ps := runtimes.NewProcesses()
	procs := identify(ps, w.tmux("list-panes", "-a", "-F", livePIDs))
	lines, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		w.t.Fatal(err)
	}
	for _, path := range lines {
		b, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(b), "RIG_HOME="+filepath.Join(w.dir, "rig")+"\x00") {
			procs = append(procs, identify(ps, filepath.Base(filepath.Dir(path)))...)
		}
	}
	for _, p := range procs {
		if alive, err := ps.Alive(p.PID, p.Start); err == nil && alive && p.PID != os.Getpid() {
			_ = syscall.Kill(p.PID, syscall.SIGKILL)
		}
	}
	w.eventually("the machine is down", func() (bool, string) {
		out, err := w.tryTmux("list-sessions")
		return err != nil, out
	})
}

// know tells a seat a fact and waits until it has it.
func (w *world) know(ref, word string) {
	w.t.Helper()
	w.must("send", ref, "remember the codeword is "+word, "--verify")
	w.screenHas(ref, "codeword is "+word)
	w.must("wait", ref, "--until", "idle")
}

// recalls asks a seat for its fact: it answers only from its own conversation.
func (w *world) recalls(ref, word string) {
	w.t.Helper()
	w.must("wait", ref, "--until", "idle")
	w.must("send", ref, "what do you remember about codeword", "--verify")
	w.eventually(ref+" recalls "+word, func() (bool, string) {
		r := w.run("capture", ref)
		_, after, found := strings.Cut(r.out, "what do you remember")
		return found && strings.Contains(after, word), r.out
	})
	w.must("wait", ref, "--until", "idle")
}

// conversationFile finds what a seat's conversation is stored in.
func (w *world) conversationFile(glob string) string {
	w.t.Helper()
	found, err := filepath.Glob(filepath.Join(w.home, glob))
	if err != nil || len(found) != 1 {
		w.t.Fatalf("%s: %v, %v", glob, found, err)
	}
	return found[0]
}

// TestReboot is the whole promise: a busy rig, a machine that dies, and every
// seat back with its own memory; then a second death with one transcript gone,
// and that seat says so and is not started anew.
func TestReboot(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("shop", "impl:claude-code", "qa:codex", "sh:terminal"))
	w.know("dev.impl", "HERON")
	w.know("dev.qa", "OTTER")
	w.must("send", "dev.impl", "[[slow:600]] work", "--verify")
	w.must("wait", "dev.impl", "--until", "busy", "--timeout", "20s")
	w.must("snapshot", "shop")
	var rep engine.RestoreCheckReport
	if r := w.into(&rep, "restore-check", "--rig", "shop"); r.code != 0 || rep.Seats.Restorable != 3 {
		t.Errorf("before the reboot: exit %d\n%s", r.code, r.out)
	}
	w.reboot()
	if r := w.into(&rep, "restore-check"); r.code != 0 || rep.Seats.Restorable != 3 {
		t.Errorf("after the reboot: exit %d\n%s", r.code, r.out)
	}
	var rec restoreDoc
	r := w.into(&rec, "up", "shop")
	want := map[string]string{"dev-impl@shop": "resumed", "dev-qa@shop": "resumed", "dev-sh@shop": "fresh-primed"}
	if got := rec.outcomes(); r.code != 0 || !rec.OK || !sameMap(got, want) {
		t.Fatalf("exit %d, %v\n%s%s", r.code, got, r.out, r.err)
	}
	v := rec.Extra.Restore[0]
	if v.Result != engine.RestoreFull || v.Selection.Kind != engine.SnapshotManual || v.Selection.ID == "" {
		t.Errorf("verdict: %+v", v)
	}
	w.recalls("dev.impl", "HERON")
	w.recalls("dev.qa", "OTTER")
	var st engine.RestoreStatus
	if r := w.into(&st, "restore", "status", rec.Operation.ID, "--rig", "shop"); r.code != 0 || st.Original != engine.RestoreFull || st.Current != st.Original {
		t.Errorf("status: %s%s", r.out, r.err)
	}
	w.refuse("attempt_not_found", 1, "restore", "status", "nothing", "--rig", "shop")
	w.refuse("attempt_wrong_rig", 1, "restore", "status", rec.Operation.ID, "--rig", "other")

	w.reboot()
	if err := os.Remove(w.conversationFile(".claude/projects/*/*.jsonl")); err != nil {
		t.Fatal(err)
	}
	w.lostSeat(t)
}

// lostSeat looks at a rig whose Claude seat has lost its transcript.
func (w *world) lostSeat(t *testing.T) {
	t.Helper()
	var rep engine.RestoreCheckReport
	if r := w.into(&rep, "restore-check", "--rig", "shop"); r.code != 1 || rep.Seats.Not != 1 || len(rep.Repairs) == 0 {
		t.Errorf("with a lost transcript: exit %d\n%s", r.code, r.out)
	}
	before := w.seat("dev.impl")
	var rec restoreDoc
	r := w.into(&rec, "up", "shop", "--fresh-unprompted")
	want := map[string]string{"dev-impl@shop": "awaiting-decision", "dev-qa@shop": "resumed", "dev-sh@shop": "fresh-primed"}
	if got := rec.outcomes(); r.code != 1 || rec.OK || !sameMap(got, want) || rec.Extra.Restore[0].Result != engine.RestorePartial {
		t.Fatalf("exit %d, %v\n%s%s", r.code, got, r.out, r.err)
	}
	after := w.seat("dev.impl")
	if !after.Token || after.Generation != before.Generation || len(after.Attention) != 1 || after.Continuity != "awaiting-decision" {
		t.Errorf("the seat that was left: %+v", after)
	}
	if out, _ := w.tryTmux("list-sessions", "-F", "#{session_name}"); strings.Contains(out, "dev-impl") {
		t.Errorf("a session was started: %s", out)
	}
	if r := w.run("ps", "--attention"); !strings.Contains(r.out, "awaits a decision") {
		t.Errorf("attention: %s", r.out)
	}
	w.recalls("dev.qa", "OTTER")
	rec = restoreDoc{}
	r = w.into(&rec, "up", "shop", "--fresh", "dev.impl")
	want = map[string]string{"dev-impl@shop": "fresh-primed", "dev-qa@shop": "already_running", "dev-sh@shop": "already_running"}
	if got := rec.outcomes(); r.code != 1 || !sameMap(got, want) {
		t.Fatalf("a fresh start is no recovery: exit %d, %v\n%s%s", r.code, got, r.out, r.err)
	}
	if s := w.seat("dev.impl"); s.Life != "running" || len(s.Attention) != 0 || s.Continuity != "fresh-primed" {
		t.Errorf("after the decision: %+v", s)
	}
}

func sameMap(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return true
}

// TestRestoreOutcomesComeFromTheClient restores seats whose clients stop at a
// menu, do not find the conversation, show another one, or end at once. Nothing is
// typed, no token is lost, and the other seat has its own outcome.
func TestRestoreOutcomesComeFromTheClient(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("out", "impl:claude-code", "qa:codex"))
	w.know("dev.impl", "HERON")
	w.know("dev.qa", "OTTER")
	for _, c := range []struct{ fail, impl, qa, words string }{
		{"resume-menu", "attention_required", "resumed", "Resume"},
		{"no-rollout", "resumed", "failed", "rollout"},
		{"other-id", "attention_required", "resumed", ""},
		{"exit:7:out of luck", "failed", "failed", "out of luck"},
		{"", "resumed", "resumed", ""},
	} {
		w.setenv("AGENTSIM_FAIL", c.fail)
		w.reboot()
		var rec restoreDoc
		r := w.into(&rec, "up", "out")
		want := map[string]string{"dev-impl@out": c.impl, "dev-qa@out": c.qa}
		if got := rec.outcomes(); !sameMap(got, want) || (r.code == 0) != (c.fail == "") || !strings.Contains(r.out, c.words) {
			t.Errorf("%s: exit %d, %v\n%s%s", c.fail, r.code, got, r.out, r.err)
		}
		w.agree(t, c.fail, rec)
		w.setenv("AGENTSIM_FAIL", "")
		if len(w.livePanes()) == 0 { // nothing came back: there is no server to end
			w.must("up", w.spec("spare", "x:terminal"))
		}
	}
	w.recalls("dev.impl", "HERON")
	w.recalls("dev.qa", "OTTER")
}

func (w *world) livePanes() []string {
	out, err := w.tryTmux("list-panes", "-a", "-F", "#{session_name}")
	if err != nil {
		return nil
	}
	return strings.Fields(out)
}

// agree checks that the seat row, tmux and the receipt say the same.
func (w *world) agree(t *testing.T, name string, rec restoreDoc) {
	t.Helper()
	panes := map[string]bool{}
	for _, s := range w.livePanes() {
		panes[s] = true
	}
	for _, s := range rec.Seats {
		row := w.seat(s.Seat)
		running := s.Outcome == "resumed" || s.Outcome == "attention_required"
		if panes[s.Seat] != running || !row.Token {
			t.Errorf("%s: %s is %s, its session is there: %v, token kept: %v", name, s.Seat, s.Outcome, panes[s.Seat], row.Token)
		}
		if !running && (row.Continuity != s.Outcome || len(row.Attention) == 0 || s.Error == nil || s.Error.Hint == "") {
			t.Errorf("%s: %s: %+v, %+v", name, s.Seat, row, s.Error)
		}
	}
}

// TestRestoreTwice starts two restores at once, then one more: one agent a seat.
func TestRestoreTwice(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("twice", "a:claude-code", "b:claude-code"))
	w.know("dev.a", "HERON")
	w.know("dev.b", "OTTER")
	w.reboot()
	results := make(chan result, 2)
	for range 2 {
		go func() { results <- w.run("up", "twice", "--json") }()
	}
	won := 0
	for range 2 {
		r := <-results
		var doc map[string]any
		if err := json.Unmarshal([]byte(r.out), &doc); err != nil {
			t.Fatalf("%v\n%s%s", err, r.out, r.err)
		}
		code, _ := doc["code"].(string)
		switch {
		case code == "operation_in_progress" || code == "plan_stale":
		case r.code == 0:
			won++
		default:
			t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
		}
	}
	if panes := w.livePanes(); won == 0 || len(panes) != 2 {
		t.Errorf("%d won, panes: %v", won, panes)
	}
	var rec restoreDoc
	if r := w.into(&rec, "up", "twice"); r.code != 0 || rec.Extra.Restore[0].Result != engine.RestoreNothingDown || len(w.livePanes()) != 2 {
		t.Errorf("once more: %s", r.out)
	}
}

// TestHalfTheSeatsAreAlive ends one of two seats behind our back, and keeps a
// third dead in its pane: what lives is left alone.
func TestHalfTheSeatsAreAlive(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("half", "a:claude-code", "b:codex"))
	w.know("dev.a", "HERON")
	w.know("dev.b", "OTTER")
	keep := w.seat("dev.b")
	w.tmux("set-option", "-g", "remain-on-exit", "on")
	if err := syscall.Kill(w.seat("dev.a").PanePID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.eventually("dev.a is dead", func() (bool, string) { s := w.seat("dev.a"); return s.Life == "dead", s.Life })
	var rec restoreDoc
	r := w.into(&rec, "up", "half")
	if got := rec.outcomes(); r.code != 0 || !sameMap(got, map[string]string{"dev-a@half": "resumed", "dev-b@half": "already_running"}) {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	if now := w.seat("dev.b"); now.PanePID != keep.PanePID || now.Generation != keep.Generation {
		t.Errorf("the living seat was touched: %+v → %+v", keep, now)
	}
	w.recalls("dev.a", "HERON")
}

// TestRestoreIsCutOff kills the process of a restore in the middle: rolled back
// or finished, a second attempt brings everything back.
func TestRestoreIsCutOff(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("cut", "a:claude-code", "sh:terminal"))
	w.know("dev.a", "HERON")
	for _, end := range []string{"rollback", "finish"} {
		w.reboot()
		w.setenv("TEST_KILL_AT", "after:dev-a@cut/create")
		if r := w.run("up", "cut", "--json"); r.code == 0 {
			t.Fatalf("it was not cut off: %s", r.out)
		}
		w.setenv("TEST_KILL_AT", "")
		w.refuse("operation_unfinished", 1, "up", "cut")
		op := w.ops()[0]
		w.refuse("attempt_incomplete", 1, "restore", "status", op.ID, "--rig", "cut")
		w.run("op", end, op.ID)
		var rec restoreDoc
		r := w.into(&rec, "up", "cut")
		if s := w.seat("dev.a"); r.code != 0 || s.Continuity != "resumed" || s.Life != "running" {
			t.Fatalf("%s: exit %d %+v\n%s%s", end, r.code, s, r.out, r.err)
		}
		if panes := w.livePanes(); len(panes) != 2 {
			t.Errorf("%s: %v", end, panes)
		}
	}
	w.recalls("dev.a", "HERON")
}

// TestRestoreByName restores from a named snapshot with a roster, and refuses
// what is not one.
func TestRestoreByName(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("named", "a:claude-code", "b:terminal"))
	w.know("dev.a", "HERON")
	var snap restoreDoc
	w.into(&snap, "snapshot", "create", "named", "--intended-seats", "dev.a")
	w.refuse("seat_not_found", 1, "snapshot", "create", "named", "--intended-seats", "dev.x")
	w.must("down", "named")
	var list struct {
		Snapshots []engine.SnapshotView `json:"snapshots"`
	}
	w.into(&list, "snapshot", "list", "named")
	if len(list.Snapshots) != 2 || !list.Snapshots[0].Chosen {
		t.Fatalf("%+v", list)
	}
	id := list.Snapshots[1].ID
	w.refuse("snapshot_not_found", 1, "restore", "nothing", "--rig", "named")
	var rec restoreDoc
	r := w.into(&rec, "restore", id, "--rig", "named")
	if got := rec.outcomes(); r.code != 0 || !sameMap(got, map[string]string{"dev-a@named": "resumed", "dev-b@named": "excluded"}) {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	if v := rec.Extra.Restore[0]; v.Selection.Mode != "explicit" || v.Selection.Newer == "" || len(v.Excluded) != 1 || v.Result != engine.RestoreFull {
		t.Errorf("%+v", v)
	}
	var all restoreDoc
	if r := w.into(&all, "up", "--all"); r.code != 0 || len(all.Extra.Restore) != 1 || w.seat("dev.b").Life != "running" {
		t.Errorf("all: exit %d\n%s%s", r.code, r.out, r.err)
	}
	w.must("remove", "named", "dev.b")
	if out := w.must("restore", id, "--rig", "named", "--dry-run"); !strings.Contains(out, "no longer in the rig, so not brought back: dev-b@named") {
		t.Errorf("the plan does not say who stays out:\n%s", out)
	}
	w.must("down", "named")
	var begun struct {
		OK      bool   `json:"ok"`
		Attempt string `json:"attempt"`
	}
	if r := w.into(&begun, "restore", id, "--rig", "named", "--detach"); r.code != 0 || !begun.OK {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	w.eventually("the detached restore has ended", func() (bool, string) {
		r := w.run("restore", "status", begun.Attempt, "--rig", "named")
		return r.code == 0, r.out + r.err
	})
	w.must("handover", "dev.a", "--reason", "r", "--source", "fresh")
	w.refuse("snapshot_unusable", 1, "restore", id, "--rig", "named")
}
