package tui

import "rig/engine"

// seatVerb is what the verbs on one seat, or on each of the marked seats, have in
// common: they need a reason and nothing else.
func seatVerb(verb engine.Verb, title, about string) wizardDef {
	return wizardDef{
		verb: verb, title: title, about: about, in: scopeSeats, each: true,
		disabled: func(m *Model) string {
			if len(m.marks) > 0 {
				return ""
			}
			return m.whyNoSeat()
		},
		fields: func(*Model, subject) []*field { return []*field{reasonField(true)} },
		request: func(_ answers, target string) engine.Request {
			return engine.Request{Target: target, Args: args(struct{}{})}
		},
	}
}

func stopDef() wizardDef {
	d := seatVerb(engine.VerbSeatStop, "Stop a seat", "end the occupant of a seat; its conversation stays on disk")
	d.keys, d.label, d.foot = []string{"S"}, "stop", 42
	d.disabled = whyNoHandover // both need an occupant that runs
	return d
}

func cleanDef() wizardDef {
	d := seatVerb(engine.VerbSeatClean, "Clean a seat", "clear what a dead or lost occupant left behind, so that the seat can be launched")
	d.keys, d.label, d.foot = []string{"c"}, "clean", 28
	d.disabled = func(m *Model) string {
		s := m.here().seat
		switch {
		case len(m.marks) > 0:
			return ""
		case s == nil:
			return m.whyNoSeat()
		case s.Life == engine.LifeDead || s.Life == engine.LifeLost || s.Life == engine.LifeAttention:
			return ""
		}
		return clean(s.Address) + " is " + lookOf(s).word + ": only what is dead, lost or stuck at its start is cleaned"
	}
	return d
}

func freshDef() wizardDef {
	d := seatVerb(engine.VerbSeatLaunch, "Launch a blank occupant", "put a blank occupant into the seat on purpose: nothing is continued and nothing is delivered")
	d.fields = func(*Model, subject) []*field {
		return []*field{
			{id: "stop", label: "Stop first", kind: fieldToggle, help: "end the occupant that runs there now"},
			reasonField(true),
		}
	}
	d.request = func(a answers, target string) engine.Request {
		return engine.Request{Target: target, Args: args(engine.SeatLaunchArgs{Fresh: true, Stop: a.yes("stop")})}
	}
	return d
}

func clearDef() wizardDef {
	d := seatVerb(engine.VerbClearAttention, "Clear attention", "say that an operator has put a seat in order whose outcome asked for a person")
	base := d.disabled
	d.disabled = func(m *Model) string {
		s := m.here().seat
		if why := base(m); why != "" || len(m.marks) > 0 || s == nil || s.Life == engine.LifeAttention || s.Identity == engine.VerdictMismatch {
			return why
		}
		switch {
		case s.Startup == engine.StartupAttention, s.Startup == engine.StartupFailed, s.Continuity == engine.ContinuityAttention, s.Continuity == engine.ContinuityFailed:
			return ""
		}
		return s.Address + " is not in attention: there is nothing to clear"
	}
	return d
}

func modelDef() wizardDef {
	d := seatVerb(engine.VerbSetModel, "Set a seat's model", "set the model that later launches of a seat use")
	d.fields = func(_ *Model, s subject) []*field {
		f := &field{id: "model", label: "Model", required: true, empty: "its name, as the client takes it"}
		if s.seat != nil && s.seat.Model != "" && len(s.seats) < 2 {
			f.help = "now " + clean(s.seat.Model)
		}
		return []*field{f, reasonField(true)}
	}
	d.request = func(a answers, target string) engine.Request {
		return engine.Request{Target: target, Args: args(engine.SetModelArgs{Model: a.text("model")})}
	}
	return d
}

func expandDef() wizardDef {
	return wizardDef{
		verb: engine.VerbExpand, title: "Expand a rig", in: scopeScreens, disabled: whyNoRigs,
		about: "add the members of a fragment to a rig and launch them",
		fields: func(m *Model, s subject) []*field {
			return []*field{
				rigField(m, s),
				{id: "fragment", label: "Fragment", required: true, empty: "path of a YAML file", first: s.rig != nil, help: "one pod with its new members; rig expand --help says what stands in it"},
			}
		},
		target: func(_ *Model, _ subject, a answers) string { return a.text("rig") },
		request: func(a answers, target string) engine.Request {
			return engine.Request{Target: target, Args: args(engine.ExpandArgs{Fragment: a.text("fragment")})}
		},
	}
}

// workField asks what becomes of inbound work that nobody would be left for.
func workField() *field {
	return &field{id: "work", label: "Drop work", kind: fieldToggle, help: "drop the inbound work that is addressed to it; else its work stands in the way"}
}

func removeDef() wizardDef {
	return wizardDef{
		verb: engine.VerbRemove, title: "Remove a seat", in: scopeSeats, disabled: (*Model).whyNoSeat,
		about: "take one seat out of its rig for good",
		fields: func(m *Model, s subject) []*field {
			return []*field{seatField(m, s, func(*engine.SeatView) string { return "" }), workField(), reasonField(false)}
		},
		target: func(m *Model, _ subject, a answers) string {
			for _, seat := range m.fleet.Seats() {
				if seat.Address == a.text("seat") {
					return seat.Rig
				}
			}
			return ""
		},
		request: func(a answers, target string) engine.Request {
			return engine.Request{Target: target, Args: args(engine.ShrinkArgs{Seat: a.text("seat"), DropWork: a.yes("work")})}
		},
	}
}

func shrinkDef() wizardDef {
	return wizardDef{
		verb: engine.VerbShrink, title: "Shrink a rig", in: scopeSeats, disabled: whyNoRigHere, ofRig: true,
		about: "take a pod with all its seats out of its rig for good",
		fields: func(m *Model, s subject) []*field {
			pod := podField(s)
			if s.rig != nil {
				return []*field{pod, workField(), reasonField(false)}
			}
			rig := rigField(m, s) // the plain console has no cursor that says which
			pod.from = func() []Choice { return podChoices(m, rig.value()) }
			return []*field{rig, pod, workField(), reasonField(false)}
		},
		target: func(_ *Model, s subject, a answers) string {
			if s.rig != nil {
				return s.rig.Name
			}
			return a.text("rig")
		},
		request: func(a answers, target string) engine.Request {
			return engine.Request{Target: target, Args: args(engine.ShrinkArgs{Pod: a.text("pod"), DropWork: a.yes("work")})}
		},
	}
}

func whyNoRigHere(m *Model) string {
	if m.here().rig == nil {
		return "put the cursor on a rig, a pod or a seat first"
	}
	return ""
}
