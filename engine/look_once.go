package engine

import (
	"context"
	"sync"
	"sync/atomic"
)

// Fleet looks once at everything and gives the picture: what `rig ps` prints.
func (e *Engine) Fleet(ctx context.Context) (*Fleet, error) {
	o := e.newObserver()
	if err := o.first(ctx, nil); err != nil {
		return nil, err
	}
	return o.lookOnce(ctx), nil
}

// first reads the whole record and every pane. found sees the record before the
// panes have come; its error ends the look.
func (o *observer) first(ctx context.Context, found func() error) error {
	return o.beside(ctx, o.e.d.Mux.Inventory, func() error {
		o.readRecord(ctx)
		if o.recErr != nil || found == nil {
			return o.recErr
		}
		return found()
	})
}

// beside reads the record and, at the same time, the panes: a process that looks
// once waits for both. An error of the record ends the look.
func (o *observer) beside(ctx context.Context, panes func(context.Context) Inventory, record func() error) error {
	o.once = true
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	early := make(chan Inventory, 1)
	go func() { early <- panes(ctx) }()
	if err := record(); err != nil {
		cancel()
		<-early // no look at panes outlives its caller
		return err
	}
	// What the panes will be compared with is read while tmux still writes.
	for _, b := range o.rec.Bindings {
		if len(early) > 0 {
			break
		}
		_, _, _ = o.e.glance(b.PanePID) // who needs the answer asks again, and hears the error
	}
	o.inv, o.live = <-early, true
	return nil
}

// lookOnce reads what first has not read, and builds the picture.
func (o *observer) lookOnce(ctx context.Context) *Fleet {
	o.readOwners()
	if !o.inPlace() {
		o.readPanes(ctx)
	}
	o.inv.Elsewhere = o.e.askElsewhere(ctx, o.rec.Bindings)
	o.judge(ctx, true)
	o.readEnds(o.e.d.Clock.Now())
	f, _ := o.picture()
	return f
}

// inPlace reports whether the panes that were read beside the record show every
// occupant alive. Anything else may only be younger than that look, such as a seat
// whose occupant came or moved meanwhile: the panes must then be read once more,
// after the record. An answer that there was none is one of these.
func (o *observer) inPlace() bool {
	if !o.live || o.inv.Server != Present {
		return false
	}
	at := make(map[PaneID]int, len(o.inv.Panes))
	for i := range o.inv.Panes {
		at[o.inv.Panes[i].ID] = i
	}
	for _, b := range o.rec.Bindings {
		if b.Socket != "" && b.Socket != o.e.d.Mux.Socket() {
			continue // its server is asked after the record
		}
		i, is := at[b.Pane]
		if !is || b.Epoch != o.inv.Epoch || o.inv.Panes[i].Seat != b.SeatID || o.inv.Panes[i].Dead {
			return false
		}
	}
	return true
}

// A look that is a process's only one is spread over a few workers, because
// somebody waits for it. The loop of a console reads one after the other, which
// costs less in all.
const (
	lookWorkers = 4
	lookSpread  = 16 // occupants under which workers do not pay
)

// each calls fn for 0 … n-1, which must not depend on each other.
func (o *observer) each(n int, fn func(i int)) {
	if !o.once || n < lookSpread {
		for i := range n {
			fn(i)
		}
		return
	}
	var next atomic.Int64
	var all sync.WaitGroup
	for range lookWorkers {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				fn(i)
			}
		})
	}
	all.Wait()
}

// glancer is what the process table offers a look: an answer that may be as old as
// the round it is part of. Nothing that acts on a process may use it.
type glancer interface {
	Glance(pid int) (start string, alive bool, err error)
}

// glance is Processes.Start for a look.
func (e *Engine) glance(pid int) (string, bool, error) {
	if g, ok := e.d.Procs.(glancer); ok {
		return g.Glance(pid)
	}
	return e.d.Procs.Start(pid)
}
