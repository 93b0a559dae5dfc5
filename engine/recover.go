package engine

import (
	"context"
	"encoding/json"
	"slices"
	"sync/atomic"
)

// resumeRun rebuilds a run from the journal of an operation, under its leases,
// so that what is left of it can be undone or finished.
func (e *Engine) resumeRun(ctx context.Context, opID string, by closer, progress func(OpProgress)) (*run, error) {
	op, steps, err := e.Operation(ctx, opID)
	if err != nil {
		return nil, err
	}
	if op.State.Ended() {
		return nil, Errorf(CodeOperationEnded, "the operation is %s", op.State).On("op", opID).WithHint("there is nothing left to finish or to roll back; `rig op show %s`", opID)
	}
	if op.State != OpUnfinished {
		return nil, Errorf(CodeInProgress, "the operation is still running (process %d)", op.Owner.PID).On("op", opID).
			WithHint("`rig op show %s` follows it", opID)
	}
	plan := &Plan{ID: op.ID, Verb: op.Verb, Target: op.Target, Reason: op.Reason}
	if err := json.Unmarshal(op.Plan, plan); err != nil {
		return nil, Errorf(CodeRecordDamaged, "the plan of the operation cannot be read").On("op", opID).Wrap(err).WithHint("`rig op show %s --json`", opID)
	}
	if by.operator.Name == "" {
		by.operator = e.Operator()
	}
	r, err := e.reread(ctx, op, steps, plan)
	if err != nil {
		return nil, err
	}
	r.progress, r.by, r.takenUp = progress, by, true
	return r, r.takeOver(ctx)
}

// reread makes a run of what the journal of an operation says. It holds no lease.
func (e *Engine) reread(ctx context.Context, op Operation, steps []OperationStep, plan *Plan) (*run, error) {
	r := &run{e: e, plan: plan, op: op, journal: steps, index: map[string]int{}, evidence: map[string]Evidence{}}
	for i, s := range steps {
		r.index[s.StepID] = i
		var ev Evidence
		if len(s.Evidence) > 0 && json.Unmarshal(s.Evidence, &ev) == nil {
			r.evidence[s.StepID] = ev
		}
	}
	return r, r.findSeats(ctx)
}

// findSeats maps the addresses of the plan's steps to rows, where they exist.
func (r *run) findSeats(ctx context.Context) error {
	w, err := r.e.look(ctx)
	if err != nil {
		return err
	}
	for _, s := range w.rec.Seats {
		r.memory.Store("seatid/"+w.address(s), s.ID)
	}
	return nil
}

// takeOver moves the operation's leases to this process. The old owner is proven
// dead; its fencing number is void from now on.
func (r *run) takeOver(ctx context.Context) error {
	l := &leases{e: r.e, opID: r.op.ID, owner: r.e.d.Procs.Self(r.e.Operator().Name)}
	err := r.e.d.Store.Write(ctx, func(tx Tx) error {
		op, err := tx.Operation(r.op.ID)
		if err != nil {
			return err
		}
		if op.State.Ended() || !r.e.ownerDead(op.Owner) {
			return Errorf(CodeInProgress, "somebody else took the operation up").On("op", op.ID).WithHint("`rig op show %s`", op.ID)
		}
		held, err := tx.Leases()
		if err != nil {
			return err
		}
		if l.fence, err = tx.NextFence(); err != nil {
			return err
		}
		now := r.e.d.Clock.Now()
		for _, h := range held {
			if h.OpID != op.ID {
				continue
			}
			l.keys = append(l.keys, h.Key)
			h.Owner, h.Fence, h.GrantedAt, h.ExpiresAt = l.owner, l.fence, now, now.Add(r.e.d.Config.LeaseTTL)
			if err := tx.PutLease(h); err != nil {
				return err
			}
		}
		op.Owner = l.owner
		err = tx.UpdateOperation(&op)
		op.State = OpRunning
		r.op = op
		return err
	})
	r.lease = l
	return err
}

