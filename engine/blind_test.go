package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"rig/engine"
	"rig/engine/enginetest"
)

// blindMux is a tmux that tells of one pane what cannot be read.
type blindMux struct {
	*enginetest.Mux
	hidden *atomic.Value // engine.PaneID
}

// hide leaves the pane out of an inventory.
func (m blindMux) hide(inv engine.Inventory) engine.Inventory {
	id, _ := m.hidden.Load().(engine.PaneID)
	for i, p := range inv.Panes {
		if p.ID == id {
			inv.Panes = append(inv.Panes[:i], inv.Panes[i+1:]...)
			inv.Faults = []string{"a row that cannot be read"}
			break
		}
	}
	return inv
}

// Inventory implements engine.Mux.
func (m blindMux) Inventory(ctx context.Context) engine.Inventory {
	return m.hide(m.Mux.Inventory(ctx))
}

// Look implements engine.Mux.
func (m blindMux) Look(ctx context.Context, reqs []engine.CaptureRequest) (engine.Inventory, []engine.CaptureResult) {
	inv, shots := m.Mux.Look(ctx, reqs)
	return m.hide(inv), shots
}

// TestWhatTmuxDoesNotTellIsNotGone: a row that cannot be read may be any pane. No window is closed on it, no undo is refused as
// impossible, and no session of somebody's is called vanished.
func TestWhatTmuxDoesNotTellIsNotGone(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	var off time.Duration
	var hidden atomic.Value
	b.made.Clock, b.made.Mux = setClock{b.made.Clock, &off}, blindMux{b.mux, &hidden}
	b.e = engine.New(b.made)
	b.run(t, upRequest())
	rec := b.run(t, handoverRequest("dev.m0", "fresh"))
	b.mux.Put(engine.Pane{ID: "%88", PID: 88, Session: "mine"})
	if _, err := b.e.Discover(context.Background(), true); err != nil {
		t.Fatal(err)
	}
	hidden.Store(engine.PaneID("%88"))
	if found, err := b.e.Discover(context.Background(), true); err != nil || len(found) != 1 || found[0].Status != "active" {
		t.Errorf("%v %+v", err, found)
	}
	hidden.Store(b.paneOf(t, "1").ID)
	p, err := b.e.Plan(context.Background(), request(engine.VerbUndo, rec.Operation.ID, struct{}{}))
	if err != nil || len(p.Blockers) != 1 || p.Blockers[0].Code != engine.CodeTmuxProbeFailed {
		t.Errorf("%v %+v", err, p.Blockers)
	}
	off = time.Hour
	for _, open := range []bool{true, false} {
		if err := b.e.Expire(context.Background()); err != nil {
			t.Fatal(err)
		}
		if op, _, err := b.e.Operation(context.Background(), rec.Operation.ID); err != nil || op.UndoUntil.IsZero() == open || len(b.kept()) == 0 == open {
			t.Errorf("open %v: %v %s", open, err, op.UndoUntil)
		}
		hidden.Store(engine.PaneID(""))
	}
	if n := len(b.mux.Panes()); n != 2 {
		t.Errorf("%d panes are left", n)
	}
}

// blindStore is a record whose occupants cannot be read, when it is so.
type blindStore struct {
	engine.Store
	blind *atomic.Bool
}

// Read implements engine.Store.
func (s blindStore) Read(ctx context.Context, fn func(engine.Reader) error) error {
	return s.Store.Read(ctx, func(r engine.Reader) error { return fn(blindReader{r, s.blind}) })
}

type blindReader struct {
	engine.Reader
	blind *atomic.Bool
}

// Sessions implements engine.Reader.
func (r blindReader) Sessions(seatID string) ([]engine.Session, error) {
	if r.blind.Load() {
		return nil, enginetest.ErrInjected
	}
	return r.Reader.Sessions(seatID)
}

// TestARecordThatCannotBeReadDoesNotSayThatNobodyHasAConversation: a session is not adopted then, because it may have another seat's open,
// and not when it is known to.
func TestARecordThatCannotBeReadDoesNotSayThatNobodyHasAConversation(t *testing.T) {
	t.Parallel()
	for _, blind := range []bool{true, false} {
		b := newBench(t, t.TempDir(), engine.RuntimeClaude, engine.RuntimeClaude)
		defer b.close(t)
		var hidden atomic.Bool
		b.made.Store = blindStore{b.made.Store, &hidden}
		b.e = engine.New(b.made)
		b.run(t, upRequest())
		theirs := b.token(t, "dev.m0")
		b.run(t, withReason(request(engine.VerbSeatStop, "dev.m1", struct{}{})))
		b.mux.Put(engine.Pane{ID: "%88", PID: 88, Session: "mine"})
		found, err := b.e.Discover(context.Background(), true)
		if err != nil || len(found) != 1 {
			t.Fatalf("%v %+v", err, found)
		}
		b.rt[engine.RuntimeClaude].Named = func(engine.Probe) engine.Identity {
			hidden.Store(blind)
			return engine.Identity{Token: engine.NewResumeToken(theirs), Proven: true, Provenance: engine.ProvenanceHook, Why: "its file"}
		}
		p, err := b.e.Plan(t.Context(), request(engine.VerbAdopt, "dev.m1", engine.AdoptArgs{Discovered: found[0].ID}))
		hidden.Store(false)
		if err != nil || p.Applicable() || !blind && p.Blockers[0].Code != engine.CodeForeignToken {
			t.Errorf("blind %v: %v %+v", blind, err, p)
		}
		if got := b.token(t, "dev.m1"); got == theirs {
			t.Errorf("blind %v: it holds %q", blind, got)
		}
	}
}

func withReason(r engine.Request) engine.Request {
	r.Reason = "a test"
	return r
}
