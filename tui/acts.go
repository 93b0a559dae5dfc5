package tui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// here is what the cursor of the screen stands on.
func (m *Model) here() subject {
	if m.fleet == nil {
		return subject{}
	}
	return m.screens[m.cur].subject(m)
}

func (m *Model) whyNoSeat() string {
	if m.here().seat == nil {
		return "put the cursor on a seat first"
	}
	return ""
}

func (m *Model) whyNoRow() string {
	if m.here().copy == "" {
		return "there is nothing under the cursor"
	}
	return ""
}

func (m *Model) whyNoItem() string {
	if m.here().item == nil {
		return "nothing waits for you here"
	}
	return ""
}

func (m *Model) whyNoMark() string {
	if len(m.here().seats) == 0 {
		return "put the cursor on a seat, a rig or a pod first"
	}
	return ""
}

// fold folds on the Fleet; on the wall it moves sideways.
func (m *Model) fold(fold bool) tea.Cmd {
	switch s := m.screens[m.cur].(type) {
	case *fleetScreen:
		return s.fold(m, fold)
	case *wallScreen:
		if fold {
			return s.sideways(m, -1)
		}
		return s.sideways(m, 1)
	case *restoreScreen:
		return s.fold(m, fold)
	}
	return nil
}

func (m *Model) inspect() tea.Cmd { return m.show(screenSeat) }

// toggleMark marks the seat under the cursor, or every seat of a rig or pod.
func (m *Model) toggleMark() tea.Cmd {
	ids := m.here().seats
	all := true
	for _, id := range ids {
		all = all && m.marks[id]
	}
	for _, id := range ids {
		if all {
			delete(m.marks, id)
		} else {
			m.marks[id] = true
			m.marked = id
		}
	}
	return m.move(move{by: 1})
}

// marker is a screen on which seats are marked.
type marker interface {
	// inOrder lists its seats as they stand on it.
	inOrder(m *Model) []*engine.SeatView
}

// markRange marks every seat between the last mark and the cursor, as the screen shows them.
func (m *Model) markRange() tea.Cmd {
	here := m.here().seat
	on, ok := m.screens[m.cur].(marker)
	if here == nil || !ok {
		return m.say(toneNeed, false, "put the cursor on a seat first")
	}
	seats := on.inOrder(m)
	place := func(id string) int {
		return slices.IndexFunc(seats, func(s *engine.SeatView) bool { return s.ID == id })
	}
	from, to := place(m.marked), place(here.ID)
	if from < 0 || to < 0 || !m.marks[m.marked] {
		m.marks[here.ID], m.marked = true, here.ID
		return m.say(toneText, false, "range starts here: move on and press "+m.reg.hint("mark-range")+" again")
	}
	for _, s := range seats[min(from, to) : max(from, to)+1] {
		m.marks[s.ID] = true
	}
	m.marked = here.ID
	return nil
}

// unmark takes the marks of seats away.
func (m *Model) unmark(ids []string) {
	for _, id := range ids {
		delete(m.marks, id)
	}
	if !m.marks[m.marked] {
		m.marked = ""
	}
}

func (m *Model) whyNoCopy() string {
	if m.copyText() == "" {
		return "there is nothing to copy here"
	}
	return ""
}

// copyText is what `y` copies.
func (m *Model) copyText() string {
	switch o := m.top().(type) {
	case *reader:
		return o.copyText(m)
	case *wizard:
		return o.copyText()
	case *tape:
		return o.copyText()
	case nil:
		return m.here().copy
	}
	return ""
}

// copySubject puts the text into the terminal's clipboard; the terminal decides
// whether it may.
func (m *Model) copySubject() tea.Cmd {
	text := m.copyText()
	first := text
	if parts := wrap(clean(text), 50); len(parts) > 0 {
		first = parts[0]
	}
	return tea.Batch(tea.SetClipboard(text), m.say(toneText, false, "copied "+first))
}

// ack acknowledges an item for every console, or takes that back.
func (m *Model) ack() tea.Cmd {
	it := m.here().item
	if it.Acked != "" {
		return m.sendAck(it.Key, -1, "it waits again")
	}
	return m.sendAck(it.Key, 0, "acknowledged for every console")
}

func (m *Model) sendAck(key string, seconds int, done string) tea.Cmd {
	c, ctx := m.c, m.ctx
	return func() tea.Msg {
		if err := c.Ack(ctx, key, seconds); err != nil {
			return sayMsg{toneBad, errorText(err)}
		}
		return sayMsg{toneText, done}
	}
}

// openSnooze asks how long an item is to stay out of the way.
func (m *Model) openSnooze() tea.Cmd {
	key := m.here().item.Key
	var items []pickItem
	for _, c := range []struct {
		text string
		d    time.Duration
	}{{"15 minutes", 15 * time.Minute}, {"1 hour", time.Hour}, {"4 hours", 4 * time.Hour}, {"18 hours", 18 * time.Hour}} {
		items = append(items, pickItem{text: c.text, run: func(m *Model) tea.Cmd {
			return m.sendAck(key, int(c.d.Seconds()), "snoozed for every console: "+c.text)
		}})
	}
	m.push(newPicker("Snooze for", false, items))
	return nil
}
