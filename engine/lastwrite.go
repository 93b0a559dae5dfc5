package engine

import (
	"context"
	"time"
)

// How the last write of an operation is tried: a few times while whoever asked waits, and
// then for as long as the process lives. A console lives for days, and while the end is
// not on record nobody else may act on what the operation holds.
const (
	lastTries = 3
	lastWait  = 30 * time.Second
	lastPace  = 2 * time.Second
)

// lastWrite puts what the operation comes to on record, under its leases, which it gives
// away in the same transaction. Where that fails the operation stays open with its leases,
// and this process goes on trying behind the answer.
func (r *run) lastWrite(write func(tx Tx, l *leases) error, committed bool) error {
	own := r.lease.taken()
	once := func(ctx context.Context) error {
		return own.fenced(ctx, func(tx Tx) error {
			tx.Durable()
			return write(tx, own)
		})
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastWait)
	defer cancel()
	var err error
	for range lastTries {
		if err = once(ctx); err == nil || CodeOf(err) == CodeLeaseLost || pause(ctx, 50*time.Millisecond) != nil {
			break
		}
	}
	if err == nil || CodeOf(err) == CodeLeaseLost {
		return err
	}
	go r.e.tryOn(once)
	e := AsError(err)
	return Errorf(e.Code, "what became of it is not on record yet: %s", e.Msg).On(string(r.op.Verb), r.op.Target).Wrap(err).
		WithHint("as long as this process lives it tries again; `rig op show %s` shows when it is there, and after this process `%s`",
			r.op.ID, closes(r.op.ID, committed))
}

// tryOn tries a last write until it stands, or until the operation is somebody else's.
func (e *Engine) tryOn(once func(context.Context) error) {
	for pause(context.Background(), lastPace) == nil {
		ctx, cancel := context.WithTimeout(context.Background(), lastWait)
		err := once(ctx)
		cancel()
		if err == nil || CodeOf(err) == CodeLeaseLost || CodeOf(err) == CodeConflict {
			return
		}
	}
}

// taken takes the leases out of the hands of whoever would give them back otherwise.
func (l *leases) taken() *leases {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := &leases{e: l.e, opID: l.opID, owner: l.owner, keys: l.keys, fence: l.fence}
	l.keys = nil
	return own
}
