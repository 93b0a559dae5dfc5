package tui

import (
	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// tokenDef sets a seat's resume token. The token is typed or pasted unseen, goes
// into the plan's request when the plan is made, and is dropped when the wizard
// is through with it.
func tokenDef() wizardDef {
	d := seatVerb(engine.VerbSetToken, "Set a seat's resume token", "set the id by which a seat's conversation is resumed; it is never shown")
	d.each = false
	d.disabled = func(m *Model) string {
		s := m.here().seat
		if one := m.markedSeats(); len(one) == 1 { // that is the seat it is on
			s = m.seats[one[0]]
		}
		switch {
		case len(m.marks) > 1:
			return "one seat at a time: a conversation has one seat"
		case s != nil && s.Runtime == engine.RuntimeTerminal:
			return "a terminal has no conversation to resume"
		}
		if s != nil {
			return ""
		}
		return m.whyNoSeat()
	}
	d.fields = func(*Model, subject) []*field {
		return []*field{
			{
				id: "token", label: "Token", required: true, secret: true, empty: "type or paste the whole id; it is not shown",
				help: "the client's own id of the conversation; setting it proves nothing about continuity",
			},
			reasonField(true),
		}
	}
	d.target = seatTarget
	d.refused = func(m *Model, r engine.Request, cause error) tea.Cmd {
		c, ctx := m.c, m.ctx
		r.Secret = engine.Secret{}
		return func() tea.Msg {
			if err := c.NoteTokenRefusal(ctx, r, cause); err != nil {
				return sayMsg{toneBad, "the refusal is not in the audit log: " + errorText(err)}
			}
			return sayMsg{toneText, "the refusal is in the audit log, without the token"}
		}
	}
	return d
}

// secretField is the wizard's secret question; nil for almost every verb.
func (w *wizard) secretField() *field {
	for _, f := range w.fields {
		if f.secret {
			return f
		}
	}
	return nil
}

// secretFor gives the secret of a request: what stands in the field, or what the
// shown plan was made with.
func (w *wizard) secretFor() engine.Secret {
	f := w.secretField()
	switch {
	case f == nil:
	case f.input.text() != "":
		return engine.NewSecret(f.input.text())
	case len(w.plans) > 0:
		return w.plans[0].Request.Secret
	}
	return engine.Secret{}
}

// hide empties the secret question: from now on only the plan holds the answer.
func (w *wizard) hide() {
	if f := w.secretField(); f != nil {
		f.input = newInput("")
	}
}

// drop lets go of the plans, with the secret that they may hold.
func (w *wizard) drop() {
	if w.secretField() != nil {
		for _, p := range w.plans {
			p.Forget()
		}
	}
	w.plans = nil
}

// settle lets go of what an applied run needed.
func (r *run) settle() {
	for _, p := range r.plans {
		if !p.Request.Secret.Empty() {
			p.Forget()
		}
	}
}
