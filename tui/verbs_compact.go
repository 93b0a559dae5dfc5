package tui

import (
	"encoding/json"
	"sort"
	"time"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

func compactDef() wizardDef {
	return wizardDef{
		verb: engine.VerbCompact, keys: []string{"C"}, label: "compact", title: "Compact a seat", in: scopeSeats, foot: 44,
		about:    "guided compaction of a claude seat, or of marked ones, one after the other: prepare, /compact, restore, audit",
		disabled: whyNoCompact, each: true, order: fullestFirst, status: (*wizard).compactStatus,
		fields: func(_ *Model, s subject) []*field {
			audit := s.seat != nil && s.seat.Compaction.Verdict != "" && len(s.seats) == 1
			only := &field{id: "audit", label: "Audit only", kind: fieldToggle, on: audit, help: "it was compacted already, by hand or by its client: only ask what it knows now"}
			restoreMap := &field{id: "map", label: "Restore map", kind: fieldToggle, on: true, help: "the seat writes down first what it must know afterwards; off: the packet alone stands in"}
			restoreMap.void = func() string {
				if only.on {
					return "none for an audit"
				}
				return ""
			}
			return []*field{restoreMap, only, reasonField(false)}
		},
		request: func(a answers, target string) engine.Request {
			return engine.Request{Target: target, Args: args(engine.CompactArgs{SkipMap: !a.yes("map") && !a.yes("audit"), AuditOnly: a.yes("audit")})}
		},
	}
}

func whyNoCompact(m *Model) string {
	s := m.here().seat
	if len(m.marks) > 0 {
		for _, seat := range m.fleet.Seats() {
			if m.marks[seat.ID] && seat.Runtime != engine.RuntimeClaude {
				return clean(seat.Address) + " is a " + runtimeWord(seat.Runtime) + " seat: only claude seats are compacted in place; take its mark away"
			}
		}
		return ""
	}
	switch {
	case s == nil:
		return "put the cursor on a seat first"
	case s.Runtime != engine.RuntimeClaude:
		return "a " + runtimeWord(s.Runtime) + " seat is not compacted in place: only claude seats are"
	case s.OpVerb == engine.VerbCompact:
		return "it is being compacted: " + m.reg.hint("screen-operations") + " shows it, " + m.reg.hint("compact-cancel") + " cancels it until /compact is typed"
	case s.Life != engine.LifeRunning:
		return clean(s.Address) + " is " + lookOf(s).word + ": there is nobody to compact"
	}
	return ""
}

// fullestFirst orders marked seats by how full their windows are.
func fullestFirst(m *Model, ids []string) []string {
	out := append([]string(nil), ids...)
	sort.SliceStable(out, func(i, j int) bool {
		a, b := m.seats[out[i]], m.seats[out[j]]
		return a != nil && b != nil && a.Usage.Percent > b.Usage.Percent
	})
	return out
}

// compactStage is one of the four stages of a guided compaction.
type compactStage struct {
	name  string
	kinds []engine.StepKind
}

func compactStages() []compactStage {
	return []compactStage{
		{"prep", []engine.StepKind{engine.StepCompactPacket, engine.StepCompactPrep}},
		{"/compact", []engine.StepKind{engine.StepCompactSend, engine.StepCompactProve, engine.StepCompactRecord, engine.StepCompactTell}},
		{"restore", []engine.StepKind{engine.StepCompactRestore}},
		{"audit", []engine.StepKind{engine.StepCompactAudit, engine.StepCompactVerdict}},
	}
}

// state sums up the steps of a stage; false when the plan has none of them.
func (c compactStage) state(steps []engine.OperationStep) (engine.StepState, bool) {
	n, done, begun := 0, 0, false
	for _, s := range steps {
		for _, k := range c.kinds {
			if s.Kind != k {
				continue
			}
			n++
			switch s.State {
			case engine.StepDone:
				done++
				begun = true
			case engine.StepFailed, engine.StepUnknown, engine.StepUndone, engine.StepSkipped:
				return s.State, true
			case engine.StepStarted:
				begun = true
			case engine.StepPending:
			}
		}
	}
	switch {
	case n == done:
		return engine.StepDone, n > 0
	case begun:
		return engine.StepStarted, true
	}
	return engine.StepPending, true
}

// compactStatus shows where a guided compaction stands: its four stages, the
// deadline of the present one, and whether it can still be cancelled.
func (w *wizard) compactStatus(m *Model, cols int) []string {
	r := w.run
	steps := r.progress[r.at].Steps
	segs := []seg{{toneText, "  "}}
	for _, c := range compactStages() {
		state, has := c.state(steps)
		if len(steps) == 0 {
			state, has = engine.StepPending, true
		}
		if !has {
			continue
		}
		if len(segs) > 1 {
			segs = append(segs, seg{toneBorder, " " + m.brush.g.arrow + " "})
		}
		l := lookStep(state)
		segs = append(segs, seg{l.tone, l.mark(m.brush.g) + " " + c.name})
	}
	out := []string{m.brush.line(cols, false, segs...)}
	if len(r.plans) > 1 {
		out = append(out, m.brush.text(cols, toneDim, "  seat "+itoa(r.at+1)+" of "+itoa(len(r.plans))+", one after the other"))
	}
	if at, what := deadlineOf(steps); !at.IsZero() {
		left := "over"
		if d := at.Sub(m.now); d > 0 {
			left = "in " + elapsed(d.Truncate(time.Second))
		}
		out = append(out, m.brush.line(cols, false, seg{toneDim, "  deadline of " + what + ": "}, seg{toneText, at.In(m.opt.zone()).Format("15:04:05")}, seg{toneDim, ", " + left}))
	}
	if why := w.whyNotCancelled(); why == "" {
		out = append(out, m.brush.line(cols, false, seg{toneAccent, "  " + m.reg.hint("compact-cancel")}, seg{toneDim, " cancels it, until /compact is typed"}))
	} else {
		out = append(out, m.brush.text(cols, toneDim, "  "+why))
	}
	return append(out, m.brush.blank(cols, 1)...)
}

// deadlineOf gives the deadline of the step under way, zero when it has none.
func deadlineOf(steps []engine.OperationStep) (time.Time, string) {
	for _, s := range steps {
		if s.State != engine.StepStarted {
			continue
		}
		var ev struct {
			Deadline time.Time `json:"deadline"`
		}
		if json.Unmarshal(s.Evidence, &ev) != nil {
			return time.Time{}, ""
		}
		for _, c := range compactStages() {
			for _, k := range c.kinds {
				if k == s.Kind {
					return ev.Deadline, c.name
				}
			}
		}
	}
	return time.Time{}, ""
}

// whyNotCancelled says why the compaction under way cannot be cancelled.
func (w *wizard) whyNotCancelled() string {
	r := w.run
	switch {
	case r == nil || w.def.verb != engine.VerbCompact:
		return "only a compaction can be cancelled; this goes on"
	case r.ends:
		return "cancelled: it ends at its next step"
	}
	for _, s := range r.progress[r.at].Steps {
		switch {
		case s.Kind == engine.StepCompactSend && s.State == engine.StepDone:
			return "/compact was typed: it goes on to its audit"
		case s.Kind == engine.StepCompactAudit && len(r.progress[r.at].Steps) < 4:
			return "an audit is not cancelled: it asks one question"
		}
	}
	return ""
}

// cancelTarget is the seat whose compaction a key would cancel.
func (m *Model) cancelTarget() string {
	if w := m.wizard(); w != nil && w.run != nil {
		return w.run.plan().Target
	}
	if s := m.here().seat; s != nil {
		return s.Address
	}
	return ""
}

func (m *Model) whyNoCancel() string {
	if len(m.overlays) > 0 {
		if w := m.wizard(); w != nil && w.run != nil {
			return w.whyNotCancelled()
		}
		return "no compaction is under way here"
	}
	s := m.here().seat
	if s == nil || s.OpVerb != engine.VerbCompact {
		return "no compaction is under way here"
	}
	return ""
}

// cancelCompact asks for the end of a compaction that has not typed /compact yet.
// Of several seats, those whose turn has not come are left alone.
func (m *Model) cancelCompact() tea.Cmd {
	c, ctx, target := m.c, m.ctx, m.cancelTarget()
	var r *run
	if w := m.wizard(); w != nil {
		r = w.run
	}
	if r != nil {
		r.halt, r.ends = true, true
	}
	return func() tea.Msg {
		_, err := c.CancelCompact(ctx, target)
		return cancelledMsg{r, err}
	}
}

func (m *Model) onCancelled(msg cancelledMsg) tea.Cmd {
	if msg.err != nil {
		if msg.run != nil { // it goes on; of several, the others are left alone all the same
			msg.run.ends = false
			msg.run.halt = len(msg.run.plans) > 1
		}
		return m.fail(msg.err)
	}
	return m.say(toneNeed, false, "cancelled: the compaction ends at its next step; its restore packet stays")
}
