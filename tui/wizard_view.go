package tui

import (
	"strings"

	"rig/engine"
)

func (w *wizard) size(cols, rows int) (int, int) { return dialogSize(112, 44, cols, rows) }

func (w *wizard) moving(m *Model) string {
	if cols, h := w.size(m.w, m.h-1); len(w.lines(m, cols-4)) <= w.room(h) {
		return ""
	}
	return moveText
}

// room is the number of lines for the text of a dialog of height h.
func (w *wizard) room(h int) int {
	n := h - 4
	if w.phase == phaseConfirm {
		n -= confirmRows
	}
	return max(n, 1)
}

const confirmRows = 6

func (w *wizard) view(m *Model, cols, rows int) []string {
	ww, h := w.size(cols, rows)
	inner := ww - 4
	text := w.lines(m, inner)
	want := max(len(text), w.tall) + 4
	if w.phase == phaseConfirm {
		want += confirmRows
	}
	if want < h {
		h = max(want, min(10, h))
	}
	room := w.room(h)
	at := w.inSight(m, text, inner, room)
	seen, note := at.show(text, inner, room)
	body := []string{w.crumbs(m, inner), m.brush.blank(inner, 1)[0]}
	body = append(body, m.brush.fill(seen, inner, room)...)
	if w.phase == phaseConfirm {
		body = append(body, w.question(m, inner)...)
	}
	return m.brush.box(ww, h, w.frame(), w.heading(m), note, inset(m.brush.fill(body, inner, h-2)))
}

// keepTall remembers how many lines the questions take at most, until the plan is
// shown.
func (w *wizard) keepTall(m *Model) {
	switch w.phase {
	case phaseAsk:
		cols, _ := w.size(m.w, m.h-1)
		w.tall = max(w.tall, len(w.askLines(m, cols-4)))
	case phasePreview, phaseConfirm, phaseRun, phaseReceipt:
		w.tall = 0
	case phasePlan:
	}
}

// inSight is where the text stands. The question that is answered is always in
// sight, and so is the step under way until one scrolls.
func (w *wizard) inSight(m *Model, text []string, cols, room int) window {
	at := w.seen
	at.fit(text, cols, room)
	switch {
	case w.phase == phaseAsk && w.err == nil:
		at.at.SetYOffset(w.at)
	case w.phase == phaseRun && !w.held:
		_, now := w.runLines(m, cols)
		at.at.SetYOffset(now - room*2/3)
	}
	return at
}

// heading is the title, with what the wizard is on where no question asks for it.
func (w *wizard) heading(m *Model) []seg {
	out := []seg{{toneStrong, w.def.title}}
	switch n := len(w.who.seats); {
	case (w.secretField() != nil || w.def.ofSeat) && w.who.seat != nil:
		out = append(out, seg{toneAccent, "  " + clean(w.who.seat.Address)})
	case w.def.ofRig && w.who.rig != nil:
		out = append(out, seg{toneAccent, "  " + clean(w.who.rig.Name)})
	case !w.def.each || n == 0:
	case n == 1:
		out = append(out, seg{toneAccent, "  " + clean(w.names[w.who.seats[0]])})
	default:
		of := ""
		if there := w.there(m); there < n {
			of = itoa(there) + " of "
		}
		out = append(out, seg{toneAccent, "  " + of + engine.Counted(n, "seat")})
	}
	return out
}

func (w *wizard) frame() tone {
	switch {
	case w.phase == phaseConfirm, len(w.moved) > 0:
		return toneNeed
	case w.phase == phaseReceipt && w.run != nil && !w.run.ok(), w.phase == phaseAsk && w.err != nil:
		return toneBad
	}
	return toneAccent
}

// crumbs shows the way through the wizard and where one is.
func (w *wizard) crumbs(m *Model, cols int) string {
	var segs []seg
	names := []string{"ask", "plan", "preview", "confirm", "run", "receipt"}
	if cols < 50 {
		return m.brush.line(cols, false, seg{toneAccent, names[w.phase]}, seg{toneDim, "  " + itoa(int(w.phase)+1) + " of " + itoa(len(names))})
	}
	for i, name := range names {
		p := phase(i)
		if p == phaseAsk && len(w.fields) == 0 {
			continue
		}
		if len(segs) > 0 {
			segs = append(segs, seg{toneBorder, " " + m.brush.g.arrow + " "})
		}
		k := toneDim
		if p == w.phase {
			k = toneAccent
		}
		segs = append(segs, seg{k, name})
	}
	return m.brush.line(cols, false, segs...)
}

// lines is the whole text of the phase.
func (w *wizard) lines(m *Model, cols int) []string {
	switch w.phase {
	case phaseAsk:
		return w.askLines(m, cols)
	case phasePlan:
		if w.err != nil {
			return w.refusal(m, cols)
		}
		return []string{m.brush.text(cols, toneStart, "making the plan; nothing is changed by it")}
	case phasePreview, phaseConfirm:
		return w.previewLines(m, cols)
	case phaseRun:
		out, _ := w.runLines(m, cols)
		return out
	case phaseReceipt:
	}
	return w.receiptLines(m, cols)
}

func (w *wizard) askLines(m *Model, cols int) []string {
	var out, refused []string
	_, h := w.size(m.w, m.h-1)
	room := w.room(h)
	if w.err != nil { // read with the answers that it is about in sight
		refused = append(m.brush.blank(cols, 1), w.refusal(m, cols)...)
		room = max(room-len(refused)-len(w.fields), 1)
	}
	for i, f := range w.fields {
		out = append(out, f.view(m.brush, cols, room, i == w.at)...)
		if i == w.at && i < len(w.fields)-1 && w.err == nil {
			out = append(out, m.brush.blank(cols, 1)...)
		}
	}
	return append(out, refused...)
}

