package tui

import (
	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// seatScreen shows one seat: its pane, and every fact that is known of it with
// source and age.
type seatScreen struct {
	id    string
	list  list
	facts bool // where both do not fit, facts instead of the pane
	rows  []fact

	asked    int    // number of the request for the history
	askedFor string // seat and generation it was made for
	sessions []engine.Session
	tenures  []engine.Tenure
	drift    engine.SpecDrift
	trouble  string
}

func (s *seatScreen) info() screenInfo { return infoOf(screenSeat) }

// open chooses the seat to show.
func (s *seatScreen) open(id string) {
	if s.id == id {
		return
	}
	*s = seatScreen{id: id, facts: s.facts}
}

func (s *seatScreen) refresh(m *Model) tea.Cmd {
	seat := m.seats[s.id]
	if seat == nil {
		s.rows = nil
		s.list.set(nil)
		return nil
	}
	s.rows = s.rows[:0]
	all := append(m.withLineage(m.seatFacts(seat), s.tenures), m.historyFacts(seat, s.sessions, s.tenures)...)
	all = append(all, driftFacts(s.drift)...)
	if s.trouble != "" {
		all = append(all, heading("Occupants"), fact{"trouble", "history", s.trouble, toneBad, "", "identity"})
	}
	filter := m.filters[screenSeat]
	keys := []string{}
	for _, f := range all {
		if filter != "" && !matches(filter, f.label, f.value, f.note) {
			continue
		}
		s.rows = append(s.rows, f)
		keys = append(keys, f.key)
	}
	s.list.set(keys)
	if m.cur != screenSeat {
		return nil
	}
	return s.readHistory(m, seat)
}

// readHistory asks for the occupants when the seat or its occupant is another.
func (s *seatScreen) readHistory(m *Model, seat *engine.SeatView) tea.Cmd {
	want := seat.ID + "/" + itoa(int(seat.Generation)) + "/" + string(seat.Life)
	if s.askedFor == want {
		return nil
	}
	s.asked, s.askedFor = m.next(), want
	c, ctx, id, seatID := m.c, m.ctx, s.asked, seat.ID
	return func() tea.Msg {
		sessions, tenures, err := c.SeatHistory(ctx, seatID)
		drift := engine.SpecDrift{}
		if err == nil {
			drift, err = c.SpecDrift(ctx, seatID)
		}
		return historyMsg{id, seatID, sessions, tenures, drift, err}
	}
}

func (s *seatScreen) update(m *Model, msg tea.Msg) tea.Cmd {
	h, ok := msg.(historyMsg)
	if !ok || h.id != s.asked {
		return nil
	}
	s.sessions, s.tenures, s.drift, s.trouble = h.sessions, h.tenures, h.drift, ""
	if h.err != nil {
		s.trouble = errorText(h.err)
	}
	return s.refresh(m)
}

// sizes gives the areas of the screen: facts at the left, the pane at the right;
// where only one fits, that one.
func (s *seatScreen) sizes(m *Model) areas {
	a := m.divide(len(s.rows), false)
	if a.shape == shapeSplit {
		a.listW = max(min(a.listW, 72), 52)
		a.sideW = m.w - a.listW - 1
		return a
	}
	w, h := m.bodySize()
	a.listW, a.listH, a.sideW, a.sideH = w, h, 0, 0
	return a
}

func (s *seatScreen) settle(m *Model) { s.list.settle(s.sizes(m).listH - 2) }

// move goes through the facts; where the pane covers them, the first key uncovers them.
func (s *seatScreen) move(m *Model, d move) tea.Cmd {
	if !s.facts && s.sizes(m).sideW == 0 {
		s.facts = true
		return nil
	}
	s.list.move(d)
	return nil
}

func (s *seatScreen) subject(m *Model) subject {
	seat := m.seats[s.id]
	if seat == nil {
		return subject{}
	}
	out := subject{seat: seat, rig: m.rig(seat.RigID), copy: seat.Address, topic: "status", seats: []string{seat.ID}}
	if s.list.cursor < len(s.rows) {
		f := s.rows[s.list.cursor]
		if f.topic != "" {
			out.copy, out.topic = f.value, f.topic
		}
	}
	return out
}

func (s *seatScreen) panes(m *Model) []string {
	if m.seats[s.id] == nil || s.facts && s.sizes(m).sideW == 0 {
		return nil
	}
	return []string{s.id}
}

func (s *seatScreen) view(m *Model, w, h int) []string {
	seat := m.seats[s.id]
	if seat == nil {
		return m.notice(w, h, "No seat is open", "Go to the Fleet with "+m.reg.hint("screen-fleet")+", put the cursor on a seat and press "+m.reg.hint("inspect")+".")
	}
	a := s.sizes(m)
	if a.sideW == 0 && !s.facts {
		return m.paneBox(seat, w, h, seg{toneDim, "  " + m.reg.hint("side") + " shows its facts"})
	}
	title := append([]seg{{toneText, " "}}, m.seatTitle(seat, a.listW)...)
	if back := (seg{toneDim, "  " + m.reg.hint("side") + " shows its pane"}); a.sideW == 0 && segsWidth(title)+width(back.text) <= a.listW {
		title = append(title, back)
	}
	lines := []string{m.brush.line(a.listW, false, title...)}
	lines = append(lines, m.brush.rule(a.listW, "", toneBorder))
	if len(s.rows) == 0 {
		lines = append(lines, m.nothingMatches(a.listW, a.listH-2)...)
	}
	lines = append(lines, s.list.lines(a.listH-2, func(i int, on bool) string { return m.factLine(s.rows[i], a.listW, on) })...)
	var beyond []string
	if a.sideW > 0 {
		beyond = m.paneBox(seat, a.sideW, a.sideH)
	}
	return m.join(a, lines, nil, beyond)
}

func (s *seatScreen) at(m *Model, x, y int) click {
	a := s.sizes(m)
	row := s.list.top + y - 2
	if x >= a.listW || y < 2 || row >= len(s.rows) || a.sideW == 0 && !s.facts {
		return clickNone
	}
	return s.list.click(row)
}