// Probed is how far one step of a cut-off operation came.
type Probed struct {
	Step  string    `json:"step"`
	Title string    `json:"title"`
	Seat  string    `json:"seat,omitempty"`
	State StepState `json:"state"`
	Why   string    `json:"why,omitempty"`
}

// ProbeOperation says of each step of an operation whether it is done, not done
// or unknown, by looking at the world. It changes nothing.
func (e *Engine) ProbeOperation(ctx context.Context, opID string) ([]Probed, error) {
	op, steps, err := e.Operation(ctx, opID)
	if err != nil {
		return nil, err
	}
	plan := &Plan{ID: op.ID, Verb: op.Verb, Target: op.Target}
	if err := json.Unmarshal(op.Plan, plan); err != nil {
		plan.Phases = nil
	}
	r, err := e.reread(ctx, op, steps, plan)
	if err != nil {
		return nil, err
	}
	byID := map[string]Step{}
	for _, s := range plan.Steps() {
		byID[s.ID] = s
	}
	out := make([]Probed, 0, len(steps))
	for _, st := range steps {
		p := Probed{Step: st.StepID, Title: st.Title, Seat: st.Seat, State: st.State}
		if st.State == StepStarted {
			p.State, p.Why = r.probe(ctx, byID[st.StepID], st)
		}
		out = append(out, p)
	}
	return out, nil
}

// probe says how far a step came that was under way when its process ended.
func (r *run) probe(ctx context.Context, s Step, st OperationStep) (state StepState, why string) {
	switch x := r.e.steps[st.Kind]; {
	case x.probe != nil:
		state, err := x.probe(ctx, r, s)
		if err != nil {
			return StepUnknown, err.Error()
		}
		return state, ""
	case x.commit != nil:
		return StepPending, "its transaction did not commit"
	case st.Effect == EffectNone:
		return StepPending, "it changes nothing"
	}
	return StepUnknown, "nothing tells whether it happened"
}

// Rollback undoes what a cut-off operation did before its commit, unit by unit.
// Units that committed stand.
func (e *Engine) Rollback(ctx context.Context, opID string, progress func(OpProgress)) (*Receipt, error) {
	return e.rollback(ctx, opID, closer{}, progress)
}

func (e *Engine) rollback(ctx context.Context, opID string, by closer, progress func(OpProgress)) (*Receipt, error) {
	r, err := e.resumeRun(ctx, opID, by, progress)
	if err != nil {
		return nil, err
	}
	defer r.lease.release()
	list, _ := groupUnits(r.plan)
	return r.withdraw(ctx, list)
}

// withdraw undoes what began of the units that did not commit, and closes the operation.
func (r *run) withdraw(ctx context.Context, list []*unit) (*Receipt, error) {
	for _, u := range list {
		if r.unitCommitted(u) {
			r.recall(u)
			continue
		}
		begun := r.begun(u, StepStarted, StepDone, StepFailed, StepUnknown)
		r.unwind(ctx, begun)
		if len(begun) > 0 && begun[0].Seat != "" {
			r.settle(SeatReceipt{Seat: begun[0].Seat, Binding: BindingUnchanged, Action: r.undone()})
		}
	}
	return r.conclude(OpRolledBack, "operation.rolled_back")
}

// begun gives the steps of a unit that the journal has in one of some states.
func (r *run) begun(u *unit, states ...StepState) []Step {
	var out []Step
	for _, s := range u.steps {
		if slices.Contains(states, r.journal[r.index[s.ID]].State) {
			out = append(out, s)
		}
	}
	return out
}

// Finish closes a cut-off operation whose commit happened: what came after the
// commit is done now, and what never began stays undone and is named.
func (e *Engine) Finish(ctx context.Context, opID string, progress func(OpProgress)) (*Receipt, error) {
	return e.finish(ctx, opID, closer{}, progress)
}