// refusal says why there is no plan, and what to do.
func (w *wizard) refusal(m *Model, cols int) []string {
	e := asEngineError(w.err)
	out := append(m.paragraph(toneBad, m.brush.g.fail+" ", "there is no plan  ["+string(e.Code)+"]", cols), m.brush.blank(cols, 1)...)
	for _, part := range faultLines(e) {
		for _, l := range wrap(clean(part), cols) {
			out = append(out, m.brush.text(cols, toneText, l))
		}
	}
	if e.Hint != "" {
		out = append(out, m.brush.blank(cols, 1)...)
		for _, l := range wrap(m.brush.g.arrow+" "+clean(e.Hint), cols) {
			out = append(out, m.brush.text(cols, toneAccent, l))
		}
	}
	way := m.reg.hint("wizard-back") + " goes back. Nothing was changed."
	if w.phase == phaseAsk {
		way = "Nothing was changed. Change an answer, or " + m.reg.hint("plan") + " tries again; " + m.reg.hint("wizard-back") + " puts this away."
	}
	return append(append(out, m.brush.blank(cols, 1)...), m.paragraph(toneDim, "", way, cols)...)
}

// faultLines is an error as lines. Of a file with many faults the name stands
// once, and each fault begins with its line and column.
func faultLines(e *engine.Error) []string {
	text := e.Error()
	if e.Target == "" {
		return strings.Split(text, "\n")
	}
	file := e.Target + ":"
	var out []string
	for _, part := range strings.Split(text, "\n") {
		head, place, found := strings.Cut(part, file)
		if before, after, again := strings.Cut(place, file); again && !digitFirst(place) { // the first fault stands behind what is said of all
			head, place = head+file+before, after
		}
		if !found || !digitFirst(place) {
			out = append(out, part)
			continue
		}
		if head = strings.TrimSpace(head); head != "" {
			out = append(out, head)
		}
		out = append(out, place)
	}
	return out
}

func digitFirst(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// question is the last question, below the plan.
func (w *wizard) question(m *Model, cols int) []string {
	what := ""
	if len(w.plans) == 1 {
		what = string(w.plans[0].Verb) + " " + clean(w.plans[0].Target)
		switch part := partOf(w.plans[0]); {
		case part == "":
		case w.plans[0].Verb == engine.VerbShrink:
			what += ": pod " + clean(part) + " with all its seats"
		default:
			what += ": " + clean(part)
		}
	}
	if len(w.plans) > 1 {
		what = string(w.plans[0].Verb) + " of " + engine.Counted(len(w.plans), "seat") + ", one after the other"
	}
	steps, oneway, seats := 0, 0, 0
	for _, p := range w.plans {
		steps += len(p.Steps())
		seats += len(seatsOf(p))
		for _, s := range p.Steps() {
			if s.Effect == engine.EffectOneWay {
				oneway++
			}
		}
	}
	facts := engine.Counted(steps, "step")
	if seats > 0 {
		facts += " on " + engine.Counted(seats, "seat")
	}
	k := toneDim
	if w.forced {
		facts += ", over the guard"
	}
	if oneway > 0 {
		facts += ", " + itoa(oneway) + " of them cannot be undone"
		k = toneNeed
	}
	if oneway > 0 && width(facts) > cols { // what matters most does not fall off the edge
		forced := ""
		if w.forced {
			forced = ", forced"
		}
		facts = engine.Counted(steps, "step") + forced + ", " + itoa(oneway) + " cannot be undone"
	}
	out := []string{m.brush.rule(cols, "apply this?", toneNeed)}
	for i, l := range wrap(what, cols) { // a long name takes the place of the empty line
		if i < 2 {
			out = append(out, m.brush.line(cols, false, seg{toneStrong, l}))
		}
	}
	out = append(out, m.brush.line(cols, false, seg{k, facts}))
	out = m.brush.fill(out, cols, confirmRows-2)
	return append(m.brush.fill(append(out, w.answerLine(m, cols)), cols, confirmRows-1), m.brush.blank(cols, 1)...)
}

// typed asks for a name; quotes set one of several words off from what asks for it.
func typed(name string) string {
	if strings.Contains(name, " ") {
		name = "\"" + name + "\""
	}
	return "type " + name
}

// answerLine is where the last question is answered.
func (w *wizard) answerLine(m *Model, cols int) string {
	back := seg{toneDim, "   " + m.reg.hint("wizard-back") + " goes back"}
	name := w.nameNeeded()
	if !w.open.ready && (name == "" || w.astray) {
		return m.brush.line(cols, false, seg{toneDim, "a moment: keys do not count yet"})
	}
	if name == "" {
		return m.brush.line(cols, false, seg{toneAccent, m.reg.hint("confirm")}, seg{toneText, " applies the plan"}, back)
	}
	label := typed(name) + " to apply: "
	if width(label)+width(name)+6 > cols { // the whole name stands above
		label = typed(cutMiddle(name, max(cols-width(typed(name)+": ")+width(name)-8, 4))) + ": "
	}
	field := min(width(name)+6, max(cols-width(label), 4))
	rest := max(cols-width(label)-field, 0)
	hint := []seg{back}
	if width(back.text) > rest { // the footer names the key too
		hint = nil
	}
	if w.name.text() == name && w.pause.ready && w.open.ready {
		hint = []seg{{toneAccent, "  " + m.reg.hint("confirm-name")}, {toneText, " applies the plan"}}
	}
	return m.brush.line(min(width(label), cols), false, seg{toneText, label}) + w.name.view(m.brush, field, true, "") + m.brush.line(rest, false, hint...)
}
