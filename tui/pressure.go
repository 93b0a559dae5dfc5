package tui

import (
	"sort"
	"time"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// pressureScreen is the compact plan as gauges: who is to be compacted in which
// order, who is blocked and why, and the others, fullest first. Numbers come from
// the picture; trend, forecast and order from a plan that was made of it.
type pressureScreen struct {
	list list
	rows []*engine.SeatView

	plan    *engine.CompactPlan // nil before the first
	entries map[string]*engine.CompactEntry
	turns   map[string]int // place in the order, from 1
	rounds  map[string]int // round of the schedule, from 1
	trouble string
	asked   int  // number of the request under way, 0 = none
	waiting bool // the next request waits for its time
	again   bool // the picture changed since the last request
}

// pressureEvery is how often at most the plan is made anew.
const pressureEvery = time.Second

func (s *pressureScreen) inOrder(*Model) []*engine.SeatView { return s.rows }

func (s *pressureScreen) info() screenInfo { return infoOf(screenPressure) }

func (s *pressureScreen) refresh(m *Model) tea.Cmd {
	s.sort(m)
	if m.cur != screenPressure || m.fleet == nil {
		return nil
	}
	return s.ask(m)
}

// ask asks for the plan of the picture, one request at a time and not more often
// than once in pressureEvery.
func (s *pressureScreen) ask(m *Model) tea.Cmd {
	if s.asked != 0 || s.waiting {
		s.again = true
		return nil
	}
	if s.plan != nil && s.plan.At.Equal(m.fleet.At) && s.trouble == "" {
		return nil
	}
	s.asked, s.again = m.next(), false
	c, ctx, id, f := m.c, m.ctx, s.asked, m.fleet
	return func() tea.Msg {
		p, err := c.Pressure(ctx, f)
		return pressureMsg{id, p, err}
	}
}

func (s *pressureScreen) update(m *Model, msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case pressureMsg:
		if msg.id != s.asked {
			return nil
		}
		s.asked, s.waiting = 0, true
		if s.plan == nil && s.list.cursor == 0 { // nobody has chosen a line yet: the first of the order is it
			s.list.keys = nil
		}
		s.take(msg)
		s.sort(m)
		return m.after(pressureEvery, func(time.Time) tea.Msg { return pressureDueMsg{} })
	case pressureDueMsg:
		s.waiting = false
		if s.again && m.cur == screenPressure {
			return s.ask(m)
		}
	}
	return nil
}

// take keeps a plan, indexed by seat.
func (s *pressureScreen) take(msg pressureMsg) {
	s.trouble = ""
	if msg.err != nil {
		s.trouble = errorText(msg.err)
		return
	}
	s.plan = msg.plan
	s.entries, s.turns, s.rounds = map[string]*engine.CompactEntry{}, map[string]int{}, map[string]int{}
	for _, list := range [][]engine.CompactEntry{s.plan.Candidates, s.plan.Blocked, s.plan.Skipped} {
		for i := range list {
			s.entries[list[i].SeatID] = &list[i]
		}
	}
	for i, seat := range s.plan.RecommendedOrder {
		s.turns[seat] = i + 1
	}
	for _, slot := range s.plan.Schedule {
		for _, seat := range slot.Seats {
			s.rounds[seat] = slot.Slot
		}
	}
}

// rank orders the groups of the list: to compact, blocked near the wall, known,
// not known.
func (s *pressureScreen) rank(seat *engine.SeatView) int {
	e := s.entries[seat.ID]
	switch {
	case e != nil && s.turns[seat.Address] > 0:
		return 0
	case e != nil && e.Threshold != "":
		return 1
	case seat.Usage.Known:
		return 2
	}
	return 3
}

func (s *pressureScreen) sort(m *Model) {
	s.rows = s.rows[:0]
	filter := m.filters[screenPressure]
	for _, seat := range m.fleet.Seats() {
		if seat.Runtime == engine.RuntimeTerminal || !seatMatches(seat, filter) {
			continue
		}
		s.rows = append(s.rows, seat)
	}
	sort.SliceStable(s.rows, func(i, j int) bool {
		a, b := s.rows[i], s.rows[j]
		if x, y := s.rank(a), s.rank(b); x != y {
			return x < y
		}
		if x, y := s.turns[a.Address], s.turns[b.Address]; x != y {
			return x < y
		}
		if a.Usage.Percent != b.Usage.Percent {
			return a.Usage.Percent > b.Usage.Percent
		}
		return a.Usage.Tokens > b.Usage.Tokens
	})
	keys := make([]string, len(s.rows))
	for i := range s.rows {
		keys[i] = s.rows[i].ID
	}
	s.list.set(keys)
}

// split gives the lines for the list, its two headings included, and for the box
// below it; 0 = no box.
func (s *pressureScreen) split(m *Model) (list, box int) {
	_, h := m.bodySize()
	box = min(h-len(s.rows)-2, pressureTall)
	if box < pressureBox && h >= 20 {
		box = min(pressureBox, h/2)
	}
	if box < 6 {
		box = 0
	}
	return h - box, box
}

func (s *pressureScreen) settle(m *Model) {
	h, _ := s.split(m)
	s.list.settle(h - 2)
}

func (s *pressureScreen) move(_ *Model, d move) tea.Cmd {
	s.list.move(d)
	return nil
}

func (s *pressureScreen) seat() *engine.SeatView {
	if s.list.cursor >= len(s.rows) {
		return nil
	}
	return s.rows[s.list.cursor]
}

func (s *pressureScreen) subject(m *Model) subject {
	seat := s.seat()
	if seat == nil {
		return subject{}
	}
	return subject{seat: seat, rig: m.rig(seat.RigID), copy: seat.Address, topic: "context", seats: []string{seat.ID}}
}

func (s *pressureScreen) panes(*Model) []string { return nil }

func (s *pressureScreen) at(_ *Model, _, y int) click {
	row := s.list.top + y - 2
	if y < 2 || y-2 >= s.list.height || row >= len(s.rows) {
		return clickNone
	}
	return s.list.click(row)
}
