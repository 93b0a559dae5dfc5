package engine_test

import (
	"context"
	"testing"

	"rig/engine"
)

// openOf is the one operation that has not ended.
func (b *bench) openOf(tb testing.TB) engine.Operation {
	tb.Helper()
	ops, err := b.e.Operations(context.Background(), engine.OperationFilter{Open: true})
	if err != nil || len(ops) != 1 {
		tb.Fatalf("%d operations are open, %v", len(ops), err)
	}
	return ops[0]
}

// An undo that nobody can tell the end of ends nothing: the operation keeps its seat, says so, and is rolled back once tmux
// answers. Else what it began would live on beside the seat's occupant, and nobody would know of it.
func TestAnUndoThatCannotBeToldLeavesTheOperationOpen(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(t *testing.T, b *bench){
		"a rollback": func(t *testing.T, b *bench) {
			op := b.crash(t, handoverRequest("dev.m0", "fresh"), "identify")
			b.mux.State = engine.Unknown
			if rec := b.run(t, request(engine.VerbRollback, op, struct{}{})); rec.OK || rec.Operation.State != engine.OpUnfinished || rec.Seats[0].Action != string(engine.OpUnfinished) {
				t.Errorf("%+v", rec)
			}
		},
		"in one process": func(t *testing.T, b *bench) {
			p, err := b.e.Plan(context.Background(), handoverRequest("dev.m0", "fresh"))
			if err != nil {
				t.Fatal(err)
			}
			b.faults.Fail = func(call string, _ int) (bool, bool) {
				if call == "swap" {
					b.mux.State = engine.Unknown
				}
				return call == "swap", false
			}
			rec, err := b.e.Apply(context.Background(), p, nil)
			if err != nil || rec.OK || rec.Operation.State != engine.OpUnfinished {
				t.Errorf("%v %+v", err, rec)
			}
			b.faults.Fail = nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, t.TempDir(), engine.RuntimeClaude)
			defer b.close(t)
			b.run(t, upRequest())
			before := b.world(t)
			begin(t, b)
			op := b.openOf(t)
			if op.State != engine.OpUnfinished {
				t.Errorf("it reads as %s", op.State)
			}
			if rec, err := b.e.Follow(context.Background(), op.ID, nil); err != nil || rec.OK || rec.Error == nil {
				t.Errorf("who follows it hears %+v, %v", rec, err)
			}
			b.mux.State = engine.Present
			if p, err := b.e.Plan(context.Background(), handoverRequest("dev.m0", "fresh")); err != nil || p.Applicable() || p.Blockers[0].Code != engine.CodeOperationUnfinished {
				t.Errorf("somebody else gets the seat: %v %+v", err, p.Blockers)
			}
			if rec := b.run(t, request(engine.VerbRollback, op.ID, struct{}{})); !rec.OK || rec.Operation.State != engine.OpRolledBack {
				t.Errorf("%+v", rec)
			}
			if after := b.world(t); after != before {
				t.Errorf("the world differs:\n%s\n---\n%s", before, after)
			}
		})
	}
}

// What an older operation left of a generation that was given anew is not taken for the successor.
func TestAnUndoEndsItsOwnSuccessor(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	seat := b.seat(t, "dev.m0")
	stray := engine.Pane{ID: "%0", PID: 70, Session: "_rig-OLD", Seat: seat.ID, Gen: "2", Op: "OLD"}
	panes := b.mux.Panes()
	for _, p := range panes {
		b.mux.Drop(p.ID)
	}
	for _, p := range append([]engine.Pane{stray}, panes...) { // tmux may list it first
		b.mux.Put(p)
	}
	rec := b.run(t, handoverRequest("dev.m0", "fresh"))
	if rec := b.run(t, request(engine.VerbUndo, rec.Operation.ID, struct{}{})); !rec.OK {
		t.Errorf("%+v", rec)
	}
	if left := b.mux.Panes(); len(left) != 2 || left[0].ID != stray.ID || left[1].ID != panes[0].ID || left[1].Session != "dev-m0@team" {
		t.Errorf("panes %+v", left)
	}
}
