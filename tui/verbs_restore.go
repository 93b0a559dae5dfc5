package tui

import (
	"context"
	"sort"

	"rig/engine"
)

// Answers that are no name.
const (
	newestSnapshot = "newest" // whichever is the newest usable one when the plan is made
	everyRig       = "--all"
)

// restoreDef brings one rig back: from the snapshot that is chosen, with the
// decisions that seats need.
func restoreDef() wizardDef {
	return wizardDef{
		verb: engine.VerbRestore, keys: []string{"R"}, label: "restore", title: "Restore a rig", in: scopeScreens, foot: 71,
		about:    "bring a rig back from a snapshot; each seat with what is meant to happen and why",
		disabled: whyNoRigs,
		fields: func(m *Model, s subject) []*field {
			return []*field{restoreRigField(m, s), snapshotField(m, s), freshField(m, s, "rig", "snapshot"), unpromptedField()}
		},
		target: func(_ *Model, _ subject, a answers) string { return a.text("rig") },
		request: func(a answers, target string) engine.Request {
			return restoreRequest(target, a.text("snapshot"), a.list("fresh"), a.yes("unprompted"))
		},
	}
}

// restoreRigField asks for a rig as rigField does, in the order of the Restore screen,
// where that has looked already: what has something to decide stands first. Of what
// nobody looked at, rigs that run whole stand last: there is nothing to bring back.
func restoreRigField(m *Model, s subject) *field {
	f := rigField(m, s)
	chosen, rank := f.value(), map[string]int{}
	for i := range m.fleet.Rigs {
		if r := &m.fleet.Rigs[i]; r.Running == len(r.Seats) {
			rank[r.Name] = 1
		}
	}
	report := m.restoreScreen().report
	for _, r := range report.Rigs {
		rank[r.Rig] = urgency(r) - urgencies
		for i := range f.choices {
			if n := toDecide(r); f.choices[i].Value == r.Rig && n > 0 {
				f.choices[i].Note, f.choices[i].Tone = f.choices[i].Note+", "+itoa(n)+" to decide", toneNeed
			}
		}
	}
	sort.SliceStable(f.choices, func(i, j int) bool { return rank[f.choices[i].Value] < rank[f.choices[j].Value] })
	for i, c := range f.choices {
		if c.Value == chosen {
			f.at = i
		}
	}
	return f
}

// urgencies puts what the Restore screen knows of before what it does not.
const urgencies = 10

// restoreRequest is the request that brings a rig back. Without a snapshot that
// is named it is the one of `rig up`.
func restoreRequest(rig, snapshot string, fresh []string, unprompted bool) engine.Request {
	if snapshot == "" || snapshot == newestSnapshot {
		return engine.Request{Verb: engine.VerbUp, Target: rig, Args: args(engine.UpArgs{Spec: rig, Fresh: fresh, FreshUnprompted: unprompted})}
	}
	return engine.Request{Verb: engine.VerbRestore, Target: rig, Args: args(engine.RestoreArgs{Snapshot: snapshot, Fresh: fresh, FreshUnprompted: unprompted})}
}

// snapshotField offers the snapshots of the rig. One that is not usable says
// why.
func snapshotField(m *Model, s subject) *field {
	c, zone := m.c, m.opt.zone()
	return &field{
		id: "snapshot", label: "Snapshot", kind: fieldPick, required: true, empty: "type to search", want: s.snapshot,
		help:    "what the restore stands on: whom it is to bring back, and tokens that the record lacks",
		choices: []Choice{{Value: newestSnapshot, Label: "the newest usable one", Note: "as rig up chooses it; the record when there is none"}},
		follows: []string{"rig"},
		reads: func(a answers) func(context.Context) ([]Choice, error) {
			rig := a.text("rig")
			return func(ctx context.Context) ([]Choice, error) {
				list, err := c.AllSnapshots(ctx)
				var out []Choice
				for _, v := range list {
					if v.Rig != rig {
						continue
					}
					ch := Choice{
						Value: v.ID, Label: v.CreatedAt.In(zone).Format("2 Jan 15:04:05"),
						Note: clean(v.Kind) + ", " + itoa(len(v.Intended)) + " of " + engine.Counted(v.Seats, "seat"),
					}
					if v.Chosen {
						ch.Note += ", the newest usable"
					}
					if !v.Usable {
						ch.Reason = clean(v.Why)
					}
					out = append(out, ch)
				}
				return out, err
			}
		},
	}
}

