package engine

import (
	"slices"
	"sync/atomic"
)

// untold notes that nobody could tell whether a step was undone: tmux or the system gave
// no answer. What that step left may live, so the operation does not end with it. Any
// other failure is an answer, and stays a warning.
func (r *run) untold(err error) {
	if !slices.Contains([]Code{CodeTmuxProbeFailed, CodeUnavailable}, CodeOf(err)) {
		return
	}
	r.mu.Lock()
	r.open = true
	r.mu.Unlock()
}

// undone is the word for what became of a seat that was rolled back.
func (r *run) undone() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open {
		return string(OpUnfinished)
	}
	return "rolled_back"
}

// leaveOpen puts on record that this process is no longer at the operation, which has not
// ended: it keeps its leases, reads as unfinished, and whoever rolls it back tries the
// steps again that could not be undone.
func (r *run) leaveOpen(rec *Receipt) error {
	r.mu.Lock()
	op := r.op
	r.mu.Unlock()
	rec.OK, rec.Outcome, rec.Operation.State = false, string(OpUnfinished), OpUnfinished
	if rec.Error == nil {
		rec.Error = Errorf(CodeOperationUnfinished, "nobody can tell whether all that it began is undone").On(string(op.Verb), op.Target).
			WithHint("once `rig doctor` finds tmux well: %s", closes(op.ID, op.Committed))
	}
	rec.Warnings = append(rec.Warnings, "the operation stays open and keeps its seats; once `rig doctor` finds tmux well: "+closes(op.ID, op.Committed))
	at := r.e.d.Clock.Now()
	var eventSeq atomic.Int64
	told := *rec
	err := r.lastWrite(func(tx Tx, l *leases) error {
		seq, err := tx.AppendEvent(Event{
			At: at, Type: "operation.left_open", OpID: op.ID, RigID: op.RigID, SeatID: op.SeatID, Operator: op.Operator,
			Payload: mustJSON(map[string]any{"verb": op.Verb, "target": op.Target, "warnings": rec.Warnings}),
		})
		if err != nil {
			return err
		}
		eventSeq.Store(seq)
		now := told
		now.EventSeq = seq
		left := op
		left.Receipt, left.Error, left.Owner.Left = mustJSON(now), rec.Error.Error(), true
		if err := tx.UpdateOperation(&left); err != nil {
			return err
		}
		return l.leave(tx)
	}, op.Committed)
	rec.EventSeq = eventSeq.Load()
	op.Receipt, op.Error, op.Owner.Left = mustJSON(rec), rec.Error.Error(), true
	if err == nil {
		r.mu.Lock()
		r.op = op
		r.mu.Unlock()
	}
	r.tell()
	return err
}

// leave marks the leases as those of a process that is no longer at it.
func (l *leases) leave(tx Tx) error {
	return l.eachHeld(tx, func(held Lease) error {
		held.Owner.Left = true
		return tx.PutLease(held)
	})
}
