package engine

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Apply makes a plan happen: it takes the leases, plans again and compares
// fingerprints, journals and runs the steps, and gives the receipt. progress may
// be nil; it is called with the journal after each change.
//
// A refusal before the journal (blockers, a stale plan, a lease that somebody
// holds, a plan used before) is an error and changes nothing. Once the journal
// exists the answer is a receipt: what failed is told in it.
func (e *Engine) Apply(ctx context.Context, shown *Plan, progress func(OpProgress)) (*Receipt, error) {
	if !shown.Applicable() {
		return nil, blockedError(shown)
	}
	rec, err := e.apply(ctx, shown, progress)
	if err == nil {
		// Whoever changes something also ends what the window of a dead process keeps.
		if err := e.Expire(ctx); err != nil {
			e.d.Log.Warn("expire undo windows", "err", err)
		}
	}
	return rec, err
}

func (e *Engine) apply(ctx context.Context, shown *Plan, progress func(OpProgress)) (*Receipt, error) {
	if shown.Verb == VerbFinish || shown.Verb == VerbRollback {
		return e.applyRecovery(ctx, shown, progress)
	}
	if shown.Detached && e.d.Spawner != nil {
		return e.applyDetached(ctx, shown, progress)
	}
	return e.applyHere(ctx, shown, progress)
}

func blockedError(p *Plan) *Error {
	b := p.Blockers[0]
	target := b.Seat
	if target == "" {
		target = p.Target
	}
	err := &Error{Code: b.Code, Op: string(p.Verb), Target: target, Msg: b.Message, Hint: b.Hint}
	return err.With("blockers", p.Blockers)
}

// applyHere runs the plan in this process.
func (e *Engine) applyHere(ctx context.Context, shown *Plan, progress func(OpProgress)) (*Receipt, error) {
	return e.underLease(ctx, shown, progress, func(now *Plan) error {
		if now.Fingerprint() != shown.Fingerprint() {
			return staleError(shown, now)
		}
		return nil
	})
}

// underLease takes the leases of a plan, plans its request again, and runs that
// plan if it passes the check. Of shown it needs the id, the request, the operator
// and the leases.
func (e *Engine) underLease(ctx context.Context, shown *Plan, progress func(OpProgress), check func(now *Plan) error) (*Receipt, error) {
	l, err := e.takeLeases(ctx, shown)
	if err != nil {
		return nil, err
	}
	defer l.release()
	plan, err := e.plan(ctx, shown.Request, shown.ID)
	if err != nil {
		return nil, err
	}
	if plan.ID = shown.ID; !shown.CreatedAt.IsZero() {
		plan.CreatedAt = shown.CreatedAt
	}
	if err := check(plan); err != nil {
		return nil, err
	}
	r := &run{e: e, plan: plan, lease: l, progress: progress, evidence: map[string]Evidence{}}
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	stop := l.heartbeat(ctx)
	defer stop()
	r.units(ctx)
	return r.finish()
}

func staleError(shown, now *Plan) *Error {
	return Errorf(CodePlanStale, "the world moved since the plan was made").
		On(string(shown.Verb), shown.Target).
		WithHint("look at what moved, then plan again").
		With("moved", FactDiff(shown, now)).With("fingerprint", now.Fingerprint()).
		With("blockers", now.Blockers)
}

// applyDetached starts a process that outlives this one and follows its journal.
func (e *Engine) applyDetached(ctx context.Context, shown *Plan, progress func(OpProgress)) (*Receipt, error) {
	if err := e.spawn(ctx, shown); err != nil {
		return nil, err
	}
	return e.Follow(ctx, shown.ID, progress)
}

// spawn starts the process that applies a plan, and returns when it has begun.
func (e *Engine) spawn(ctx context.Context, shown *Plan) error {
	if err := e.refuseHeld(ctx, shown); err != nil {
		return err
	}
	t := Ticket{OpID: shown.ID, Request: shown.Request, Fingerprint: shown.Fingerprint(), Leases: shown.Leases, Basis: shown.Basis, Build: e.d.Build}
	t.Request.Operator = shown.Operator
	return e.d.Spawner.Spawn(ctx, t)
}

// ApplyTicket is the body of the detached process: it takes the ticket's leases,
// plans its request and applies it if that is still the plan of the ticket. A
// refusal before the journal is left on record as a failed operation, so that the
// follower learns of it. begun is called once, when the journal or the refusal is
// on record.
func (e *Engine) ApplyTicket(ctx context.Context, t Ticket, begun func()) (*Receipt, error) {
	var once sync.Once
	defer once.Do(begun)
	shown := &Plan{
		ID: t.OpID, Request: t.Request, Verb: t.Request.Verb, Target: t.Request.Target, Operator: t.Request.Operator,
		Leases: t.Leases, Basis: t.Basis,
	}
	rec, err := e.underLease(ctx, shown, func(OpProgress) { once.Do(begun) }, func(now *Plan) error {
		switch {
		case now.Fingerprint() != t.Fingerprint || !slices.Equal(now.Leases, t.Leases):
			return e.otherBuild(t, staleError(shown, now))
		case !now.Applicable():
			return blockedError(now)
		}
		return nil
	})
	if err != nil {
		return nil, e.recordRefusal(t, err)
	}
	return rec, nil
}

