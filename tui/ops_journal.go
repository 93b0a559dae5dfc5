package tui

import (
	"strings"
	"time"

	"rig/engine"
)

// journalHead is the number of lines above the steps.
func (s *opsScreen) journalHead() int {
	n := 3
	if s.journal.op.Reason != "" {
		n++
	}
	if s.journal.op.Error != "" {
		n += 2
	}
	return n
}

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
	switch {
	case s.journal.err != "":
		lines = append(lines, m.aside(inner, 2, toneBad, s.journal.err)...)
	case s.journal.id != op.ID || len(s.journal.steps) == 0 && s.journal.op.ID == "":
		lines = append(lines, m.brush.text(inner, toneDim, " reading its journal"))
	default:
		room := h - 2 - len(lines)
		steps := s.steps.lines(room, func(i int, on bool) string { return m.stepLine(s.journal.steps[i], inner, s.inside && on) })
		lines = append(lines, steps...)
		if s.inside && len(steps) < room {
			lines = append(lines, s.stepDetail(m, inner, room-len(steps))...)
		}
	}
	return m.brush.box(w, h, frame, title, s.steps.more(h-2-s.journalHead()), m.brush.fill(lines, inner, h-2))
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
		out = append(out, m.brush.text(w, toneText, " \""+clean(op.Reason)+"\""))
	}
	if op.Error != "" {
		out = append(out, m.brush.line(w, false, seg{toneBad, " " + clean(op.Error)}))
	}
	for _, v := range m.fleet.Ops {
		if v.ID == op.ID && v.State == engine.OpUnfinished {
			out = append(out, m.brush.text(w, toneNeed, " cut off half-way: rig op finish or rig op rollback "+op.ID))
		}
	}
	return append(out, m.brush.blank(w, 1)...)
}

func byWord(who string) string {
	if who == "" {
		return ""
	}
	return ", by " + clean(who)
}

// stepLine is one step: its state, its title, its seat and its time.
func (m *Model) stepLine(st engine.OperationStep, w int, on bool) string {
	l := lookStep(st.State)
	k := toneText
	if st.State == engine.StepPending || st.State == engine.StepSkipped {
		k = toneDim
	}
	segs := []seg{m.brush.lead(on), {l.tone, l.mark(m.brush.g) + " "}, {k, clean(st.Title)}}
	if st.Effect == engine.EffectCommit {
		segs = append(segs, seg{toneNeed, "  commit"})
	}
	if st.Error != "" {
		segs = append(segs, seg{toneBad, "  " + clean(st.Error)})
	}
	right := ""
	if t := m.stepTime(st); t != "" {
		right = "  " + t + " "
	}
	return m.brush.line(w-width(right), on, segs...) + m.brush.line(width(right), on, seg{toneDim, right})
}

func (m *Model) stepTime(st engine.OperationStep) string {
	switch {
	case st.StartedAt.IsZero():
		return ""
	case !st.EndedAt.IsZero():
		return elapsed(st.EndedAt.Sub(st.StartedAt))
	}
	return elapsed(m.now.Sub(st.StartedAt).Truncate(time.Second))
}

// stepDetail shows what the selected step proved, where there is room below the
// steps.
func (s *opsScreen) stepDetail(m *Model, w, h int) []string {
	if h < 3 || s.steps.cursor >= len(s.journal.steps) {
		return nil
	}
	st := s.journal.steps[s.steps.cursor]
	out := []string{m.brush.blank(w, 1)[0], m.brush.rule(w, "evidence", toneDim)}
	text := payloadText(st.Evidence)
	if text == "" {
		text = "none written"
	}
	for _, l := range wrap(text, w-2) {
		out = append(out, m.brush.text(w, toneText, " "+l))
	}
	return m.brush.fill(out, w, h)
}

// showsRunning reports whether a running time is on screen, so that seconds
// matter.
func (m *Model) showsRunning() bool {
	if w := m.wizard(); w != nil && w.phase == phaseRun {
		return true
	}
	if s, ok := m.screens[m.cur].(*opsScreen); ok && m.fleet != nil {
		for _, st := range s.journal.steps {
			if st.State == engine.StepStarted && st.EndedAt.IsZero() && !s.journal.op.State.Ended() {
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
