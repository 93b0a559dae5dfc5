package engine

import (
	"maps"
	"slices"
)

// attempt is what became of a handover that did not end well: its two outcomes
// are independent of each other. Continuity says whether a successor was proven,
// binding what happened to the seat.
type attempt struct {
	seat       string // address
	seatID     string
	mode       string
	continuity Continuity
	binding    BindingOutcome
	committed  bool
	failedAt   string // id of the step, "" when its process died there
	cause      *Error
}

// clean reports a handover in which nothing went wrong, or whose rest was done
// after a crash.
func (a *attempt) clean() bool { return a.committed && a.cause == nil }

// attemptOf judges a handover from its journal; nil for another verb. r.mu is
// held.
func (r *run) attemptOf() *attempt {
	if r.op.Verb != VerbHandover {
		return nil
	}
	var rebind Step
	phase := map[string]string{}
	for _, ph := range r.plan.Phases {
		for _, s := range ph.Steps {
			phase[s.ID] = ph.ID
			if s.Kind == StepRebind {
				rebind = s
			}
		}
	}
	if rebind.Seat == "" {
		return nil
	}
	a := &attempt{
		seat: rebind.Seat, seatID: rebind.Args["seat_id"], mode: rebind.Args["mode"],
		continuity: ContinuityFailed, binding: BindingUnchanged,
	}
	for _, st := range r.journal {
		a.committed = a.committed || st.StepID == rebind.ID && st.State == StepDone
		if phase[st.StepID] == "commit" && st.State != StepPending && st.State != StepSkipped {
			// The successor had been proven when its binding broke.
			a.continuity, a.binding = handoverKinds[a.mode].good, BindingFailed
		}
	}
	if len(r.failed) > 0 {
		a.failedAt, a.cause = r.failed[0].step.ID, AsError(r.failed[0].err)
	}
	if a.committed {
		a.binding = BindingHandedOver
		if a.cause != nil {
			a.binding = BindingPartial
		}
	}
	return a
}

// judgeHandover puts both outcomes of a handover into its receipt and gives what
// has to go on record, nil when it went well. What a commit recorded stands: a
// failure after it takes nothing back. r.mu is held.
func (r *run) judgeHandover(rec *Receipt) *attempt {
	a := r.attemptOf()
	if a == nil {
		return nil
	}
	i := slices.IndexFunc(rec.Seats, func(s SeatReceipt) bool { return s.Seat == a.seat })
	if i < 0 {
		rec.Seats = append(rec.Seats, SeatReceipt{Seat: a.seat})
		i = len(rec.Seats) - 1
	} else if a.clean() {
		return nil
	}
	s := &rec.Seats[i]
	ev := map[string]any{"source": a.mode}
	if a.committed {
		maps.Copy(ev, r.evidence["rebind"])
		s.Action, s.ContextDelivered = "handed_over", ev["context_delivered"] == true
		s.Generation = int64(Evidence(ev).Int("generation"))
	} else if s.Action == "" {
		s.Action = "not_handed_over"
	}
	maps.Copy(ev, s.Evidence)
	ev["continuity_outcome"], ev["binding_outcome"] = string(a.continuity), string(a.binding)
	s.Outcome, s.Binding, s.Evidence = a.continuity, a.binding, ev
	if a.clean() {
		return nil
	}
	return a
}

// closeHandover puts a failed attempt on record: the seat keeps its binding
// outcome, and the audit log an event with both. The continuity outcome of the
// seat is that of the occupant that sits there, which a failed attempt does not
// touch.
func (r *run) closeHandover(tx Tx, a *attempt) error {
	if a == nil {
		return nil
	}
	seat, err := tx.Seat(a.seatID)
	if err != nil {
		return err
	}
	seat.Binding = a.binding
	payload := map[string]any{
		"source": a.mode, "continuity_outcome": string(a.continuity), "binding_outcome": string(a.binding),
		"current_occupant": occupantName(a.seat, seat.Generation), "generation": seat.Generation,
		"step": a.failedAt, "committed": a.committed,
	}
	if a.cause == nil {
		a.cause = Errorf(CodeCancelled, "the handover was cut off and rolled back").WithHint("run it again")
	}
	payload["code"], payload["error"] = a.cause.Code, a.cause.Error()
	if !a.committed {
		seat.LastError = a.cause.Error()
	}
	if err := tx.UpdateSeat(&seat); err != nil {
		return err
	}
	return r.event(tx, "seat.handover_failed", seat, a.seat, payload)
}