// Follow waits for an operation to end and gives its receipt. It returns
// CodeUnavailable with the operation's id when ctx ends first: the operation
// goes on.
func (e *Engine) Follow(ctx context.Context, opID string, progress func(OpProgress)) (*Receipt, error) {
	var seen int64 = -1
	var owner Owner
	var asked time.Time // when the owner was last looked for
	var blind time.Time // since when the record has given no answer
	started, wait := e.d.Clock.Now(), time.NewTimer(0)
	defer wait.Stop()
	for {
		began := e.d.Clock.Now()
		pace := min(max(followEvery, began.Sub(started)/followPart), followMost)
		now, err := e.d.Store.Changed(ctx)
		gave := err
		// A process that is killed changes nothing any more, so it is asked for too.
		moved := err == nil && now != seen
		if err == nil && !moved && Passed(asked, began, followOwner) {
			moved, asked = e.ownerDead(owner), began
		}
		if moved {
			op, steps, err := e.operation(ctx, opID, progress != nil)
			gave = err
			if err == nil { // else the next look tries again: a change is told once
				seen, owner = now, op.Owner
				if progress != nil {
					progress(OpProgress{op, steps})
				}
			}
			if CodeOf(err) == CodeNotFound {
				return nil, Errorf("operation_not_begun", "the detached process ended before it began; nothing was changed").On("follow", opID).
					WithHint("run the verb again; if it stays so, its log is logs/op-%s.log in RIG_HOME", opID)
			}
			if err == nil && op.State.Ended() {
				return receiptOf(op)
			}
			if err == nil && op.State == OpUnfinished && op.Owner.Left {
				return receiptOf(op)
			}
			if err == nil && op.State == OpUnfinished {
				return nil, Errorf(CodeOperationUnfinished, "the process that ran the operation has died").
					On(string(op.Verb), op.Target).
					WithHint("`rig op show %s` shows how far it came; then `%s`; its last words, if any, are in logs/op-%s.log of RIG_HOME",
						op.ID, closes(op.ID, op.Committed), op.ID)
			}
			pace = min(max(pace, followShare*e.d.Clock.Now().Sub(began)), followOwner)
		}
		switch {
		case gave == nil:
			blind = time.Time{}
		case blind.IsZero():
			blind = began
		case Passed(blind, began, followBlind) && ctx.Err() == nil:
			why := AsError(gave)
			return nil, Errorf(CodeUnavailable, "the record cannot be read, so nobody can tell what becomes of it: %s", why.Msg).On("follow", opID).Wrap(gave).
				WithHint("%s; `rig op show %s` tells once that is possible", why.Hint, opID)
		}
		wait.Reset(pace)
		select {
		case <-ctx.Done():
			return nil, Errorf(CodeUnavailable, "it is still running, and goes on without you").On("follow", opID).
				WithHint("`rig op show %s` shows how far it is", opID)
		case <-wait.C:
		}
	}
}

// How Follow paces itself. Twenty seats that launch side by side write a few
// hundred times a second: reading their journal each time would take from them
// the processor that they need, and so does asking too often whether it changed.
// The longer an operation has run, the less a part of that time matters.
const (
	followEvery = 5 * time.Millisecond
	followPart  = 40
	followMost  = 50 * time.Millisecond
	followOwner = 100 * time.Millisecond
	followBlind = 10 * time.Second // how long a record may give no answer
	followShare = 8                // a pause is this many times as long as the reading before it
)

// Operation gives an operation with its journal. An operation whose owner is
// proven dead reads as unfinished.
func (e *Engine) Operation(ctx context.Context, id string) (Operation, []OperationStep, error) {
	return e.operation(ctx, id, true)
}

// operation is Operation, without the journal for those who would not look at it.
func (e *Engine) operation(ctx context.Context, id string, journal bool) (Operation, []OperationStep, error) {
	var op Operation
	var steps []OperationStep
	read := func(r Reader) error {
		var err error
		if op, err = r.Operation(id); err != nil || !journal {
			return err
		}
		steps, err = r.Steps(id)
		return err
	}
	err := e.d.Store.Read(ctx, read)
	if err == nil && !op.State.Ended() && e.ownerDead(op.Owner) {
		// It may have ended the operation and gone since the row was read. Now
		// that it is gone the row is final.
		if err = e.d.Store.Read(ctx, read); err == nil && !op.State.Ended() {
			op.State = OpUnfinished
		}
	}
	return op, steps, err
}

// Operations lists operations, newest first, with unfinished ones named so.
func (e *Engine) Operations(ctx context.Context, f OperationFilter) ([]Operation, error) {
	var ops []Operation
	err := e.d.Store.Read(ctx, func(r Reader) error {
		var err error
		ops, err = r.Operations(f)
		return err
	})
	for i := range ops {
		if err == nil && !ops[i].State.Ended() && e.ownerDead(ops[i].Owner) {
			ops[i], _, err = e.Operation(ctx, ops[i].ID)
		}
	}
	return ops, err
}

// ownerDead reports positive proof that a process is gone: another boot, no such
// pid, or the pid belongs to a process that started at another time. Anything
// unclear is not proof.
func (e *Engine) ownerDead(o Owner) bool {
	if o.Left || o.PID == 0 {
		return o.Left
	}
	if boot := e.d.Procs.Boot(); o.Boot != "" && boot != "" && o.Boot != boot {
		return true
	}
	start, ok, err := e.d.Procs.Start(o.PID)
	if err != nil {
		return false
	}
	return !ok || (o.PIDStart != "" && start != o.PIDStart)
}
