package tui

import (
	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// wallScreen shows as many live panes as fit. Seats that have no pane are left
// out; the cursor goes over the panes row by row.
type wallScreen struct {
	list list
	rows []*engine.SeatView
}

// The smallest tile in which a pane is worth reading.
const (
	tileCols = 38
	tileRows = 8
)

func (s *wallScreen) inOrder(*Model) []*engine.SeatView { return s.rows }

func (s *wallScreen) info() screenInfo { return infoOf(screenWall) }

func (s *wallScreen) refresh(m *Model) tea.Cmd {
	s.rows = s.rows[:0]
	keys := []string{}
	filter := m.filters[screenWall]
	for _, seat := range m.fleet.Seats() {
		if seat.Pane == "" || !seatMatches(seat, filter) {
			continue
		}
		s.rows = append(s.rows, seat)
		keys = append(keys, seat.ID)
	}
	s.list.set(keys)
	return nil
}

func (s *wallScreen) update(*Model, tea.Msg) tea.Cmd { return nil }

// grid gives the number of tiles across and down.
func (s *wallScreen) grid(m *Model) (across, down int) {
	w, h := m.bodySize()
	across = min(max(w/tileCols, 1), max(len(s.rows), 1))
	down = max((h-1)/tileRows, 1)
	if need := (len(s.rows) + across - 1) / across; need < down {
		down = max(need, 1)
	}
	return across, down
}

// settle pages by whole walls, so that tiles do not wander while the cursor
// moves among them.
func (s *wallScreen) settle(m *Model) {
	across, down := s.grid(m)
	page := across * down
	s.list.height = page
	s.list.cursor = min(max(s.list.cursor, 0), max(len(s.rows)-1, 0))
	s.list.top = s.list.cursor / page * page
}

func (s *wallScreen) move(m *Model, d move) tea.Cmd {
	across, _ := s.grid(m)
	switch {
	case d.to != 0:
		s.list.move(d)
	case d.page != 0:
		s.list.cursor += d.page * s.list.height
	default:
		if next := s.list.cursor + d.by*across; next >= 0 && next < len(s.rows) {
			s.list.cursor = next
		}
	}
	s.settle(m)
	return nil
}

// sideways moves one tile.
func (s *wallScreen) sideways(m *Model, by int) tea.Cmd {
	s.list.cursor += by
	s.settle(m)
	return nil
}

func (s *wallScreen) subject(m *Model) subject {
	if s.list.cursor >= len(s.rows) {
		return subject{}
	}
	seat := s.rows[s.list.cursor]
	return subject{seat: seat, rig: m.rig(seat.RigID), copy: seat.Address, seats: []string{seat.ID}}
}

func (s *wallScreen) shown() []*engine.SeatView {
	from := min(max(s.list.top, 0), len(s.rows))
	return s.rows[from:min(from+max(s.list.height, 1), len(s.rows))]
}

func (s *wallScreen) panes(*Model) []string {
	var ids []string
	for _, seat := range s.shown() {
		ids = append(ids, seat.ID)
	}
	return ids
}

func (s *wallScreen) view(m *Model, w, h int) []string {
	if len(s.rows) == 0 {
		if m.filters[screenWall] != "" {
			return m.nothingMatches(w, h)
		}
		return m.notice(w, h, "No live pane", "A seat shows here while it has a pane in tmux. "+m.reg.hint("screen-fleet")+" goes to the Fleet.")
	}
	across, down := s.grid(m)
	shown := s.shown()
	var out []string
	height := h - 1
	for r := range down {
		top, bottom := r*height/down, (r+1)*height/down
		var row []string
		for c := range across {
			left, right := c*w/across, (c+1)*w/across
			var tile []string
			if i := r*across + c; i < len(shown) {
				tile = s.tile(m, shown[i], right-left, bottom-top)
			} else {
				tile = m.brush.fill(nil, right-left, bottom-top)
			}
			row = beside(row, tile)
		}
		out = append(out, row...)
	}
	page := max(s.list.height, 1)
	foot := " " + engine.Counted(len(s.rows), "pane")
	if len(s.rows) > page {
		foot += ", wall " + itoa(s.list.top/page+1) + " of " + itoa((len(s.rows)+page-1)/page)
	}
	return append(out, m.brush.text(w, toneDim, foot))
}

func (s *wallScreen) tile(m *Model, seat *engine.SeatView, w, h int) []string {
	l := lookOf(seat)
	frame := l.tone
	mark := ""
	if seat.ID == s.list.key() {
		frame = toneAccent
		mark = m.brush.g.cursor
	}
	if m.marks[seat.ID] {
		mark += m.brush.g.mark
	}
	name := cutMiddle(clean(seat.Address), max(w-width(l.word)-13, 6))
	title := []seg{{toneAccent, mark}, {toneStrong, name}, {toneText, "  "}, {l.tone, l.text(m.brush.g)}}
	f, ok := m.frames[seat.ID]
	var lines []string
	switch {
	case !ok:
		lines = m.aside(w-2, h-2, toneDim, m.noScreen(seat)...)
	case f.err != "":
		lines = m.aside(w-2, h-2, toneNeed, f.err)
	default:
		lines = crop(f.lines, w-2, h-2)
	}
	note := m.gaugeNote(seat)
	if ok && f.err == "" && seat.Life == engine.LifeLost {
		note = lastScreen
	}
	return m.brush.box(w, h, frame, title, note, lines)
}

// gaugeNote is the gauge of a tile: share, bar, and how old the sample is.
func (m *Model) gaugeNote(seat *engine.SeatView) string {
	share, _ := m.shareCell(seat)
	u := seat.Usage
	if !u.Known || share == "" {
		return ""
	}
	return joinWords(" ", share, m.gaugeCell(seat, 10), age(m.now, u.SampledAt))
}

func (s *wallScreen) at(m *Model, x, y int) click {
	w, h := m.bodySize()
	across, down := s.grid(m)
	if y < 0 || y >= h-1 || x < 0 || x >= w {
		return clickNone
	}
	i := s.list.top + y*down/(h-1)*across + x*across/w
	if i >= len(s.rows) {
		return clickNone
	}
	return s.list.click(i)
}
