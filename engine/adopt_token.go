package engine

import (
	"cmp"
	"context"
)

// tokenWhyKey is where the journal and the events say why an id is, or is not, on record.
const tokenWhyKey = "token_why"

// theirConversation says, before a name, whose an id is that is not taken.
const theirConversation = "it is the conversation of "

// captured is the native id of an operator's own session, as its client proved it.
type captured struct {
	token ResumeToken
	from  Provenance
}

// capture asks the client of an operator's own session for its conversation: best
// effort, and only what it proves. It gives what may be journaled of it. An id
// that is on record as another seat's is not taken: one conversation has one seat.
func (r *run) capture(ctx context.Context, s Step, seat Seat, pane PaneID) Evidence {
	if seat.Runtime == RuntimeTerminal {
		return Evidence{}
	}
	w, err := r.e.look(ctx)
	if err != nil {
		return Evidence{tokenWhyKey: err.Error()}
	}
	p, ok := w.inv.Pane(pane)
	if !ok {
		return Evidence{tokenWhyKey: "its pane is gone"}
	}
	id, whose, err := r.e.conversationIn(ctx, w, seat, p)
	switch {
	case err != nil:
		return Evidence{tokenWhyKey: "whose conversation it is cannot be told: " + err.Error()}
	case id.Token.Empty():
		return Evidence{tokenWhyKey: cmp.Or(id.Why, "its client names no conversation")}
	case whose != "":
		return Evidence{tokenWhyKey: theirConversation + whose}
	}
	r.memory.Store("captured/"+s.Seat, captured{id.Token, id.Provenance})
	return Evidence{"token": id.Token.String(), tokenWhyKey: id.Why}
}

// conversationIn gives the conversation that a pane's client proves to have open; its
// token is empty when it proves none. whose names the occupant of another seat that
// has it on record.
func (e *Engine) conversationIn(ctx context.Context, w *world, seat Seat, pane Pane) (id Identity, whose string, err error) {
	rt, err := e.runtime(seat.Runtime)
	if err != nil || seat.Runtime == RuntimeTerminal {
		return id, "", err
	}
	id = rt.Identify(ctx, Probe{Seat: seat, Address: w.address(seat), Pane: pane, Now: w.now, Screen: e.screen(ctx, pane.ID)})
	if !id.Proven || id.Token.Empty() {
		id.Token = ResumeToken{}
		return id, "", nil
	}
	owner, whose, known, err := e.occupantOf(ctx, w, seat.Runtime, NewParentToken(id.Token.Reveal()))
	if err != nil || !known || owner.SeatID == seat.ID {
		whose = ""
	}
	return id, whose, err
}

// withCaptured puts a captured id into the row of an operator's own session.
func (r *run) withCaptured(s Step, session *Session) {
	v, _ := r.memory.Load("captured/" + s.Seat)
	if c, ok := v.(captured); ok {
		session.Token, session.Provenance, session.LastVerified = c.token, c.from, r.e.d.Clock.Now()
	}
}
