package tui

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// readLine is one line of a text: a label and what it says. Without both it is
// an empty line.
type readLine struct {
	label string
	text  string
	tone  tone
}

// reader is a dialog with a text to scroll.
type reader struct {
	title string
	lines []readLine
	live  func(m *Model) []readLine // the text follows the picture; nil: it is lines
	copy  string
	at    window
	id    int // of the request that fills it, 0 when it is complete
}

func (r *reader) scope(*Model) scope                  { return scopeRead }
func (r *reader) typing() bool                        { return false }
func (r *reader) key(*Model, tea.KeyPressMsg) tea.Cmd { return nil }
func (r *reader) paste(*Model, string) tea.Cmd        { return nil }

func (r *reader) update(_ *Model, msg tea.Msg) tea.Cmd {
	if got, ok := msg.(readMsg); ok && got.id == r.id && r.id != 0 {
		r.id = 0
		if r.lines = got.lines; got.err != nil {
			r.lines = []readLine{{"", errorText(got.err), toneBad}}
		}
		return nil
	}
	e, ok := msg.(explainedMsg)
	if !ok || e.id != r.id || r.id == 0 {
		return nil
	}
	r.id = 0
	if e.err != nil {
		r.lines = []readLine{{"", errorText(e.err), toneBad}}
		return nil
	}
	r.lines = explainLines(e.explanation)
	r.copy = plainText(r.lines)
	return nil
}

// text is what is read now.
func (r *reader) text(m *Model) []readLine {
	if r.live != nil {
		return r.live(m)
	}
	return r.lines
}

// copyText is what the copy key takes.
func (r *reader) copyText(m *Model) string {
	if r.live != nil {
		return plainText(r.live(m))
	}
	return r.copy
}

// plainText is a text without its layout.
func plainText(lines []readLine) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(joinWords(" ", l.label, l.text) + "\n")
	}
	return b.String()
}

func (r *reader) move(m *Model, d move) tea.Cmd {
	w, h := r.size(m.w, m.h-1)
	r.at.move(d, wrapped(r.text(m), m.brush, w-4), w-4, h-2)
	return nil
}

func (r *reader) moving(m *Model) string {
	if w, h := r.size(m.w, m.h-1); len(wrapped(r.text(m), m.brush, w-4)) <= h-2 {
		return ""
	}
	return moveText
}

func (r *reader) size(cols, rows int) (int, int) { return dialogSize(92, 60, cols, rows) }

// labelColumn is the width of the column of labels in w cells, with the gap after
// it; 0 when nothing has one. A label that is much longer stands above its text
// and does not count.
func labelColumn(text []readLine, w int) int {
	label := 0
	for _, l := range text {
		if n := width(l.label); n <= max(14, w/3) {
			label = max(label, n)
		} else {
			label = max(label, 4)
		}
	}
	if label > 0 {
		label += 2
	}
	return label
}

// wrapped gives the drawn lines of a text in w cells.
func wrapped(text []readLine, b brush, w int) []string {
	label := labelColumn(text, w)
	var out []string
	for _, l := range text {
		k := toneDim
		if l.text == "" {
			k = toneStrong
		}
		head := l.label
		if width(head) > label-1 {
			for _, part := range wrap(head, w) {
				out = append(out, b.text(w, k, part))
			}
			if head = ""; l.text == "" {
				continue
			}
		}
		for _, part := range wrap(l.text, max(w-label, 8)) {
			out = append(out, b.line(w, false, seg{k, pad(head, label)}, seg{l.tone, part}))
			head = ""
		}
	}
	return out
}

func (r *reader) view(m *Model, cols, rows int) []string {
	w, h := r.size(cols, rows)
	lines := wrapped(r.text(m), m.brush, w-4)
	if len(lines)+2 < h {
		h = len(lines) + 2
	}
	seen, note := r.at.show(lines, w-4, h-2)
	return m.brush.box(w, h, toneAccent, []seg{{toneStrong, r.title}}, note, inset(seen))
}

// inset puts a space at both sides of each line.
func inset(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = " " + l + " "
	}
	return out
}

// openExplain asks where the fact under the cursor comes from.
func (m *Model) openExplain() tea.Cmd {
	s := m.screens[m.cur].subject(m)
	if s.seat == nil {
		return nil
	}
	title := "Explain " + clean(s.seat.Address)
	if s.topic != "" {
		title = "Explain " + s.topic + " of " + clean(s.seat.Address)
	}
	r := &reader{title: title, id: m.next(), lines: []readLine{{"", "asking the engine", toneDim}}}
	m.push(r)
	c, ctx, id, seat, topic := m.c, m.ctx, r.id, s.seat.ID, s.topic
	return func() tea.Msg {
		x, err := c.Explain(ctx, seat, topic)
		return explainedMsg{id, x, err}
	}
}

func explainLines(x engine.Explanation) []readLine {
	if len(x.Facts) == 0 {
		return []readLine{{"", "nothing is known about this", toneDim}}
	}
	var out []readLine
	for i, f := range x.Facts {
		if i > 0 {
			out = append(out, readLine{})
		}
		out = append(out, readLine{clean(f.Name), orUnknown(clean(f.Value)), toneStrong})
		add := func(label, text string, k tone) {
			if text != "" {
				out = append(out, readLine{"  " + label, clean(text), k})
			}
		}
		add("source", f.Source, toneText)
		add("rule", f.Rule, toneText)
		add("age", f.Age, toneText)
		add("sure", confidenceWord(f.Confidence), toneText)
		for _, c := range f.Agreeing {
			add("also", c, toneText)
		}
		for _, c := range f.Competing {
			add("but", c, toneNeed)
		}
	}
	return out
}

func orUnknown(s string) string { return cmp.Or(s, "?") }

func confidenceWord(c engine.Confidence) string {
	switch c {
	case engine.ConfidenceHigh:
		return "yes"
	case engine.ConfidenceLow:
		return "not quite"
	case engine.ConfidenceNone:
		return "no"
	}
	return ""
}
