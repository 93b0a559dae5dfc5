package tui

import (
	"slices"
)

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
	rw := 0
	for _, s := range right {
		rw += width(s.text)
	}
	room := m.w - rw
	switch {
	case m.typing != nil && m.top() == nil && m.toast.text == "":
		label := " filter: "
		return m.brush.line(width(label), false, seg{toneAccent, label}) +
			m.typing.view(m.brush, min(m.w-width(label), 30), true, "") + m.keyLine(max(m.w-width(label)-30, 0))
	default:
		return m.keyLine(room) + m.brush.line(rw, false, right...)
	}
}

// keyLine lists the keys that work now in w cells. Where not all have room, the one
// that lists them all stands at the end.
func (m *Model) keyLine(w int) string {
	var all []*action
	for _, a := range m.reg.footer(m.scope()) {
		if a.why(m) == "" {
			all = append(all, a)
		}
	}
	segs, n := m.keySegs(all, w)
	if help := m.reg.byID("help"); n < len(all) && help != nil && help.in&m.scope() != 0 && len(help.keys) > 0 {
		tail, _ := m.keySegs([]*action{help}, w)
		tail[0].text = "  "
		segs, n = m.keySegs(all, w-segsWidth(tail))
		if n > 0 && !slices.Contains(all[:n], help) {
			segs = append(segs, tail...)
		}
	}
	return m.brush.line(w, false, segs...)
}

// keySegs draws the first of the actions that have room in w cells, and says how many.
func (m *Model) keySegs(all []*action, w int) (segs []seg, n int) {
	used, gap := 0, " "
	for _, a := range all {
		label := a.text(m)
		size := width(gap) + width(a.key()) + 1 + width(label)
		if used+size > w {
			break
		}
		segs = append(segs, seg{toneText, gap}, seg{toneAccent, a.key()}, seg{toneDim, " " + label})
		used += size
		gap = "  "
		n++
	}
	return segs, n
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
