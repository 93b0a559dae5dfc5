package engine

import (
	"context"
	"fmt"
	"time"
)

// commitOccupant is the commit of a launch: older occupants are superseded, the
// new one, its tenure and binding are written, the seat moves to the next
// generation, and the event is appended, all in one transaction.
func commitOccupant(_ context.Context, r *run, s Step, tx Tx) (Evidence, error) {
	st, err := r.start(s)
	if err != nil {
		return nil, err
	}
	l, err := r.launch(s)
	if err != nil {
		return nil, err
	}
	seat, err := tx.Seat(l.session.SeatID)
	if err != nil {
		return nil, err
	}
	if seat.Generation != l.base {
		return nil, Errorf(CodeConflict, "%s changed its occupant meanwhile", s.Seat).WithHint("look at `rig seat status %s`", s.Seat)
	}
	if err := supersede(tx, seat.ID, r.e.d.Clock); err != nil {
		return nil, err
	}
	outcome := launchOutcome(st, l)
	l.session.Continuity = outcome
	if outcome == ContinuityAttention {
		l.session.Continuity = ContinuityNone
	}
	if err := r.writeOccupant(tx, st, l); err != nil {
		return nil, err
	}
	seat.Generation, seat.Lifecycle, seat.Continuity = l.session.Generation, LifecycleActive, l.session.Continuity
	seat.Binding, seat.LastError, seat.ContextDelivered = BindingNone, "", l.prompted
	switch st.Start.(type) {
	case StartResume: // it goes on with the same conversation
		if seat.Lifecycle, err = goesOn(tx, seat.ID, l.session.Token); err != nil {
			return nil, err
		}
	case StartFork:
		seat.ForkedFrom = st.Source
	default:
		seat.ForkedFrom = ""
	}
	if err := tx.UpdateSeat(&seat); err != nil {
		return nil, err
	}
	evidence := Evidence{
		"generation": l.session.Generation, "session_id": l.session.ID, "outcome": string(outcome),
		"startup": string(l.session.Startup), "ready": l.readiness.Why, "identity": l.identity.Why,
		"pid": l.session.PID, "pane": string(l.ref.Pane), "token": l.session.Token.String(),
	}
	if st.Source != "" {
		evidence["source_of"] = st.Source
	}
	if l.prompted {
		evidence["context_delivered"] = true
	}
	r.settle(SeatReceipt{
		Seat: s.Seat, Outcome: outcome, Action: "launched", Generation: l.session.Generation,
		ContextDelivered: l.prompted, Evidence: evidence, Error: r.attentionError(l, outcome),
	})
	return evidence, r.event(tx, "seat.launched", seat, s.Seat, evidence)
}

// launchOutcome is what the evidence allows to say: the good word only when the
// start was ready and, for a resume or fork, its conversation proven.
func launchOutcome(st seatStart, l *launched) Continuity {
	if l.session.Startup != StartupReady {
		return ContinuityAttention
	}
	switch st.Start.(type) {
	case StartResume, StartFork:
		if !l.identity.Proven {
			return ContinuityAttention
		}
	case StartFresh:
	}
	return st.Good
}

// attentionError tells what a start waits for, with the end of its screen.
func (r *run) attentionError(l *launched, outcome Continuity) *Error {
	if outcome != ContinuityAttention {
		return nil
	}
	code := l.readiness.Code
	if code == "" {
		code = "identity_unproven"
	}
	return Errorf(code, "%s", l.session.StartupNote).
		WithHint("look at the seat's pane and answer it there; `rig attach` opens it").With("pane_tail", r.tail(l.screen))
}

// supersede turns every occupant of a seat that is not history into history. Its
// token stays on its row.
func supersede(tx Tx, seatID string, clock Clock) error {
	old, err := tx.Sessions(seatID)
	if err != nil {
		return err
	}
	now := clock.Now()
	for i := range old {
		if old[i].Status.Terminal() {
			continue
		}
		old[i].Status, old[i].EndedAt = SessionSuperseded, now
		if err := tx.UpdateSession(&old[i]); err != nil {
			return err
		}
		if err := tx.EndTenure(seatID, old[i].Generation, now); err != nil {
			return err
		}
	}
	return nil
}

// rigRuns takes the mark of a stopped rig away once a seat of it has an occupant.
func rigRuns(tx Tx, seatID string) error {
	seat, err := tx.Seat(seatID)
	if err != nil {
		return err
	}
	rig, err := tx.Rig(seat.RigID)
	if err != nil || rig.StoppedAt.IsZero() {
		return err
	}
	rig.StoppedAt = time.Time{}
	return tx.UpdateRig(&rig)
}

// writeOccupant writes the rows of a new occupant: session, tenure, binding. What
// earlier ones had claimed of the seat's inbound work goes back to pending.
func (r *run) writeOccupant(tx Tx, st seatStart, l *launched) error {
	now := r.e.d.Clock.Now()
	if err := releaseClaims(tx, l.session.SeatID, l.session.Generation-1, r.e.d.Clock); err != nil {
		return err
	}
	if err := rigRuns(tx, l.session.SeatID); err != nil {
		return err
	}
	l.session.LastSeen = now
	if err := tx.InsertSession(l.session); err != nil {
		return err
	}
	err := tx.InsertTenure(Tenure{
		SeatID: l.session.SeatID, Generation: l.session.Generation, SessionID: l.session.ID, Kind: st.Kind,
		Continuity: l.session.Continuity, Source: st.Source, Reason: r.plan.Reason,
		Operator: r.plan.Operator.String(), StartedAt: l.at,
	})
	if err != nil {
		return err
	}
	return tx.PutBinding(Binding{
		SeatID: l.session.SeatID, Socket: l.socket, Epoch: l.ref.Epoch, SessionName: l.session.Name,
		Pane: l.ref.Pane, PanePID: l.ref.PID, UpdatedAt: now,
	})
}

// event appends an audit event about a seat inside the change's transaction.
func (r *run) event(tx Tx, kind string, seat Seat, address string, payload map[string]any) error {
	if payload == nil {
		payload = map[string]any{}
	}
	if r.plan.Reason != "" {
		payload["reason"] = r.plan.Reason
	}
	seq, err := tx.AppendEvent(Event{
		At: r.e.d.Clock.Now(), Type: kind, RigID: seat.RigID, SeatID: seat.ID, Seat: address,
		Rig: rigOfAddress(address, seat), OpID: r.plan.ID, Operator: r.plan.Operator.String(), Payload: mustJSON(payload),
	})
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.eventSeq = max(r.eventSeq, seq)
	r.mu.Unlock()
	return nil
}

// rigOfAddress cuts the rig's name out of a derived address: the part after the
// seat's own, which is known.
func rigOfAddress(address string, seat Seat) string {
	prefix := seat.Pod + "-" + seat.Member + "@"
	if len(address) > len(prefix) && address[:len(prefix)] == prefix {
		return address[len(prefix):]
	}
	return ""
}

// occupantName is how receipts and rows call a former occupant.
func occupantName(address string, generation int64) string {
	return fmt.Sprintf("%s (generation %d)", address, generation)
}
