package tui

import (
	tea "charm.land/bubbletea/v2"
)

// openFilter opens the filter line of the screen.
func (m *Model) openFilter() tea.Cmd {
	m.typing = newInput(m.filters[m.cur])
	return nil
}

// setFilter narrows the lines of the screen while typing.
func (m *Model) setFilter(text string) tea.Cmd {
	if text == "" {
		delete(m.filters, m.cur)
	} else {
		m.filters[m.cur] = text
	}
	cmd := m.renew(m.cur)
	if s, ok := m.screens[m.cur].(*fleetScreen); ok && text != "" {
		s.firstSeat()
	}
	return cmd
}

// renew lets a screen read the picture again; before the first picture there is
// nothing to read.
func (m *Model) renew(id screenID) tea.Cmd {
	if m.fleet == nil {
		return nil
	}
	return m.screens[id].refresh(m)
}

func (m *Model) keepFilter() tea.Cmd {
	m.typing = nil
	return nil
}

func (m *Model) clearFilter() tea.Cmd {
	m.typing = nil
	return m.setFilter("")
}

func (m *Model) whyNoFilter() string {
	if m.filters[m.cur] == "" {
		return "no filter is set: " + m.reg.hint("filter") + " sets one"
	}
	return ""
}

// match goes to the next or previous line that matches: all lines do, but for the headings
// of the Fleet.
func (m *Model) match(by int) tea.Cmd {
	switch s := m.screens[m.cur].(type) {
	case *fleetScreen:
		s.matchSeat(by)
		return nil
	case *wallScreen:
		return s.sideways(m, by)
	}
	return m.move(move{by: by})
}

// firstSeat puts the cursor on a seat when it is on a heading.
func (s *fleetScreen) firstSeat() {
	if r, ok := s.row(); ok && r.kind != rowSeat {
		s.matchSeat(1)
	}
}

// matchSeat goes to the next seat in a direction, around the end.
func (s *fleetScreen) matchSeat(by int) {
	n := len(s.rows)
	for i := 1; i <= n; i++ {
		at := ((s.list.cursor+by*i)%n + n) % n
		if s.rows[at].kind == rowSeat {
			s.list.cursor = at
			s.list.clamp()
			return
		}
	}
}
