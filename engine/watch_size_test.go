package engine_test

import (
	"context"
	"testing"
	"time"

	"rig/engine"
	"rig/engine/enginetest"
)

// still is a tmux with a control connection whose panes always show the same line.
type still struct {
	*enginetest.Mux
	events chan engine.MuxEvent
}

// Inventory implements engine.Mux.
func (m still) Inventory(ctx context.Context) engine.Inventory {
	inv := m.Mux.Inventory(ctx)
	inv.Path = "control"
	return inv
}

// Capture implements engine.Mux.
func (m still) Capture(_ context.Context, reqs []engine.CaptureRequest) ([]engine.CaptureResult, error) {
	var out []engine.CaptureResult
	for _, r := range reqs {
		out = append(out, engine.CaptureResult{Pane: r.Pane, Screen: engine.Screen{Lines: []string{"ready"}}})
	}
	return out, nil
}

// Watch implements engine.Mux.
func (m still) Watch(context.Context) <-chan engine.MuxEvent { return m.events }

// TestAFrameNamesThePanesSizeAlsoWhereOnlyThatChanged: a viewer that attaches changes the size of a pane whose text stays as it is.
func TestAFrameNamesThePanesSizeAlsoWhereOnlyThatChanged(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	mux := still{b.mux, make(chan engine.MuxEvent)}
	b.deps.Mux = mux
	w := engine.New(b.deps).Watcher()
	frames := w.Frames()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	go w.Run(ctx)
	seat := b.seat(t, "dev.m1")
	w.Focus([]string{seat.ID})
	until := func(cols int) {
		for {
			select {
			case f := <-frames:
				if f.Cols == cols {
					return
				}
			case <-ctx.Done():
				t.Fatalf("no frame of %d columns came", cols)
			}
		}
	}
	for _, cols := range []int{91, 47} {
		for _, p := range b.mux.Panes() {
			p.Width = cols
			b.mux.Put(p)
		}
		select {
		case mux.events <- engine.MuxEvent{}:
		case <-ctx.Done():
			t.Fatal("nobody listens")
		}
		until(cols)
	}
}
