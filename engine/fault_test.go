package engine_test

import (
	"context"
	"slices"
	"testing"

	"rig/engine"
	"rig/engine/enginetest"
)

// faulty is a runtime with a fault of its own: it panics.
type faulty struct {
	*enginetest.Runtime
	ready, activity bool
}

func (f faulty) Ready(ctx context.Context, p engine.Probe) engine.Readiness {
	if f.ready {
		panic("index out of range")
	}
	return f.Runtime.Ready(ctx, p)
}

func (f faulty) Activity(ctx context.Context, p engine.Probe) engine.Activity {
	if f.activity {
		panic("index out of range")
	}
	return f.Runtime.Activity(ctx, p)
}

// TestFaultInAStep: a fault of the program in one seat's step is the failure of that
// seat. What was begun for it is undone, the other seats come up, and the operation
// ends.
func TestFaultInAStep(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude, engine.RuntimeCodex)
	defer b.close(t)
	b.made.Runtimes[engine.RuntimeCodex] = faulty{Runtime: b.rt[engine.RuntimeCodex], ready: true}
	b.e = engine.New(b.made)
	rec := b.run(t, upRequest())
	if rec.OK || len(rec.Seats) != 2 {
		t.Fatalf("%+v", rec)
	}
	i := slices.IndexFunc(rec.Seats, func(s engine.SeatReceipt) bool { return s.Error != nil })
	if i < 0 || rec.Seats[i].Error.Code != engine.CodeInternal || rec.Seats[i].Error.Hint == "" || rec.Seats[1-i].Error != nil {
		t.Fatalf("%+v", rec.Seats)
	}
	if panes := b.mux.Panes(); len(panes) != 1 {
		t.Errorf("panes that stand: %+v", panes)
	}
	ops, err := b.e.Operations(t.Context(), engine.OperationFilter{})
	if err != nil || len(ops) != 1 || !ops[0].State.Ended() {
		t.Errorf("%+v, %v", ops, err)
	}
}

// TestFaultInALook: a fault in the judgement of one seat is unknown for that seat, and
// says so; the others are told as ever.
func TestFaultInALook(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude, engine.RuntimeCodex)
	defer b.close(t)
	if rec := b.run(t, upRequest()); !rec.OK {
		t.Fatalf("%+v", rec)
	}
	b.made.Runtimes[engine.RuntimeCodex] = faulty{Runtime: b.rt[engine.RuntimeCodex], activity: true}
	b.e = engine.New(b.made)
	f, err := b.e.Fleet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, s := range f.Seats() {
		if s.Activity.Code == engine.CodeInternal {
			told++
			if s.Activity.State != engine.ActivityUnknown || s.Activity.Why == "" {
				t.Errorf("%s: %+v", s.Address, s.Activity)
			}
		} else if s.Activity.State == engine.ActivityUnknown {
			t.Errorf("%s: %+v", s.Address, s.Activity)
		}
	}
	if told != 1 {
		t.Errorf("%d seats are told as unknown for a fault", told)
	}
}
