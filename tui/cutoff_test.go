package tui

import (
	"strings"
	"testing"
	"time"

	"rig/engine"
	"rig/tui/tuitest"
)

// The step that was under way when the process of its operation died is not under way any
// more: no time of it runs, and the gate that it waited at leads nowhere.
func TestNothingOfACutOffOperationIsUnderWay(t *testing.T) {
	d := drive(t, withCutOff(tuitest.Fleet(7), false), options())
	op := engine.Operation{ID: "op-77", Verb: engine.VerbHandover, Target: "dev-impl@shop", State: engine.OpRunning, StartedAt: tuitest.Start().Add(-3 * time.Minute)}
	steps := []engine.OperationStep{
		{StepID: "a", Kind: engine.StepReady, Title: "wait until it is proven ready", State: engine.StepStarted, StartedAt: tuitest.Start().Add(-3 * time.Minute), Evidence: []byte(`{"session":"s","why":"asks for trust"}`)},
		{StepID: "b", Title: "swap the panes", State: engine.StepPending},
	}
	d.c.Past(op, steps)
	d.keys("8")
	d.has("▲ unfinished", "? wait until it is proven ready", "its process died here: how far it came is not known")
	d.hasNot("▶ wait", "3m0s", "waits at a gate")
	if d.m.showsRunning() {
		t.Error("a clock runs for it")
	}
	d.keys("enter", "enter")
	d.has("began", "? unknown")
	d.hasNot("took", "under way for")
	c := tuitest.New(withCutOff(tuitest.Fleet(7), false))
	c.Past(op, steps)
	out := plainly(t, c, options(), "journal op-77")
	if strings.Contains(out, "running: wait") || !strings.Contains(out, "unknown: wait until it is proven ready") {
		t.Errorf("plain says\n%s", out)
	}
}

// Of a seat whose pane is gone nothing is told that only the pane could tell, and the
// record's word is told as that.
func TestALostSeatIsNotDrawnAsThere(t *testing.T) {
	f := tuitest.Fleet(7)
	s := &f.Rigs[0].Seats[0]
	s.Life, s.LifeWhy, s.PaneSize = engine.LifeLost, "no tmux server on this socket", [2]int{}
	d := drive(t, f, options())
	d.keys("i", "G")
	d.has("(running, on record)")
	d.hasNot("0x0", "(running)")
}

// Plain mode tells of a seat what the Seat screen does, also in what it differs from its spec.
func TestPlainTellsOfTheSpec(t *testing.T) {
	drift := engine.SpecDrift{State: engine.DriftDiffers, Why: "1 field differs", Fields: []engine.DriftField{{Field: "model", Seat: "opus", Spec: "sonnet"}}}
	c := tuitest.New(tuitest.Fleet(7))
	c.Drift = drift
	if out := plainly(t, c, options(), "seat dev-impl"); !strings.Contains(out, "model: opus [the spec says sonnet]") {
		t.Errorf("said\n%s", out)
	}
}

// The wall waits for no screen of a pane that is gone.
func TestTheWallWaitsForNoLostPane(t *testing.T) {
	f := tuitest.Fleet(7)
	s := &f.Rigs[0].Seats[0]
	s.Life, s.LifeWhy = engine.LifeLost, "no tmux server on this socket"
	d := drive(t, f, options())
	delete(d.m.frames, s.ID)
	d.keys("4")
	d.has("lost: no tmux server on this")
	d.hasNot("waiting for its screen")
}

// What an operation of one seat ended with is told once.
func TestAReceiptTellsAnErrorOnce(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	e := engine.Errorf(engine.CodeNotReady, "it was not ready within 30 s").WithHint("look at it")
	r := &engine.Receipt{Operation: engine.ReceiptOp{ID: "op-1", State: engine.OpFailed}, Outcome: "failed", Error: e, Seats: []engine.SeatReceipt{{Seat: "dev-impl@shop", Outcome: engine.ContinuityFailed, Error: e}}}
	for name, text := range map[string]string{"with its own": strings.Join(d.m.receipt(r, nil, 100), "\n"), "and what apply gave": strings.Join(d.m.receipt(r, e, 100), "\n")} {
		if strings.Count(text, "not ready within") != 1 || strings.Count(text, "look at it") != 1 {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	r.Seats[0].Error = nil
	if text := strings.Join(d.m.receipt(r, nil, 100), "\n"); strings.Count(text, "not ready within") != 1 {
		t.Errorf("not told at all:\n%s", text)
	}
}