func (e *Engine) finish(ctx context.Context, opID string, by closer, progress func(OpProgress)) (*Receipt, error) {
	r, err := e.resumeRun(ctx, opID, by, progress)
	if err != nil {
		return nil, err
	}
	defer r.lease.release()
	list, _ := groupUnits(r.plan)
	state := OpDone
	if !slices.ContainsFunc(list, r.unitCommitted) { // there is nothing to finish
		return r.withdraw(ctx, list)
	}
	for _, u := range list {
		if !r.unitCommitted(u) {
			state = OpPartial
			r.unwind(ctx, r.begun(u, StepStarted, StepDone, StepFailed, StepUnknown))
			r.skipPending(ctx, u)
			continue
		}
		for _, s := range u.steps {
			if st := r.journal[r.index[s.ID]].State; st != StepPending && st != StepStarted {
				continue
			}
			if err := r.step(ctx, s); err != nil {
				state = OpPartial
				r.fail(ctx, u, s, err)
			}
		}
		r.recall(u)
	}
	if state == OpDone && !allClean(r.seats) { // as for one that was never cut off
		state = OpPartial
	}
	return r.conclude(state, "operation.finished")
}

func (r *run) skipPending(ctx context.Context, u *unit) {
	for _, s := range u.steps {
		if r.journal[r.index[s.ID]].State == StepPending {
			if err := r.note(ctx, s, StepSkipped, nil, nil); err != nil {
				r.warn(err.Error())
			}
		}
	}
	if len(u.steps) > 0 && u.steps[0].Seat != "" && !r.hasFailed(u.steps[0].Seat) {
		r.settle(SeatReceipt{
			Seat: u.steps[0].Seat, Binding: BindingUnchanged, Action: "not_started",
			Error: Errorf(CodeCancelled, "its part was cut off before its commit").WithHint("run the verb again for this seat"),
		})
	}
}

// unitCommitted reports whether a unit's commit step is on record as done.
func (r *run) unitCommitted(u *unit) bool {
	for _, s := range u.steps {
		if s.Effect == EffectCommit && r.journal[r.index[s.ID]].State == StepDone {
			return true
		}
	}
	return false
}

// conclude closes a recovered operation with its receipt and event.
func (r *run) conclude(state OpState, event string) (*Receipt, error) {
	r.mu.Lock()
	rec := &Receipt{
		OK: state != OpPartial && len(r.warnings) == 0, Outcome: string(state), Seats: append([]SeatReceipt{}, r.seats...),
		Warnings: r.warnings, Operation: ReceiptOp{r.op.ID, state, r.e.d.Build},
	}
	if len(r.failed) > 0 {
		rec.Error = AsError(r.failed[0].err)
	}
	op, open := r.op, r.open
	if open {
		r.mu.Unlock()
		return rec, r.leaveOpen(rec)
	}
	tried := r.judgeHandover(rec)
	r.mu.Unlock()
	at := r.e.d.Clock.Now()
	var eventSeq atomic.Int64
	told := *rec
	err := r.lastWrite(func(tx Tx, l *leases) error {
		seq, err := tx.AppendEvent(Event{
			At: at, Type: event, OpID: op.ID, RigID: op.RigID, SeatID: op.SeatID, Operator: r.by.operator.String(),
			Payload: mustJSON(map[string]any{"verb": op.Verb, "target": op.Target, "state": state, "warnings": rec.Warnings, "reason": r.by.reason}),
		})
		if err != nil {
			return err
		}
		eventSeq.Store(seq)
		now := told
		now.EventSeq = seq
		if err := r.closeHandover(tx, tried); err != nil {
			return err
		}
		end := op
		end.State, end.EndedAt, end.Receipt = state, at, mustJSON(now)
		if now.Error != nil {
			end.Error = now.Error.Error()
		}
		if err := tx.UpdateOperation(&end); err != nil {
			return err
		}
		return l.giveBack(tx)
	}, state != OpRolledBack)
	rec.EventSeq = eventSeq.Load()
	op.State, op.EndedAt, op.Receipt = state, at, mustJSON(rec)
	r.mu.Lock()
	if err == nil {
		r.op = op
	}
	r.mu.Unlock()
	r.tell()
	return rec, err
}
