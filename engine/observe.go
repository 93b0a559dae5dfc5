package engine

import (
	"context"
	"reflect"
	"sync"
	"time"
)

// screenNeeder is what a runtime offers when some of its judgements need the
// pane's screen; others are judged without a capture.
type screenNeeder interface {
	NeedsScreen(p Probe) bool
}

// changeSource is what a runtime offers when it can tell that its clients' files
// moved, so that idle seats need no reading.
type changeSource interface {
	Changes() <-chan struct{}
}

// observer keeps what the picture needs between looks: the record, the
// inventory, and each seat's newest reading.
type observer struct {
	e *Engine

	mu        sync.Mutex // guards last, which other goroutines read; the rest belongs to the loop
	rec       *Record
	recMark   int64
	recErr    error
	inv       Inventory
	others    others
	found     []DiscoveredSession
	live      bool
	unseen    time.Time // since when the server, which did answer, does not
	activity  map[string]Activity
	since     map[string]time.Time
	usage     map[string]Usage
	identity  map[string]PaneIdentity
	foreign   map[string][]int     // processes outside a seat that have its conversation open
	looked    map[string]time.Time // when a seat was last judged
	moved     map[string]time.Time // pane activity at that judgement
	screens   map[string]Screen
	recent    []Event
	steps     map[string][]OperationStep
	undoable  []Operation
	managed   map[string]ManagedState
	dead      map[string]bool
	last      *Fleet
	kept      samples
	ends      endings
	tape      *tape     // nil: nothing is recorded
	snoozed   time.Time // when the next snooze in the last picture ends; zero = none
	pollEvery time.Duration
	only      string // when not empty: the one seat whose occupant is read
	once      bool   // this is the only look: nothing was read before
	indexed   *world // of rec
}

func (e *Engine) newObserver() *observer {
	return &observer{
		e: e, recMark: -1, activity: map[string]Activity{}, since: map[string]time.Time{}, usage: map[string]Usage{},
		identity: map[string]PaneIdentity{}, foreign: map[string][]int{},
		looked: map[string]time.Time{}, moved: map[string]time.Time{}, screens: map[string]Screen{},
		steps: map[string][]OperationStep{}, dead: map[string]bool{}, rec: &Record{}, kept: newSamples(), pollEvery: e.d.Config.PollEvery,
	}
}

// world gives the record and the panes of this moment. The index is made once for
// a record, which nobody changes.
func (o *observer) world(now time.Time) *world {
	if o.indexed == nil || o.indexed.rec != o.rec {
		o.indexed = &world{rec: o.rec}
		o.indexed.index()
	}
	w := *o.indexed
	w.inv, w.now = o.inv, now
	return &w
}

// recentEvents is how many events a picture carries.
const recentEvents = 50

// readRecord reads the record anew if it changed; true when it did.
func (o *observer) readRecord(ctx context.Context) bool {
	var mark int64
	var err error
	if !o.once { // whoever looks once need not know what comes after, nor open a connection for it
		mark, err = o.e.d.Store.Changed(ctx)
	}
	if err == nil && mark == o.recMark && o.recErr == nil {
		return false
	}
	var rec *Record
	var recent []Event
	var steps map[string][]OperationStep
	var undoable []Operation
	var managed map[string]ManagedState
	var found []DiscoveredSession
	if err == nil {
		err = o.e.d.Store.Read(ctx, func(r Reader) error {
			var err error
			if rec, err = r.Record(); err != nil {
				return err
			}
			if recent, err = r.Events(EventFilter{Newest: true, Limit: recentEvents}); err != nil {
				return err
			}
			if undoable, err = undoableOps(r, o.e.d.Clock.Now()); err != nil {
				return err
			}
			if found, err = r.AllDiscovered(); err != nil {
				return err
			}
			if managed, err = managedStates(r, rec); err != nil {
				return err
			}
			steps, err = stepsOf(r, rec.Open)
			return err
		})
	}
	if err != nil {
		changed := o.recErr == nil
		o.recErr = err
		return changed
	}
	o.rec, o.recMark, o.recErr, o.recent, o.steps, o.undoable = rec, mark, nil, recent, steps, undoable
	o.found, o.managed = found, managed
	return true
}

// stepsOf reads the journals of operations.
func stepsOf(r Reader, ops []Operation) (map[string][]OperationStep, error) {
	steps := make(map[string][]OperationStep, len(ops))
	for _, op := range ops {
		var err error
		if steps[op.ID], err = r.Steps(op.ID); err != nil {
			return nil, err
		}
	}
	return steps, nil
}

// readOwners asks whether the owners of open operations still live.
func (o *observer) readOwners() bool {
	dead := map[string]bool{}
	for _, op := range o.rec.Open {
		if o.e.ownerDead(op.Owner) {
			dead[op.ID] = true
		}
	}
	if reflect.DeepEqual(dead, o.dead) {
		return false
	}
	o.dead = dead
	return true
}

