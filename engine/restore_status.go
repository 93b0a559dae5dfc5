package engine

import (
	"context"
	"encoding/json"
	"time"
)

// Codes of asking for a restore's status.
const (
	CodeAttemptNotFound   Code = "attempt_not_found"
	CodeAttemptWrongRig   Code = "attempt_wrong_rig"
	CodeAttemptIncomplete Code = "attempt_incomplete"
	CodeAttemptCorrupt    Code = "attempt_corrupt"
)

// RestoreStatus is what one attempt came to, and what became of it since. The
// original verdict never changes; the current one follows later reconciliations
// of the same attempt.
type RestoreStatus struct {
	Attempt         string            `json:"attempt"` // id of the operation
	Rig             string            `json:"rig"`
	RigID           string            `json:"rig_id"`
	StartedAt       time.Time         `json:"started_at"`
	EndedAt         time.Time         `json:"ended_at"`
	Selection       SnapshotSelection `json:"selection"`
	Intended        []string          `json:"intended_seats"`
	Excluded        []ExcludedSeat    `json:"excluded_seats"`
	Original        RestoreResult     `json:"original_verdict"`
	Current         RestoreResult     `json:"current_verdict"`
	Seats           []RestoreSeat     `json:"seats"`
	Reconciliations []Reconciliation  `json:"reconciliations"`
	Unresolved      []string          `json:"unresolved_seats"` // addresses, of the current state
}

// RestoreSeat is one seat's outcome then and now.
type RestoreSeat struct {
	Seat     string         `json:"seat"`
	Original Continuity     `json:"original"`
	Current  Continuity     `json:"current"`
	Action   string         `json:"action,omitempty"`
	Why      string         `json:"why,omitempty"`
	Remedy   string         `json:"remedy,omitempty"`
	Evidence map[string]any `json:"evidence,omitempty"`
}

// Reconciliation is a later event that changed what an attempt stands at.
type Reconciliation struct {
	Seat string     `json:"seat"`
	From Continuity `json:"from"`
	To   Continuity `json:"to"`
	By   string     `json:"by"`
	Seq  int64      `json:"seq"`
	At   time.Time  `json:"at"`
}

// RestoreStatus derives the state of one attempt from its receipt and the audit
// log; ref is the rig's name or id. It changes nothing.
func (e *Engine) RestoreStatus(ctx context.Context, attempt, ref string) (RestoreStatus, error) {
	op, _, err := e.Operation(ctx, attempt)
	if CodeOf(err) == CodeNotFound || (err == nil && op.Verb != VerbUp && op.Verb != VerbRestore) {
		return RestoreStatus{}, Errorf(CodeAttemptNotFound, "no restore %s", attempt).On("restore status", ref).
			WithHint("`rig op list` lists operations; the id is on the receipt of `rig up` and `rig restore`")
	}
	if err != nil {
		return RestoreStatus{}, err
	}
	if !op.State.Ended() {
		return RestoreStatus{}, Errorf(CodeAttemptIncomplete, "the attempt is %s", op.State).On("restore status", attempt).
			WithHint("`rig op show %s` follows it; finish or roll it back when it was cut off", attempt)
	}
	v, rec, err := e.verdictOf(op, ref)
	if err != nil {
		return RestoreStatus{}, err
	}
	return e.statusOf(ctx, op, v, rec)
}

// statusOf derives the state of one rig's part of an attempt.
func (e *Engine) statusOf(ctx context.Context, op Operation, v RestoreVerdict, rec *Receipt) (RestoreStatus, error) {
	st := RestoreStatus{
		Attempt: op.ID, Rig: v.Rig, RigID: v.RigID, StartedAt: op.StartedAt, EndedAt: op.EndedAt, Selection: v.Selection,
		Intended: v.Intended, Excluded: v.Excluded, Original: v.Result, Reconciliations: []Reconciliation{}, Unresolved: []string{},
	}
	return st, e.reconcile(ctx, &st, rec)
}

