package engine

import "context"

// EventRecapWritten is a seat's recap that was written or replaced.
const EventRecapWritten = "seat.recap_written"

// NoteRecap puts a written recap into the audit log: its digest, never its text.
func (e *Engine) NoteRecap(ctx context.Context, in PacketInput, digest string, earlier int) error {
	return e.d.Store.Write(ctx, func(tx Tx) error {
		_, err := tx.AppendEvent(Event{
			At: e.d.Clock.Now(), Type: EventRecapWritten, RigID: in.Seat.RigID, SeatID: in.Seat.ID, Seat: in.Address,
			Rig: rigOfAddress(in.Address, in.Seat), Operator: e.Operator().String(),
			Payload: mustJSON(map[string]any{"digest": digest, "earlier": earlier, "generation": in.Seat.Generation}),
		})
		return err
	})
}

// SeatIn gives the canonical address of a seat within a rig that is named by name
// or id. The seat may be written as pod-member, pod.member or with the rig behind.
func (e *Engine) SeatIn(ctx context.Context, rig, seat string) (string, error) {
	w, err := e.look(ctx)
	if err != nil {
		return "", err
	}
	r, err := w.rig(rig)
	if err != nil {
		return "", err
	}
	if seat == "" {
		return "", Errorf(CodeSeatRefRequired, "a seat is required").WithHint("name one of the rig: `rig ps --seats --rig %s`", r.Name)
	}
	for _, s := range w.seatsOf(r.ID) {
		if a := w.address(s); seat == a || seat+"@"+r.Name == a || seat == s.Logical() || seat == s.Logical()+"@"+r.Name {
			return a, nil
		}
	}
	return "", Errorf(CodeSeatNotFound, "the rig %s has no seat %q", r.Name, seat).On("", seat).WithHint("`rig ps --seats --rig %s` lists them", r.Name)
}
