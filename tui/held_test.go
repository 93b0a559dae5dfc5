package tui

import (
	"strings"
	"testing"

	"rig/engine"
	"rig/tui/tuitest"
)

// An incumbent that a handover has stopped, while its successor stands at a gate, does
// nothing: it is not drawn as busy.
func TestAHeldSeatIsNotDrawnBusy(t *testing.T) {
	t.Parallel()
	f := tuitest.Fleet(7)
	s := f.Seats()[0]
	s.Life, s.OpID, s.OpVerb = engine.LifeRunning, "op1", engine.VerbHandover
	s.Activity = engine.Activity{Reading: engine.Reading{State: engine.ActivityBusy, Code: engine.CodeSuspended, Why: "stopped while the handover is under way"}}
	if l := lookOf(s); l.word != "held" {
		t.Errorf("it is drawn as %s", l.word)
	}
	d := drive(t, f, options())
	d.keys("/", "held", "enter")
	if text := d.text(); !strings.Contains(text, "‖ held") || strings.Contains(text, "● busy") {
		t.Errorf("the Fleet\n%s", text)
	}
}