// readPanes reads the inventory; true when something in it differs.
func (o *observer) readPanes(ctx context.Context) bool {
	inv := o.e.d.Mux.Inventory(ctx)
	same := o.live && inv.Server == o.inv.Server && inv.Epoch == o.inv.Epoch && inv.Path == o.inv.Path &&
		reflect.DeepEqual(inv.Panes, o.inv.Panes)
	inv.Elsewhere = o.inv.Elsewhere
	switch {
	case inv.Server != Unknown:
		o.unseen = time.Time{}
	case o.live && o.inv.Server != Unknown:
		o.unseen = o.e.d.Clock.Now()
	}
	o.inv, o.live = inv, true
	return !same
}

// judge reads the occupants whose evidence may have moved; true when any answer
// differs from before.
func (o *observer) judge(ctx context.Context, all bool) bool {
	now := o.e.d.Clock.Now()
	w := o.world(now)
	probes := o.probes(w, now, all)
	if len(probes) == 0 {
		return false
	}
	o.tape.before(probes, o.screens)
	o.capture(ctx, probes)
	read := make([]reading, len(probes))
	o.each(len(probes), func(i int) { read[i] = o.read(ctx, probes[i], w.bindings[probes[i].Seat.ID]) })
	changed, held := false, opsBySeat(o.rec)
	for i, p := range probes {
		r := &read[i]
		if r.rt == nil {
			continue
		}
		old, had := o.activity[p.Seat.ID]
		by := held[p.Seat.ID] // what a picture says of one whom an operation stopped, the recorder says too
		o.tape.looked(p, frozen(by, o.dead, old), frozen(by, o.dead, r.activity), had, o.looked[p.Seat.ID])
		changed = o.keep(p, r.activity, r.usage, now) || changed
		o.watchCompaction(ctx, r.rt, p)
		changed = o.keepIdentity(p.Seat.ID, r.identity) || changed
		o.looked[p.Seat.ID], o.moved[p.Seat.ID] = now, p.Pane.Activity
	}
	if all {
		changed = o.findHolders(ctx, probes) || changed
	}
	return changed
}

// keep stores a reading; true when it says something new.
func (o *observer) keep(p *Probe, act Activity, usage Usage, now time.Time) bool {
	seatID := p.Seat.ID
	old, had := o.activity[seatID]
	if !had || old.State != act.State || old.Code != act.Code || anew(act, o.since[seatID]) {
		o.since[seatID] = began(act, p.Pane, now)
	}
	oldUsage := o.usage[seatID]
	o.activity[seatID], o.usage[seatID] = act, usage
	return !had || !reflect.DeepEqual(old, act) || !reflect.DeepEqual(oldUsage, usage)
}

// anew reports that a state which was seen before has begun once more since: between two
// looks a whole turn may have passed, or a question been answered and another one asked. While
// somebody works his source's time moves on with every step, so that says nothing.
func anew(act Activity, since time.Time) bool {
	return act.State != ActivityBusy && act.Confidence == ConfidenceHigh && act.At.After(since)
}

// began says since when a state has lasted, from what every process can read, so
// that two consoles and a command line tell the same: the source's own time, else
// that of another source which says the same, else the pane's last output.
func began(act Activity, pane Pane, now time.Time) time.Time {
	at := act.At
	for _, other := range act.Competing {
		if at.IsZero() && other.State == act.State {
			at = other.At
		}
	}
	if at.IsZero() {
		at = pane.Activity
	}
	if at.IsZero() || at.After(now) {
		return now
	}
	return at
}

// probes lists the occupants to look at now: all of them when something that no
// pane shows may have moved, else those whose pane moved or whose time has come.
func (o *observer) probes(w *world, now time.Time, all bool) []*Probe {
	var out []*Probe
	for _, s := range o.rec.Seats {
		if o.only != "" && s.ID != o.only {
			continue
		}
		at := w.locate(s.ID)
		if at.presence != Present || at.dead {
			if at.presence != Unknown {
				o.tape.gone(s, o.activity[s.ID], o.screens[s.ID].Lines, at.why, now)
			}
			delete(o.activity, s.ID)
			delete(o.identity, s.ID)
			delete(o.screens, s.ID)
			delete(o.looked, s.ID)
			continue
		}
		due := all && !o.restful(s, w.latest[s.ID].ID, at.pane.ID, now) || !o.moved[s.ID].Equal(at.pane.Activity) || o.looked[s.ID].IsZero() || o.unsettled(s.ID, at.pane)
		if wake := o.activity[s.ID].Wake; !wake.IsZero() && !wake.After(now) {
			due = true
		}
		if !due {
			continue
		}
		session := w.latest[s.ID]
		p := &Probe{
			Seat: s, Address: w.address(s), Session: session, Pane: at.pane, Started: session.CreatedAt, Now: now,
		}
		out = append(out, p)
	}
	o.each(len(out), func(i int) { o.reports(out[i]) })
	return out
}

