package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rig/engine"
)

// TestRestoreOnAnUntidyMachine is a restore with what real machines have: client
// settings with comments (B69), a snapshot taken without a server (B51), a folder
// where the transcript was (B42), and a session that vanishes between its start
// and its proof (B49).
func TestRestoreOnAnUntidyMachine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("up", w.spec("mess", "a:claude-code", "b:codex"))
	w.know("dev.a", "HERON")
	w.know("dev.b", "OTTER")
	if out := w.must("snapshot", "mess"); !strings.Contains(out, "snapshot 01") || !strings.Contains(out, "complete") {
		t.Errorf("a snapshot does not say its id, by which it is restored:\n%s", out)
	}
	w.settingsAreLeftAlone(t)
	w.reboot()
	w.blindSnapshot(t)

	transcript := w.conversationFile(".claude/projects/*/*.jsonl")
	folder := strings.TrimSuffix(transcript, ".jsonl")
	if err := os.MkdirAll(filepath.Join(folder, "tool-results"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(transcript, w.dir+"/aside"); err != nil {
		t.Fatal(err)
	}
	var rep engine.RestoreCheckReport
	if r := w.into(&rep, "restore-check", "--rig", "mess"); r.code != 1 || rep.Seats.Not != 1 || rep.Seats.Restorable != 1 {
		t.Errorf("a folder passes for a transcript: exit %d\n%s", r.code, r.out)
	}
	if err := os.Rename(w.dir+"/aside", transcript); err != nil {
		t.Fatal(err)
	}
	w.vanishingSession(t)
}

// settingsAreLeftAlone gives the client settings that no strict reader takes.
func (w *world) settingsAreLeftAlone(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "cases", "B69-claude-settings.json"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(w.home, ".claude", "settings.json")
	before, _ := os.ReadFile(path)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	var rep engine.RestoreCheckReport
	if r := w.into(&rep, "restore-check", "--full"); r.code != 0 || rep.Seats.Restorable != 2 {
		t.Errorf("with such settings: exit %d\n%s%s", r.code, r.out, r.err)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != string(text) {
		t.Errorf("the client's settings were rewritten: %v", err)
	}
	if err = os.WriteFile(path, before, 0o600); before == nil {
		err = os.Remove(path)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// blindSnapshot saves while no server runs: it is told, kept as partial, and a
// restore goes on standing on the good one.
func (w *world) blindSnapshot(t *testing.T) {
	t.Helper()
	if r := w.run("snapshot", "create", "mess", "--json"); r.code == 0 || !strings.Contains(r.out, string(engine.CodeSnapshotPartial)) {
		t.Errorf("a snapshot without a server: exit %d\n%s%s", r.code, r.out, r.err)
	}
	var list struct {
		Snapshots []engine.SnapshotView `json:"snapshots"`
	}
	w.into(&list, "snapshot", "list", "mess")
	if n := len(list.Snapshots); n != 2 || list.Snapshots[0].Usable || !list.Snapshots[1].Chosen {
		t.Errorf("%+v", list.Snapshots)
	}
}

// vanishingSession ends the session of a seat while its client starts.
func (w *world) vanishingSession(t *testing.T) {
	t.Helper()
	// A server without a session ends, and the first one is all that there is while the second is being made.
	w.tmux("new-session", "-d", "-s", "holder", "cat")
	w.setenv("AGENTSIM_START_MS", "1500")
	done := make(chan result, 1)
	go func() { done <- w.run("up", "mess", "--json") }()
	w.eventually("the session is there", func() (bool, string) {
		out, err := w.tryTmux("list-sessions", "-F", "#{session_name}")
		return err == nil && strings.Contains(out, "dev-a@mess"), out
	})
	w.tmux("kill-session", "-t", "=dev-a@mess")
	r := <-done
	if a := w.seat("dev.a"); r.code != 1 || a.Life == "running" || a.Continuity == "resumed" || !a.Token || !strings.Contains(r.out, `"failed"`) {
		t.Errorf("a seat whose session vanished: exit %d, %+v\n%s%s", r.code, a, r.out, r.err)
	}
	if b := w.seat("dev.b"); b.Life != "running" || b.Continuity != "resumed" {
		t.Errorf("the other seat: %+v", b)
	}
	w.setenv("AGENTSIM_START_MS", "20")
	w.must("up", "mess")
	w.recalls("dev.a", "HERON")
}
