package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// fuse keeps Enter from counting while text is still coming in: a paste without
// brackets looks like typing, with a line break at its end.
type fuse struct {
	id    int
	ready bool
}

// typePause is how long nothing may be typed before Enter counts.
const typePause = 200 * time.Millisecond

// light disarms the fuse and arms it after d, unless it is lit again.
func (f *fuse) light(m *Model, d time.Duration) tea.Cmd {
	f.id, f.ready = m.next(), false
	id := f.id
	return m.after(d, func(time.Time) tea.Msg { return armMsg{id} })
}

func (f *fuse) burnt(msg armMsg) {
	if msg.id == f.id {
		f.ready = true
	}
}

// maxMessage is the longest message that is taken, in bytes: what the engine takes.
const maxMessage = 200 << 10

// sender is the dialog in which a message to a seat is written.
type sender struct {
	seat   string
	text   *input
	fuse   fuse
	sent   int  // number of the send under way
	kept   bool // the text is from a time before
	result *engine.Delivery
	err    string
}

func (m *Model) whyNoSend() string {
	s := m.here().seat
	switch {
	case s == nil:
		return "put the cursor on a seat first"
	case s.Life != engine.LifeRunning:
		return clean(s.Address) + " is " + lookOf(s).word + ": nothing can be typed there"
	}
	return ""
}

func (m *Model) openSend() tea.Cmd {
	s := &sender{seat: m.here().seat.ID, text: &input{lines: true, most: maxMessage}}
	m.push(s)
	text := m.unsent[s.seat]
	if text == "" {
		return nil
	}
	s.text.insert(text)
	s.kept = true
	return s.fuse.light(m, typePause)
}

// closed says where a text is that was typed and not sent.
func (s *sender) closed(m *Model) tea.Cmd {
	if s.sent != 0 || strings.TrimSpace(s.text.text()) == "" {
		return nil
	}
	return m.say(toneText, false, "the text is kept: "+m.reg.hint("send")+" on "+m.addressOf(s.seat)+" shows it again")
}

// onSent lets go of a text that arrived, and tells of one that did not where its dialog
// is closed.
func (m *Model) onSent(msg sentMsg) tea.Cmd {
	if msg.err == nil && msg.delivery.Outcome == "delivered" {
		if m.unsent[msg.seat] == msg.text {
			delete(m.unsent, msg.seat)
		}
		return nil
	}
	for _, o := range m.overlays {
		if s, ok := o.(*sender); ok && s.sent == msg.id {
			return nil
		}
	}
	why := joinWords(": ", msg.delivery.Outcome, msg.delivery.Why)
	if msg.err != nil {
		why = errorText(msg.err)
	}
	return m.say(toneBad, true, "the message to "+m.addressOf(msg.seat)+": "+why+"; its text is kept")
}

func (s *sender) scope(*Model) scope               { return scopeSend }
func (s *sender) typing() bool                     { return s.sent == 0 }
func (s *sender) move(m *Model, d move) tea.Cmd    { return nil }
func (s *sender) paste(m *Model, t string) tea.Cmd { return s.changed(m, func() { s.text.insert(t) }) }

func (s *sender) key(m *Model, k tea.KeyPressMsg) tea.Cmd {
	return s.changed(m, func() { s.text.key(k) })
}

func (s *sender) changed(m *Model, edit func()) tea.Cmd {
	if s.sent != 0 {
		return nil
	}
	edit()
	s.result, s.err, s.kept = nil, "", false
	if m.unsent[s.seat] = s.text.text(); strings.TrimSpace(m.unsent[s.seat]) == "" {
		delete(m.unsent, s.seat)
	}
	return s.fuse.light(m, typePause)
}

func (s *sender) update(_ *Model, msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case armMsg:
		s.fuse.burnt(msg)
	case sentMsg:
		if msg.id != s.sent {
			return nil
		}
		s.sent = 0
		if msg.err != nil {
			s.err = errorText(msg.err)
			return nil
		}
		s.result = &msg.delivery
		if msg.delivery.Outcome == "delivered" {
			s.text.set("")
		}
	}
	return nil
}

