package tui

import (
	"strings"
	"testing"

	"rig/tui/tuitest"
)

// Where the Seat screen has room for the pane alone, the first key of motion turns to the
// facts it goes through: a cursor never moves unseen.
func TestAKeyOfMotionShowsTheFactsItMovesIn(t *testing.T) {
	t.Parallel()
	d := drive(t, tuitest.Fleet(7), options())
	d.size(80, 24)
	d.keys("j", "j", "i")
	s := d.m.seatScreen()
	if s.facts || !strings.Contains(d.text(), "shows its facts") {
		t.Fatalf("not on the pane\n%s", d.text())
	}
	first := s.list.cursor
	d.keys("j")
	if !s.facts || s.list.cursor != first || !strings.Contains(d.text(), "Tab shows its pane") {
		t.Errorf("facts %v, cursor %d after one key\n%s", s.facts, s.list.cursor, d.text())
	}
	d.keys("j")
	if s.list.cursor == first {
		t.Error("the second key does not move the cursor")
	}
	d.keys("tab")
	if s.facts {
		t.Error("Tab does not lead back to the pane")
	}
	d.size(120, 40)
	at := s.list.cursor
	d.keys("j")
	if s.facts || s.list.cursor == at {
		t.Error("where both are shown, a key of motion turns to something else")
	}
}
