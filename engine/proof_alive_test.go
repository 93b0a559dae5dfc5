package engine_test

import (
	"context"
	"slices"
	"testing"

	"rig/engine"
	"rig/engine/enginetest"
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

// frozen is a process table on which a stop stops process 500, and that keeps what was let go on.
type frozen struct {
	*enginetest.Procs
	went *[]int
}

// Stop implements engine.Processes.
func (frozen) Stop(context.Context, int) (stopped, refused []int, err error) {
	return []int{500}, nil, nil
}

// Continue implements engine.Processes.
func (f frozen) Continue(_ context.Context, pids []int) error {
	*f.went = append(*f.went, pids...)
	return nil
}

// TestARollbackLeavesReusedNumbersAlone: what a process of an earlier life had stopped is let go on only while its client is there. Else
// the numbers may be anybody's by now.
func TestARollbackLeavesReusedNumbersAlone(t *testing.T) {
	for _, gone := range []bool{false, true} {
		b := newSeatBench(t)
		sessions, _, err := b.e.SeatHistory(t.Context(), b.seat(t, "dev.m0").ID)
		if err != nil {
			t.Fatal(err)
		}
		b.reports.state[sessions[0].ID] = engine.RunState{PID: 500, PIDStart: "s500"}
		b.procs.Become(500, "s500")
		b.procs.Become(1, "s1")
		var went []int
		b.deps.Procs = frozen{b.procs, &went}
		b.e = engine.New(b.deps)
		op := b.crash(t, handoverRequest("dev.m0", "fresh"), "create")
		if gone {
			b.procs.Die(500)
		}
		b.run(t, request(engine.VerbRollback, op, struct{}{}))
		if slices.Contains(went, 500) == gone {
			t.Errorf("its client is gone: %v; went on: %v", gone, went)
		}
	}
}
