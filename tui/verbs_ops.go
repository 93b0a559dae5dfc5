package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// undoDef undoes one operation: it asks nothing and goes straight to the plan.
func undoDef(op engine.OpView) wizardDef {
	return wizardDef{
		verb: engine.VerbUndo, title: "Undo " + string(op.Verb) + " of " + clean(op.Target),
		target: func(*Model, subject, answers) string { return op.ID },
		request: func(_ answers, target string) engine.Request {
			return engine.Request{Target: target, Args: args(struct{}{})}
		},
	}
}

func finishDef() wizardDef {
	d := recoverDef(engine.VerbFinish, "Finish a cut-off operation", "do what is left of an operation whose process died after its commit")
	d.keys, d.label, d.foot = []string{"f"}, "finish", 30
	return d
}

func rollbackDef() wizardDef {
	d := recoverDef(engine.VerbRollback, "Roll a cut-off operation back", "undo what an operation did whose process died before its commit")
	d.keys, d.label, d.foot = []string{"b"}, "roll back", 32
	return d
}

// recoverDef closes a cut-off operation. Opened on one it goes straight to the
// plan; elsewhere it asks which.
func recoverDef(verb engine.Verb, title, about string) wizardDef {
	return wizardDef{
		verb: verb, title: title, about: about, in: scopeOps, disabled: whyNoCutOff,
		fields: func(m *Model, s subject) []*field {
			if m.cutOff(s.op) != nil {
				return nil
			}
			f := &field{id: "op", label: "Operation", kind: fieldPick, required: true, empty: "type to search"}
			for i := range m.fleet.Ops {
				if op := m.cutOff(m.fleet.Ops[i].ID); op != nil {
					f.choices = append(f.choices, Choice{Value: op.ID, Label: string(op.Verb) + " of " + op.Target, Note: cutOffWord(op)})
				}
			}
			return []*field{f}
		},
		target: func(_ *Model, s subject, a answers) string {
			if id := a.text("op"); id != "" {
				return id
			}
			return s.op
		},
		request: func(_ answers, target string) engine.Request {
			return engine.Request{Target: target, Args: args(struct{}{})}
		},
	}
}

// cutOff finds an operation whose process died half-way; nil when it is not one.
func (m *Model) cutOff(id string) *engine.OpView {
	if m.fleet == nil {
		return nil
	}
	for i := range m.fleet.Ops {
		if op := &m.fleet.Ops[i]; op.ID == id && op.State == engine.OpUnfinished {
			return op
		}
	}
	return nil
}

// cutOffWord says how far a cut-off operation came, and so which way is open.
func cutOffWord(op *engine.OpView) string {
	how := ", nothing committed: roll it back"
	if op.Committed {
		how = ", committed: finish it"
	}
	return itoa(op.Done) + " of " + engine.Counted(op.Total, "step") + how
}

func whyNoCutOff(m *Model) string {
	for i := range m.fleet.Ops {
		if m.fleet.Ops[i].State == engine.OpUnfinished {
			return ""
		}
	}
	return "no operation was cut off"
}

// whyNoResolve says why no wizard resolves the item under the cursor.
func (m *Model) whyNoResolve() string {
	it := m.here().item
	if it == nil {
		return "nothing waits for you here"
	}
	if def := m.resolver(it); def != nil {
		if def.disabled != nil {
			here := *m
			here.marks = nil // it is about the item, whatever is marked
			return def.disabled(&here)
		}
		return ""
	}
	if shellLine(it) != "" {
		return ""
	}
	if m.seats[it.SeatID] != nil {
		return m.whyNoJump()
	}
	return "no wizard does that: " + clean(it.Remedy)
}

// shellLine is what resolves an item in a shell alone, "" for an item that something here
// resolves: a client that was stopped answers nothing in its pane.
func shellLine(it *engine.AttentionItem) string {
	if it.Class == engine.AttnSuspended {
		return commandIn(it.Remedy)
	}
	return ""
}

// resolve opens the wizard that resolves the item under the cursor; what is
// answered in a pane is gone to, and what is done in a shell is copied.
func (m *Model) resolve() tea.Cmd {
	here := m.here()
	if shellLine(here.item) != "" {
		return m.copySubject()
	}
	if def := m.resolver(here.item); def != nil {
		return m.openWizardOn(*def, here)
	}
	return m.jump()
}

// resolveWord says what the key that resolves an item does.
func (m *Model) resolveWord(it *engine.AttentionItem) string {
	if def := m.resolver(it); def != nil {
		return "opens the wizard: " + lowerFirst(def.title)
	}
	if line := shellLine(it); line != "" {
		return "copies " + line + ", to be run in a shell"
	}
	if m.seats[it.SeatID] != nil {
		return "goes into its pane, where it is answered"
	}
	return ""
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// resolver is the wizard of the verb that an item's remedy names; nil when the
// remedy is not a verb with a wizard.
func (m *Model) resolver(it *engine.AttentionItem) *wizardDef {
	var d wizardDef
	switch seat := m.seats[it.SeatID]; it.Class {
	case engine.AttnUnfinished:
		op := m.cutOff(it.OpID)
		if op == nil {
			return nil
		}
		if d = rollbackDef(); op.Committed {
			d = finishDef()
		}
	case engine.AttnDead:
		d = cleanDef()
	case engine.AttnLost:
		d = restoreDef()
	case engine.AttnLimit:
		d = handoverDef()
	case engine.AttnShared:
		d = stopDef()
	case engine.AttnIdentity:
		d = clearDef()
	case engine.AttnNotAudited, engine.AttnCompaction:
		d = compactDef()
	case engine.AttnOutcome:
		if d = clearDef(); seat != nil && whyOccupied(seat) == "" {
			d = restoreDef()
		}
	default:
		return nil
	}
	return &d
}
