package engine

import (
	"context"
	"encoding/json"
	"slices"
	"time"
)

// Expire ends incumbents whose undo window has closed. It is called by the
// operation's own process at the end of the window, and by any later one for
// windows that nobody closed.
func (e *Engine) Expire(ctx context.Context) error {
	ops, err := e.Operations(ctx, OperationFilter{Undo: true})
	if err != nil {
		return err
	}
	if ops = e.overdue(ops); len(ops) == 0 {
		return nil // the usual case costs no look at tmux
	}
	w, err := e.look(ctx)
	if err != nil {
		return err
	}
	for _, op := range ops {
		if err := e.expireOne(ctx, w, op); err != nil {
			e.d.Log.Warn("expire undo window", "op", op.ID, "err", err)
		}
	}
	return nil
}

// overdue keeps the operations whose window is over and was not closed.
func (e *Engine) overdue(ops []Operation) []Operation {
	now := e.d.Clock.Now()
	return slices.DeleteFunc(ops, func(op Operation) bool {
		return op.UndoUntil.IsZero() || op.UndoOpen(now) || !op.State.Ended()
	})
}

// expireOne closes a window that is over, under the lease of its seat: an undo that
// began inside the window holds it, and its incumbent is not ended under its hands. A
// seat that somebody acts on, or whose panes nobody can see now, is left to a later
// look.
func (e *Engine) expireOne(ctx context.Context, w *world, op Operation) error {
	var shown struct {
		Phases []Phase `json:"phases"`
	}
	if err := json.Unmarshal(op.Plan, &shown); err != nil {
		return err
	}
	args := rebindArgs(shown.Phases)
	if !w.sees(args["seat_id"]) {
		return nil
	}
	seat := "seat:" + args["seat_id"]
	l, err := e.takeLeases(ctx, &Plan{ID: windowLease(op.ID), Verb: op.Verb, Target: op.Target, Operator: e.Operator(), Leases: []string{seat}})
	if code := CodeOf(err); code == CodeInProgress || code == CodeOperationUnfinished {
		return nil
	}
	if err != nil {
		return err
	}
	defer l.release()
	if op, _, err = e.Operation(ctx, op.ID); err != nil || len(e.overdue([]Operation{op})) == 0 {
		return err
	}
	if w, err = e.look(ctx); err != nil || !w.sees(args["seat_id"]) {
		return err
	}
	// The lease goes with the change: whoever watches lives on, and a lease that it could
	// not give back afterwards would hold the seat as long as that.
	change := func(fn func(tx Tx) error) error {
		return l.fenced(ctx, func(tx Tx) error {
			if err := fn(tx); err != nil {
				return err
			}
			return tx.DeleteLease(seat, windowLease(op.ID))
		})
	}
	if e.notYetResumable(ctx, w, args["seat_id"]) {
		return change(func(tx Tx) error { return e.keepUndo(tx, op.ID) })
	}
	if err := e.endReplaced(ctx, w, op, args["seat_id"], args["generation"]); err != nil {
		return err
	}
	return change(func(tx Tx) error { return closeUndo(tx, e.d.Clock, op.ID, map[string]any{}) })
}

// windowLease is under which name the window of an operation is closed. It is the same
// for all who try: one that was stopped by a full disk, say, with the lease in its
// hands, is taken up by its own next try or by anybody else's.
func windowLease(opID string) string { return opID + "-window" }

// sees reports whether what tmux said tells of every pane of a seat: a row that cannot
// be read may be one of its panes.
func (w *world) sees(seatID string) bool {
	return w.inv.Server != Unknown && len(w.inv.Faults) == 0 && w.locate(seatID).presence != Unknown
}

// endReplaced ends the occupant of a generation that a handover replaced.
func (e *Engine) endReplaced(ctx context.Context, w *world, op Operation, seatID, generation string) error {
	sessions, _, err := e.SeatHistory(ctx, seatID)
	if err != nil {
		return err
	}
	for _, p := range w.inv.Panes {
		if p.Seat != seatID || p.Gen != generation || w.bindings[seatID].Pane == p.ID {
			continue
		}
		for _, s := range sessions {
			if genTag(s.Generation) != p.Gen {
				continue
			}
			if err := e.endFrozen(ctx, &w.inv, p, op.Target, s.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// notYetResumable reports that a seat's occupant is a fork that has provably written
// nothing of its own: were it to end now, the incumbent that it replaced would be all
// that there is.
func (e *Engine) notYetResumable(ctx context.Context, w *world, seatID string) bool {
	seat, last := w.seats[seatID], w.latest[seatID]
	if last.Continuity != ContinuityForked || last.Status.Terminal() || last.Token.Empty() || w.locate(seatID).presence != Present {
		return false
	}
	rt, err := e.runtime(seat.Runtime)
	return err == nil && rt.Conversation(ctx, last.Token.Reveal(), seat.Cwd, last.Homes).Exists == Absent
}

// keepUndo leaves the offer to undo an operation open for another window.
func (e *Engine) keepUndo(tx Tx, opID string) error {
	op, err := tx.Operation(opID)
	if err != nil || op.UndoUntil.IsZero() {
		return err
	}
	op.UndoUntil = e.d.Clock.Now().Add(e.d.Config.UndoWindow)
	return tx.UpdateOperation(&op)
}

// closeUndo takes back the offer to undo an operation, with its event.
func closeUndo(tx Tx, clock Clock, opID string, payload map[string]any) error {
	op, err := tx.Operation(opID)
	if err != nil || op.UndoUntil.IsZero() {
		return err
	}
	op.UndoUntil = time.Time{}
	if err := tx.UpdateOperation(&op); err != nil {
		return err
	}
	_, err = tx.AppendEvent(Event{
		At: clock.Now(), Type: "seat.undo_window_closed", OpID: op.ID, RigID: op.RigID, SeatID: op.SeatID, Seat: op.Target, Payload: mustJSON(payload),
	})
	return err
}

// keepNothing takes the offer to undo the operation under way back: nothing of what it
// replaced is kept.
func (r *run) keepNothing(ctx context.Context) error {
	var op Operation
	err := r.lease.fenced(context.WithoutCancel(ctx), func(tx Tx) error {
		err := closeUndo(tx, r.e.d.Clock, r.plan.ID, map[string]any{"why": "nothing of its occupant is kept"})
		if err == nil {
			op, err = tx.Operation(r.plan.ID)
		}
		return err
	})
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.op.Version, r.op.UndoUntil = op.Version, op.UndoUntil
	r.mu.Unlock()
	return nil
}

// A window that could not be closed at its end is tried for a while, because nobody
// else may be there to do it.
const (
	lingerTries = 12
	lingerRest  = 5 * time.Second
)

// Linger stays until an operation's undo window is closed, by an undo or by
// time, and ends the kept incumbent then. An operation without a window returns
// at once; so does one whose incumbent is kept for another window, which whoever
// looks after that closes.
func (e *Engine) Linger(ctx context.Context, opID string) error {
	for tries := 0; ; {
		op, _, err := e.Operation(ctx, opID)
		if err != nil || op.UndoUntil.IsZero() {
			return err
		}
		now := e.d.Clock.Now()
		switch open := op.UndoOpen(now); {
		case open && tries == 0:
			if err := pause(ctx, min(op.UndoUntil.Sub(now), lingerRest)); err != nil {
				return err
			}
		case open || tries == lingerTries:
			return nil
		default:
			if tries > 0 {
				if err := pause(ctx, lingerRest); err != nil {
					return err
				}
			}
			tries++
			if err := e.Expire(ctx); err != nil {
				return err
			}
		}
	}
}
