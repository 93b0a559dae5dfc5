package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"rig/engine"
	"rig/engine/enginetest"
)

// unseen is a terminal whose screens cannot be read.
type unseen struct{ *enginetest.Mux }

// Look implements engine.Mux.
func (m unseen) Look(ctx context.Context, reqs []engine.CaptureRequest) (engine.Inventory, []engine.CaptureResult) {
	inv, _ := m.Mux.Look(ctx, nil)
	shots, _ := m.Capture(ctx, reqs)
	return inv, shots
}

// Capture implements engine.Mux.
func (unseen) Capture(_ context.Context, reqs []engine.CaptureRequest) ([]engine.CaptureResult, error) {
	out := make([]engine.CaptureResult, len(reqs))
	for i, r := range reqs {
		out[i] = engine.CaptureResult{Pane: r.Pane, Err: enginetest.ErrInjected}
	}
	return out, nil
}

// seeing is a patient whose box is read from what its screen shows.
type seeing struct{ *patient }

func (s seeing) InputBox(screen engine.Screen) (string, bool) { return "", len(screen.Lines) > 0 }

// A box that cannot be read may hold somebody's draft: nothing is typed, whatever the
// client does, and the seat's sender is told how to make it readable.
func TestNothingIsTypedIntoABoxThatCannotBeRead(t *testing.T) {
	for _, state := range []engine.ActivityState{engine.ActivityIdle, engine.ActivityBusy, engine.ActivityLimit, engine.ActivityUnknown} {
		w := newMail(t, func(w *ward) { w.deps.Config.VerifyTimeout = time.Second })
		w.set(func(p *patient) { p.state, p.unread = state, 1<<20 })
		w.typed()
		d, err := w.e.Send(t.Context(), "dev.m0", "$", true)
		if engine.CodeOf(err) != engine.CodeDraftUnknown || d.Outcome != "" || w.typed() != 0 || !strings.Contains(engine.AsError(err).Hint, "rig attach dev-m0@team") {
			t.Errorf("%s: %v %+v", state, err, d)
		}
	}
	w := newMail(t, func(w *ward) {
		w.deps.Mux = unseen{w.mux}
		w.deps.Runtimes = map[engine.RuntimeName]engine.Runtime{engine.RuntimeClaude: seeing{w.patient}}
	})
	w.typed()
	_, err := w.e.Send(t.Context(), "dev.m0", "$", true)
	if engine.CodeOf(err) != engine.CodeDraftUnknown || w.typed() != 0 || !strings.Contains(err.Error(), "screen") {
		t.Errorf("no screen: %v", err)
	}
}

// A client that draws its box at the moment of the look is looked at again, and a shell has
// no box to read.
func TestABoxThatIsBeingDrawnIsWaitedFor(t *testing.T) {
	w := newMail(t, func(*ward) {})
	w.set(func(p *patient) { p.unread = 2 })
	if d, err := w.e.Send(t.Context(), "dev.m0", "$", true); err != nil || d.Outcome != engine.OutcomeDelivered {
		t.Errorf("%v %+v", err, d)
	}
	w.set(func(p *patient) { p.unread, p.draft = 2, "half a sentence" })
	if _, err := w.e.Send(t.Context(), "dev.m0", "$", true); engine.CodeOf(err) != engine.CodeDraftPresent {
		t.Error(err)
	}
	w.set(func(p *patient) { p.unread, p.draft = 2, "" })
	if p, err := w.e.Plan(t.Context(), compactRequest(engine.CompactArgs{})); err != nil || len(p.Blockers) != 0 {
		t.Errorf("%v %+v", err, p.Blockers)
	}
	b := newSeatBench(t)
	if _, err := b.e.Send(t.Context(), "dev.m1", "$", false); err != nil {
		t.Errorf("a shell: %v", err)
	}
}

// A compaction waits for a box that cannot be read for as long as for one with a draft, and
// says at the end what was in the way.
func TestACompactionWaitsForABoxThatCanBeRead(t *testing.T) {
	w := newMail(t, func(*ward) {})
	w.deps.Config.VerifyTimeout = 1e6
	w.e = engine.New(w.deps)
	p, err := w.e.Plan(t.Context(), compactRequest(engine.CompactArgs{SkipMap: true}))
	if err != nil {
		t.Fatal(err)
	}
	w.typed()
	rec, err := w.e.Apply(t.Context(), p, func(engine.OpProgress) { // once it has begun
		w.set(func(p *patient) { p.unread = 1 << 20 })
	})
	if n := w.typed(); err != nil || rec.Error == nil || rec.Error.Code != engine.CodeDraftUnknown || n != 0 {
		t.Errorf("%v %+v", err, rec)
	}
}
