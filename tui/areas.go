package tui

import (
	"strings"

	"rig/engine"
)

// side is what is shown beside the list.
type side int

const (
	sidePane side = iota
	sideFacts
)

// areas divides the body of a screen that has a list and something about the
// selected line.
type areas struct {
	shape        shape
	listW, listH int // with its heading
	sideW, sideH int // 0 = not shown
	recent       int // lines for what changed last, its heading included
}

// divide gives the areas for a list of rows lines. recent asks for the lines
// below the list.
func (m *Model) divide(rows int, recent bool) areas {
	w, h := m.bodySize()
	a := areas{shape: shapeOf(m.w, m.h), listW: w, listH: h}
	switch a.shape {
	case shapeSplit:
		a.listW = splitAt(w)
		a.sideW, a.sideH = w-a.listW-1, h
		if recent && m.h >= recentRows {
			a.recent = min(max(h-rows-2, 5), 9)
			a.listH = h - a.recent
		}
	case shapeStack:
		a.listH = stackAt(h, rows+1)
		a.sideW, a.sideH = w, h-a.listH
	case shapeList, shapeTiny:
	}
	return a
}

// join puts list, side and recent lines together.
func (m *Model) join(a areas, list, recent, beyond []string) []string {
	left := m.brush.fill(list, a.listW, a.listH)
	left = append(left, recent...)
	switch {
	case a.sideW == 0:
		return left
	case a.shape == shapeSplit:
		for i := range left {
			left[i] += " "
		}
		return beside(left, beyond)
	}
	return append(left, beyond...)
}

// recentLines shows what changed last, newest first.
func (m *Model) recentLines(w, h int) []string {
	if h < 2 {
		return nil
	}
	out := []string{m.brush.rule(w, "last changes", toneDim)}
	for _, e := range m.fleet.Recent {
		if len(out) == h {
			break
		}
		out = append(out, m.eventLine(w, e, false))
	}
	if len(m.fleet.Recent) == 0 {
		out = append(out, m.brush.text(w, toneDim, "  nothing yet"))
	}
	return m.brush.fill(out, w, h)
}

// seatBox draws a seat's live pane in a frame of its state, or its facts.
func (m *Model) seatBox(s *engine.SeatView, w, h int) []string {
	if w < 4 || h < 3 {
		return m.brush.fill(nil, w, h)
	}
	if s == nil {
		return m.brush.box(w, h, toneBorder, nil, "", m.brush.fill([]string{m.brush.text(w-2, toneDim, " select a seat to see its pane")}, w-2, h-2))
	}
	if m.side() == sideFacts {
		lines := m.factLines(s, w-2)
		return m.brush.box(w, h, toneBorder, m.seatTitle(s, w), "facts", m.brush.fill(lines, w-2, h-2))
	}
	return m.paneBox(s, w, h)
}

func (m *Model) seatTitle(s *engine.SeatView, w int) []seg {
	l := lookOf(s)
	name := cutMiddle(clean(s.Address), max(w-width(l.word)-12, 8))
	return []seg{{toneStrong, name}, {toneText, "  "}, {l.tone, l.text(m.brush.g)}}
}

// lastScreen says of a seat whose pane is gone what its frame shows.
const lastScreen = "its last screen"

// paneBox draws a live pane. Its frame has the tone of the seat's state; the note
// below says how large the pane really is and, when something stands in the
// input box, that. What more there is to say stands behind the seat's name.
func (m *Model) paneBox(s *engine.SeatView, w, h int, more ...seg) []string {
	return m.paneBoxUnder(s, w, h, nil, more...)
}

