package engine

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
)

// commitHandover is the commit of a handover: the old occupant becomes history,
// the new one, its tenure, binding and both outcomes are written, claims of the
// old occupant go back to pending, and the event is appended. Nothing else of
// the seat is touched.
func commitHandover(_ context.Context, r *run, s Step, tx Tx) (Evidence, error) {
	seat, err := tx.Seat(s.Args["seat_id"])
	if err != nil {
		return nil, err
	}
	if genTag(seat.Generation) != s.Args["generation"] {
		return nil, Errorf(CodeConflict, "%s changed its occupant meanwhile", s.Seat).WithHint("look at `rig seat status %s`", s.Seat)
	}
	previous := occupantName(s.Seat, seat.Generation)
	l, st, err := r.successor(seat, s)
	if err != nil {
		return nil, err
	}
	if err := supersede(tx, seat.ID, r.e.d.Clock); err != nil {
		return nil, err
	}
	was, err := replaced(tx, seat)
	if err != nil {
		return nil, err
	}
	// What was delivered is context only where something was kept for the seat.
	packet := r.saw("packet")
	delivered := r.saw("arrive")["delivered"] == true && packet.Str("empty_reason") == ""
	l.session.Continuity = st.Good
	if err := r.writeOccupant(tx, st, l); err != nil {
		return nil, err
	}
	now := r.e.d.Clock.Now()
	seat.Generation, seat.Lifecycle, seat.Continuity, seat.Binding = l.session.Generation, LifecycleActive, st.Good, BindingHandedOver
	seat.ContextDelivered, seat.Previous, seat.HandoverAt, seat.HandoverBy = delivered, previous, now, r.plan.Operator.String()
	seat.LastError, seat.ForkedFrom = "", ""
	if s.Args["mode"] == "fork" {
		seat.ForkedFrom = st.Source
	}
	if err := tx.UpdateSeat(&seat); err != nil {
		return nil, err
	}
	if err := r.openUndo(tx, s); err != nil {
		return nil, err
	}
	if err := r.claimDiscovered(tx, s); err != nil {
		return nil, err
	}
	v, _ := r.plan.Input("source")
	src, _ := v.(Source)
	ev := Evidence{
		"source": src.Mode, "previous_occupant": previous, "current_occupant": occupantName(s.Seat, seat.Generation),
		"generation": seat.Generation, "continuity_outcome": string(st.Good), "binding_outcome": string(BindingHandedOver),
		"context_delivered": delivered, "ready": l.readiness.Why, "identity": l.identity.Why, "session_id": l.session.ID,
		"pane": string(l.ref.Pane), "token": l.session.Token.String(), "packet": packet,
	}
	if st.Source != src.Mode { // what it was forked or rebuilt from
		ev["source_of"] = st.Source
	}
	maps.Copy(ev, was)
	r.settle(SeatReceipt{
		Seat: s.Seat, Outcome: st.Good, Binding: BindingHandedOver, ContextDelivered: delivered, Action: "handed_over",
		Generation: seat.Generation, Evidence: ev,
	})
	return ev, r.event(tx, "seat.handover_completed", seat, s.Seat, ev)
}

// successor gives the occupant that takes the seat: the one launched in staging,
// or the operator's own session.
func (r *run) successor(seat Seat, s Step) (*launched, seatStart, error) {
	if s.Args["mode"] != "discovered" {
		l, err := r.launch(s)
		if err != nil {
			return nil, seatStart{}, err
		}
		st, err := r.start(s)
		l.session.Name = s.Seat
		return l, st, err
	}
	d, err := adopted(r)
	if err != nil {
		return nil, seatStart{}, err
	}
	now := r.e.d.Clock.Now()
	tagged := int64(r.saw("tag").Int("generation"))
	l := &launched{at: now, socket: r.e.d.Mux.Socket(), ref: PaneRef{Epoch: d.Epoch, Pane: d.Pane, PID: d.PID}}
	l.session = Session{
		ID: r.e.d.IDs.New(), SeatID: seat.ID, Generation: tagged, Name: d.SessionName, Runtime: seat.Runtime,
		Status: SessionRunning, Origin: OriginClaimed, Startup: StartupReady, CreatedAt: now,
	}
	r.withCaptured(s, &l.session)
	return l, seatStart{Address: s.Seat, Kind: "handover", Source: "discovered session " + d.SessionName}, nil
}

