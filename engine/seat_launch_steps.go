package engine

import (
	"cmp"
	"context"
	"strings"
)

// Step kinds of a deliberate fresh launch.
const (
	StepFreshMark   StepKind = "mark_fresh_launch"
	StepFreshOccupy StepKind = "commit_fresh_launch"
)

// doFreshMark notes which rows a blank occupant will replace. It changes nothing:
// it is there so that a launch that comes to nothing leaves its own audit event.
func doFreshMark(_ context.Context, _ *run, s Step) (Evidence, error) {
	return Evidence{"superseded_session_ids": strings.Fields(s.Args["supersedes"]), "retiring_generation": s.Args["generation"]}, nil
}

// undoFreshMark runs when the launch failed before its commit: it puts the failure
// on record, and says in the receipt that the seat has no occupant when the one
// before was ended for it.
func undoFreshMark(ctx context.Context, r *run, s Step) error {
	address := s.Args["address"]
	cause := Errorf(CodeRuntime, "the launch was cut off").WithHint("run it again")
	r.mu.Lock()
	for _, f := range r.failed {
		if f.unit == address {
			cause = AsError(f.err)
		}
	}
	r.mu.Unlock()
	return r.lease.fenced(ctx, func(tx Tx) error {
		seat, err := tx.Seat(s.Args["seat_id"])
		if err != nil {
			return err
		}
		binding := BindingUnchanged
		if _, bound, err := lookup(tx.Binding(seat.ID)); err != nil {
			return err
		} else if !bound {
			binding = BindingFailed
		}
		r.settle(SeatReceipt{Seat: address, Outcome: ContinuityFailed, Binding: binding, Action: "launch_failed", Error: cause, Evidence: cause.Details})
		return r.event(tx, "seat.fresh_launch_failed", seat, address, map[string]any{
			"retiring_generation": seat.Generation, "superseded_session_ids": strings.Fields(s.Args["supersedes"]),
			"model": seat.Model, "effort": seat.Effort, "status": "failed", "binding": binding,
			"errors": []string{string(cause.Code) + ": " + cause.Error()},
		})
	})
}

// commitFreshLaunch records a blank occupant: what was there before is history,
// what it had claimed goes back to pending, and nothing of the seat itself
// changes.
func commitFreshLaunch(_ context.Context, r *run, s Step, tx Tx) (Evidence, error) {
	st, err := r.start(s)
	if err != nil {
		return nil, err
	}
	l, err := r.launch(s)
	if err != nil {
		return nil, err
	}
	seat, err := unchangedSeat(tx, s)
	if err != nil {
		return nil, err
	}
	superseded, err := supersedeRows(tx, seat.ID, strings.Fields(s.Args["supersedes"]), r.e.d.Clock)
	if err != nil {
		return nil, err
	}
	outcome := launchOutcome(st, l)
	if l.session.Continuity = outcome; outcome == ContinuityAttention {
		l.session.Continuity = ContinuityNone
	}
	if err := r.writeOccupant(tx, st, l); err != nil {
		return nil, err
	}
	retiring := seat.Generation
	if retiring > 0 {
		seat.Previous = occupantName(s.Seat, retiring)
	}
	seat.Generation, seat.Lifecycle, seat.Continuity, seat.Binding = l.session.Generation, LifecycleActive, l.session.Continuity, BindingNone
	seat.LastError, seat.ForkedFrom, seat.ContextDelivered = "", "", l.prompted
	seat.HandoverAt, seat.HandoverBy = r.e.d.Clock.Now(), r.plan.Operator.String()
	if err := tx.UpdateSeat(&seat); err != nil {
		return nil, err
	}
	ev := freshEvidence(s, l, seat, retiring, superseded)
	r.settle(SeatReceipt{
		Seat: s.Seat, Outcome: outcome, Action: "launched", Generation: seat.Generation,
		ContextDelivered: l.prompted, Evidence: ev, Error: r.attentionError(l, outcome),
	})
	return ev, r.event(tx, "seat.fresh_launched", seat, s.Seat, ev)
}

// freshEvidence is what the receipt and the event say of a blank occupant.
func freshEvidence(s Step, l *launched, seat Seat, retiring int64, superseded []string) Evidence {
	status := "ready"
	if l.session.Startup != StartupReady {
		status = string(ContinuityAttention)
	}
	ev := Evidence{
		"status": status, "session_name": l.session.Name, "session_id": l.session.ID, "generation": seat.Generation,
		"retiring_generation": retiring, "new_generation": seat.Generation, "superseded_session_ids": superseded,
		"model": seat.Model, "effort": seat.Effort, "startup_policy_hash": s.Args["startup_policy_hash"],
		"startup": string(l.session.Startup), "ready": l.readiness.Why, "identity": l.identity.Why,
		"pid": l.session.PID, "pane": string(l.ref.Pane), "native_session_id": l.session.Token.String(),
	}
	if l.session.Token.Empty() {
		ev["native_session_id_reason"] = cmp.Or(l.identity.Why, "it names none yet")
	}
	return ev
}

// supersedeRows turns rows into history, the named ones and every open one, and
// gives the ids of the named.
func supersedeRows(tx Tx, seatID string, ids []string, clock Clock) ([]string, error) {
	if err := supersede(tx, seatID, clock); err != nil {
		return nil, err
	}
	for _, id := range ids {
		row, err := tx.Session(id)
		if err != nil {
			return nil, err
		}
		if row.Status == SessionSuperseded {
			continue
		}
		row.Status = SessionSuperseded
		if err := tx.UpdateSession(&row); err != nil {
			return nil, err
		}
	}
	return ids, nil
}
