package engine

import (
	"cmp"
	"context"
	"slices"
)

// Stray is a living pane with the tags of a seat of ours that nothing on record explains:
// no binding, no operation that is open, no undo window that may keep it.
type Stray struct {
	Pane    PaneID `json:"pane"`
	Session string `json:"session"`
	Seat    string `json:"seat"` // address; the id of one that is not on record
	Op      string `json:"op,omitempty"`
}

// Strays looks for panes that an operation has left behind. The record is read after the
// panes, so that whatever made one is on it. No answer of tmux gives none: it is no
// finding.
func (e *Engine) Strays(ctx context.Context) ([]Stray, error) {
	inv := e.d.Mux.Inventory(ctx)
	var out []Stray
	err := e.d.Store.Read(ctx, func(r Reader) error {
		rec, err := r.Record()
		if err != nil {
			return err
		}
		kept, err := r.Operations(OperationFilter{Undo: true})
		if err != nil {
			return err
		}
		names := map[string]string{}
		for _, s := range rec.Seats {
			i := slices.IndexFunc(rec.Rigs, func(g Rig) bool { return g.ID == s.RigID })
			names[s.ID] = Address(s.Pod, s.Member, rec.Rigs[i].Name)
		}
		for _, p := range inv.Panes {
			explained := p.Seat == "" || p.Dead ||
				slices.ContainsFunc(rec.Bindings, func(b Binding) bool { return b.Pane == p.ID && b.Epoch == inv.Epoch }) ||
				slices.ContainsFunc(kept, func(op Operation) bool { return op.SeatID == p.Seat })
			if explained {
				continue
			}
			if op, known, err := lookup(r.Operation(p.Op)); err != nil || known && !op.State.Ended() {
				if err != nil {
					return err
				}
				continue
			}
			out = append(out, Stray{p.ID, p.Session, cmp.Or(names[p.Seat], p.Seat), p.Op})
		}
		return nil
	})
	return out, err
}
