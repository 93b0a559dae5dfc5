package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rig/engine/packet"
)

type packetDoc struct {
	OK     bool `json:"ok"`
	DryRun bool `json:"dry_run"`
	Plan   struct {
		Fingerprint string `json:"fingerprint"`
	} `json:"plan"`
	Path     string   `json:"path"`
	Files    []string `json:"files"`
	Messages int      `json:"messages"`
	Packet   struct {
		Path  string   `json:"path"`
		Files []string `json:"files"`
	} `json:"packet"`
}

// TestRestorePacketVerbs writes packets from living seats and from a file, reads
// and validates them, and meets every refusal.
func TestRestorePacketVerbs(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("pk", "impl:claude-code", "qa:codex", "sh:terminal"))
	for _, seat := range []string{"dev.impl", "dev.qa"} {
		w.must("send", seat, "the codeword is HERON; the key is "+"sk-"+"EXAMPLEexample0000EXAMPLE", "--verify")
		w.must("wait", seat, "--until", "idle")
	}
	w.must("context", "recap-write", "--seat", "dev.impl", "--file", w.write("recap.md", "# Now\n\n## Decisions\n\nNone.\n"))
	for _, seat := range []string{"dev-impl@pk", "dev.qa"} {
		w.packetOf(seat)
	}
	dir := filepath.Join(w.dir, "p-dev.qa")
	w.refuse("packet_exists", 1, "restore-packet", "write", "--source-session", "dev.qa", "--target", dir)
	w.refuse("packet_parent_absent", 1, "restore-packet", "write", "--source-session", "dev.qa", "--target", filepath.Join(w.dir, "no/where"))
	w.refuse("transcript_unreadable", 1, "restore-packet", "write", "--source-session", "dev.sh", "--target", filepath.Join(w.dir, "x"))
	w.refuse("seat_not_found", 1, "restore-packet", "write", "--source-session", "dev.nobody", "--target", filepath.Join(w.dir, "x"))
	w.refuse("not_found", 1, "restore-packet", "write", "--source-session", "dev.qa", "--generation", "7", "--target", filepath.Join(w.dir, "x"))
	w.refuse("not_found", 1, "restore-packet", "read", filepath.Join(w.dir, "nothing"))
	w.refuse("invalid", 2, "restore-packet", "write", "--target", filepath.Join(w.dir, "x"))
	w.refuse("invalid", 2, "restore-packet", "write", "--source-session", "dev.qa", "--source-jsonl", "x", "--target", filepath.Join(w.dir, "x"))
	if err := os.Remove(filepath.Join(dir, packet.LatestName)); err != nil {
		t.Fatal(err)
	}
	r := w.run("restore-packet", "validate", dir)
	if r.code != 1 || !strings.Contains(r.out, "not valid: 1 error, 0 warnings") || !strings.Contains(r.out, packet.LatestName) {
		t.Errorf("validate of a damaged packet: exit %d\n%s%s", r.code, r.out, r.err)
	}
	if out := w.must("restore-packet", "schema"); out != string(packet.Schema) {
		t.Errorf("the printed schema is not the one that packets are judged by:\n%s", out)
	}
}

// packetOf writes, reads and validates a packet of a seat, dry first.
func (w *world) packetOf(seat string) {
	w.t.Helper()
	target := filepath.Join(w.dir, "p-"+seat)
	args := []string{"restore-packet", "write", "--source-session", seat, "--target", target, "--next-owner", "dev-qa@pk", "--why-it-matters", "Herons.", "--caveat", "wet"}
	var dry, done packetDoc
	if r := w.into(&dry, append(args, "--dry-run")...); r.code != 0 || !dry.DryRun || dry.Packet.Path != target || len(dry.Packet.Files) != 5 {
		w.t.Errorf("%s: dry run exit %d: %s", seat, r.code, r.out)
	}
	if _, err := os.Lstat(target); !os.IsNotExist(err) {
		w.t.Fatalf("%s: the dry run wrote", seat)
	}
	w.refuse("plan_stale", 1, append(args, "--caveat", "one more", "--apply", dry.Plan.Fingerprint)...)
	args = append(args, "--apply", dry.Plan.Fingerprint)
	if r := w.into(&done, args...); r.code != 0 || !done.OK || done.Messages < 2 || len(done.Files) != 5 || strings.Contains(r.out, "HERON") {
		w.t.Errorf("%s: exit %d: %s", seat, r.code, r.out)
	}
	var rep struct {
		Valid  bool             `json:"valid"`
		Errors []packet.Problem `json:"errors"`
	}
	if r := w.into(&rep, "restore-packet", "validate", target); r.code != 0 || !rep.Valid || len(rep.Errors) != 0 {
		w.t.Errorf("%s: validate exit %d: %s", seat, r.code, r.out)
	}
	raw, err := os.ReadFile(filepath.Join(target, packet.SummaryName))
	if err != nil {
		w.t.Fatal(err)
	}
	var want, got bytes.Buffer
	if json.Compact(&want, raw) != nil || json.Compact(&got, []byte(w.must("restore-packet", "read", target, "--json"))) != nil || want.String() != got.String() {
		w.t.Errorf("%s: read --json is not the summary", seat)
	}
	text := w.must("restore-packet", "read", target)
	for _, s := range []string{"# Restore instructions", "Herons.", "dev-qa@pk", "- wet", "HERON", "seat:RECAP.md", "rig context work-install", "- inbound work (absent): rig work list "} {
		if !strings.Contains(text, s) {
			w.t.Errorf("%s: %q is missing from\n%s", seat, s, text)
		}
	}
	if strings.Contains(text, "EXAMPLE") {
		w.t.Errorf("%s: the key is in the packet", seat)
	}
}

