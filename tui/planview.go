package tui

import (
	"errors"
	"strings"

	"rig/engine"
)

func asEngineError(err error) *engine.Error {
	var e *engine.Error
	if errors.As(err, &e) {
		return e
	}
	return engine.Errorf(engine.CodeInternal, "%s", err.Error()).WithHint("the log says more")
}

// previewLines draws the plans that are shown: what stops them first, then what
// changes, the steps with the commit line, and what stays.
func (w *wizard) previewLines(m *Model, cols int) []string {
	var out []string
	if len(w.moved) > 0 {
		out = append(out, m.brush.line(cols, false, seg{toneNeed, lookWaiting.mark(m.brush.g) + " the facts moved while this was open; this is the plan for what is true now"}))
		out = append(out, m.changeTable(w.moved, cols, "moved")...)
		out = append(out, m.brush.blank(cols, 1)...)
	}
	if w.err != nil {
		out = append(out, m.brush.line(cols, false, seg{toneNeed, "the facts could not be looked at again: " + clean(errorText(w.err))}), m.brush.blank(cols, 1)[0])
	}
	for i, p := range w.plans {
		if i > 0 {
			out = append(out, m.brush.blank(cols, 1)...)
		}
		out = append(out, m.planLines(p, cols)...)
	}
	return out
}

// planLines draws one plan from its lines. The kinds say what each line is; the
// texts are the engine's.
func (m *Model) planLines(p *engine.Plan, cols int) []string {
	by := map[engine.LineKind][]string{}
	var steps, blockers []engine.Line
	for _, l := range p.Lines() {
		switch l.Kind {
		case engine.LinePhase, engine.LineStep, engine.LineCommit:
			steps = append(steps, l)
		case engine.LineBlocker, engine.LineHint:
			blockers = append(blockers, l)
		default:
			by[l.Kind] = append(by[l.Kind], l.Text)
		}
	}
	var out []string
	each := func(kind engine.LineKind, k tone, lead, prefix string) {
		for _, t := range by[kind] {
			out = append(out, m.paragraph(k, lead, strings.TrimPrefix(t, prefix), cols)...)
		}
	}
	section := func(name string, n int, k tone) {
		if n > 0 {
			out = append(out, m.brush.rule(cols, name, k))
		}
	}
	each(engine.LineTitle, toneStrong, "", "")
	each(engine.LineNote, toneDim, "", "")
	section(plural(len(p.Blockers), "blocker"), len(blockers), toneBad)
	for _, l := range blockers {
		k, lead := toneText, "  "+m.brush.g.fail+" "
		if l.Kind == engine.LineHint {
			k, lead = toneAccent, "    "+m.brush.g.arrow+" "
		}
		out = append(out, m.paragraph(k, lead, strings.TrimPrefix(l.Text, "→ "), cols)...)
	}
	each(engine.LineWarning, toneNeed, "  ! ", "warning: ")
	section("seats", len(by[engine.LineIntent]), toneDim)
	each(engine.LineIntent, toneText, "  ", "")
	section("changes", len(p.Changes), toneDim)
	if len(p.Changes) > 0 {
		out = append(out, m.changeTable(p.Changes, cols, "field")...)
	}
	section("steps", len(steps), toneDim)
	out = append(out, m.planSteps(steps, cols)...)
	section("stays the same", len(by[engine.LineUnchanged]), toneDim)
	each(engine.LineUnchanged, toneDim, "  = ", "stays: ")
	section("the same in a shell, "+m.reg.hint("copy")+" copies it", len(by[engine.LineCommand]), toneDim)
	each(engine.LineCommand, toneAccent, "  ", "")
	return out
}

// planSteps draws the steps, with a line across where the way back ends.
func (m *Model) planSteps(steps []engine.Line, cols int) []string {
	var out []string
	for _, l := range steps {
		text := clean(l.Text)
		switch l.Kind {
		case engine.LinePhase:
			out = append(out, m.brush.line(cols, false, seg{toneStrong, "  " + text}))
		case engine.LineCommit:
			head, tail, _ := strings.Cut(text, "  — ")
			out = append(out, m.brush.line(cols, false, seg{toneText, "    " + m.brush.g.wait + " " + head}))
			out = append(out, m.brush.line(cols, false, seg{toneNeed, "  " + strings.Repeat(m.brush.g.across, 4) + " " + tail + " " + strings.Repeat(m.brush.g.across, max(cols-width(tail)-8, 0))}))
		default:
			head, tail, found := strings.Cut(text, "  — ")
			segs := []seg{{toneText, "    " + m.brush.g.wait + " " + head}}
			if found {
				segs = append(segs, seg{toneNeed, "  " + m.brush.g.dot + " " + tail})
			}
			out = append(out, m.brush.line(cols, false, segs...))
		}
	}
	return out
}

// changeTable shows fields before and after, side by side.
func (m *Model) changeTable(changes []engine.Change, cols int, head string) []string {
	if cols < stackCols {
		return m.changeStack(changes, cols)
	}
	name := 0
	for _, c := range changes {
		name = max(name, width(changeName(c)))
	}
	name = min(max(name, width(head)), cols/3)
	half := (cols - name - 4 - 4) / 2
	row := func(k tone, a, b, c string) string {
		return m.brush.line(cols, false, seg{toneDim, "  " + pad(cutMiddle(a, name), name) + "  "}, seg{toneDim, pad(cutMiddle(b, half), half)},
			seg{toneBorder, " " + pad(m.brush.g.arrow, 2) + " "}, seg{k, cutMiddle(c, half)})
	}
	out := []string{m.brush.line(cols, false, seg{toneDim, "  " + pad(head, name) + "  " + pad("now", half) + "    after"})}
	if head == "moved" {
		out[0] = m.brush.line(cols, false, seg{toneDim, "  " + pad(head, name) + "  " + pad("shown", half) + "    now"})
	}
	for _, c := range changes {
		out = append(out, row(toneStrong, changeName(c), orNothing(c.Before), orNothing(c.After)))
	}
	return out
}

// changeStack is the table for narrow dialogs: one line for the field, one for
// the values.
func (m *Model) changeStack(changes []engine.Change, cols int) []string {
	var out []string
	for _, c := range changes {
		half := (cols - 8) / 2
		out = append(out,
			m.brush.line(cols, false, seg{toneDim, "  " + cutMiddle(changeName(c), cols-2)}),
			m.brush.line(cols, false, seg{toneDim, "    " + cutMiddle(orNothing(c.Before), half)}, seg{toneBorder, " " + m.brush.g.arrow + " "}, seg{toneStrong, cutMiddle(orNothing(c.After), half)}))
	}
	return out
}

func changeName(c engine.Change) string { return clean(joinWords(" ", c.Seat, c.Field)) }

func orNothing(s string) string {
	if s == "" {
		return "none"
	}
	return clean(s)
}