func (m *Model) whyNoSendNow() string {
	s, ok := m.top().(*sender)
	if !ok {
		return "no message is open"
	}
	seat := m.seats[s.seat]
	switch {
	case s.sent != 0:
		return "the message is being delivered"
	case strings.TrimSpace(s.text.text()) == "":
		return "the message is empty"
	case seat == nil || seat.Life != engine.LifeRunning:
		return "the seat does not run any more"
	case !s.fuse.ready && seat.Activity.Draft == "":
		return "a moment: text was still coming in"
	case seat.Activity.Draft != "":
		return "a draft stands in its input box: it is never typed over. Jump there and send or clear it"
	}
	return ""
}

func (m *Model) sendNow() tea.Cmd {
	s, ok := m.top().(*sender)
	if !ok {
		return nil
	}
	s.sent, s.result, s.err = m.next(), nil, ""
	s.kept = false
	c, ctx, id, seat, text := m.c, m.ctx, s.sent, s.seat, s.text.text()
	return func() tea.Msg {
		d, err := c.Send(ctx, seat, text)
		return sentMsg{id, seat, text, d, err}
	}
}

func (s *sender) moving(*Model) string { return "" }

func (s *sender) size(cols, rows int) (int, int) { return dialogSize(78, 10, cols, rows) }

func (s *sender) view(m *Model, cols, rows int) []string {
	w, h := s.size(cols, rows)
	inner := w - 4
	seat := m.seats[s.seat]
	var lines []string
	if seat != nil {
		l := lookOf(seat)
		lines = append(lines, m.brush.line(inner, false, seg{toneDim, "it is "}, seg{l.tone, l.text(m.brush.g)}, seg{toneDim, dashed(clean(seat.Activity.Why))}))
		if d := clean(seat.Activity.Draft); d != "" {
			lines = append(lines, m.brush.line(inner, false, seg{toneNeed, "draft in its box: "}, seg{toneText, d}))
		}
	}
	if n := len(m.marks); n > 1 || n == 1 && !m.marks[s.seat] {
		lines = append(lines, m.brush.text(inner, toneNeed, "marks are not used here: this goes to "+m.addressOf(s.seat)+" alone"))
	}
	lines = append(lines, m.brush.blank(inner, 1)...)
	lines = append(lines, m.brush.line(2, false, seg{toneAccent, m.brush.g.prompt})+s.text.view(m.brush, inner-2, true, ""))
	lines = append(lines, m.brush.blank(inner, 1)...)
	for _, l := range s.outcome(m.brush.g) {
		for _, part := range wrap(l.text, inner) {
			lines = append(lines, m.brush.text(inner, l.tone, part))
		}
	}
	return m.brush.box(w, h, toneAccent, []seg{{toneStrong, "Message to " + m.addressOf(s.seat)}}, "", inset(m.brush.fill(lines, inner, h-2)))
}

// outcome says what is known of the delivery.
func (s *sender) outcome(g *glyphs) []readLine {
	switch {
	case s.text.full:
		return []readLine{{"", "No room for that: a message has at most 200 KB; put it in a file and send its path.", toneNeed}}
	case s.sent != 0:
		return []readLine{{"", "delivering, and looking whether it arrived", toneStart}}
	case s.err != "":
		return []readLine{{"", s.err, toneBad}}
	case s.result == nil && s.kept:
		return []readLine{{"", "Kept from before: typed, and not sent or not proven to be.", toneNeed}}
	case s.result == nil:
		how := "The text is pasted as it is and its arrival is verified."
		if n := s.text.breaks(); n > 0 {
			how = itoa(n+1) + " lines, broken at " + g.newline + ". " + how
		}
		return []readLine{{"", how, toneDim}}
	}
	k := toneNeed
	if s.result.Outcome == "delivered" {
		k = toneBusy
	}
	return []readLine{{"", clean(joinWords(": ", s.result.Outcome, s.result.Why)), k}, {"", clean(joinWords(" ", "proof:", s.result.Source)), toneDim}}
}
