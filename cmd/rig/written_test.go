package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatAClientHasNotWrittenYet: a client writes what it was told half a second
// after it has reported it. Whoever hands over, forks or stops it in between gets all.
func TestWhatAClientHasNotWrittenYet(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("late", "a:claude-code", "b:claude-code", "c:claude-code"))
	told := func(seat, word string) {
		w.must("seat", "stop", seat, "--reason", "test") // the next one is slow to write
		w.setenv("AGENTSIM_WRITE_MS", "400")
		w.must("seat", "launch", seat, "--fresh", "--reason", "test")
		w.setenv("AGENTSIM_WRITE_MS", "0")
		w.must("send", seat, "the word is "+word, "--verify")
		w.must("wait", seat, "--until", "idle")
	}
	knows := func(seat, word string) {
		t.Helper()
		w.must("send", seat, "what is the word?", "--verify")
		w.eventually(seat+" knows the word", func() (bool, string) {
			out := w.must("capture", seat, "--lines", "60")
			return strings.Count(out, word) > 0, out
		})
	}
	told("dev.a", "LARCH")
	w.must("handover", "dev.a", "--source", "fresh", "--reason", "test")
	files, err := filepath.Glob(filepath.Join(w.project, ".rig", "packets", "*", "transcript-latest.md"))
	if err != nil || len(files) != 1 || !strings.Contains(readText(t, files[0]), "LARCH") {
		t.Errorf("the packet lacks the last turn: %v %v", files, err)
	}
	told("dev.b", "ROWAN")
	w.must("fork", "dev.b", "--pod", "dev", "--member", "b2")
	knows("dev.b2", "ROWAN")
	told("dev.c", "ALDER")
	w.must("down", "late", "--reason", "test")
	w.must("up", "late")
	if s := w.seat("dev.c"); s.Continuity != "resumed" {
		t.Errorf("%+v", s)
	}
	knows("dev.c", "ALDER")
}

// TestAVerifiedMessageIsTheClientsOwnWord: its pane shows a message long before the client
// reports it, and calls itself idle in between. Who waits for the end of the turn then
// is not told that it has come.
func TestAVerifiedMessageIsTheClientsOwnWord(t *testing.T) {
	w := newWorld(t)
	w.setenv("AGENTSIM_HOOK_MS", "700")
	w.must("up", w.spec("slow", "a:claude-code"))
	if out := w.must("send", "dev.a", "the word is LARCH", "--verify"); !strings.Contains(out, "the client reported the prompt") {
		t.Error(out)
	}
	w.must("wait", "dev.a", "--until", "idle")
	if out := w.must("capture", "dev.a", "--lines", "60"); !strings.Contains(out, "Canned answer") {
		t.Errorf("at rest before the answer:\n%s", out)
	}
}
