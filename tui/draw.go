package tui

import "strings"

// seg is a piece of a line in one tone.
type seg struct {
	tone tone
	text string
}

// brush draws with a theme and a set of glyphs. It holds no state of a screen.
type brush struct {
	*theme
	g *glyphs
}

// line joins pieces into a line of exactly w cells, cut or filled as needed. A
// selected line has the bar behind it over its whole width.
func (b brush) line(w int, selected bool, segs ...seg) string {
	if w <= 0 {
		return ""
	}
	put := b.paint
	if selected {
		put = b.paintBar
	}
	var out strings.Builder
	left := w
	for _, s := range segs {
		if s.text == "" || left == 0 {
			continue
		}
		text := s.text
		n := width(text)
		if n > left {
			text = cut(text, left)
			n = width(text)
		}
		out.WriteString(put(s.tone, text))
		left -= n
	}
	out.WriteString(put(toneText, strings.Repeat(" ", left)))
	return out.String()
}

// text is a line of one tone.
func (b brush) text(w int, k tone, s string) string { return b.line(w, false, seg{k, s}) }

// blank gives n empty lines.
func (b brush) blank(w, n int) []string {
	out := make([]string, max(n, 0))
	for i := range out {
		out[i] = strings.Repeat(" ", max(w, 0))
	}
	return out
}

// fill makes a block exactly h lines of w cells high.
func (b brush) fill(lines []string, w, h int) []string {
	if len(lines) >= h {
		return lines[:max(h, 0)]
	}
	return append(lines, b.blank(w, h-len(lines))...)
}

// rule is a horizontal line with a title in it.
func (b brush) rule(w int, title string, k tone) string {
	if w <= 0 {
		return ""
	}
	if title == "" || w < 8 {
		return b.text(w, toneBorder, strings.Repeat(b.g.across, w))
	}
	title = cut(title, w-5)
	rest := max(w-width(title)-4, 0)
	return b.line(w, false, seg{toneBorder, b.g.across + b.g.across + " "}, seg{k, title}, seg{toneBorder, " " + strings.Repeat(b.g.across, rest)})
}

// box frames lines, which must be w-2 cells wide, and puts a title into the
// upper border and a note into the lower one.
func (b brush) box(w, h int, frame tone, title []seg, note string, lines []string) []string {
	if w < 4 || h < 2 {
		return b.fill(nil, w, h)
	}
	out := make([]string, 0, h)
	out = append(out, b.edge(w, frame, b.g.topLeft, b.g.topRight, title))
	side := b.paint(frame, b.g.down)
	for i := range h - 2 {
		inner := strings.Repeat(" ", w-2)
		if i < len(lines) {
			inner = lines[i]
		}
		out = append(out, side+inner+side)
	}
	var foot []seg
	if note != "" {
		foot = []seg{{toneDim, note}}
	}
	return append(out, b.edge(w, frame, b.g.bottomLeft, b.g.bottomRight, foot))
}

func (b brush) edge(w int, frame tone, left, right string, title []seg) string {
	var out strings.Builder
	room := w - 2
	out.WriteString(b.paint(frame, left+b.g.across))
	room--
	if len(title) > 0 && room > 6 {
		segs := append([]seg{{toneText, " "}}, title...)
		segs = append(segs, seg{toneText, " "})
		n := 0
		for _, s := range segs {
			n += width(s.text)
		}
		n = min(n, room-1)
		out.WriteString(b.line(n, false, segs...))
		room -= n
	}
	out.WriteString(b.paint(frame, strings.Repeat(b.g.across, room)+right))
	return out.String()
}

// beside puts two blocks of h lines next to each other.
func beside(left, right []string) []string {
	out := make([]string, max(len(left), len(right)))
	for i := range out {
		var l, r string
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		out[i] = l + r
	}
	return out
}

// gauge draws a share of a whole in w cells, with a threshold where one is
// given (0 = none).
func (b brush) gauge(share float64, threshold float64, w int) string {
	if w <= 0 {
		return ""
	}
	full := min(max(int(share/100*float64(w)+0.5), 0), w)
	if share > 0 && full == 0 {
		full = 1
	}
	cells := make([]string, w)
	for i := range cells {
		cells[i] = b.g.empty
		if i < full {
			cells[i] = b.g.full
		}
	}
	if threshold > 0 {
		if at := int(threshold / 100 * float64(w)); at < w {
			cells[at] = b.g.limit
		}
	}
	return strings.Join(cells, "")
}