// restEvery is how often an occupant is looked at again that is judged by its process
// alone, while its pane does not move.
const restEvery = 3 * time.Second

// restful reports that a round over all seats can leave one out: what its process
// does shows in its pane, which did not move, or in the end of the pane, which tmux
// tells of. What is left, such as a stop from outside, can wait for the next look.
func (o *observer) restful(s Seat, session string, pane PaneID, now time.Time) bool {
	rt, ok := o.e.d.Runtimes[s.Runtime].(processJudge)
	since := now.Sub(o.looked[s.ID])
	return ok && rt.ByProcess() && since >= 0 && since < restEvery && o.identity[s.ID].of(session, pane)
}

// unsettled reports whether the last look at a pane may have come before its last
// output: activity has a resolution of a second, so one more look is owed after it.
func (o *observer) unsettled(seatID string, pane Pane) bool {
	return o.looked[seatID].Before(pane.Activity.Add(2 * time.Second))
}

// capture takes the screens that judgements need, in one exchange: those of
// panes that moved, and those that a runtime asks for.
func (o *observer) capture(ctx context.Context, probes []*Probe) {
	var reqs []CaptureRequest
	owner := map[PaneID]string{}
	for _, p := range probes {
		if o.tape == nil && o.plain(p) {
			continue // nobody would look at it
		}
		_, have := o.screens[p.Seat.ID]
		moved := !o.moved[p.Seat.ID].Equal(p.Pane.Activity) || o.unsettled(p.Seat.ID, p.Pane)
		rt := o.e.d.Runtimes[p.Seat.Runtime]
		n, asks := rt.(screenNeeder)
		if have && !moved && (!asks || !n.NeedsScreen(*p)) {
			continue
		}
		reqs = append(reqs, CaptureRequest{Pane: p.Pane.ID, Faint: hasBox(rt)})
		owner[p.Pane.ID] = p.Seat.ID
	}
	if len(reqs) == 0 {
		return
	}
	shots, err := o.e.d.Mux.Capture(ctx, reqs)
	if err != nil {
		o.e.d.Log.Debug("capture", "err", err)
		return
	}
	for _, s := range shots {
		if s.Err == nil {
			o.screens[owner[s.Pane]] = s.Screen
		}
	}
}

// picture builds the fleet and gives it a new revision if it shows anything new.
func (o *observer) picture() (*Fleet, bool) {
	now := o.e.d.Clock.Now()
	f := BuildFleet(FleetInput{
		Record: o.rec, Inv: o.inv, Live: o.live, Unseen: o.unseen, Socket: o.e.d.Mux.Socket(), Console: o.e.d.Self.Socket, Found: o.found, Activity: o.activity, Since: o.since, Ended: o.ends.at,
		Usage: o.usage, Identity: o.identity, Foreign: o.foreign, Dead: o.dead, Undoable: o.undoable, Steps: o.steps, Managed: o.managed, Recent: o.recent, Now: now, world: o.world(now),
	})
	if o.recErr != nil {
		f.RecordErr = o.recErr.Error()
	}
	o.snoozed = snoozeEnd(f.Attention)
	if o.last != nil && shown(o.last, f) {
		return o.last, false
	}
	f.Revision = 1
	if o.last != nil {
		f.Revision = o.last.Revision + 1
	}
	o.mu.Lock()
	o.last = f
	o.mu.Unlock()
	return f, true
}

// shown reports whether two pictures show the same: everything but the moment
// they were taken and the clock of each pane.
func shown(a, b *Fleet) bool {
	x, y := *a, *b
	x.At, y.At = time.Time{}, time.Time{}
	x.Revision, y.Revision = 0, 0
	x.bySeat, y.bySeat = nil, nil
	x.Rigs, y.Rigs = nil, nil
	if len(a.Rigs) != len(b.Rigs) || !reflect.DeepEqual(x, y) {
		return false
	}
	for i := range a.Rigs {
		if !sameRig(&a.Rigs[i], &b.Rigs[i]) {
			return false
		}
	}
	return true
}

func sameRig(a, b *RigView) bool {
	x, y := *a, *b
	x.Seats, y.Seats = nil, nil
	if len(a.Seats) != len(b.Seats) || !reflect.DeepEqual(x, y) {
		return false
	}
	for i := range a.Seats {
		s, t := a.Seats[i], b.Seats[i]
		s.PaneActivity, t.PaneActivity = time.Time{}, time.Time{}
		s.Activity.Wake, t.Activity.Wake = time.Time{}, time.Time{}
		if !reflect.DeepEqual(s, t) {
			return false
		}
	}
	return true
}
