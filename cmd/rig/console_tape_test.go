package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTerminalLooksBack lets a client ask, be answered and end, and then scrubs
// back to what it had asked.
func TestTerminalLooksBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("up", w.spec("tape", "impl:claude-code"))
	s := w.outside(120, 40)
	s.shows("1 running", "idle")
	w.must("send", "dev.impl", "[[ask]] token sk-ant-api03-"+strings.Repeat("Ab3", 80)) // goes on in a second row
	s.titled("rig 1 needs you")
	w.tmux("send-keys", "-t", "=dev-impl@tape:", "Escape")
	s.titled("rig r")
	w.tmux("send-keys", "-t", "=dev-impl@tape:", "/exit", "Enter")
	s.shows("its process has ended")
	s.keys("t")
	s.shows("What happened in dev-impl@tape", "▲ waiting", "exited")
	s.keys("g")
	s.w.eventually("the question is on screen again", func() (bool, string) {
		out := s.look()
		if strings.Contains(out, "1. Red") && strings.Contains(out, "2. Blue") {
			return true, ""
		}
		s.keys("j")
		return false, out
	})
	s.keys("Escape")
	rings, err := filepath.Glob(filepath.Join(w.dir, "rig", "recorder", "*.jsonl"))
	if err != nil || len(rings) != 1 {
		t.Fatalf("rings: %v, %v", rings, err)
	}
	info, err := os.Stat(rings[0])
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if b, err := os.ReadFile(rings[0]); err != nil || strings.Contains(string(b), "Ab3Ab3") {
		at := strings.Index(string(b), "Ab3Ab3")
		t.Errorf("a secret is in the ring, or it cannot be read: %v: …%s…", err, b[max(0, at-300):min(len(b), at+500)])
	}
}

// TestTerminalPopup opens a seat in a popup over the console, types there, and is
// back in the console when the popup is closed.
func TestTerminalPopup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("up", w.spec("pop", "sh:terminal", "two:terminal"))
	s := w.console(120, 40)
	s.shows("sh", "idle", "2 running")
	s.keys("o")
	w.eventually("a second client looks at the seat", func() (bool, string) {
		out := w.tmux("list-clients", "-F", "#{client_session}")
		return strings.Contains(out, "dev-sh@pop"), out + "\n" + s.look()
	})
	s.text("echo typed-$((1+1))")
	s.keys("Enter")
	s.shows("typed-2")
	w.tmux("detach-client", "-s", "=dev-sh@pop")
	s.shows("back from dev-sh@pop", "2 running")
	s.keys("q")
	w.eventually("the console is gone", func() (bool, string) {
		out := w.tmux("list-sessions", "-F", "#{session_name}")
		return !strings.Contains(out, "console"), out
	})
}
