package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// executor is how one kind of step happens. Do may be called once; Undo must
// cope with a Do that half happened; Probe says after a crash how far it came.
// Commit replaces Do for commit steps: it runs inside the transaction that also
// journals the step.
type executor struct {
	do     func(ctx context.Context, r *run, s Step) (Evidence, error)
	commit func(ctx context.Context, r *run, s Step, tx Tx) (Evidence, error)
	undo   func(ctx context.Context, r *run, s Step) error
	probe  func(ctx context.Context, r *run, s Step) (StepState, error)
}

// unit is the phases that succeed or are undone together.
type unit struct {
	id     string
	needs  []string
	after  []string
	steps  []Step
	done   chan struct{}
	failed bool
}

// units runs the plan's units, each as soon as those before it allow, and waits
// for all of them.
func (r *run) units(ctx context.Context) {
	list, byID := groupUnits(r.plan)
	slots := make(chan struct{}, r.e.d.Config.Parallel)
	var wg sync.WaitGroup
	for _, u := range list {
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer close(u.done)
			if !awaitUnits(ctx, u, byID) {
				u.failed = true
				r.skip(ctx, u)
				return
			}
			slots <- struct{}{}
			defer func() { <-slots }()
			u.failed = !r.unit(ctx, u)
		}()
	}
	wg.Wait()
	r.sight().settle()
}

func groupUnits(p *Plan) ([]*unit, map[string]*unit) {
	var list []*unit
	byID := map[string]*unit{}
	for _, ph := range p.Phases {
		u := byID[ph.Unit]
		if u == nil {
			u = &unit{id: ph.Unit, done: make(chan struct{})}
			byID[ph.Unit] = u
			list = append(list, u)
		}
		u.needs = append(u.needs, ph.Needs...)
		u.after = append(u.after, ph.After...)
		u.steps = append(u.steps, ph.Steps...)
	}
	return list, byID
}

// awaitUnits waits for the units that u comes after; false when one that it
// needs has failed or the caller gave up.
func awaitUnits(ctx context.Context, u *unit, byID map[string]*unit) bool {
	for _, id := range u.needs {
		if n := byID[id]; n != nil && n != u {
			<-n.done
			if n.failed {
				return false
			}
		}
	}
	for _, id := range u.after {
		if n := byID[id]; n != nil && n != u {
			<-n.done
		}
	}
	return ctx.Err() == nil
}

// skip journals a unit that never started.
func (r *run) skip(ctx context.Context, u *unit) {
	for _, s := range u.steps {
		if err := r.note(ctx, s, StepSkipped, nil, nil); err != nil {
			r.e.d.Log.Error("journal", "op", r.op.ID, "step", s.ID, "err", err)
		}
	}
	if len(u.steps) > 0 && u.steps[0].Seat != "" && !r.hasFailed(u.steps[0].Seat) {
		err := Errorf(CodeCancelled, "not started: something that it needs failed").
			WithHint("see the first error of this receipt")
		r.settle(SeatReceipt{Seat: u.steps[0].Seat, Outcome: ContinuityFailed, Action: "not_started", Error: err})
	}
}

// hasFailed reports whether the receipt tells of a failure of a seat already: what
// came of it does not hide why.
func (r *run) hasFailed(seat string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.seats, func(s SeatReceipt) bool { return s.Seat == seat && s.Error != nil })
}

// unit runs the steps of one unit. Before its commit a failure is undone in
// reverse, the failed step included; after it nothing is unwound.
func (r *run) unit(ctx context.Context, u *unit) bool {
	committed := false
	for i, s := range u.steps {
		if ctx.Err() != nil && !committed {
			r.fail(ctx, u, s, Errorf(CodeCancelled, "cancelled").Wrap(ctx.Err()).WithHint("nothing was changed; run it again"))
			r.unwind(ctx, u.steps[:i])
			return false
		}
		err := r.step(ctx, s)
		if err == nil {
			committed = committed || s.Effect == EffectCommit
			continue
		}
		r.fail(ctx, u, s, err)
		if !committed {
			r.unwind(ctx, u.steps[:i+1])
		} else {
			for _, rest := range u.steps[i+1:] {
				if err := r.note(ctx, rest, StepSkipped, nil, nil); err != nil {
					r.e.d.Log.Error("journal", "op", r.op.ID, "err", err)
				}
			}
		}
		return false
	}
	return true
}

// step journals and runs one step.
func (r *run) step(ctx context.Context, s Step) error {
	x, ok := r.e.steps[s.Kind]
	if !ok {
		return Errorf(CodeInternal, "no executor for step kind %q", s.Kind)
	}
	if err := r.note(ctx, s, StepStarted, nil, nil); err != nil {
		return err
	}
	r.e.onStep("before", s)
	defer r.e.onStep("after", s)
	if x.commit != nil {
		return r.commitStep(ctx, x, s)
	}
	var ev Evidence
	err := r.e.contain("step "+s.ID, s.Seat, func() (err error) { ev, err = x.do(ctx, r, s); return err })
	if err != nil {
		if jerr := r.note(ctx, s, StepFailed, ev, err); jerr != nil {
			return errors.Join(err, jerr)
		}
		return err
	}
	return r.note(ctx, s, StepDone, ev, nil)
}

