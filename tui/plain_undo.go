package tui

import (
	"strings"

	"rig/engine"
)

// undo plans the undo of one operation: the one that is named, the newest of the seat
// that is named, or the only one that there is.
func (p *plain) undo(text string) {
	op, why := p.undoOf(text)
	if op == nil {
		if why != "" {
			p.say("%s", why)
		}
		return
	}
	def := undoDef(*op)
	p.say("%s, operation %s.", def.title, clean(op.ID))
	p.plan(&wizard{def: def, name: newInput("")})
}

// undoOf finds what is to be undone; nil with why not, which is "" when it was said.
func (p *plain) undoOf(text string) (*engine.OpView, string) {
	var open []*engine.OpView
	for i := range p.m.fleet.Ops {
		op := &p.m.fleet.Ops[i]
		if !op.UndoUntil.After(p.m.now) {
			continue
		}
		why := p.m.undoNot(op)
		switch {
		case text != op.ID && why == "":
			open = append(open, op)
		case text == op.ID && why != "":
			return nil, opName(op.Verb, op.Target) + " cannot be undone: " + why + "."
		case text == op.ID:
			return op, ""
		}
	}
	switch {
	case text == "" && len(open) == 1:
		return open[0], ""
	case text == "":
		return nil, p.undoList(open)
	}
	if op, _, err := p.m.c.Operation(p.m.ctx, text); err == nil {
		return nil, opName(op.Verb, op.Target) + " cannot be undone. " + p.undoList(open)
	}
	seat := p.find(text)
	if seat == nil {
		return nil, ""
	}
	op, why := p.m.undoOfSeat(seat.Address)
	switch {
	case op != nil:
		return op, ""
	case why != "":
		return nil, why + "."
	}
	return nil, "Nothing of " + clean(seat.Address) + " can be undone. " + p.undoList(open)
}

// undoList says what can be undone.
func (p *plain) undoList(ops []*engine.OpView) string {
	if len(ops) == 0 {
		return "No operation can be undone now."
	}
	lines := []string{"undo SEAT or undo OPERATION; these can be undone:"}
	for _, op := range ops {
		lines = append(lines, "  "+clean(op.ID)+" "+opName(op.Verb, op.Target)+", until "+p.m.undoEnd(op))
	}
	return strings.Join(lines, "\n")
}
