package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"rig/engine"
)

// View draws the console. It reads the model and changes nothing.
func (m *Model) View() tea.View {
	v := tea.NewView(strings.Join(m.frame(), "\n"))
	v.AltScreen = true
	v.WindowTitle = m.title()
	if m.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	return v
}

// title is the terminal's title: how much waits for a person.
func (m *Model) title() string {
	t := "rig"
	if m.fleet != nil && m.fleet.Totals.Attention > 0 {
		t += " " + itoa(m.fleet.Totals.Attention) + needYou(m.fleet.Totals.Attention)
	}
	if m.opt.Marker {
		t += " r" + itoa(int(m.Revision())) + " " + m.Screen()
	}
	return t
}

// frame gives the lines of the screen, each exactly as wide as the terminal.
func (m *Model) frame() []string {
	if m.w <= 0 || m.h <= 0 {
		return nil
	}
	if shapeOf(m.w, m.h) == shapeTiny {
		return m.tooSmall()
	}
	lines := m.header()
	if text, k := m.banner(); text != "" {
		lines = append(lines, m.brush.text(m.w, k, " "+text))
	}
	body := m.h - len(lines) - 1
	lines = append(lines, m.brush.fill(m.body(m.w, body), m.w, body)...)
	lines = append(lines, m.footer())
	for _, o := range m.overlays {
		lines = m.over(lines, o)
	}
	news := m.news()
	copy(lines[len(lines)-len(news):], news)
	if m.brush.g.ascii {
		for i := range lines {
			lines[i] = asciiLine(lines[i])
		}
	}
	return lines
}

// corner is where a dialog stands: the most that it takes is in the middle, so
// that it keeps its place whatever is in it, and grows downwards.
func (m *Model) corner(o overlay) (top, left int) {
	w, h := o.size(m.w, m.h-1)
	return max((m.h-1-h)/2, 0), max((m.w-w)/2, 0)
}

// over draws a dialog over what is below it, and that dimmed. An empty cell stands
// all around, so that no border meets another one.
func (m *Model) over(below []string, o overlay) []string {
	d := o.view(m, m.w, m.h-1)
	if len(d) == 0 {
		return below
	}
	foot := below[len(below)-1]
	top, left := m.corner(o)
	dw := width(d[0])
	out := make([]string, len(below))
	for y, l := range below {
		plain := ansi.Strip(l)
		if y < top-1 || y > top+len(d) || y < top && y < m.headRows() {
			out[y] = m.brush.text(m.w, toneOff, plain)
			continue
		}
		row := strings.Repeat(" ", dw)
		if y >= top && y < top+len(d) {
			row = d[y-top]
		}
		before := pad(ansi.Truncate(plain, max(left-1, 0), ""), left)
		after := ansi.Cut(plain, left+dw+1, m.w)
		after = strings.Repeat(" ", max(m.w-left-dw-width(after), 0)) + after
		out[y] = m.brush.paint(toneOff, before) + row + m.brush.paint(toneOff, after)
	}
	out[len(out)-1] = foot
	return out
}

// tooSmall is the note for a terminal that is too small, in any size.
func (m *Model) tooSmall() []string {
	notes := []string{"rig needs " + itoa(minCols) + "x" + itoa(minRows), "this is " + itoa(m.w) + "x" + itoa(m.h)}
	if m.fleet != nil && m.fleet.Totals.Attention > 0 {
		notes = append(notes, itoa(m.fleet.Totals.Attention)+needYou(m.fleet.Totals.Attention))
	}
	out := m.brush.blank(m.w, m.h)
	top := max((m.h-len(notes))/2, 0)
	for i, n := range notes {
		if top+i < len(out) {
			left := max((m.w-width(n))/2, 0)
			out[top+i] = m.brush.text(m.w, toneText, strings.Repeat(" ", left)+n)
		}
	}
	return out
}

// headRows is the height of the header: one line, a rule where there is room, and
// a banner while there is something to say.
func (m *Model) headRows() int {
	n := 1
	if m.h >= previewRows {
		n = 2
	}
	if text, _ := m.banner(); text != "" {
		n++
	}
	return n
}

// banner says what makes the whole picture doubtful, and what to do; "" when
// nothing does.
func (m *Model) banner() (string, tone) {
	f := m.fleet
	switch {
	case m.streams.ended:
		return "the engine has stopped: what is shown is old; " + m.reg.hint("quit") + " quits", toneBad
	case f == nil || !f.Live || f.RecordErr != "" || len(f.Rigs) == 0:
	case f.Server.State == engine.Absent:
		return joinWords(": ", "no tmux server", clean(f.Server.Why)) + "; " + m.reg.hint("up") + " brings a rig up again", toneNeed
	case f.Server.State == engine.Unknown:
		return clean(f.Server.Silence()) + "; all of this is as last seen; rig doctor looks into it", toneBad
	}
	return "", toneText
}

// bodySize is what a screen has to draw in.
func (m *Model) bodySize() (int, int) { return m.w, m.h - m.headRows() - 1 }

// header shows where one is, and the state of the whole at its right.
func (m *Model) header() []string {
	right := m.status(m.w)
	// Names of screens say more than counts that the Fleet shows too.
	if need := segsWidth(m.tabRow(tabShort)) + 1; need+segsWidth(right) > m.w {
		if less := m.statusIn(m.w - need); segsWidth(less) <= m.w-need {
			right = less
		}
	}
	rw := segsWidth(right)
	left := m.tabs(m.w - rw - 1)
	lw := segsWidth(left)
	segs := append(left, seg{toneText, strings.Repeat(" ", max(m.w-lw-rw, 1))})
	out := []string{m.brush.line(m.w, false, append(segs, right...)...)}
	if m.h >= previewRows {
		out = append(out, m.brush.rule(m.w, "", toneBorder))
	}
	return out
}

