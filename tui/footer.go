package tui

// newsRows is how many lines of the screen the news may take.
const newsRows = 4

// news is what was just said, over the last lines of the screen; none when there
// is nothing.
func (m *Model) news() []string {
	if m.toast.text == "" {
		return nil
	}
	parts := wrap(m.toast.text, max(m.w-2, 1))
	if len(parts) > newsRows {
		parts = parts[:newsRows]
	}
	out := make([]string, len(parts))
	for i, l := range parts {
		out[i] = m.brush.line(m.w, false, seg{m.toast.tone, " " + l})
	}
	return out
}

// footer shows the keys that work here, most useful first; what does not fit is
// dropped. News stand over it.
func (m *Model) footer() string {
	right := m.footRight()
	if len(right) > 0 {
		right = append([]seg{{toneText, " "}}, right...)
	}
	rw := segsWidth(right)
	switch {
	case m.typing != nil && m.top() == nil && m.toast.text == "":
		label := " filter: "
		return m.brush.line(width(label), false, seg{toneAccent, label}) +
			m.typing.view(m.brush, min(m.w-width(label), 30), true, "") + m.keyLine(max(m.w-width(label)-30, 0))
	default:
		return m.keyLine(m.w-rw) + m.brush.line(rw, false, right...)
	}
}

// keyLine lists the keys that work now in w cells. Where not all have room, the one
// that lists them all stands at the end.
func (m *Model) keyLine(w int) string {
	var all []footEntry
	help := -1
	for _, a := range m.reg.footer(m.scope()) {
		if a.why(m) != "" {
			continue
		}
		if label := a.text(m); label != "" {
			if a.id == "help" {
				help = len(all)
			}
			all = append(all, footEntry{m.reg.footKey(a), label})
		}
	}
	segs, n := keySegs(all, w)
	if help >= n {
		tail := []seg{{toneText, "  "}, {toneAccent, all[help].key}, {toneDim, " " + all[help].label}}
		if segs, n = keySegs(all, w-segsWidth(tail)); n > 0 {
			segs = append(segs, tail...)
		}
	}
	return m.brush.line(w, false, segs...)
}

// footEntry is an action as the footer shows it.
type footEntry struct{ key, label string }

// keySegs draws the first of the entries that have room in w cells, and says how many.
func keySegs(all []footEntry, w int) (segs []seg, n int) {
	used, gap := 0, " "
	for _, e := range all {
		size := width(gap) + width(e.key) + 1 + width(e.label)
		if used+size > w {
			break
		}
		segs = append(segs, seg{toneText, gap}, seg{toneAccent, e.key}, seg{toneDim, " " + e.label})
		used += size
		gap = "  "
		n++
	}
	return segs, n
}

// moveWord says what the keys that go line by line do here; "" where there is
// nothing to go through.
func (m *Model) moveWord() string {
	if top := m.top(); top != nil {
		return top.moving(m)
	}
	if m.fleet == nil || len(m.fleet.Rigs) == 0 {
		return ""
	}
	return moveList
}

// What the keys of motion do in a list, and in a text.
const (
	moveList = "move"
	moveText = "scroll"
)

// pageWord is moveWord for pages: the lists of dialogs are short.
func (m *Model) pageWord() string {
	if word := m.moveWord(); word == "" || m.top() != nil && word == moveList {
		return ""
	}
	return "page"
}

// filterWord and sideWord are the labels of keys that have a use once there is a seat.
func (m *Model) filterWord() string { return m.onceSeats("filter") }

func (m *Model) sideWord() string { return m.onceSeats("pane/facts") }

func (m *Model) onceSeats(label string) string {
	if m.fleet != nil && len(m.fleet.Rigs) == 0 && m.cur != screenEvents {
		return ""
	}
	return label
}

// foldWord is the label of the keys that fold and unfold, where there is a tree.
func (m *Model) foldWord() string {
	switch {
	case m.moveWord() == "", m.cur == screenRestore && m.restoreScreen().tab != tabReboot:
		return ""
	case m.cur == screenWall:
		return "pane"
	}
	return "fold"
}

// fieldWord is the label of the key that goes on to the next question, where there is
// one.
func (m *Model) fieldWord() string {
	if w := m.wizard(); w == nil || len(w.fields) < 2 {
		return ""
	}
	return "next field"
}

// choiceWord is the label of the keys that go through the choices of a question.
func (m *Model) choiceWord() string {
	w := m.wizard()
	if w == nil || w.field() == nil {
		return ""
	}
	switch f := w.field(); {
	case f.kind == fieldText || f.kind == fieldToggle || f.kind == fieldLines, len(f.matching()) == 0:
		return ""
	}
	return "choice"
}

// footRight shows the filter, the marks and the place in the list.
func (m *Model) footRight() []seg {
	if m.top() != nil {
		return nil
	}
	var out []seg
	if m.cur == screenEvents && m.events().follow {
		out = append(out, seg{toneBusy, "following "})
	}
	if f := m.filters[m.cur]; f != "" {
		out = append(out, seg{toneAccent, "/" + cut(clean(f), 16) + " "})
	}
	if n := len(m.marks); n > 0 {
		out = append(out, seg{toneNeed, itoa(n) + " marked "})
	}
	return out
}
