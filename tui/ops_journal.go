package tui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"rig/engine"
)

// journalBox shows the selected operation: who, when, how it ended, and each
// step with its time and what it proved.
func (s *opsScreen) journalBox(m *Model, w, h int) []string {
	op := s.op()
	if op == nil || w < 4 || h < 3 {
		return m.brush.fill(nil, w, h)
	}
	l := lookOp(m.opState(*op))
	title := []seg{{toneStrong, string(op.Verb) + " " + cutMiddle(clean(op.Target), max(w-30, 8))}, {toneText, "  "}, {l.tone, l.text(m.brush.g)}}
	frame := toneBorder
	if s.inside {
		frame = toneAccent
	}
	inner := w - 2
	lines := s.journalTop(m, *op, inner)
	var more []string
	note := ""
	switch {
	case s.journal.err != "":
		lines = append(lines, m.aside(inner, 2, toneBad, s.journal.err)...)
	case s.journal.id != op.ID || len(s.journal.steps) == 0 && s.journal.op.ID == "":
		lines = append(lines, m.brush.text(inner, toneDim, " reading its journal"))
	default:
		more, note = s.journalSteps(m, inner, h-2-len(lines))
		lines = append(lines, more...)
	}
	return m.brush.box(w, h, frame, title, note, m.brush.fill(lines, inner, h-2))
}

func (s *opsScreen) journalTop(m *Model, op engine.Operation, w int) []string {
	took := ""
	if !op.EndedAt.IsZero() {
		took = ", took " + elapsed(op.EndedAt.Sub(op.StartedAt))
	}
	out := []string{
		m.brush.line(w, false, seg{toneDim, " " + op.StartedAt.In(m.opt.zone()).Format("2 Jan 15:04:05") + took + byWord(op.Operator)}),
	}
	if op.Reason != "" {
		out = append(out, m.paragraph(toneText, " ", "\""+op.Reason+"\"", w)...)
	}
	if op.Error != "" {
		out = append(out, m.paragraph(toneBad, " ", op.Error, w)...)
	}
	if v := m.cutOff(op.ID); v != nil {
		key := m.reg.hint("op-rollback")
		if v.Committed {
			key = m.reg.hint("op-finish")
		}
		out = append(out, m.paragraph(toneNeed, " ", "cut off half-way, "+cutOffWord(v)+" ("+key+")", w)...)
	}
	switch v, why := m.undoOf(op.ID); {
	case v == nil:
	case why != "":
		out = append(out, m.paragraph(toneDim, " ", "it cannot be taken back: "+why, w)...)
	default:
		out = append(out, m.paragraph(toneAccent, " ", m.reg.hint("undo")+" takes it back, until "+m.undoEnd(v), w)...)
	}
	return append(out, m.brush.blank(w, 1)...)
}

func byWord(who string) string {
	if who == "" {
		return ""
	}
	return ", by " + clean(who)
}

// journalSteps are the steps in h lines, and below them, while the journal has the
// keys, what the selected one proved. note says what is out of sight.
func (s *opsScreen) journalSteps(m *Model, w, h int) (lines []string, note string) {
	if h <= 0 {
		return nil, ""
	}
	var detail []string
	steps := m.asItStands(s.journal.id, s.journal.steps)
	if s.inside && s.steps.cursor < len(steps) {
		st := steps[s.steps.cursor]
		detail = append(m.brush.blank(w, 1), m.brush.rule(w, "evidence", toneDim))
		for _, l := range wrapped(evidenceOf(st), m.brush, w-2) {
			detail = append(detail, " "+l+" ")
		}
		if most := h / 2; len(detail) > most {
			detail, note = detail[:most], m.reg.hint("open-operation")+" shows the whole step"
		}
		if len(detail) < 3 { // a heading alone says nothing
			detail = nil
		}
	}
	lines, all := s.steps.tall(h-len(detail), func(i int, on bool) []string { return m.headedStep(steps, i, w, s.inside && on) })
	if !all {
		note = joinWords(" "+m.brush.g.dot+" ", itoa(s.steps.cursor+1)+"/"+itoa(len(steps)), note)
	}
	return append(lines, detail...), note
}

// asItStands are the steps of an operation. The one that was under way when its process
// died is so no longer: nobody works on it, and no time of it runs.
func (m *Model) asItStands(id string, steps []engine.OperationStep) []engine.OperationStep {
	if m.cutOff(id) == nil {
		return steps
	}
	out := slices.Clone(steps)
	for i := range out {
		if out[i].State == engine.StepStarted {
			out[i].State, out[i].Error = engine.StepUnknown, cmp.Or(out[i].Error, "its process died here: how far it came is not known")
		}
	}
	return out
}

// evidenceOf is what a step proved, in rows.
func evidenceOf(st engine.OperationStep) []readLine {
	if rows := payloadRows(st.Evidence); len(rows) > 0 {
		return rows
	}
	return []readLine{{"", "none written", toneDim}}
}