func TestRestorePacketFromAFile(t *testing.T) {
	w := newWorld(t)
	root, err := filepath.Abs("../../testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	source, target := filepath.Join(root, "B18-fork-two-metas.jsonl"), filepath.Join(w.dir, "packet")
	w.refuse("provenance_required", 2, "restore-packet", "write", "--source-jsonl", source, "--target", target)
	w.refuse("invalid", 2, "restore-packet", "write", "--source-jsonl", source, "--source-rig-override", "shop", "--target", target, "--target-runtime", "emacs")
	w.refuse("invalid", 2, "restore-packet", "write", "--source-jsonl", source, "--source-rig-override", "shop", "--target", target, "--source-trust-ranking", "hearsay")
	w.refuse("runtime_undetected", 2, "restore-packet", "write", "--source-jsonl", w.write("prose.jsonl", "{\"a\":1}\n"), "--source-rig-override", "shop", "--target", target)
	w.refuse("bad_name", 2, "restore-packet", "write", "--source-jsonl", source, "--source-rig-override", "shop", "--target", w.dir+"/../x")
	r := w.run("restore-packet", "write", "--source-jsonl", source, "--source-rig-override", "shop", "--target", target, "--no-full-transcript", "--source-trust-ranking", " rig_whoami , ,full_transcript")
	if r.code != 0 || !strings.Contains(r.out, "written: "+target) || strings.Contains(r.out, "queue designed") || !strings.Contains(r.out, "files     4: ") {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	p, err := packet.Read(target)
	if err != nil || p.Summary.SourceRig != "shop" || strings.Join(p.Summary.SourceTrustRanking, " ") != "rig_whoami full_transcript" || p.Summary.Full != nil {
		t.Errorf("%+v, %v", p.Summary, err)
	}
}

func TestMarkdownInATerminal(t *testing.T) {
	text := "# Title\n\n## Part\n- one two three four five six\n- [ ] open\n12. numbered words here and there\n---\nwarning: careful\n```\ncode stays as long as it is\n```\n"
	want := "Title\n\nPart\n• one two three four\n  five six\n☐ open\n12. numbered words\n    here and there\n" + strings.Repeat("─", 20) + "\nwarning: careful\n    code stays as long as it is\n"
	if got := renderMarkdown(text, 20, false); got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	if got := renderMarkdown("# T\n", 20, true); got != "\x1b[1;4mT\x1b[0m\n" {
		t.Errorf("%q", got)
	}
}

// TestPacketIsRenderedInATerminal: on a terminal a packet and a recap are laid out for a person. In a pipe they are the text as
// it is, and nothing in them drives a terminal either way.
func TestPacketIsRenderedInATerminal(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("pk", "impl:claude-code"))
	w.must("context", "recap-write", "--seat", "dev.impl", "--file", w.write("recap.md", "# Herons\n\n## Decisions\n\n- count \x1b[31mthem\x1b[2J\n- [ ] later\n"))
	w.tmux("new-session", "-d", "-s", "reader", "-x", "60", "-y", "20", "'"+w.self()+"' context get seat:RECAP.md --seat dev.impl; cat")
	var screen string
	w.eventually("the recap is on the screen", func() (bool, string) {
		screen = w.tmux("capture-pane", "-p", "-e", "-t", "=reader:")
		return strings.Contains(screen, "later"), screen
	})
	lines := strings.Split(screen, "\n")
	if !strings.HasPrefix(lines[0], "\x1b[1m\x1b[4mHerons") && !strings.HasPrefix(lines[0], "\x1b[1;4mHerons") || strings.Contains(screen, "# ") || strings.Contains(screen, "\x1b[31m") || !strings.Contains(screen, "☐ later") || !strings.Contains(screen, "• count ") {
		t.Errorf("%q", screen)
	}
	if text := w.must("context", "get", "seat:RECAP.md", "--seat", "dev.impl"); !strings.Contains(text, "# Herons\n") || !strings.Contains(text, "- [ ] later") || strings.Contains(text, "\x1b") {
		t.Errorf("%q", text)
	}
}
