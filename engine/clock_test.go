package engine_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"rig/engine"
	"rig/engine/enginetest"
	"rig/store"
)

// settable is the machine's clock as somebody has set it.
type settable struct{ ahead atomic.Int64 }

// Now implements engine.Clock.
func (c *settable) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())).UTC() }

// TestAFollowerNoticesADeathAfterTheClockWasSetBack: how long ago the owner was asked for is not known any more, so it is asked for again.
func TestAFollowerNoticesADeathAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	looks, clock := 0, &settable{}
	clock.ahead.Store(int64(3 * 365 * 24 * time.Hour))
	e := followedBy(t, clock, func(_ *store.DB, procs *enginetest.Procs, pid int) {
		switch looks++; {
		case looks == 6:
			clock.ahead.Store(0)
		case looks > 6 && pid == 77:
			procs.Die(77)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := e.Follow(ctx, "01OP", nil); engine.CodeOf(err) != "operation_unfinished" {
		t.Fatalf("error %v; want that the process has died", err)
	}
}

// moving is a tmux with a control connection whose panes show another line at each look.
type moving struct {
	*enginetest.Mux
	n *atomic.Int64
}

// Inventory implements engine.Mux.
func (m moving) Inventory(ctx context.Context) engine.Inventory {
	inv := m.Mux.Inventory(ctx)
	inv.Path = "control"
	return inv
}

// Capture implements engine.Mux.
func (m moving) Capture(_ context.Context, reqs []engine.CaptureRequest) ([]engine.CaptureResult, error) {
	var out []engine.CaptureResult
	for _, r := range reqs {
		out = append(out, engine.CaptureResult{Pane: r.Pane, Screen: engine.Screen{Lines: []string{fmt.Sprint("line ", m.n.Add(1))}}})
	}
	return out, nil
}

// TestLivePanesGoOnAfterTheClockWasSetBack: a console that is open when the clock is set right goes on to draw what its panes show, and
// to ask the other servers that seats are on.
func TestLivePanesGoOnAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	clock := &settable{}
	clock.ahead.Store(int64(24 * time.Hour))
	b.moveAway(t, engine.Inventory{Server: engine.Unknown})
	b.deps.Clock, b.deps.Config.PollEvery = clock, 50*time.Millisecond
	b.deps.Mux = moving{b.mux, &atomic.Int64{}}
	w := engine.New(b.deps).Watcher()
	feed, frames := w.Subscribe(), w.Frames()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	go w.Run(ctx)
	w.Focus([]string{b.seat(t, "dev.m1").ID})
	take := func(what string) {
		for i := 0; i < 6; i++ {
			select {
			case <-frames:
			case <-ctx.Done():
				t.Fatalf("only %d frames %s", i, what)
			}
		}
	}
	take("before the clock was set")
	clock.ahead.Store(0)
	take("after it")
	b.mux.SetOther(otherSocket, engine.Inventory{Server: engine.Absent})
	for {
		select {
		case f := <-feed:
			if len(f.Sockets) == 2 && f.Sockets[1].State == engine.Absent {
				return
			}
		case <-ctx.Done():
			t.Fatal("the other server was not asked again")
		}
	}
}

// TestPassed: a moment that is ahead is of a clock that was set back.
func TestPassed(t *testing.T) {
	at := time.Date(2026, 3, 3, 10, 0, 0, 0, time.UTC)
	for past, want := range map[time.Duration]bool{0: false, 999 * time.Millisecond: false, time.Second: true, time.Hour: true, -time.Millisecond: true, -time.Hour: true} {
		if got := engine.Passed(at, at.Add(past), time.Second); got != want {
			t.Errorf("%s later: %v", past, got)
		}
	}
	if !engine.Passed(time.Time{}, at, time.Hour) {
		t.Error("never is long ago")
	}
}
