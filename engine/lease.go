package engine

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// leases is what one operation holds.
type leases struct {
	e     *Engine
	opID  string
	owner Owner
	mu    sync.Mutex
	keys  []string
	fence int64
	added []string // by the transaction under way; they count when it stands
}

// takeLeases grants every lease of a plan in one transaction, or none.
func (e *Engine) takeLeases(ctx context.Context, p *Plan) (*leases, error) {
	l := &leases{e: e, opID: p.ID, keys: append([]string(nil), p.Leases...)}
	l.owner = e.d.Procs.Self(p.Operator.Name)
	l.owner.Verb = p.Verb
	err := e.d.Store.Write(ctx, func(tx Tx) error {
		if _, used, err := lookup(tx.Operation(p.ID)); err != nil {
			return err
		} else if used {
			return Errorf(CodePlanUsed, "this plan was applied before").On(string(p.Verb), p.Target).
				WithHint("plan again; `rig op show %s` shows what it did", p.ID)
		}
		fence, err := tx.NextFence()
		if err != nil {
			return err
		}
		l.fence = fence
		if err := e.noteBuild(tx); err != nil {
			return err
		}
		for _, key := range l.keys {
			if err := e.grant(tx, key, l); err != nil {
				return err
			}
		}
		return e.dropLeft(tx)
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// dropLeft takes away the leases that processes left behind which died before their
// operation began or after it ended: nobody else may ever want that key.
func (e *Engine) dropLeft(tx Tx) error {
	all, err := tx.Leases()
	if err != nil {
		return err
	}
	for _, held := range all {
		left, err := e.leftBehind(tx, held)
		if err == nil && left {
			err = tx.DeleteLease(held.Key, held.OpID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// leftBehind reports proof that a lease protects nothing any more.
func (e *Engine) leftBehind(r Reader, held Lease) (bool, error) {
	if !e.ownerDead(held.Owner) {
		return false, nil
	}
	op, began, err := lookup(r.Operation(held.OpID))
	return err == nil && (!began || op.State.Ended()), err
}

// grant writes one lease row, or refuses with who holds it. A dead holder whose
// operation has ended leaves nothing behind, so its lease is taken over; a dead
// holder of an unfinished operation must be finished or rolled back first.
func (e *Engine) grant(tx Tx, key string, l *leases) error {
	held, is, err := lookup(tx.Lease(key))
	if err == nil && is && held.OpID != l.opID {
		err = e.holderRefusal(tx, held)
	}
	if err != nil {
		return err
	}
	now := e.d.Clock.Now()
	return tx.PutLease(Lease{
		Key: key, OpID: l.opID, Owner: l.owner, Fence: l.fence,
		GrantedAt: now, ExpiresAt: now.Add(e.d.Config.LeaseTTL),
	})
}

// holderRefusal gives the error for a held lease, nil when it may be taken over.
func (e *Engine) holderRefusal(r Reader, held Lease) error {
	op, began, err := lookup(r.Operation(held.OpID))
	if err != nil {
		return err
	}
	dead := e.ownerDead(held.Owner)
	if dead && (!began || op.State.Ended()) {
		return nil
	}
	verb := string(cmp.Or(op.Verb, held.Owner.Verb, "an operation")) // it may not have written its journal yet
	holder := map[string]any{
		"operation": held.OpID, "verb": verb, "by": held.Owner.Label, "pid": held.Owner.PID,
		"since": held.GrantedAt.UTC().Format(time.RFC3339),
	}
	if dead {
		return Errorf(CodeOperationUnfinished, "%s by %s was cut off half-way", verb, held.Owner.Label).
			WithHint("`rig op show %s`, then `%s`", held.OpID, closes(held.OpID, op.Committed)).
			With("holder", holder)
	}
	return Errorf(CodeInProgress, "%s by %s is under way", verb, held.Owner.Label).
		WithHint("`rig op show %s` follows it; try again when it has ended", held.OpID).
		With("holder", holder)
}

// refuseHeld asks, before a process is started for nothing, whether a lease is
// free. The grant itself decides.
func (e *Engine) refuseHeld(ctx context.Context, p *Plan) error {
	return e.d.Store.Read(ctx, func(r Reader) error {
		for _, key := range p.Leases {
			held, is, err := lookup(r.Lease(key))
			if err == nil && is {
				err = e.holderRefusal(r, held)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// check refuses a write whose fencing number is no longer the lease's. A lease that
// cannot be read is not lost: the write fails, and may be tried again.
func (l *leases) check(tx Tx) error {
	held, err := tx.LeaseKeys(l.opID, l.fence)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range l.keys {
		if !slices.Contains(held, key) {
			return Errorf(CodeLeaseLost, "the lease on %s was taken over", key).
				WithHint("`rig op list` shows who acts on it now")
		}
	}
	return nil
}

// add grants further leases inside a transaction of the operation: rows that it
// has just made.
func (l *leases) add(tx Tx, keys ...string) error {
	for _, key := range keys {
		if err := l.e.grant(tx, key, l); err != nil {
			return err
		}
	}
	l.mu.Lock()
	l.added = append(l.added, keys...)
	l.mu.Unlock()
	return nil
}

// fenced runs a write that carries the fencing number.
func (l *leases) fenced(ctx context.Context, fn func(Tx) error) error {
	var added []string
	err := l.e.d.Store.Write(ctx, func(tx Tx) error {
		if err := l.check(tx); err != nil {
			return err
		}
		err := fn(tx)
		l.mu.Lock()
		added, l.added = l.added, nil // transactions run one after another
		l.mu.Unlock()
		return err
	})
	if err == nil && len(added) > 0 {
		l.mu.Lock()
		l.keys = append(l.keys, added...)
		l.mu.Unlock()
	}
	return err
}

// heartbeat moves the expiry forward until stop is called.
func (l *leases) heartbeat(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		t := time.NewTicker(l.e.d.Config.LeaseTTL / 3)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
				l.beat(ctx)
			}
		}
	}()
	return func() { cancel(); <-done }
}

func (l *leases) beat(ctx context.Context) {
	err := l.fenced(ctx, func(tx Tx) error {
		l.mu.Lock()
		keys := append([]string(nil), l.keys...)
		l.mu.Unlock()
		for _, key := range keys {
			held, err := tx.Lease(key)
			if err != nil {
				return err
			}
			held.ExpiresAt = l.e.d.Clock.Now().Add(l.e.d.Config.LeaseTTL)
			if err := tx.PutLease(held); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		l.e.d.Log.Warn("lease heartbeat", "op", l.opID, "err", err)
	}
}

// giveBack gives every lease back that is still this grant's: whoever closes an
// operation holds its leases under the same id. An operation ends and gives them back in
// one transaction, so that who has seen its end is never told that it is under way.
func (l *leases) giveBack(tx Tx) error {
	return l.eachHeld(tx, func(held Lease) error { return tx.DeleteLease(held.Key, l.opID) })
}

// eachHeld calls do for every lease that is still this grant's.
func (l *leases) eachHeld(tx Tx, do func(held Lease) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range l.keys {
		held, is, err := lookup(tx.Lease(key))
		if err != nil {
			return err
		}
		if !is || held.OpID != l.opID || held.Fence != l.fence {
			continue
		}
		if err := do(held); err != nil {
			return err
		}
	}
	return nil
}

// release gives back what an operation that did not come to its end still holds.
func (l *leases) release() {
	l.mu.Lock()
	none := len(l.keys) == 0
	l.mu.Unlock()
	if none {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := l.e.d.Store.Write(ctx, l.giveBack); err != nil {
		l.e.d.Log.Error("lease release", "op", l.opID, "err", err)
	}
}