// verdictOf finds the part of an operation's receipt that is about a rig.
func (e *Engine) verdictOf(op Operation, ref string) (RestoreVerdict, *Receipt, error) {
	rec, err := receiptOf(op)
	if err != nil {
		return RestoreVerdict{}, nil, err
	}
	var list []RestoreVerdict
	if raw, ok := rec.Extra["restore"]; ok {
		if err := json.Unmarshal(mustJSON(raw), &list); err != nil {
			return RestoreVerdict{}, nil, Errorf(CodeAttemptCorrupt, "the receipt of %s cannot be read", op.ID).Wrap(err).
				WithHint("`rig op show %s` shows its journal", op.ID)
		}
	}
	for _, v := range list {
		if v.Rig == ref || v.RigID == ref {
			return v, rec, nil
		}
	}
	switch {
	case len(list) > 0:
		return RestoreVerdict{}, nil, Errorf(CodeAttemptWrongRig, "%s restored %s, not %s", op.ID, list[0].Rig, ref).
			WithHint("`rig restore status %s --rig %s`", op.ID, list[0].Rig)
	case op.State == OpRolledBack || op.State == OpFailed || op.State == OpPartial || op.State == OpDone:
		return RestoreVerdict{}, nil, Errorf(CodeAttemptIncomplete, "the attempt ended as %s without a verdict", op.State).On("restore status", op.ID).
			WithHint("`rig op show %s` shows how far it came; `rig up %s` tries again", op.ID, ref)
	}
	return RestoreVerdict{}, nil, Errorf(CodeAttemptNotFound, "%s restored nothing", op.ID).WithHint("`rig op show %s` shows what it did", op.ID)
}

// reconcile follows the seats from the attempt's receipt through what happened
// since, up to the next attempt of the rig.
func (e *Engine) reconcile(ctx context.Context, st *RestoreStatus, rec *Receipt) error {
	seats, now := map[string]SeatReceipt{}, map[string]SeatReceipt{}
	for _, s := range rec.Seats {
		seats[s.Seat], now[s.Seat] = s, s
	}
	events, err := e.sinceAttempt(ctx, st)
	if err != nil {
		return err
	}
	for _, ev := range events {
		switch ev.Type {
		case "restore.started":
			events = nil
		case "seat.attention_cleared":
			s, ok := now[ev.Seat]
			if !ok || (s.Outcome != ContinuityAttention && s.Outcome != ContinuityFailed) {
				continue
			}
			st.Reconciliations = append(st.Reconciliations, Reconciliation{ev.Seat, s.Outcome, ContinuityRecovered, ev.Operator, ev.Seq, ev.At})
			s.Outcome, s.Error = ContinuityRecovered, nil
			now[ev.Seat] = s
		}
		if events == nil {
			break
		}
	}
	terminal := map[string]bool{}
	for _, address := range st.Intended {
		s, n := seats[address], now[address]
		terminal[address] = s.Outcome == ContinuityFreshPrimed && st.Original == RestoreFull
		out := RestoreSeat{Seat: address, Original: s.Outcome, Current: n.Outcome, Action: s.Action, Evidence: s.Evidence}
		if n.Error != nil {
			out.Why, out.Remedy = n.Error.Msg, n.Error.Hint
		}
		st.Seats = append(st.Seats, out)
		if !goodOutcome(n.Outcome) {
			st.Unresolved = append(st.Unresolved, address)
		}
	}
	if len(st.Reconciliations) == 0 {
		st.Current = st.Original
		return nil
	}
	shells, err := e.shells(ctx, st.RigID)
	if err != nil {
		return err
	}
	for _, address := range shells {
		terminal[address] = true
	}
	st.Current, _ = rollUp(st.Intended, now, terminal)
	return nil
}

// sinceAttempt gives what has happened in the rig since the attempt ended, by the order
// of the audit log: a clock may have been set back meanwhile.
func (e *Engine) sinceAttempt(ctx context.Context, st *RestoreStatus) ([]Event, error) {
	end, err := e.Events(ctx, EventFilter{RigID: st.RigID, OpID: st.Attempt, Newest: true, Limit: 1, Types: []string{"restore.completed"}})
	if err != nil || len(end) == 0 {
		return nil, err
	}
	return e.Events(ctx, EventFilter{RigID: st.RigID, After: end[0].Seq, Limit: 10000, Types: []string{"restore.started", "seat.attention_cleared"}})
}

// shells are the addresses of a rig's terminal seats.
func (e *Engine) shells(ctx context.Context, rigID string) ([]string, error) {
	w, err := e.look(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, s := range w.seatsOf(rigID) {
		if s.Runtime == RuntimeTerminal {
			out = append(out, w.address(s))
		}
	}
	return out, nil
}

// RestoreVerdicts reads the verdicts of a receipt's extra part, whether it is
// fresh or back from JSON; none when it tells of no restore.
func RestoreVerdicts(extra map[string]any) []RestoreVerdict {
	var list []RestoreVerdict
	b, err := json.Marshal(extra["restore"])
	if err != nil || json.Unmarshal(b, &list) != nil {
		return nil
	}
	return list
}
