package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
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

// firstWaits gives the heaviest item of each seat that nobody has seen yet.
func firstWaits(f *engine.Fleet) map[string]*engine.AttentionItem {
	out := map[string]*engine.AttentionItem{}
	for i := range f.Attention {
		if it := &f.Attention[i]; it.SeatID != "" && it.Acked == "" && out[it.SeatID] == nil {
			out[it.SeatID] = it
		}
	}
	return out
}

// needSeg says why a seat waits for a person, false when it does not.
func (m *Model) needSeg(seatID string) (seg, bool) {
	it := m.waits[seatID]
	if it == nil {
		return seg{}, false
	}
	return seg{attentionLook(it.Class).tone, clean(it.Reason)}, true
}

// Lines that the reason of a wait takes above a pane, and the height of a box from
// which on it may take them all.
const (
	reasonRows = 3
	reasonBox  = 14
)

// needBox is seatBox with the reason in full above the pane, where the seat waits for a
// person: a row of the list has no room for it, or only for its beginning.
func (m *Model) needBox(s *engine.SeatView, w, h int) []string {
	if s == nil || m.side() == sideFacts || w < 12 || h < 6 {
		return m.seatBox(s, w, h)
	}
	why, ok := m.needSeg(s.ID)
	if !ok || m.frameSays(s, why.text, w, h) {
		return m.seatBox(s, w, h)
	}
	most := 1
	if h >= reasonBox {
		most = reasonRows
	}
	lines := wrap(why.text, w-4)
	if len(lines) > most {
		lines = append(lines[:most-1:most-1], cut(strings.Join(lines[most-1:], " "), w-4))
	}
	var head []string
	for _, l := range lines {
		head = append(head, m.brush.text(w-2, why.tone, " "+l))
	}
	return m.paneBoxUnder(s, w, h, append(head, m.brush.rule(w-2, "", toneBorder)))
}

// frameSays reports that a seat's box says the reason of its wait anyway: in place of a
// pane that is gone, or, where rows are scarce, in full on its frame.
func (m *Model) frameSays(s *engine.SeatView, reason string, w, h int) bool {
	f, shown := m.frames[s.ID]
	if !shown || f.err != "" {
		return strings.HasSuffix(reason, clean(s.LifeWhy)) && (s.Life == engine.LifeDead || s.Life == engine.LifeLost)
	}
	size := itoa(f.cols) + "x" + itoa(f.rows)
	return h < reasonBox && reason == clean(s.Activity.Why) && s.Activity.Draft == "" && width(reason)+width(size)+11 <= w
}

// needLines lists in what is left of a list who waits for a person and why, where the
// list's rows do not say it.
func (m *Model) needLines(w, h int) []string {
	if h < 4 {
		return nil
	}
	out := append(m.brush.blank(w, 1), m.brush.rule(w, "needs you", toneDim))
	var open []*engine.AttentionItem
	names := 0
	for i := range m.fleet.Attention {
		if it := &m.fleet.Attention[i]; it.Acked == "" {
			open = append(open, it)
			names = max(names, width(clean(waits(*it))))
		}
	}
	if len(open) == 0 {
		return nil
	}
	names = min(names, 24)
	for i, it := range open {
		if len(out) == h-1 && i < len(open)-1 {
			return append(out, m.brush.text(w, toneDim, " and "+itoa(len(open)-i)+" more, on Attention ("+m.reg.hint("screen-attention")+")"))
		}
		l := attentionLook(it.Class)
		out = append(out, m.brush.line(w, false, seg{l.tone, " " + l.mark(m.brush.g) + " "},
			seg{toneText, pad(cutMiddle(clean(waits(*it)), names), names) + "  "}, seg{toneText, clean(it.Reason)}))
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
		s.chosen = s.list.to(key)
	}
	return cmd
}

// nextNeed moves to the next item that nobody has seen.
func (s *attentionScreen) nextNeed(m *Model) tea.Cmd {
	for i := 1; i <= len(s.items); i++ {
		if at := (s.list.cursor + i) % len(s.items); s.items[at].Acked == "" {
			s.list.cursor, s.chosen = at, true
			s.list.clamp()
			return nil
		}
	}
	return m.say(toneNeed, false, "what waits for you is hidden by the filter: "+m.reg.hint("back")+" clears it")
}
