package tui

import (
	"sort"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// pressureScreen shows context windows as gauges, fullest first. Seats of which
// nothing is known stand below the others, as unknown.
type pressureScreen struct {
	list list
	rows []*engine.SeatView
}

func (s *pressureScreen) info() screenInfo { return infoOf(screenPressure) }

func (s *pressureScreen) refresh(m *Model) tea.Cmd {
	s.rows = s.rows[:0]
	filter := m.filters[screenPressure]
	for _, seat := range m.fleet.Seats() {
		if seat.Runtime == engine.RuntimeTerminal || filter != "" && !seatMatches(seat, filter) {
			continue
		}
		s.rows = append(s.rows, seat)
	}
	sort.SliceStable(s.rows, func(i, j int) bool {
		a, b := s.rows[i].Usage, s.rows[j].Usage
		if a.Known != b.Known {
			return a.Known
		}
		if a.Percent != b.Percent {
			return a.Percent > b.Percent
		}
		return a.Tokens > b.Tokens
	})
	keys := make([]string, len(s.rows))
	for i := range s.rows {
		keys[i] = s.rows[i].ID
	}
	s.list.set(keys)
	return nil
}

func (s *pressureScreen) update(*Model, tea.Msg) tea.Cmd { return nil }

func (s *pressureScreen) settle(m *Model) {
	_, h := m.bodySize()
	s.list.settle(h - 2)
}

func (s *pressureScreen) move(_ *Model, d move) tea.Cmd {
	s.list.move(d)
	return nil
}

func (s *pressureScreen) subject(m *Model) subject {
	if s.list.cursor >= len(s.rows) {
		return subject{}
	}
	seat := s.rows[s.list.cursor]
	return subject{seat: seat, rig: m.rig(seat.RigID), copy: seat.Address, topic: "context", seats: []string{seat.ID}}
}

func (s *pressureScreen) panes(*Model) []string { return nil }

func pressureColumns() []column {
	return []column{
		{head: "SEAT", w: 16, most: 30},
		{head: "USED", w: 10, most: 60},
		{head: "", w: 4, tail: true},
		{head: "TOKENS", w: 13, rank: 2, tail: true},
		{head: "STATE", w: 11, rank: 3},
		{head: "SAMPLE", w: 18, most: 28, rank: 4},
	}
}

func (s *pressureScreen) view(m *Model, w, h int) []string {
	if len(s.rows) == 0 {
		if m.filters[screenPressure] != "" {
			return m.nothingMatches(w, h)
		}
		return m.notice(w, h, "No agent has a context window here", "Agents appear as soon as a rig with claude-code or codex seats is up.")
	}
	cols := pressureColumns()
	f := fit(cols, w-rowIndent-1)
	lines := []string{
		m.summary(w, s.rows),
		m.brush.line(w, false, append([]seg{{toneText, "  "}}, f.heads(cols)...)...),
	}
	from, to := s.list.window(h - 2)
	for i := from; i < to; i++ {
		lines = append(lines, s.line(m, s.rows[i], i == s.list.cursor, cols, f, w))
	}
	return lines
}

// summary counts who is near the end of the window.
func (m *Model) summary(w int, rows []*engine.SeatView) string {
	var high, warn, unknown int
	for _, s := range rows {
		switch u := s.Usage; {
		case !u.Known || u.Window == 0:
			unknown++
		case u.Percent >= shareHigh:
			high++
		case u.Percent >= shareWarn:
			warn++
		}
	}
	return m.brush.line(w, false,
		seg{toneBad, "  " + itoa(high) + " above " + itoa(shareHigh) + "%"}, seg{toneDim, "   "},
		seg{toneNeed, itoa(warn) + " above " + itoa(shareWarn) + "%"}, seg{toneDim, "   "},
		seg{toneUnknown, itoa(unknown) + " not known"})
}

func (s *pressureScreen) line(m *Model, seat *engine.SeatView, on bool, cols []column, f fitted, w int) string {
	lead := seg{toneText, " "}
	if on {
		lead = seg{toneAccent, m.brush.g.cursor}
	}
	mark := seg{toneText, " "}
	if m.marks[seat.ID] {
		mark = seg{toneNeed, m.brush.g.mark}
	}
	l := lookOf(seat)
	share, k := m.shareCell(seat)
	u := seat.Usage
	tokens, sample := "", clean(u.Note)
	if u.Known {
		tokens = tokenWord(u.Tokens)
		if u.Window > 0 {
			tokens += " of " + tokenWord(u.Window)
		}
		sample = joinWords(", ", m.sourceNote(u.Source, u.SampledAt, u.Confidence), sample)
	}
	cells := [][]seg{
		{{toneText, cutMiddle(clean(seat.Address), f[0])}},
		{{k, m.gaugeCell(seat, f[1])}},
		{{k, share}},
		{{toneDim, tokens}},
		{{l.tone, l.text(m.brush.g)}},
		{{toneDim, sample}},
	}
	return m.brush.line(w, on, append([]seg{lead, mark}, f.row(cols, cells)...)...)
}

func (s *pressureScreen) at(_ *Model, _, y int) bool {
	row := s.list.top + y - 2
	if y < 2 || row >= len(s.rows) {
		return false
	}
	s.list.cursor = row
	return true
}
