package engine_test

import (
	"context"
	"testing"

	"rig/engine"
)

// A pane with a seat's tags is explained by a binding, an open operation or an undo window. One that nothing explains is named.
func TestStraysAreWhatNothingExplains(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	seat := b.seat(t, "dev.m0")
	want := func(when string, panes ...engine.PaneID) {
		t.Helper()
		found, err := b.e.Strays(context.Background())
		if err != nil || len(found) != len(panes) {
			t.Fatalf("%s: %+v, %v", when, found, err)
		}
		for i, s := range found {
			if s.Pane != panes[i] || s.Seat != "dev-m0@team" && s.Seat != "gone" {
				t.Errorf("%s: %+v", when, s)
			}
		}
	}
	want("all is well")
	b.mux.Put(engine.Pane{ID: "%70", Session: "mine"})
	b.mux.Put(engine.Pane{ID: "%71", Session: "_rig-OLD", Seat: seat.ID, Gen: "2", Op: "OLD"})
	b.mux.Put(engine.Pane{ID: "%72", Session: "_rig-OLD2", Seat: "gone", Gen: "1"})
	b.mux.Put(engine.Pane{ID: "%73", Session: "_rig-OLD3", Seat: seat.ID, Gen: "1", Dead: true})
	want("two are left", "%71", "%72")
	b.mux.Drop("%71")
	b.mux.Drop("%72")
	b.run(t, handoverRequest("dev.m0", "fresh")) // which keeps the incumbent
	want("an incumbent is kept")
	b.mux.State = engine.Unknown
	want("no answer")
}
