package engine

import (
	"cmp"
	"context"
	"strings"
	"sync"
)

// SeatView looks at one seat and gives it as the picture shows it. The picture
// that comes with it is of that seat alone: of others it holds only what the seat's
// own view stands on.
func (e *Engine) SeatView(ctx context.Context, ref string) (*SeatView, *Fleet, error) {
	return e.seatView(ctx, ref, func(SeatName, Reader) error { return nil })
}

// SeatInFull is a seat with what is not in its picture.
type SeatInFull struct {
	*SeatView
	Fleet     *Fleet    // the picture of that seat alone
	Occupants []Session // through time, newest first
	Tenures   []Tenure
	Drift     SpecDrift
}

// SeatInFull is SeatView, SeatHistory and SpecDrift together. The spec is read while
// the record is, and while tmux is asked.
func (e *Engine) SeatInFull(ctx context.Context, ref string) (SeatInFull, error) {
	var out SeatInFull
	var beside sync.WaitGroup
	var spec ownSpec
	var seat Seat
	var rig Rig
	view, fleet, err := e.seatView(ctx, ref, func(name SeatName, r Reader) (err error) {
		beside.Go(func() {
			spec.err = e.contain("look", ref, func() error {
				spec = e.specOf(ctx, name.SpecPath)
				return spec.err
			})
		})
		if seat, err = r.Seat(name.ID); err != nil {
			return err
		}
		if rig, err = r.Rig(seat.RigID); err != nil {
			return err
		}
		out.Occupants, out.Tenures, err = history(r, name.ID)
		return err
	})
	beside.Wait()
	if err == nil {
		out.Drift = spec.drift(rig, seat)
	}
	out.SeatView, out.Fleet = view, fleet
	return out, err
}

// seatView is SeatView; found learns the seat, on the same view of the record, before
// the rest of it has been read and tmux has answered.
func (e *Engine) seatView(ctx context.Context, ref string, found func(SeatName, Reader) error) (*SeatView, *Fleet, error) {
	parsed, err := ParseSeatRef(ref)
	if err != nil {
		return nil, nil, err
	}
	o := e.newObserver()
	err = o.beside(ctx, func(ctx context.Context) Inventory { return e.named(ctx, parsed) }, func() (err error) {
		o.only, err = o.readSeat(ctx, ref, parsed, found)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	f := o.lookOnce(ctx)
	return f.Seat(o.only), f, nil
}

// seatAmongAll is SeatView with a picture of every seat; the others have no
// readings.
func (e *Engine) seatAmongAll(ctx context.Context, ref string) (*SeatView, *Fleet, error) {
	o := e.newObserver()
	var seat Seat
	err := o.first(ctx, func() (err error) {
		seat, err = o.world(e.d.Clock.Now()).seat(ref)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	o.only = seat.ID // the files of the others are not read: nobody asked
	f := o.lookOnce(ctx)
	return f.Seat(seat.ID), f, nil
}

// named reads the panes of the sessions that a seat of this reference has if
// nobody gave them other names. That a pane is not among them says nothing.
func (e *Engine) named(ctx context.Context, ref SeatRef) Inventory {
	name := strings.Replace(ref.Member, ".", "-", 1) // no name holds a dot
	return e.d.Mux.InventoryOf(ctx, name+"@"+cmp.Or(ref.Rig, "*"))
}

// readSeat reads what the record says of one seat, and gives its id.
func (o *observer) readSeat(ctx context.Context, ref string, parsed SeatRef, then func(SeatName, Reader) error) (id string, err error) {
	err = o.e.d.Store.Read(ctx, func(r Reader) error {
		found, err := r.SeatsMatching(parsed)
		if err != nil {
			return err
		}
		name, err := oneSeat(ref, found)
		if err != nil {
			return err
		}
		id = name.ID
		if err := then(name, r); err != nil {
			return err
		}
		if o.rec, err = r.RecordOf(id); err != nil {
			return err
		}
		if o.managed, err = managedStates(r, o.rec); err != nil {
			return err
		}
		o.steps, err = stepsOf(r, o.rec.Open)
		return err
	})
	return id, err
}

// processJudge is what a runtime offers that judges by the process alone: neither
// the pane's screen nor the reports of hooks change what it says.
type processJudge interface {
	ByProcess() bool
}

// plain reports whether an occupant is judged by its process alone.
func (o *observer) plain(p *Probe) bool {
	rt, ok := o.e.d.Runtimes[p.Seat.Runtime].(processJudge)
	return ok && rt.ByProcess()
}

// reports reads the files in which an occupant's supervisor and client report.
func (o *observer) reports(p *Probe) {
	var err error
	if p.Run, p.RunKnown, err = o.e.d.Occupants.RunState(p.Session.ID); err != nil {
		o.e.d.Log.Debug("run state", "seat", p.Address, "err", err)
	}
	p.Run, p.RunKnown = currentRun(p.Session, p.Run, p.RunKnown)
	if o.plain(p) {
		return
	}
	if p.Signals, err = o.e.d.Occupants.Signals(p.Session.ID); err != nil {
		o.e.d.Log.Debug("signals", "seat", p.Address, "err", err)
	}
}

// reading is what one look at an occupant gave; without a runtime, nothing.
type reading struct {
	rt       Runtime
	activity Activity
	usage    Usage
	identity PaneIdentity
}

// read judges one occupant. It changes nothing but the probe, so that several may
// be read at once.
func (o *observer) read(ctx context.Context, p *Probe, b Binding) reading {
	rt, err := o.e.runtime(p.Seat.Runtime)
	if err != nil {
		return reading{}
	}
	p.Screen = o.screens[p.Seat.ID]
	var got reading
	err = o.e.contain("look", p.Address, func() error {
		got = reading{activity: rt.Activity(ctx, *p), usage: rt.Usage(ctx, *p), identity: o.e.paneIdentity(*p, b, o.e.glance)}
		return nil
	})
	if err != nil {
		e := AsError(err)
		got = reading{
			activity: Activity{Reading: Reading{State: ActivityUnknown, Why: e.Msg, Code: e.Code, Source: "rig", At: p.Now, Confidence: ConfidenceNone}},
			usage:    Usage{Note: e.Msg}, identity: PaneIdentity{Session: p.Session.ID, Pane: p.Pane.ID, Why: e.Msg},
		}
	}
	got.rt = rt
	return got
}
