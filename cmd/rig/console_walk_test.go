package main

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"
)

// TestTerminalWalk goes through every screen, the help, the palette and the
// filter with keys, through a storm of sizes, and out again.
func TestTerminalWalk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("up", w.spec("walk", "impl:claude-code", "rev:codex", "sh:terminal"))
	s := w.outside(120, 40)
	s.on("fleet")
	s.shows("3 running", "impl", "rev", "idle")
	for _, step := range []struct{ key, screen, text string }{
		{"2", "attention", "Nobody waits for you"},
		{"3", "pressure", "near the wall"},
		{"4", "wall", "3 panes"},
		{"-", "pressure", "near the wall"},
		{"1", "fleet", "last changes"},
		{"5", "seat", "dev-impl@walk"},
		{"8", "operations", "create tmux session"},
		{"9", "events", "rig.created"},
		{"Escape", "operations", "create tmux session"},
	} {
		s.keys(step.key)
		s.on(step.screen)
		s.shows(step.text)
	}
	s.keys("1")
	s.on("fleet")
	s.text(":wall")
	s.shows("as many live panes as fit")
	s.keys("Enter")
	s.on("wall")
	s.text("/rev")
	s.shows("filter: rev", "1 pane")
	s.keys("Escape")
	s.shows("3 panes")
	s.keys("?")
	s.shows("type to search")
	s.keys("Escape")
	s.lacks("type to search")
	s.keys("q")
	s.on("fleet")
	storm(s)
	s.keys("q")
	s.left(0)
	if seat := w.seat("dev.impl"); seat.Life != "running" || seat.Generation != 1 {
		t.Errorf("looking changed the seat: %+v", seat)
	}
}

// storm resizes the terminal while keys come in, and checks the frames at the
// sizes where it rests.
func storm(s *screen) {
	s.w.t.Helper()
	for i, c := range []struct {
		w, h int
		text string
	}{
		{60, 20, "impl"},
		{1, 1, ""},
		{200, 50, "last changes"},
		{39, 11, "rig needs 40x12"},
		{40, 12, "impl"},
		{110, 17, ""},
		{5, 80, ""},
		{80, 24, "impl"},
		{2, 2, ""},
		{120, 40, "last changes"},
		{80, 24, "impl"},
	} {
		s.resize(c.w, c.h)
		s.tmux("send-keys", "-t", "terminal", "-N", "7", []string{"j", "k"}[i%2])
		if c.text == "" {
			continue
		}
		s.shows(c.text)
		for _, l := range strings.Split(s.look(), "\n") {
			if n := utf8.RuneCountInString(l); n > c.w {
				s.w.t.Errorf("a line of %d cells on a terminal of %d: %q", n, c.w, l)
			}
		}
	}
}

// TestTerminalLaunchesAndStops stops a seat and launches it again by their
// wizards, and reads the receipts.
func TestTerminalLaunchesAndStops(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("up", w.spec("wiz", "sh:terminal"))
	s := w.outside(120, 40)
	s.shows("sh", "idle")
	s.keys("S")
	s.shows("Stop a seat")
	s.text("a pause")
	s.answer("dev-sh@wiz")
	w.eventually("the seat is stopped", func() (bool, string) {
		seat := w.seat("dev.sh")
		return seat.Life == "stopped", seat.Life + "\n" + s.look()
	})
	s.shows("stopped")
	s.closes()
	s.keys("L")
	s.shows("Launch seats that do not run")
	s.keys("Tab")
	s.text("back to work")
	s.answer("wiz")
	w.eventually("the seat runs again", func() (bool, string) {
		seat := w.seat("dev.sh")
		return seat.Life == "running" && seat.Generation == 2, seat.Life + "\n" + s.look()
	})
	s.closes()
	s.shows("1 running")
}

// answer goes through a wizard's questions with what they offer, and applies the
// plan with the key or the name that is asked for.
func (s *screen) answer(name string) {
	s.w.t.Helper()
	s.w.eventually("the plan", func() (bool, string) {
		out := s.look()
		switch {
		case strings.Contains(out, "a apply"):
			return true, ""
		case strings.Contains(out, "Enter plan"):
			s.keys("Enter")
		}
		return false, out
	})
	s.keys("a")
	s.w.eventually("the last question", func() (bool, string) {
		out := s.look()
		switch {
		case strings.Contains(out, "y yes, do it"):
			s.keys("y")
			return true, ""
		case strings.Contains(out, "type "+name):
			s.text(name)
			s.shows("applies the plan")
			s.keys("Enter")
			return true, ""
		}
		return false, out
	})
}

// closes presses Esc until no dialog is open.
func (s *screen) closes() {
	s.w.t.Helper()
	presses, calmFor := 0, 0
	s.w.eventually("the dialog closes", func() (bool, string) {
		out := s.look()
		calm := strings.Contains(out, "i details") || strings.Contains(out, "this is the first screen")
		if presses > 0 && calm && !strings.Contains(out, "filter:") {
			calmFor++ // a letter right behind the last Esc is another key
			return calmFor > 3, out
		}
		calmFor = 0
		s.keys("Escape")
		presses++
		return false, out
	})
}

// TestTerminalDialogsWithstandInput holds keys down, types in bursts and pastes
// into every kind of dialog: nothing is applied, nothing is sent.
func TestTerminalDialogsWithstandInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("up", w.spec("calm", "sh:terminal"))
	before := w.operations()
	s := w.outside(80, 24)
	s.shows("sh", "idle")
	for _, open := range []string{"H", "S", "D", "L", "U", "s", "?", ":", "/"} {
		s.tmux("send-keys", "-t", "terminal", "-N", "40", open) // a key that is held down
		s.paste("y\ry\nyes\r\ndev-sh@calm\ncalm\ny\n")
		s.text("a")
		s.text("yyyyaaaayyyy")
		s.paste("y\n")
		s.closes()
	}
	if after := w.operations(); after != before {
		t.Errorf("%d operations became %d", before, after)
	}
	if out := w.must("capture", "dev.sh"); strings.Contains(out, "yyyy") {
		t.Errorf("something was typed into the seat:\n%s", out)
	}
	s.keys("q")
	s.left(0)
}

// operations counts what is on record.
func (w *world) operations() int {
	w.t.Helper()
	var doc struct {
		Operations []json.RawMessage `json:"operations"`
	}
	w.into(&doc, "op", "list")
	return len(doc.Operations)
}

// TestTerminalIsLeftClean ends the console by signals and by a fault in a screen:
// the terminal is given back, and a fault names the log that holds it.
func TestTerminalIsLeftClean(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, sig := range map[string]syscall.Signal{"terminated": syscall.SIGTERM, "hung up": syscall.SIGHUP} {
		s := w.outside(80, 24)
		s.shows("No rigs yet")
		if err := syscall.Kill(s.pid(), sig); err != nil {
			t.Fatal(name, err)
		}
		s.left(0)
	}
	w.setenv("TEST_PANIC_ON", "events")
	s := w.outside(80, 24)
	s.shows("No rigs yet")
	s.keys("9")
	s.shows("ended 1", "made to fail", ".log")
	s.left(1)
}