// claimDiscovered marks the operator's own session as this seat's, so that it is not
// offered to another one.
func (r *run) claimDiscovered(tx Tx, s Step) error {
	if s.Args["mode"] != "discovered" {
		return nil
	}
	d, err := adopted(r)
	if err != nil {
		return err
	}
	d.Status, d.ClaimedBy = discoveredClaimed, s.Args["seat_id"]
	return tx.PutDiscovered(d)
}

// givenBack is what a piece of work says that a leaving occupant had claimed.
const givenBack = "given back: its occupant was replaced"

// releaseClaims gives the work that a leaving occupant had claimed back to the
// seat. What that one had noted about it stays.
func releaseClaims(tx Tx, seatID string, generation int64, clock Clock) error {
	items, err := tx.Work(seatID)
	if err != nil {
		return err
	}
	for i := range items {
		if items[i].State != "claimed" || items[i].Generation > generation {
			continue
		}
		items[i].State, items[i].Generation, items[i].UpdatedAt = "pending", 0, clock.Now()
		items[i].Note = strings.TrimPrefix(ownNote(items[i].Note)+"; "+givenBack, "; ")
		if err := tx.UpdateWork(&items[i]); err != nil {
			return err
		}
	}
	return nil
}

// ownNote is a note without what releaseClaims has added to it.
func ownNote(note string) string {
	return strings.TrimSuffix(strings.TrimSuffix(note, givenBack), "; ")
}

// reclaim gives an occupant that comes back the work that it had claimed, unless it was
// done, blocked or handed off meanwhile.
func reclaim(tx Tx, ids []string, generation int64, clock Clock) error {
	for _, id := range ids {
		item, is, err := lookup(tx.WorkItem(id))
		if err != nil {
			return err
		}
		if !is || item.State != WorkPending {
			continue
		}
		item.State, item.Generation, item.Note, item.UpdatedAt = WorkClaimed, generation, ownNote(item.Note), clock.Now()
		if err := tx.UpdateWork(&item); err != nil {
			return err
		}
	}
	return nil
}

// openUndo opens the window in which the handover can be undone.
func (r *run) openUndo(tx Tx, s Step) error {
	if s.Args["mode"] == "discovered" && s.Args[keepsArg] == "" || r.e.d.Config.UndoWindow <= 0 {
		return nil
	}
	op, err := tx.Operation(r.plan.ID)
	if err != nil {
		return err
	}
	op.UndoUntil = r.e.d.Clock.Now().Add(r.e.d.Config.UndoWindow)
	return tx.UpdateOperation(&op)
}

// What a handover keeps in its evidence of the occupant that it replaced, and an undo
// gives back: the rest stands in the occupant's own rows.
const (
	replacedFork = "previous_forked_from"
	replacedTold = "previous_context_delivered"
	replacedWork = "previous_claims"
)

// replaced is that evidence; what does not hold is left out.
func replaced(tx Tx, seat Seat) (Evidence, error) {
	ev := Evidence{}
	items, err := tx.Work(seat.ID)
	if err != nil {
		return nil, err
	}
	var claims []string
	for _, it := range items {
		if it.State == WorkClaimed && it.Generation == seat.Generation {
			claims = append(claims, it.ID)
		}
	}
	if len(claims) > 0 {
		ev[replacedWork] = strings.Join(claims, " ")
	}
	if seat.ForkedFrom != "" {
		ev[replacedFork] = seat.ForkedFrom
	}
	if seat.ContextDelivered {
		ev[replacedTold] = true
	}
	return ev, nil
}

// restoreReplaced makes a seat tell of the occupant that a handover had replaced.
func restoreReplaced(tx Tx, seat *Seat, opID string, clock Clock) error {
	steps, err := tx.Steps(opID)
	if err != nil {
		return err
	}
	var was Evidence
	for _, st := range steps {
		if st.Kind == StepRebind && json.Unmarshal(st.Evidence, &was) != nil {
			was = nil // a journal that cannot be read gives nothing back
		}
	}
	seat.ForkedFrom, seat.ContextDelivered = was.Str(replacedFork), was[replacedTold] == true
	return reclaim(tx, strings.Fields(was.Str(replacedWork)), seat.Generation, clock)
}
