package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// actionItem turns an action into a line of help or palette.
func (m *Model) actionItem(a *action) pickItem {
	keys := make([]string, len(a.keys))
	for i, k := range a.keys {
		keys[i] = keyWord(k)
	}
	text := upperFirst(strings.ReplaceAll(a.id, "-", " "))
	return pickItem{group: a.group, text: text, note: a.help, key: strings.Join(keys, " "), why: a.why(m), again: a.why, run: a.run}
}

// openHelp lists every key that works where the operator is.
func (m *Model) openHelp() tea.Cmd {
	in := m.scope()
	var items []pickItem
	for _, a := range m.reg.in(in) {
		items = append(items, m.actionItem(a))
	}
	items = byGroup(items)
	for _, l := range seatLooks() {
		items = append(items, pickItem{group: "What the shapes mean", text: l.word, key: l.mark(m.brush.g), note: lookHelp(l)})
	}
	m.push(newPicker("Help "+m.brush.g.dot+" type to search", true, items))
	return nil
}

// byGroup puts items under one heading each, in the order in which those first come.
func byGroup(items []pickItem) []pickItem {
	order := map[string]int{}
	for _, it := range items {
		if _, known := order[it.group]; !known {
			order[it.group] = len(order)
		}
	}
	slices.SortStableFunc(items, func(a, b pickItem) int { return order[a.group] - order[b.group] })
	return items
}

// openPalette lists commands, screens, rigs and seats by name.
func (m *Model) openPalette() tea.Cmd {
	in := m.screens[m.cur].info().in
	var items []pickItem
	for _, a := range m.reg.in(scopeScreens) {
		it := m.actionItem(a)
		it.group = "Commands"
		if a.in&in == 0 {
			it.why, it.again = "only on "+a.screens(), nil
		}
		items = append(items, it)
	}
	if m.fleet != nil {
		for _, s := range m.fleet.Seats() {
			items = append(items, m.seatItem(s))
		}
	}
	m.push(newPicker("Commands and seats "+m.brush.g.dot+" type to search", true, items))
	return nil
}

// seatItem goes to a seat.
func (m *Model) seatItem(s *engine.SeatView) pickItem {
	id, l := s.ID, lookOf(s)
	it := pickItem{group: "Seats", text: clean(s.Address), note: l.word + dashed(clean(s.Activity.Why)), key: l.mark(m.brush.g), run: func(m *Model) tea.Cmd { return m.goTo(id) }}
	it.fresh = func(m *Model) pickItem {
		if now := m.seats[id]; now != nil {
			return m.seatItem(now)
		}
		gone := it
		gone.note, gone.key, gone.why = "", "", "it is no longer in a rig"
		return gone
	}
	return it
}

// goTo shows a seat on the Fleet with the cursor on it.
func (m *Model) goTo(id string) tea.Cmd {
	cmd := m.show(screenFleet)
	if s, ok := m.screens[screenFleet].(*fleetScreen); ok {
		m.filters[screenFleet] = ""
		s.reveal(m, id)
	}
	return cmd
}

// lookHelp says what a state means, for the legend.
func lookHelp(l look) string {
	switch l.word {
	case lookIdle.word:
		return "its turn is over; it is ready for work"
	case lookBusy.word:
		return "it works"
	case lookHeld.word:
		return "stopped by an operation at work, until that is over"
	case lookWaiting.word:
		return "the client asks a person"
	case lookAttention.word:
		return "its start needs a person"
	case lookLimit.word:
		return "held up by a usage limit"
	case lookExited.word:
		return "the client ended, its pane is a shell again"
	case lookDead.word:
		return "the process ended, the pane is kept"
	case lookLost.word:
		return "on record, and for certain not in tmux"
	case lookStarting.word:
		return "an operation is bringing it up"
	case lookStopped.word:
		return "ended by a verb"
	case lookNever.word:
		return "never had an occupant"
	}
	return "nobody knows; drawn so and never guessed"
}