// tabs names the screens; as room runs out their names are cut short, then only
// the one that is shown has a name, then only it is there.
func (m *Model) tabs(w int) []seg {
	for _, form := range []tabForm{tabFull, tabShort, tabShortest, tabDigits} {
		if row := m.tabRow(form); segsWidth(row) <= w {
			return row
		}
	}
	cur := infoOf(m.cur)
	return []seg{{toneStrong, " rig "}, {toneAccent, " " + itoa(cur.place) + " "}, {toneStrong, cur.name}}
}

// tabForm is how much of the screens' names is written.
type tabForm int

const (
	tabFull     tabForm = iota
	tabShort            // the one that is shown has its whole name
	tabShortest         // not even that one
	tabDigits
)

func (m *Model) tabRow(form tabForm) []seg {
	row := []seg{{toneStrong, " rig "}}
	for _, s := range screenList() {
		name, k := s.name, toneDim
		switch {
		case s.id == m.cur:
			k = toneStrong
			if form == tabShortest {
				name = s.short
			}
		case form == tabShort, form == tabShortest:
			name = s.short
		case form == tabDigits:
			name = ""
		}
		if s.id == screenAttention && m.fleet != nil && m.fleet.Totals.Attention > 0 {
			name = strings.TrimLeft(name+" ("+itoa(m.fleet.Totals.Attention)+")", " ")
			if s.id != m.cur {
				k = toneNeed
			}
		}
		row = append(row, seg{toneAccent, " " + itoa(s.place)})
		if name != "" {
			row = append(row, seg{k, " " + name})
		}
	}
	return row
}

func segsWidth(row []seg) int {
	n := 0
	for _, s := range row {
		n += width(s.text)
	}
	return n
}

// status counts what is there and says how tmux is read, dropped from the left
// as room runs out.
func (m *Model) status(w int) []seg {
	return m.statusIn(w - width(infoOf(m.cur).name) - 10) // the least that the left side needs
}

// statusIn is the status in a room of w cells, never less than how tmux is read.
func (m *Model) statusIn(room int) []seg {
	f := m.fleet
	if f == nil {
		return []seg{{toneDim, "reading the record "}}
	}
	var parts []seg
	add := func(k tone, text string) { parts = append(parts, seg{k, text}) }
	add(toneDim, engine.Counted(f.Totals.Seats, "seat"))
	add(toneDim, engine.Untold(f.Totals.Running, f.Totals.Unknown)+" running")
	if m.opt.ReadOnly {
		add(toneNeed, "read-only")
	}
	if n := f.Totals.Attention; n > 0 {
		add(toneNeed, lookWaiting.mark(m.brush.g)+" "+itoa(n))
	}
	if text, k := m.serverWord(); text != "" {
		add(k, text)
	}
	for len(parts) > 1 && statusWidth(parts) > room {
		parts = parts[1:]
	}
	var out []seg
	for i, p := range parts {
		if i > 0 {
			out = append(out, seg{toneBorder, " " + m.brush.g.dot + " "})
		}
		out = append(out, p)
	}
	return append(out, seg{toneText, " "})
}

func statusWidth(parts []seg) int {
	n := 1
	for _, p := range parts {
		n += width(p.text) + 3
	}
	return n - 3
}

// serverWord says how much the picture can be trusted.
func (m *Model) serverWord() (string, tone) {
	f := m.fleet
	switch {
	case m.streams.ended:
		return "stopped", toneBad
	case f.RecordErr != "":
		return "record error", toneBad
	case !f.Live:
		return "from the record", toneStart
	case f.Server.State == engine.Absent:
		return "no tmux server", toneNeed
	case f.Server.State == engine.Unknown:
		return "tmux ?", toneBad
	case f.Server.Path == "batch":
		return "tmux batch", toneDim
	}
	return "live", toneBusy
}

// body draws the screen, or what stands in for it before there is anything.
func (m *Model) body(w, h int) []string {
	f := m.fleet
	switch {
	case f == nil:
		return m.notice(w, h, "Reading the record", "The first picture comes from the record, then tmux is asked.")
	case f.RecordErr != "":
		return m.notice(w, h, "The record cannot be read", clean(f.RecordErr),
			"rig doctor says what is wrong; seats go on without the record.", m.reg.hint("quit")+" quits")
	}
	return m.screens[m.cur].view(m, w, h)
}

// notice is a text in the middle of nothing: what is the case, and what to do.
func (m *Model) notice(w, h int, head string, texts ...string) []string {
	inner := min(w-4, 72)
	var lines []string
	put := func(k tone, s string) {
		for _, l := range wrap(s, inner) {
			left := max((w-width(l))/2, 0)
			lines = append(lines, m.brush.text(w, k, strings.Repeat(" ", left)+l))
		}
	}
	put(toneStrong, head)
	for _, t := range texts {
		lines = append(lines, m.brush.blank(w, 1)...)
		put(toneDim, t)
	}
	top := max((h-len(lines))/3, 0)
	return m.brush.fill(append(m.brush.blank(w, top), lines...), w, h)
}
