package tui

import (
	"context"
	"slices"
	"strings"

	"rig/engine"
)

// wizardDefs lists the verbs that have a wizard. A verb is one value; its
// questions and the request they make are all there is to write for it.
func wizardDefs() []wizardDef {
	return append([]wizardDef{
		upDef(), downDef(), launchDef(), adoptDef(), releaseDef(), handoverDef(), forkDef(), compactDef(), stopDef(), cleanDef(), freshDef(),
		clearDef(), modelDef(), tokenDef(), recapDef(), finishDef(), rollbackDef(), expandDef(), removeDef(), shrinkDef(), restoreDef(), snapshotDef(),
	}, imageDefs()...)
}

func upDef() wizardDef {
	return wizardDef{
		verb: engine.VerbUp, keys: []string{"U"}, label: "up", title: "Bring a rig up", in: scopeScreens, foot: 70,
		about: "bring a rig up from a spec or a starter, or back by its name",
		fields: func(m *Model, s subject) []*field {
			spec := &field{
				id: "spec", label: "Spec", kind: fieldFree, required: true, load: startable(m), choices: everyRigChoice(stoppedRigs(m, s)),
				empty: "a path, a starter, or a rig on record", help: "a path to a spec, a starter, or the name of a rig on record",
			}
			return []*field{
				spec,
				{id: "cwd", label: "Directory", empty: "as the spec says", help: "replaces the directory that relative ones start from"},
				{id: "env", label: "Environment", empty: "nothing more", help: "KEY=value words, added to every seat", check: checkEnv},
				freshField(m, subject{}, "spec"),
				unpromptedField(),
			}
		},
		target: func(_ *Model, _ subject, a answers) string { return a.text("spec") },
		request: func(a answers, target string) engine.Request {
			if target == everyRig {
				return engine.Request{Target: "all rigs", Args: args(engine.UpArgs{All: true, FreshUnprompted: a.yes("unprompted")})}
			}
			return engine.Request{Target: target, Args: args(engine.UpArgs{
				Spec: a.text("spec"), Cwd: a.text("cwd"), Env: parseEnv(a.text("env")), Fresh: a.list("fresh"), FreshUnprompted: a.yes("unprompted"),
			})}
		},
	}
}

// startable lists what can be started by name. A name that a rig has means that rig, so
// a starter of that name is none.
func startable(m *Model) func(context.Context) ([]Choice, error) {
	if m.opt.Starters == nil {
		return nil
	}
	list, rigs := m.opt.Starters, map[string]bool{}
	for i := range m.fleet.Rigs {
		rigs[m.fleet.Rigs[i].Name] = true
	}
	return func(ctx context.Context) ([]Choice, error) {
		all, err := list(ctx)
		return slices.DeleteFunc(slices.Clone(all), func(c Choice) bool { return rigs[c.Value] }), err
	}
}

// stoppedRigs offers the rigs that can be brought back, the one under the cursor
// first.
func stoppedRigs(m *Model, s subject) []Choice {
	var out []Choice
	for i := range m.fleet.Rigs {
		r := &m.fleet.Rigs[i]
		if r.Running == len(r.Seats) {
			continue
		}
		c := Choice{Value: r.Name, Note: "on record, " + engine.Untold(r.Running, r.Unknown) + "/" + itoa(len(r.Seats)) + " running"}
		if s.rig != nil && s.rig.ID == r.ID {
			out = append([]Choice{c}, out...)
		} else {
			out = append(out, c)
		}
	}
	return out
}

func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' })
}

func checkEnv(s string) string {
	for _, w := range strings.Fields(s) {
		if k, _, ok := strings.Cut(w, "="); !ok || k == "" {
			return "\"" + w + "\" is not KEY=value"
		}
	}
	return ""
}

func parseEnv(s string) map[string]string {
	var out map[string]string
	for _, w := range strings.Fields(s) {
		if k, v, ok := strings.Cut(w, "="); ok {
			if out == nil {
				out = map[string]string{}
			}
			out[k] = v
		}
	}
	return out
}

// rigField asks for a rig, with the one under the cursor first.
func rigField(m *Model, s subject) *field {
	f := &field{id: "rig", label: "Rig", kind: fieldPick, required: true, empty: "type to search"}
	for i := range m.fleet.Rigs {
		r := &m.fleet.Rigs[i]
		f.choices = append(f.choices, Choice{Value: r.Name, Note: lookRig(r.Life).word + ", " + engine.Untold(r.Running, r.Unknown) + "/" + itoa(len(r.Seats)) + " running"})
		if s.rig != nil && s.rig.ID == r.ID {
			f.at = i
		}
	}
	return f
}

func reasonField(required bool) *field {
	empty := "none given"
	if required {
		empty = "why, in a line"
	}
	return &field{id: "reason", label: "Reason", required: required, empty: empty, help: "goes into the record, with your name"}
}

