package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// leaveOut plans a batch again without the seats whose plans something stands in the way
// of. They are named in the preview and in the receipt.
func (w *wizard) leaveOut(m *Model) tea.Cmd {
	if w.left == nil {
		w.left = map[string]string{}
	}
	for _, p := range w.plans {
		if len(p.Blockers) > 0 {
			w.left[p.Request.Target] = p.Blockers[0].Message
		}
	}
	w.plans = nil // another batch is no fact that moved
	return w.plan(m)
}

// replan makes the plan again, with what was left out.
func (w *wizard) replan(m *Model) tea.Cmd {
	if w.left != nil {
		w.left, w.plans = nil, nil
	}
	return w.plan(m)
}

// whyNoLeaveOut says why there is nothing to leave out.
func (m *Model) whyNoLeaveOut() string {
	w := m.wizard()
	if w == nil || !w.def.each || len(w.plans) < 2 {
		return "this is no plan of several seats"
	}
	switch blocked := blockedPlans(w.plans); blocked {
	case 0:
		return "nothing is in the way of any of them"
	case len(w.plans):
		return "something is in the way of each of them"
	}
	return ""
}

// blockedPlans counts the plans that cannot be applied.
func blockedPlans(plans []*engine.Plan) int {
	n := 0
	for _, p := range plans {
		if len(p.Blockers) > 0 {
			n++
		}
	}
	return n
}

// batchLines says first of a batch which of its seats something stands in the way of, or
// which were left out because of that.
func (w *wizard) batchLines(m *Model, cols int) []string {
	out := w.leftLines(m, cols)
	if len(w.plans) < 2 || blockedPlans(w.plans) == 0 {
		return out
	}
	var names []string
	for _, p := range w.plans {
		if len(p.Blockers) > 0 {
			names = append(names, clean(p.Target))
		}
	}
	text := "something is in the way of " + itoa(len(names)) + " of " + itoa(len(w.plans)) + ": " + strings.Join(names, ", ")
	if m.whyNoLeaveOut() == "" {
		text += "; " + m.reg.hint("leave-out") + " leaves out what is blocked"
	}
	return append(append(out, m.paragraph(toneBad, m.brush.g.fail+" ", text, cols)...), m.brush.blank(cols, 1)...)
}

// leftLines names what was left out, and what is gone, in the order of the marks.
func (w *wizard) leftLines(m *Model, cols int) []string {
	var out []string
	put := func(text string) {
		out = append(out, m.paragraph(toneNeed, "  "+m.brush.g.dot+" ", text, cols)...)
	}
	for _, id := range w.who.seats {
		switch name := w.names[id]; {
		case !w.def.each:
		case m.seats[id] == nil && w.run == nil:
			put(clean(name) + " is no longer there: nothing is done to it")
		case w.left[name] != "":
			put("left out, nothing is done to it: " + clean(name) + ": " + clean(w.left[name]))
		}
	}
	if len(out) > 0 {
		out = append(out, m.brush.blank(cols, 1)...)
	}
	return out
}

// there counts the seats of a batch that something is done to.
func (w *wizard) there(m *Model) int {
	if w.run != nil {
		return len(w.run.plans)
	}
	n := 0
	for id, name := range w.names {
		if m.seats[id] != nil && w.left[name] == "" {
			n++
		}
	}
	return n
}
