package tui

import (
	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// undoOf finds an operation whose undo window is open; nil when it is none. why says
// what rules its undo out all the same, as far as the picture tells.
func (m *Model) undoOf(id string) (op *engine.OpView, why string) {
	if m.fleet == nil {
		return nil, ""
	}
	for i := range m.fleet.Ops {
		if op := &m.fleet.Ops[i]; op.ID == id && op.UndoUntil.After(m.now) {
			return op, m.undoNot(op)
		}
	}
	return nil, ""
}

// undoNot says why an operation inside its undo window cannot be undone; "" when
// nothing in the picture speaks against it. The plan of the undo has the last word.
func (m *Model) undoNot(op *engine.OpView) string {
	seat := m.seatNamed(op.Target)
	switch {
	case op.State == engine.OpUnfinished:
		return "it was cut off; that is closed first"
	case !op.State.Ended():
		return "it is not over yet"
	case !m.fleet.Live:
		return ""
	case seat == nil:
		return "its seat is not there any more"
	case op.UndoGone:
		return "the incumbent's pane is gone"
	case seat.OpID != "" && seat.OpID != op.ID:
		return string(seat.OpVerb) + " is under way on the seat"
	case !op.EndedAt.IsZero() && seat.StartedAt.After(op.EndedAt):
		return "a later occupant sits there: generation " + itoa(int(seat.Generation))
	case seat.Life == engine.LifeStopped, seat.Life == engine.LifeNever: // a lost one leaves its place to the incumbent
		return "its successor is gone: " + clean(seat.LifeWhy)
	}
	return ""
}

// seatNamed finds a seat by its address; nil when it is not in the picture.
func (m *Model) seatNamed(address string) *engine.SeatView {
	for _, s := range m.seats {
		if s.Address == address {
			return s
		}
	}
	return nil
}

func (m *Model) undoEnd(op *engine.OpView) string {
	return op.UndoUntil.In(m.opt.zone()).Format("15:04:05")
}

// undoOfSeat finds the newest operation on a seat that can be undone, or else says
// why the newest inside its window cannot.
func (m *Model) undoOfSeat(address string) (*engine.OpView, string) {
	var best *engine.OpView
	not := ""
	for i := range m.fleet.Ops {
		op := &m.fleet.Ops[i]
		if op.Target != address || !op.UndoUntil.After(m.now) {
			continue
		}
		switch why := m.undoNot(op); {
		case why == "" && (best == nil || op.StartedAt.After(best.StartedAt)):
			best = op
		case why != "" && not == "": // newest first
			not = opName(op.Verb, op.Target) + " cannot be undone: " + why
		}
	}
	if best != nil {
		return best, ""
	}
	return nil, not
}

// undoable is what the key that undoes is about: on Operations the row under the
// cursor, elsewhere the newest operation of the seat under it. Never another one: why
// says then why not, and where there is something to undo.
func (m *Model) undoable() (op *engine.OpView, why string) {
	if m.fleet == nil {
		return nil, "the record is still being read"
	}
	here := m.here()
	switch {
	case m.cur == screenOps:
		op, why = m.undoRow()
	case here.seat == nil:
		why = "put the cursor on a seat first"
	default:
		if op, why = m.undoOfSeat(here.seat.Address); op == nil && why == "" {
			why = "nothing of " + clean(here.seat.Address) + " can be undone"
		}
	}
	if op != nil {
		return op, ""
	}
	return nil, m.undoElsewhere(why)
}

// undoRow is the undo of the row under the cursor of Operations.
func (m *Model) undoRow() (*engine.OpView, string) {
	row := m.operations().op()
	if row == nil {
		return nil, "there is nothing under the cursor"
	}
	op, why := m.undoOf(row.ID)
	if op != nil && why == "" {
		return op, ""
	}
	if why != "" {
		why = ": " + why
	}
	return nil, opName(row.Verb, row.Target) + " cannot be undone" + why
}

// undoElsewhere adds to a refusal where there is something to undo.
func (m *Model) undoElsewhere(why string) string {
	var names []string
	for i := range m.fleet.Ops { // newest first
		op := &m.fleet.Ops[i]
		if !op.UndoUntil.After(m.now) || m.undoNot(op) != "" {
			continue
		}
		name := clean(op.Target)
		if m.cur == screenOps {
			name = opName(op.Verb, op.Target) + ", begun " + op.StartedAt.In(m.opt.zone()).Format("15:04")
		}
		names = append(names, name)
	}
	switch {
	case len(names) == 0 && m.cur != screenOps && m.here().seat == nil: // no seat would have one
		return "no operation can be undone now"
	case len(names) == 0:
		return why + "; no operation can be undone now"
	case m.cur == screenOps:
		return why + "; this can, on its row: " + joinWords("; ", names...)
	}
	return why + "; there is something to undo on " + joinWords(", ", names...)
}

func opName(v engine.Verb, target string) string { return string(v) + " of " + clean(target) }

func (m *Model) whyNoUndo() string {
	_, why := m.undoable()
	return why
}

// undo asks the verb that undoes an operation for its plan, in the same frame as
// every other change.
func (m *Model) undo() tea.Cmd {
	op, _ := m.undoable()
	return m.openWizard(undoDef(*op))
}
