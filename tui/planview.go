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
	out = append(out, w.batchLines(m, cols)...)
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
	var steps, blockers, texts []engine.Line
	for _, l := range p.Lines() {
		switch l.Kind {
		case engine.LinePhase, engine.LineStep, engine.LineCommit:
			steps = append(steps, l)
		case engine.LineBlocker, engine.LineHint:
			blockers = append(blockers, l)
		case engine.LineTextHead, engine.LineTextSame, engine.LineTextGone, engine.LineTextNew, engine.LineTextGap:
			texts = append(texts, l)
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
	section(engine.Counted(len(p.Blockers), "blocker"), len(blockers), toneBad)
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
		out = append(out, m.changeTable(ownChanges(p), cols, "field")...)
	}
	out = append(out, m.textLines(texts, cols)...)
	section("steps", len(steps), toneDim)
	out = append(out, m.planSteps(steps, cols)...)
	section("stays the same", len(by[engine.LineUnchanged]), toneDim)
	each(engine.LineUnchanged, toneDim, "  = ", "stays: ")
	shell := "the same in a shell"
	if a := m.reg.byID("copy"); a != nil && a.in&m.scope() != 0 { // at the last question the key has another meaning
		shell += ", " + m.reg.hint("copy") + " copies it"
	}
	section(shell, len(by[engine.LineCommand]), toneDim)
	each(engine.LineCommand, toneAccent, "  ", "")
	return out
}

// textLines draws a text that changes, line by line. Its signs say what becomes of a
// line; the colour only helps.
func (m *Model) textLines(lines []engine.Line, cols int) []string {
	var out []string
	for _, l := range lines {
		switch l.Kind {
		case engine.LineTextHead:
			out = append(out, m.brush.rule(cols, clean(l.Text), toneDim))
		case engine.LineTextGone:
			out = append(out, m.paragraph(toneBad, "  - ", strings.TrimPrefix(l.Text, "- "), cols)...)
		case engine.LineTextNew:
			out = append(out, m.paragraph(toneBusy, "  + ", strings.TrimPrefix(l.Text, "+ "), cols)...)
		case engine.LineTextGap:
			out = append(out, m.paragraph(toneDim, "  "+m.brush.g.dot+" ", strings.TrimPrefix(l.Text, "… "), cols)...)
		default:
			out = append(out, m.paragraph(toneText, "    ", strings.TrimPrefix(l.Text, "  "), cols)...)
		}
	}
	return out
}

// planSteps draws the steps, with a line across where the way back ends.
func (m *Model) planSteps(steps []engine.Line, cols int) []string {
	var out []string
	for i, l := range steps {
		text := clean(l.Text)
		switch l.Kind {
		case engine.LinePhase:
			out = append(out, m.brush.line(cols, false, seg{toneStrong, "  " + text}))
		case engine.LineCommit:
			head, tail, _ := strings.Cut(text, "  — ")
			if i == len(steps)-1 { // there is nothing below
				tail = "commit"
			}
			out = append(out, m.paragraph(toneText, "    "+m.brush.g.wait+" ", head, cols)...)
			out = append(out, m.brush.line(cols, false, seg{toneNeed, "  " + strings.Repeat(m.brush.g.across, 4) + " " + tail + " " + strings.Repeat(m.brush.g.across, max(cols-width(tail)-8, 0))}))
		default:
			head, tail, found := strings.Cut(text, "  — ")
			if found && width(head)+width(tail)+10 > cols { // both are read, on lines of their own
				out = append(out, m.paragraph(toneText, "    "+m.brush.g.wait+" ", head, cols)...)
				out = append(out, m.paragraph(toneNeed, "      "+m.brush.g.dot+" ", tail, cols)...)
				continue
			}
			if !found {
				out = append(out, m.paragraph(toneText, "    "+m.brush.g.wait+" ", head, cols)...)
				continue
			}
			segs := []seg{{toneText, "    " + m.brush.g.wait + " " + head}, {toneNeed, "  " + m.brush.g.dot + " " + tail}}
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
	now, after := "now", "after"
	if head == "moved" {
		now, after = "shown", "now"
	}
	out := []string{m.brush.line(cols, false, seg{toneDim, "  " + pad(head, name) + "  " + pad(now, half) + "    " + after})}
	for _, c := range changes {
		before, then := wrap(orNothing(c.Before), half), wrap(orNothing(c.After), half)
		label, arrow := cutMiddle(changeName(c), name), m.brush.g.arrow
		for i := range max(len(before), len(then)) {
			out = append(out, m.brush.line(cols, false, seg{toneDim, "  " + pad(label, name) + "  "}, seg{toneDim, pad(lineOf(before, i), half)},
				seg{toneBorder, " " + pad(arrow, 2) + " "}, seg{toneStrong, lineOf(then, i)}))
			label, arrow = "", ""
		}
	}
	return out
}

// lineOf is one line of a text, "" after its end.
func lineOf(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
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

// ownChanges are the changes of a plan. When all are of the seat that the plan is
// about, its name stands in the title and is not said again.
func ownChanges(p *engine.Plan) []engine.Change {
	out := append([]engine.Change(nil), p.Changes...)
	for i := range out {
		if out[i].Seat != p.Target {
			return p.Changes
		}
		out[i].Seat = ""
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
