package tui

import (
	"context"

	"rig/engine"
)

// seatTarget is the seat a wizard was opened on.
func seatTarget(m *Model, s subject, a answers) string {
	if t := a.text("seat"); t != "" {
		return t
	}
	if s.seat != nil {
		return s.seat.Address
	}
	return ""
}

// seatField asks for a seat, with the one under the cursor first. no says why a
// seat cannot be chosen.
func seatField(m *Model, s subject, no func(*engine.SeatView) string) *field {
	f := &field{id: "seat", label: "Seat", kind: fieldPick, required: true, empty: "type to search"}
	for _, seat := range m.fleet.Seats() {
		f.choices = append(f.choices, Choice{Value: seat.Address, Note: lookOf(seat).word + ", " + runtimeWord(seat.Runtime), Reason: no(seat)})
	}
	f.choices = possibleFirst(f.choices)
	for i, c := range f.choices {
		if s.seat != nil && c.Value == s.seat.Address && c.Reason == "" {
			f.at = i
		}
	}
	return f
}

// freeSeatField asks for a seat without an occupant, and says what frees one when
// there is none.
func freeSeatField(m *Model, s subject) *field {
	f := seatField(m, s, whyOccupied)
	if len(f.choices) > 0 && f.choices[0].Reason != "" {
		f.help = "no seat is free: " + m.reg.hint("seat-stop") + " stops one first, or " + m.reg.hint("handover") + " hands a seat over to such a session"
	}
	return f
}

func adoptDef() wizardDef {
	return wizardDef{
		verb: engine.VerbAdopt, keys: []string{"A"}, label: "adopt", title: "Adopt a session", in: scopeScreens, foot: 74,
		about:    "bind a session that you started yourself to a seat; it stays yours and is never killed",
		disabled: whyNoRigs,
		fields: func(m *Model, s subject) []*field {
			session := &field{
				id: "discovered", label: "Session", kind: fieldFree, required: true, load: m.opt.Discovered,
				empty: "type to search", help: "sessions in tmux that nobody manages; " + m.reg.hint("field-again") + " looks again", none: "none was found",
			}
			seat := freeSeatField(m, s)
			all, runs := seat.choices, map[string]engine.RuntimeName{}
			for _, v := range m.fleet.Seats() {
				runs[v.Address] = v.Runtime
			}
			seat.from = func() []Choice { return ofRuntime(all, runs, session.under().Runtime) }
			return []*field{session, seat}
		},
		target: seatTarget,
		request: func(a answers, target string) engine.Request {
			return engine.Request{Target: target, Args: args(engine.AdoptArgs{Discovered: a.text("discovered")})}
		},
	}
}

// ofRuntime are the seats for a session that looks like a runtime, "" = nobody knows
// which: those of another cannot be chosen, as the plan would say.
func ofRuntime(all []Choice, runs map[string]engine.RuntimeName, looks engine.RuntimeName) []Choice {
	out := append([]Choice(nil), all...)
	for i, c := range out {
		if is := runs[c.Value]; c.Reason == "" && looks != "" && is != looks {
			out[i].Reason = "the session looks like " + string(looks) + ", the seat is " + string(is)
		}
	}
	return possibleFirst(out)
}

func releaseDef() wizardDef {
	return wizardDef{
		verb: engine.VerbRelease, keys: []string{"X"}, label: "release", title: "Release an adopted session", in: scopeSeats, foot: 76,
		about:    "let go of an adopted session: it goes on as yours, the seat is empty",
		disabled: whyNoRelease, each: true,
		request: func(_ answers, target string) engine.Request {
			return engine.Request{Target: target, Args: args(struct{}{})}
		},
	}
}

func whyNoRelease(m *Model) string {
	s := m.here()
	switch {
	case len(m.marks) > 0:
		return ""
	case s.seat == nil:
		return "put the cursor on a seat first"
	case s.seat.Origin != engine.OriginClaimed:
		return clean(s.seat.Address) + " was not adopted: only an adopted session can be released"
	}
	return ""
}

func handoverDef() wizardDef {
	return wizardDef{
		verb: engine.VerbHandover, keys: []string{"H"}, label: "handover", title: "Hand a seat over", in: scopeSeats, foot: 41,
		about:    "put a new occupant into a seat; the one there is safe until the new one is proven",
		disabled: whyNoHandover, each: true,
		fields: func(m *Model, s subject) []*field {
			return []*field{sourceField(m, s), reasonField(true)}
		},
		request: func(a answers, target string) engine.Request {
			return engine.Request{Target: target, Args: args(engine.HandoverArgs{Source: a.text("source")})}
		},
	}
}

// sourceField asks where the successor comes from. For one seat the choices are
// live: what can be forked, what was kept, and the operator's own sessions.
func sourceField(m *Model, s subject) *field {
	f := &field{
		id: "source", label: "Source", kind: fieldFree, required: true, empty: "type to search",
		help: "where the successor's knowledge comes from",
		choices: []Choice{
			{Value: "fresh", Note: "a new conversation, with a packet of the state of the work"},
			{Value: "rebuild", Note: "a new conversation, primed from the seat's artifacts"},
		},
	}
	if s.seat == nil || len(s.seats) > 1 {
		return f
	}
	c, id := m.c, s.seat.ID
	f.load = func(ctx context.Context) ([]Choice, error) {
		options, err := c.HandoverSources(ctx, id)
		out := make([]Choice, len(options))
		for i, o := range options {
			out[i] = Choice{Value: o.Source, Label: o.Label, Note: o.Note, Reason: o.Trouble}
		}
		return possibleFirst(out), err
	}
	return f
}

func whyNoHandover(m *Model) string {
	s := m.here()
	switch {
	case len(m.marks) > 0:
		return ""
	case s.seat == nil:
		return "put the cursor on a seat first"
	case s.seat.Life != engine.LifeRunning:
		return clean(s.seat.Address) + " is " + lookOf(s.seat).word + ": " + m.reg.hint("launch") + " launches it"
	}
	return ""
}