func whyNoRigs(m *Model) string {
	if m.fleet == nil || len(m.fleet.Rigs) == 0 {
		return "there is no rig: " + m.reg.hint("up") + " brings one up"
	}
	return ""
}

func downDef() wizardDef {
	return wizardDef{
		verb: engine.VerbDown, keys: []string{"D"}, label: "down", title: "Take a rig down", in: scopeScreens, foot: 72,
		about:    "stop every seat of a rig; a snapshot is attempted first",
		disabled: whyNoRigs,
		fields: func(m *Model, s subject) []*field {
			forget := &field{id: "delete", label: "Delete", kind: fieldToggle, help: "forget the rig on record when all of it has stopped"}
			work := &field{id: "work", label: "Drop work", kind: fieldToggle, help: "drop the seats' open inbound work as well; else it stands in the way"}
			work.void = func() string {
				if forget.on {
					return ""
				}
				return "only with Delete: otherwise no work is lost"
			}
			return []*field{
				rigField(m, s),
				{id: "snapshot", label: "Snapshot", kind: fieldToggle, on: true, help: "attempted before anything stops; its failure is reported and stops nothing"},
				forget, work, reasonField(false),
			}
		},
		target: func(_ *Model, _ subject, a answers) string { return a.text("rig") },
		request: func(a answers, target string) engine.Request {
			return engine.Request{Target: target, Args: args(engine.DownArgs{Snapshot: a.yes("snapshot"), Delete: a.yes("delete"), DropWork: a.yes("delete") && a.yes("work")})}
		},
	}
}

func launchDef() wizardDef {
	return wizardDef{
		verb: engine.VerbLaunch, keys: []string{"L"}, label: "launch", title: "Launch seats that do not run", in: scopeScreens, foot: 68, ofMarks: true,
		about:    "launch seats of a rig that do not run: what is marked, or all of them",
		disabled: whyNoRigs,
		fields: func(m *Model, s subject) []*field {
			return []*field{launchField(m, s), reasonField(true)}
		},
		target: func(m *Model, s subject, _ answers) string {
			if r := launchRig(m, s); r != nil {
				return r.Name
			}
			return ""
		},
		request: func(a answers, target string) engine.Request {
			return engine.Request{Target: target, Args: args(engine.LaunchArgs{Seats: a.list("seats")})}
		},
	}
}

// launchRig is the rig under the cursor, else the first there is.
func launchRig(m *Model, s subject) *engine.RigView {
	if s.rig == nil && len(m.fleet.Rigs) > 0 {
		return &m.fleet.Rigs[0]
	}
	return s.rig
}

// launchField lists the seats of the rig: those that run cannot be chosen.
func launchField(m *Model, s subject) *field {
	f := &field{
		id: "seats", label: "Seats", kind: fieldMany, empty: "every seat that does not run", picked: map[string]bool{},
		check: func(string) string { return "" },
	}
	if s.rig = launchRig(m, s); s.rig == nil {
		return f
	}
	f.help = "seats of " + clean(s.rig.Name) + "; none chosen means every one that does not run"
	wanted := map[string]bool{}
	for _, id := range s.seats {
		wanted[id] = true
	}
	if n := ofOtherRigs(m, s); n > 0 {
		f.trouble = engine.Counted(n, "marked seat") + " of other rigs left out: one launch is for one rig"
	}
	for i := range s.rig.Seats {
		seat := &s.rig.Seats[i]
		c := Choice{Value: seat.Logical, Note: lookOf(seat).word + dashed(clean(seat.LifeWhy)), Reason: whyOccupied(seat)}
		if c.Reason == "" && wanted[seat.ID] && len(s.seats) < len(s.rig.Seats) {
			f.picked[seat.Logical] = true
		}
		f.choices = append(f.choices, c)
	}
	f.choices = possibleFirst(f.choices)
	return f
}

// ofOtherRigs counts the seats that a wizard was opened on and that are not of
// its rig.
func ofOtherRigs(m *Model, s subject) int {
	n := 0
	for _, id := range s.seats {
		if seat := m.seats[id]; seat != nil && seat.RigID != s.rig.ID {
			n++
		}
	}
	return n
}

// whyOccupied says why a seat cannot take an occupant, "" when it is known to
// have none.
func whyOccupied(s *engine.SeatView) string {
	switch s.Life {
	case engine.LifeStopped, engine.LifeNever, engine.LifeDead, engine.LifeLost:
		return ""
	case engine.LifeUnknown:
		return "nobody knows whether it runs"
	case engine.LifeStarting:
		return "it is being started"
	case engine.LifeAttention:
		if s.Identity == engine.VerdictMismatch {
			return "another process than its own runs in its pane"
		}
	case engine.LifeRunning:
	}
	return "it runs"
}

// possibleFirst puts what can be chosen before what cannot.
func possibleFirst(all []Choice) []Choice {
	var can, cannot []Choice
	for _, c := range all {
		if c.Reason == "" {
			can = append(can, c)
		} else {
			cannot = append(cannot, c)
		}
	}
	return append(can, cannot...)
}