// paneBoxUnder is paneBox with lines of w-2 cells above the pane. What they say of the
// seat the frame does not say again.
func (m *Model) paneBoxUnder(s *engine.SeatView, w, h int, head []string, more ...seg) []string {
	l := lookOf(s)
	frame := toneBorder
	if l.tone == toneNeed || l.tone == toneBad || l.tone == toneLimit {
		frame = l.tone
	}
	rows := h - 2 - len(head)
	f, ok := m.frames[s.ID]
	var lines []string
	note := ""
	switch {
	case ok && f.err != "" && s.Pane != "":
		lines = m.aside(w-2, rows, toneNeed, "this pane cannot be read: "+f.err)
	case ok && s.Pane != "":
		lines = crop(f.lines, w-2, rows)
		note = itoa(f.cols) + "x" + itoa(f.rows)
		why := clean(s.Activity.Why)
		if s.Life == engine.LifeLost { // the pane is gone: what is shown is no news of it
			note, why = lastScreen, clean(s.LifeWhy)
		}
		if why != "" && len(head) == 0 {
			note = cut(why, max(w-8-width(note)-3, 4)) + " " + m.brush.g.dot + " " + note
		}
	default:
		lines = m.aside(w-2, rows, toneDim, m.noScreen(s)...)
	}
	if m.fleet.Live && m.fleet.Server.State != engine.Present && ok {
		note, frame = "as last seen: tmux is "+m.fleet.Server.State.String(), toneUnknown
	}
	if d := clean(s.Activity.Draft); d != "" {
		note = cut("draft in its box: "+d, w-8)
	}
	title := m.seatTitle(s, w)
	if segsWidth(title)+segsWidth(more)+6 <= w {
		title = append(title, more...)
	}
	return m.brush.box(w, h, frame, title, note, append(head, lines...))
}

// noScreen says what stands in for a screen that has not come: that it will, or why not.
func (m *Model) noScreen(s *engine.SeatView) []string {
	if s.Pane != "" && m.fleet.Live && s.Life != engine.LifeUnknown && s.Life != engine.LifeLost {
		return []string{"waiting for its screen"}
	}
	return m.noPane(s)
}

// noPane says why there is nothing to see, and what to press.
func (m *Model) noPane(s *engine.SeatView) []string {
	launch := m.reg.hint("launch") + " launches it"
	why := clean(s.LifeWhy)
	switch s.Life {
	case engine.LifeNever:
		return []string{"never had an occupant", launch}
	case engine.LifeStopped, engine.LifeDead, engine.LifeLost:
		return []string{string(s.Life) + ": " + why, launch}
	case engine.LifeUnknown:
		if m.elsewhere(s.ID) {
			return []string{"not known: " + why, m.reg.hint("sockets") + " shows where the seats are"}
		}
		return []string{"not known: " + why, "tmux has not said where it is"}
	case engine.LifeRunning, engine.LifeStarting, engine.LifeAttention:
	}
	if !m.fleet.Live {
		return []string{"tmux has not been asked yet"}
	}
	return []string{"no pane: " + why}
}

// aside is a short text inside a frame.
func (m *Model) aside(w, h int, k tone, texts ...string) []string {
	var lines []string
	if h > 4 {
		lines = m.brush.blank(w, 1)
	}
	for _, t := range texts {
		for _, l := range wrap(clean(t), w-4) {
			lines = append(lines, m.brush.text(w, k, "  "+l))
		}
	}
	return m.brush.fill(lines, w, max(h, 0))
}

// eventLine is one event as a line: when, what, where, by whom.
func (m *Model) eventLine(w int, e engine.Event, selected bool) string {
	where := clean(eventPlace(e))
	segs := []seg{
		{toneDim, " " + e.At.In(m.opt.zone()).Format("15:04") + " "},
		{eventTone(e.Type), pad(clean(e.Type), 24) + " "},
		{toneText, where},
	}
	if e.Operator != "" {
		segs = append(segs, seg{toneDim, "  by " + clean(e.Operator)})
	}
	return m.brush.line(w, selected, segs...)
}

// eventTone colours what tells of trouble.
func eventTone(kind string) tone {
	for _, word := range []string{"failed", "dead", "lost", "error", "refused"} {
		if strings.Contains(kind, word) {
			return toneBad
		}
	}
	if strings.HasSuffix(kind, "attention_required") || strings.HasSuffix(kind, "waiting") {
		return toneNeed
	}
	return toneText
}
