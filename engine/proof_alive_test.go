package engine_test

import (
	"testing"

	"rig/engine"
)

// TestAClientThatCannotBeToldIsNotTakenForGone: the process table may not answer. Nothing is then said to have ended, or to go on, that
// nobody has seen do so.
func TestAClientThatCannotBeToldIsNotTakenForGone(t *testing.T) {
	replaced := func(b *seatBench) (opID string) {
		sessions, _, err := b.e.SeatHistory(t.Context(), b.seat(t, "dev.m0").ID)
		if err != nil {
			t.Fatal(err)
		}
		b.reports.state[sessions[0].ID] = engine.RunState{PID: 500, PIDStart: "s500"}
		b.procs.Become(500, "s500")
		b.procs.Become(1, "s1")
		return b.run(t, handoverRequest("dev.m0", "fresh")).Operation.ID
	}
	t.Run("at the end of the window", func(t *testing.T) {
		b := newSeatBench(t)
		id := replaced(b)
		before := len(b.mux.Panes())
		for _, blind := range []bool{true, false} {
			b.overdue(t, id)
			b.procs.Blind(blind)
			if err := b.e.Expire(t.Context()); err != nil {
				t.Fatal(err)
			}
			op, _, err := b.e.Operation(t.Context(), id)
			if err != nil || op.UndoUntil.IsZero() == blind || (len(b.mux.Panes()) == before) != blind {
				t.Errorf("blind %v: %d panes of %d, undo until %s, %v", blind, len(b.mux.Panes()), before, op.UndoUntil, err)
			}
		}
	})
	t.Run("when the incumbent is to go on", func(t *testing.T) {
		b := newSeatBench(t)
		p, err := b.e.Plan(t.Context(), request(engine.VerbUndo, replaced(b), struct{}{}))
		if err != nil {
			t.Fatal(err)
		}
		b.deps.OnStep = func(when string, s engine.Step) { b.procs.Blind(when == "before" && s.Kind == engine.StepThaw) }
		rec, err := engine.New(b.deps).Apply(t.Context(), p, nil)
		if err != nil || rec.OK || rec.Error == nil || rec.Error.Code != engine.CodeUnavailable {
			t.Errorf("nobody saw it go on: %+v, %v", rec, err)
		}
	})
	t.Run("when it is stopped", func(t *testing.T) {
		b := newSeatBench(t)
		sessions, _, err := b.e.SeatHistory(t.Context(), b.seat(t, "dev.m0").ID)
		if err != nil {
			t.Fatal(err)
		}
		b.reports.state[sessions[0].ID] = engine.RunState{PID: 500, PIDStart: "s500"}
		p, err := b.e.Plan(t.Context(), stopRequest("dev.m0"))
		if err != nil {
			t.Fatal(err)
		}
		b.deps.OnStep = func(when string, s engine.Step) { b.procs.Blind(when == "before" && s.Kind == engine.StepStop) }
		rec, err := engine.New(b.deps).Apply(t.Context(), p, nil)
		if err != nil || rec.OK || rec.Error == nil || rec.Error.Code != engine.CodeUnavailable {
			t.Errorf("nobody saw its client end: %+v, %v", rec, err)
		}
	})
}

// TestAFinishUndoesWhatAFailureLeft: a process that dies while it undoes a failure leaves the failed step itself too.
func TestAFinishUndoesWhatAFailureLeft(t *testing.T) {
	for _, verb := range []engine.Verb{engine.VerbFinish, engine.VerbRollback} {
		b := newBench(t, t.TempDir(), engine.RuntimeTerminal)
		b.faults.Fail = func(call string, _ int) (bool, bool) { return call == "create", true }
		op := b.crashAt(t, upRequest(), "dev-m0@team/create", engine.StepFailed)
		b.faults.Fail = nil
		if n := len(b.mux.Panes()); n != 1 {
			t.Fatalf("%d panes", n)
		}
		b.run(t, request(verb, op, struct{}{}))
		if panes := b.mux.Panes(); len(panes) != 0 {
			t.Errorf("%s leaves %+v", verb, panes)
		}
		b.close(t)
	}
}