func (e *Engine) onStep(when string, s Step) {
	if e.d.OnStep != nil {
		e.d.OnStep(when, s)
	}
}

// commitStep runs a commit step: its rows, its event, the journal entry and the
// operation's mark stand or fall together.
func (r *run) commitStep(ctx context.Context, x executor, s Step) error {
	var ev Evidence
	var op Operation
	err := r.lease.fenced(context.WithoutCancel(ctx), func(tx Tx) error {
		tx.Durable()
		err := r.e.contain("step "+s.ID, s.Seat, func() (err error) { ev, err = x.commit(ctx, r, s, tx); return err })
		if err != nil {
			return err
		}
		r.mu.Lock()
		st := r.journal[r.index[s.ID]]
		r.mu.Unlock()
		st.State, st.EndedAt, st.Evidence = StepDone, r.e.d.Clock.Now(), mustJSON(ev)
		if err := tx.PutStep(st); err != nil {
			return err
		}
		if op, err = tx.Operation(r.plan.ID); err != nil || op.Committed {
			return err
		}
		op.Committed = true
		return tx.UpdateOperation(&op)
	})
	if err != nil {
		return errors.Join(err, r.note(ctx, s, StepFailed, nil, err))
	}
	r.mu.Lock()
	if op.Version > r.op.Version { // nothing of it holds before the transaction does
		r.op.Version, r.op.UndoUntil, r.op.RigID = op.Version, op.UndoUntil, op.RigID
	}
	r.op.Committed = true
	r.mu.Unlock()
	r.mark(s, StepDone, ev, nil)
	r.tell()
	return nil
}

// unwind undoes steps in reverse on a context that a cancel does not reach.
func (r *run) unwind(ctx context.Context, steps []Step) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 60*time.Second)
	defer cancel()
	for i := len(steps) - 1; i >= 0; i-- {
		s := steps[i]
		x := r.e.steps[s.Kind]
		if x.undo == nil {
			r.leaveOff(ctx, s)
			continue
		}
		state := StepUndone
		err := r.e.contain("undo of step "+s.ID, s.Seat, func() error { return x.undo(ctx, r, s) })
		if err != nil {
			state = StepUnknown
			r.untold(err)
			r.warn("could not undo “" + s.Title + "”: " + err.Error())
		}
		if jerr := r.note(ctx, s, state, nil, err); jerr != nil {
			r.e.d.Log.Error("journal", "op", r.op.ID, "step", s.ID, "err", jerr)
		}
		r.tell()
	}
}

// leaveOff closes the entry of a step that nobody undoes and that was under way when its
// process ended, so that what is closed never reads as running.
func (r *run) leaveOff(ctx context.Context, s Step) {
	st := r.journal[r.index[s.ID]]
	if st.State != StepStarted {
		return
	}
	var said error
	state, why := r.probe(ctx, s, st)
	switch state {
	case StepPending, StepUndone:
		state = StepSkipped
	case StepUnknown:
		said = Errorf(CodeCancelled, "cut off: %s", why)
	}
	if err := r.note(ctx, s, state, nil, said); err != nil {
		r.e.d.Log.Error("journal", "op", r.op.ID, "step", s.ID, "err", err)
	}
}

// fail remembers a unit's failure and puts it on record: the seat keeps its last
// error, and the audit log an event.
func (r *run) fail(ctx context.Context, u *unit, s Step, err error) {
	r.mu.Lock()
	r.failed = append(r.failed, unitFailure{u.id, s.Seat, s, err})
	r.mu.Unlock()
	e := AsError(err)
	name := s.Seat
	if s.Seat != "" {
		r.settle(SeatReceipt{Seat: name, Outcome: ContinuityFailed, Binding: BindingUnchanged, Error: e, Evidence: e.Details})
	}
	jerr := r.lease.fenced(context.WithoutCancel(ctx), func(tx Tx) error {
		ev := Event{
			At: r.e.d.Clock.Now(), Type: "operation.step_failed", OpID: r.op.ID, Operator: r.op.Operator, Seat: name,
			Payload: mustJSON(map[string]any{
				"verb": r.op.Verb, "step": s.ID, "title": s.Title, "code": e.Code, "error": e.Error(), "evidence": e.Details,
			}),
		}
		if id, ok := r.seatID(s); ok {
			seat, err := tx.Seat(id)
			if err != nil {
				return err
			}
			seat.LastError, seat.UpdatedAt = e.Error(), r.e.d.Clock.Now()
			if len(r.restores()) > 0 {
				seat.Continuity, seat.LastError = ContinuityFailed, e.Msg+" → "+e.Hint
			}
			ev.SeatID, ev.RigID = seat.ID, seat.RigID
			if err := tx.UpdateSeat(&seat); err != nil {
				return err
			}
		}
		_, err := tx.AppendEvent(ev)
		return err
	})
	if jerr != nil {
		r.e.d.Log.Error("record failure", "op", r.op.ID, "err", jerr)
	}
}