// headedStep is a step of a journal; where the steps of several seats stand in it, the
// seat stands above the first of its steps.
func (m *Model) headedStep(steps []engine.OperationStep, i, w int, on bool) []string {
	lines := m.stepLines(steps[i], w, on)
	of := steps[i].Seat
	if of == "" || i > 0 && steps[i-1].Seat == of || !ofManySeats(steps) {
		return lines
	}
	return append([]string{m.brush.text(w, toneStrong, "  "+cutMiddle(clean(of), max(w-3, 8)))}, lines...)
}

// ofManySeats reports whether steps are of more than one seat.
func ofManySeats(steps []engine.OperationStep) bool {
	first := ""
	for _, st := range steps {
		if st.Seat != "" && first != "" && st.Seat != first {
			return true
		}
		first = cmp.Or(first, st.Seat)
	}
	return false
}

// stepLines is one step: its state, its title, its seat and its time. A long title
// goes on below itself, and so does an error.
func (m *Model) stepLines(st engine.OperationStep, w int, on bool) []string {
	l := lookStep(st.State)
	k := toneText
	if st.State == engine.StepPending || st.State == engine.StepSkipped {
		k = toneDim
	}
	right := ""
	if t := m.stepTime(st); t != "" {
		right = "  " + t + " "
	}
	head := []seg{m.brush.lead(on), {l.tone, l.mark(m.brush.g) + " "}}
	room := max(w-segsWidth(head)-width(right), 8)
	pieces := []seg{}
	for _, part := range wrap(clean(st.Title), room) {
		pieces = append(pieces, seg{k, part})
	}
	var tail seg
	if st.Effect == engine.EffectCommit {
		if tail = (seg{toneNeed, "  commit"}); width(pieces[len(pieces)-1].text)+width(tail.text) > room {
			tail = seg{}
			pieces = append(pieces, seg{toneNeed, "commit"})
		}
	}
	last := len(pieces) - 1
	if g := st.Gate(); g != nil {
		for _, part := range wrap(clean(g.Words(st.Seat, m.opt.zone())), room) {
			pieces = append(pieces, seg{toneNeed, part})
		}
	}
	if st.Error != "" {
		for _, part := range wrap(clean(st.Error), room) {
			pieces = append(pieces, seg{toneBad, part})
		}
	}
	out := make([]string, 0, len(pieces))
	for i, p := range pieces {
		segs := append(append([]seg(nil), head...), p)
		if i == last {
			segs = append(segs, tail)
		}
		out = append(out, m.brush.line(w-width(right), on, segs...)+m.brush.line(width(right), on, seg{toneDim, right}))
		head, right = []seg{{toneText, strings.Repeat(" ", segsWidth(head))}}, strings.Repeat(" ", width(right))
	}
	return out
}

func (m *Model) stepTime(st engine.OperationStep) string {
	switch {
	case st.StartedAt.IsZero():
		return ""
	case !st.EndedAt.IsZero():
		return elapsed(st.EndedAt.Sub(st.StartedAt))
	case st.State != engine.StepStarted: // it was given up, nobody wrote when
		return ""
	}
	return elapsed(m.now.Sub(st.StartedAt).Truncate(time.Second))
}

// stepText is all that is known of a step.
func (m *Model) stepText(st engine.OperationStep) []readLine {
	l := lookStep(st.State)
	out := []readLine{{"step", clean(st.Title), toneStrong}, {"state", l.text(m.brush.g), l.tone}}
	out = said(out, "seat", clean(st.Seat), toneText)
	out = said(out, "way back", wayBack(st.Effect), toneText)
	if !st.StartedAt.IsZero() {
		took := "took " + m.stepTime(st)
		switch {
		case m.stepTime(st) == "":
			took = ""
		case st.State == engine.StepStarted:
			took = "under way for " + m.stepTime(st)
		}
		out = append(out, readLine{"began", joinWords(", ", st.StartedAt.In(m.opt.zone()).Format("15:04:05.000"), took), toneText})
	}
	out = said(out, "error", clean(st.Error), toneBad)
	return append(append(out, readLine{}, readLine{"evidence", "", toneText}), evidenceOf(st)...)
}

func wayBack(e engine.Effect) string {
	switch e {
	case engine.EffectOneWay:
		return "cannot be undone"
	case engine.EffectCommit:
		return "this is the commit: what follows cannot be undone"
	default:
		return ""
	}
}

// showsRunning reports whether a running time is on screen, so that seconds
// matter.
func (m *Model) showsRunning() bool {
	if w := m.wizard(); w != nil && w.phase == phaseRun {
		return true
	}
	if s, ok := m.screens[m.cur].(*opsScreen); ok && m.fleet != nil {
		for _, st := range s.journal.steps {
			if st.State == engine.StepStarted && st.EndedAt.IsZero() && !s.journal.op.State.Ended() && m.cutOff(s.journal.id) == nil {
				return true
			}
		}
	}
	return false
}

// joinWords joins what is not empty.
func joinWords(sep string, words ...string) string {
	var out []string
	for _, w := range words {
		if w != "" {
			out = append(out, w)
		}
	}
	return strings.Join(out, sep)
}