// freshField lists the seats of the rig with what a restore means to do with
// each, and why. What is picked starts without its conversation, on purpose. The
// rig is the answer to the question ref; there are no choices when that names no
// rig on record.
func freshField(m *Model, s subject, ref string, more ...string) *field {
	c, who, rigs := m.c, m.operator, m.fleet.Rigs
	f := &field{
		id: "fresh", label: "Start fresh", kind: fieldMany, empty: "nobody: each seat as listed below", follows: append([]string{ref}, more...),
		none: "nobody: no rig on record is named above",
		help: "picked seats start without their conversation, which stays on disk; a decision left open is left as it is",
	}
	if s.seat != nil {
		f.want, f.first = s.seat.Logical, s.item != nil
	}
	f.reads = func(a answers) func(context.Context) ([]Choice, error) {
		names := map[string]string{}
		for i := range rigs {
			if rigs[i].Name != a.text(ref) {
				continue
			}
			for j := range rigs[i].Seats {
				names[rigs[i].Seats[j].Address] = rigs[i].Seats[j].Logical
			}
		}
		if len(names) == 0 {
			return nil
		}
		req := restoreRequest(a.text(ref), a.text("snapshot"), nil, false)
		req.Operator = who
		return func(ctx context.Context) ([]Choice, error) {
			p, err := c.Plan(ctx, req)
			if err != nil {
				return nil, err
			}
			return intentChoices(p.Intents, names), nil
		}
	}
	return f
}

// intentChoices turns what a plan means to do into choices: what needs a
// decision first, what cannot be started fresh last.
func intentChoices(intents []engine.Intent, names map[string]string) []Choice {
	rank := map[string]int{}
	var out []Choice
	for _, i := range intents {
		c := Choice{Value: names[i.Seat], Picked: "starts fresh, on purpose"}
		if c.Value == "" {
			continue
		}
		why := whyText(i.Reason)
		switch i.Action {
		case string(engine.ContinuityAwaiting):
			c.Note, c.Tone = "needs a decision: "+why, toneNeed
		case "resume-original":
			c.Note, rank[c.Value] = "resumes: "+why, 1
		case "launch":
			c.Note, rank[c.Value] = "first launch: "+why, 2
		case "already_running":
			c.Reason, rank[c.Value] = "it runs and is left alone", 5
		case string(engine.ContinuityFreshPrimed):
			c.Reason, rank[c.Value] = "it starts primed anyway: "+why, 3
		default:
			c.Reason, rank[c.Value] = why, 4
		}
		out = append(out, c)
	}
	sort.SliceStable(out, func(i, j int) bool { return rank[out[i].Value] < rank[out[j].Value] })
	return out
}

func unpromptedField() *field {
	return &field{
		id: "unprompted", label: "Never asked", kind: fieldToggle,
		help: "start every agent fresh that was never prompted: it has no conversation to lose",
	}
}

// snapshotDef saves one rig.
func snapshotDef() wizardDef {
	return wizardDef{
		verb: engine.VerbSnapshot, keys: []string{"B"}, label: "snapshot", title: "Save a snapshot", in: scopeScreens, foot: 73,
		about: "save what is known of a rig, so that a later restore can stand on it", disabled: whyNoRigs,
		fields: func(m *Model, s subject) []*field { return []*field{rigField(m, s), intendedField(m)} },
		target: func(_ *Model, _ subject, a answers) string { return a.text("rig") },
		request: func(a answers, target string) engine.Request {
			return engine.Request{Target: target, Args: args(engine.SnapshotArgs{Intended: a.list("intended")})}
		},
	}
}

// intendedField asks whom a later restore is to judge.
func intendedField(m *Model) *field {
	rigs := m.fleet.Rigs
	return &field{
		id: "intended", label: "Intended", kind: fieldMany, empty: "every seat that the rig has now", follows: []string{"rig"},
		help: "the seats that a later restore is to bring back; others are listed and left out",
		reads: func(a answers) func(context.Context) ([]Choice, error) {
			var out []Choice
			for i := range rigs {
				for j := range rigs[i].Seats {
					if s := &rigs[i].Seats[j]; rigs[i].Name == a.text("rig") {
						out = append(out, Choice{Value: s.Logical, Note: lookOf(s).word + ", " + runtimeWord(s.Runtime)})
					}
				}
			}
			return func(context.Context) ([]Choice, error) { return out, nil }
		},
	}
}

// everyRigChoice offers to bring everything back when something is down.
func everyRigChoice(stopped []Choice) []Choice {
	if len(stopped) == 0 {
		return stopped
	}
	return append(stopped, Choice{Value: everyRig, Label: "every rig on record", Note: "what runs is left alone; one receipt"})
}
