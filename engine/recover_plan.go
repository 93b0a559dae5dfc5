package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// The verbs that close an operation whose process died half-way.
const (
	VerbFinish   Verb = "op finish"
	VerbRollback Verb = "op rollback"
)

// Step kinds of closing a cut-off operation. They name what the dry run lists;
// applying it runs the operation's own steps, whose journal goes on.
const (
	StepUndoBegun StepKind = "undo_begun_step"
	StepDoRest    StepKind = "do_remaining_step"
	StepCloseOp   StepKind = "close_operation"
)

func planFinish(ctx context.Context, e *Engine, _ *world, p *Plan) error {
	return e.planRecover(ctx, p, true)
}

func planRollback(ctx context.Context, e *Engine, _ *world, p *Plan) error {
	return e.planRecover(ctx, p, false)
}

// planRecover plans the end of a cut-off operation: what is undone in reverse,
// what is done after all, and what stands. It takes no leases, because the
// operation still holds its own, which the apply takes over.
func (e *Engine) planRecover(ctx context.Context, p *Plan, finish bool) error {
	op, steps, err := e.Operation(ctx, p.Request.Target)
	if err != nil {
		return err
	}
	was := &Plan{}
	if err := json.Unmarshal(op.Plan, was); err != nil {
		return Errorf(CodeRecordDamaged, "the plan of the operation cannot be read").On(string(p.Verb), op.ID).Wrap(err).
			WithHint("`rig op show %s --json`", op.ID)
	}
	probed, err := e.ProbeOperation(ctx, op.ID)
	if err != nil {
		return err
	}
	p.Target = cmp.Or(op.Target, op.ID)
	p.Command = CommandLine("rig", "op", "rollback", op.ID)
	if finish {
		p.Command = CommandLine("rig", "op", "finish", op.ID)
	}
	p.AddFact("operation/"+op.ID, string(op.State))
	r := &recovery{e: e, p: p, op: op, finish: finish, state: map[string]StepState{}, probed: map[string]Probed{}}
	for i, st := range steps {
		r.state[st.StepID], r.probed[st.StepID] = st.State, probed[i]
		p.AddFact("step/"+st.StepID, string(st.State)+" "+string(probed[i].State))
	}
	list, _ := groupUnits(was)
	for _, u := range list {
		r.unit(u)
	}
	r.block()
	p.Phases = append(p.Phases, Phase{ID: "close", Title: "Close the operation", Steps: []Step{{
		ID: "close", Kind: StepCloseOp, Effect: EffectCommit, Title: "record how it ended, give its seats free, and the event",
	}}})
	p.Changes = append(p.Changes, Change{Field: string(op.Verb) + " of " + p.Target, Before: string(op.State), After: r.after()})
	return nil
}

// recovery is the planning of one.
type recovery struct {
	e      *Engine
	p      *Plan
	op     Operation
	finish bool
	state  map[string]StepState // as journaled
	probed map[string]Probed    // as found in the world
	stands int                  // units that are committed
	open   int                  // units that are not
}

// unit adds what becomes of one unit: a committed one stands, and finishing does
// what is left of it; of another one, what began is undone.
func (r *recovery) unit(u *unit) {
	committed := false
	for _, s := range u.steps {
		committed = committed || s.Effect == EffectCommit && r.state[s.ID] == StepDone
	}
	ph := Phase{ID: "undo/" + u.id, Title: "Undo what began" + ofUnit(u.id)}
	if committed {
		r.stands++
		ph = Phase{ID: "finish/" + u.id, Title: "Do what is left" + ofUnit(u.id)}
	} else {
		r.open++
	}
	for _, s := range u.steps {
		switch st := r.state[s.ID]; {
		case committed && st == StepDone:
		case committed && r.finish && (st == StepPending || st == StepStarted):
			ph.Steps = append(ph.Steps, r.step("do/", StepDoRest, s, s.Effect, s.Title))
		case !committed && r.e.steps[s.Kind].undo != nil && (st == StepStarted || st == StepDone || st == StepFailed || st == StepUnknown):
			ph.Steps = append(ph.Steps, r.step("undo/", StepUndoBegun, s, EffectOneWay, "undo “"+s.Title+"”"+r.howFar(s.ID)))
		}
	}
	if committed {
		r.p.Unchanged = append(r.p.Unchanged, "what is committed"+ofUnit(u.id))
	} else {
		slices.Reverse(ph.Steps)
	}
	if len(ph.Steps) > 0 {
		r.p.Phases = append(r.p.Phases, ph)
	}
}

// after says how the operation stands once it is closed.
func (r *recovery) after() string {
	switch {
	case !r.finish:
		return "rolled back"
	case r.stands == 0:
		return "closed, with what began undone"
	case r.open > 0:
		return "closed: committed parts stand, the others are not run"
	}
	return "closed, with what is left of it done"
}

func ofUnit(id string) string {
	if id == "" {
		return ""
	}
	return " of " + id
}

func (r *recovery) step(prefix string, kind StepKind, s Step, effect Effect, title string) Step {
	p := r.probed[s.ID]
	if p.State == StepUnknown && p.Why != "" {
		r.p.Warnings = append(r.p.Warnings, fmt.Sprintf("how far “%s” came cannot be told: %s", s.Title, p.Why))
	}
	return Step{
		ID: prefix + s.ID, Kind: kind, Seat: s.Seat, Effect: effect, Title: title,
		Args: map[string]string{"operation": r.op.ID, "found": string(p.State)},
	}
}

// howFar says what a look at the world found of a step that the journal knows as
// begun.
func (r *recovery) howFar(id string) string {
	if st := r.state[id]; st != StepStarted && st != StepUnknown {
		return ""
	}
	switch r.probed[id].State {
	case StepPending:
		return " (it had not happened)"
	case StepDone:
		return " (it had happened)"
	case StepStarted, StepFailed, StepUndone, StepUnknown, StepSkipped:
	}
	return " (how far it came is not known)"
}

func (r *recovery) block() {
	switch op := r.op; {
	case op.State.Ended():
		r.p.Block(Errorf(CodeOperationEnded, "the operation is %s", op.State).WithHint("there is nothing left to finish or to roll back; `rig op show %s`", op.ID))
	case op.State != OpUnfinished:
		r.p.Block(Errorf(CodeInProgress, "the operation is still running (process %d)", op.Owner.PID).WithHint("`rig op show %s` follows it", op.ID))
	case !r.finish && r.open == 0 && r.stands > 0:
		r.p.Block(Errorf("already_committed", "all of it is committed: there is no way back any more").
			WithHint("`rig op finish %s` does what is left", op.ID))
	case r.finish && r.stands == 0:
		r.p.Warnings = append(r.p.Warnings, "none of it was committed: finishing it undoes what began, as a rollback does")
	}
}

// applyRecovery closes a cut-off operation as the shown plan says. The operation's
// own journal goes on; a second apply finds it ended.
func (e *Engine) applyRecovery(ctx context.Context, shown *Plan, progress func(OpProgress)) (*Receipt, error) {
	now, err := e.plan(ctx, shown.Request, "")
	if err != nil {
		return nil, err
	}
	if now.Fingerprint() != shown.Fingerprint() {
		return nil, staleError(shown, now)
	}
	by := closer{operator: shown.Operator, reason: shown.Reason}
	if shown.Verb == VerbFinish {
		return e.finish(ctx, shown.Request.Target, by, progress)
	}
	return e.rollback(ctx, shown.Request.Target, by, progress)
}

// closer is who closes a cut-off operation, and why.
type closer struct {
	operator Operator
	reason   string
}
