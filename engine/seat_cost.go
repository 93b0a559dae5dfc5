package engine

import (
	"context"
	"strings"
)

// cost is what the end of an occupant cuts off at this moment.
type cost struct {
	turn   string // what it is in the middle of; "" when in nothing
	waits  string // for what it waits for a person; "" when it does not
	queued bool   // its client holds a message that it has not taken yet
	draft  bool   // somebody's text stands in its input box
	unread bool   // nobody can tell whether it does
}

// costOf reads what a live occupant is at. Its screen, which alone shows a draft and a
// queued message, has come with the look where the request names the seat.
func (e *Engine) costOf(ctx context.Context, w *world, seat Seat) cost {
	at := w.locate(seat.ID)
	rt, err := e.runtime(seat.Runtime)
	if err != nil || at.presence != Present || at.dead {
		return cost{}
	}
	screen, ok := w.shot(at.pane.ID)
	if !ok {
		screen = e.screen(ctx, at.pane.ID)
	}
	t := target{seat: seat, session: w.latest[seat.ID], address: w.address(seat), pane: at.pane, rt: rt}
	act := rt.Activity(ctx, t.probe(e, screen))
	c := cost{queued: act.Queued}
	switch act.State {
	case ActivityIdle, ActivityBusy, ActivityLimit: // it shows its box; a question stands in its place
		draft, known := boxOf(rt, e.boxScreen(ctx, t, screen))
		c.draft, c.unread = draft != "", !known
	case ActivityWaiting, ActivityExited, ActivityUnknown:
		draft, _ := boxOf(rt, screen)
		c.draft = draft != ""
	}
	switch act.State {
	case ActivityBusy:
		c.turn = "is in mid-turn"
		if seat.Runtime == RuntimeTerminal && act.Why != "" {
			c.turn = act.Why
		}
	case ActivityWaiting:
		c.waits = act.Why
	case ActivityIdle, ActivityLimit, ActivityExited, ActivityUnknown:
	}
	return c
}

// warnEnd says of a plan that ends a seat's occupant what ends with it, in one line.
// An adopted session is released, and loses nothing.
func (e *Engine) warnEnd(ctx context.Context, w *world, p *Plan, seat Seat) {
	if w.latest[seat.ID].Origin == OriginClaimed {
		return
	}
	c := e.costOf(ctx, w, seat)
	var parts []string
	if c.turn != "" {
		parts = append(parts, c.turn)
	}
	if c.waits != "" {
		parts = append(parts, "waits for a person ("+c.waits+")")
	}
	if c.queued {
		parts = append(parts, "has a message queued that its client has not taken yet")
	}
	if c.draft {
		parts = append(parts, "has a draft in its input box")
	}
	if c.unread {
		parts = append(parts, "has an input box that cannot be read, where a draft may stand")
	}
	switch len(parts) {
	case 0:
	case 1:
		p.Warnings = append(p.Warnings, w.address(seat)+" "+parts[0]+": that ends with it")
	default:
		p.Warnings = append(p.Warnings, w.address(seat)+" "+strings.Join(parts, ", ")+": all of that ends with it")
	}
}

// warnCost says what a handover costs the incumbent, and what of it an undo brings
// back.
func (h *handover) warnCost(ctx context.Context) {
	h.e.warnStranger(h.w, h.p, h.seat)
	c := h.e.costOf(ctx, h.w, h.seat)
	turn, kept := "it is stopped, and an undo lets it go on, but a request in flight may be lost", "an undo brings it back until its window closes"
	switch {
	case h.last.Origin == OriginClaimed:
		turn, kept = "it is released, and goes on beside its successor", "it stays with the session that is released"
	case h.e.d.Config.UndoWindow <= 0:
		turn, kept = "it is ended", "it is lost with the incumbent"
	}
	warn := func(said bool, text string) {
		if said {
			h.p.Warnings = append(h.p.Warnings, text)
		}
	}
	warn(c.turn != "" && h.seat.Runtime != RuntimeTerminal, "the incumbent is in mid-turn: "+turn)
	warn(c.turn != "" && h.seat.Runtime == RuntimeTerminal, "the incumbent "+c.turn+": "+turn)
	warn(c.waits != "", "the incumbent waits for a person: "+c.waits)
	warn(c.queued, "a message is queued that the incumbent's client has not taken yet: the successor does not see it; "+kept)
	warn(c.draft, "a draft stands in the incumbent's input box: the successor does not see it; "+kept)
	warn(c.unread, "the incumbent's input box cannot be read: a draft that stands in it is not seen by the successor; "+kept)
	h.p.SetInput(queuedKey, c.queued)
}

// queuedKey is where the plan of a handover keeps that a message stood queued, for
// the successor to be told.
const queuedKey = "queued"

// costScreens wants what the panes show whose occupants a request ends or replaces;
// the screens come in the planner's own exchange with tmux, however many they are.
func (w *world) costScreens(r Request) []CaptureRequest {
	var seats []Seat
	switch r.Verb {
	case VerbHandover, VerbSeatStop, VerbSeatLaunch:
		if seat, err := w.seat(r.Target); err == nil {
			seats = []Seat{seat}
		}
	case VerbDown, VerbRemove, VerbShrink:
		if rig, err := w.rig(r.Target); err == nil {
			seats = w.seatsOf(rig.ID)
		}
	default:
		return nil
	}
	var out []CaptureRequest
	for _, s := range seats {
		if b := w.bindings[s.ID]; b.Pane != "" {
			out = append(out, CaptureRequest{Pane: b.Pane, Faint: true})
		}
	}
	return out
}
