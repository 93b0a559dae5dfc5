package engine

import "context"

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
	return reading{rt: rt, activity: rt.Activity(ctx, *p), usage: rt.Usage(ctx, *p), identity: o.e.paneIdentity(*p, b, o.e.glance)}
}
