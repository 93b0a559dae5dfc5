package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

func (m *Model) whyNoNeed() string {
	if m.fleet == nil {
		return "the record is still being read"
	}
	snoozed, seen := 0, 0
	for _, it := range m.fleet.Attention {
		switch {
		case it.Acked == "":
			return ""
		case it.Until.IsZero():
			seen++
		default:
			snoozed++
		}
	}
	if snoozed+seen == 0 {
		return "nobody waits for you"
	}
	var words []string
	if snoozed > 0 {
		words = append(words, itoa(snoozed)+" snoozed")
	}
	if seen > 0 {
		words = append(words, itoa(seen)+" acknowledged")
	}
	return "nobody else waits for you: " + strings.Join(words, ", ")
}

// need is one stop on the round of what waits for a person: a seat, or an item that
// is about no seat.
type need struct{ seat, item string }

// needs lists what waits, heaviest first, each seat once.
func (m *Model) needs() []need {
	var out []need
	told := map[string]bool{}
	for _, it := range m.fleet.Attention {
		switch {
		case it.Acked != "":
		case m.seats[it.SeatID] == nil:
			out = append(out, need{item: it.Key})
		case !told[it.SeatID]:
			told[it.SeatID] = true
			out = append(out, need{seat: it.SeatID})
		}
	}
	return out
}

// nextNeed goes to the next thing that waits for a person. On Attention the cursor
// moves on; elsewhere a seat is shown on the Fleet, and what is none on Attention.
func (m *Model) nextNeed() tea.Cmd {
	if s, ok := m.screens[m.cur].(*attentionScreen); ok {
		return s.nextNeed(m)
	}
	needs := m.needs()
	if len(needs) == 0 {
		return nil
	}
	next := needs[0]
	if seat := m.here().seat; seat != nil {
		for i, n := range needs {
			if n.seat == seat.ID {
				next = needs[(i+1)%len(needs)]
			}
		}
	}
	if next.seat != "" {
		return m.goTo(next.seat)
	}
	return m.showItem(next.item)
}

// showItem goes to an item of Attention, also when a filter would hide it.
func (m *Model) showItem(key string) tea.Cmd {
	delete(m.filters, screenAttention)
	cmd := m.show(screenAttention)
	if s, ok := m.screens[screenAttention].(*attentionScreen); ok {
		s.list.to(key)
	}
	return cmd
}

// nextNeed moves to the next item that nobody has seen.
func (s *attentionScreen) nextNeed(m *Model) tea.Cmd {
	for i := 1; i <= len(s.items); i++ {
		if at := (s.list.cursor + i) % len(s.items); s.items[at].Acked == "" {
			s.list.cursor = at
			s.list.clamp()
			return nil
		}
	}
	return m.say(toneNeed, false, "what waits for you is hidden by the filter: "+m.reg.hint("back")+" clears it")
}
