package engine

import (
	"context"
	"encoding/json"
)

// keptSteps end the former occupants that the undo window of a handover keeps: a
// verb that empties the seat leaves none of them behind, because nothing could
// bring them back any more.
func keptSteps(w *world, seat Seat, address string, at where) []Step {
	var steps []Step
	for _, pane := range keptPanes(w, seat.ID, at) {
		steps = append(steps, Step{
			ID: address + "/kept/" + pane.Gen, Kind: StepEndKept, Seat: address, Effect: EffectOneWay,
			Args:  map[string]string{"seat_id": seat.ID, "generation": pane.Gen},
			Title: "end the former occupant that an undo could still bring back (" + pane.Session + ")",
		})
	}
	return steps
}

// keptPanes are the panes of a seat beside the one that it is bound to. A seat
// whose bound pane cannot be told has none: any of them could be it.
func keptPanes(w *world, seatID string, at where) []Pane {
	var out []Pane
	if at.presence == Unknown {
		return nil
	}
	for _, pane := range w.inv.Find(seatID) {
		if pane.ID != at.pane.ID {
			out = append(out, pane)
		}
	}
	return out
}

// doEndKept ends a former occupant that is kept for an undo, and closes the
// window. It is ours: its pane carries this seat's tag and its own generation.
func doEndKept(ctx context.Context, r *run, s Step) (Evidence, error) {
	pane, session, inv, err := r.retiree(ctx, s)
	switch {
	case err != nil:
		return nil, err
	case pane.ID == "":
		return Evidence{"already_gone": true}, r.closeWindow(ctx, s)
	case session.Origin == OriginClaimed:
		g := Guard{Pane: pane.ID, Epoch: inv.Epoch, Seat: pane.Seat, Gen: pane.Gen, DeadOK: true}
		return Evidence{"released": pane.Session}, r.e.d.Mux.Tag(ctx, g, "", "", "")
	}
	if err := r.e.endFrozen(ctx, &inv, pane, s.Seat, session.ID); err != nil {
		return nil, err
	}
	return Evidence{"ended": pane.Session, "pane": string(pane.ID)}, r.closeWindow(ctx, s)
}

// closeWindow takes back the offer to undo the handover that replaced a
// generation of a seat.
func (r *run) closeWindow(ctx context.Context, s Step) error {
	return r.lease.fenced(context.WithoutCancel(ctx), func(tx Tx) error {
		ops, err := tx.Operations(OperationFilter{SeatID: s.Args["seat_id"], Undo: true})
		if err != nil {
			return err
		}
		for _, op := range ops {
			var shown struct {
				Phases []Phase `json:"phases"`
			}
			if json.Unmarshal(op.Plan, &shown) != nil {
				continue
			}
			if args := rebindArgs(shown.Phases); args["seat_id"] != s.Args["seat_id"] || args["generation"] != s.Args["generation"] {
				continue
			}
			if err := closeUndo(tx, r.e.d.Clock, op.ID, map[string]any{"closed_by": r.plan.Verb}); err != nil {
				return err
			}
		}
		return nil
	})
}
