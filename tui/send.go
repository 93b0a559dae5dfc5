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

// sender is the dialog in which a message is written: to the seat under the cursor, or
// to each of the marked ones.
type sender struct {
	seats  []string
	text   *input
	fuse   fuse
	sent   int  // number of the send under way
	due    int  // how many of its seats have not answered yet
	kept   bool // the text is from a time before
	sure   bool // one Enter more sends it to many
	alone  bool // there are marks, and it does not go to them
	result map[string]sentMsg
}

// one is the seat of a message to one; "" = it goes to many.
func (s *sender) one() string {
	if len(s.seats) == 1 {
		return s.seats[0]
	}
	return ""
}

// called is to whom the message goes.
func (s *sender) called(m *Model) string {
	if id := s.one(); id != "" {
		return m.addressOf(id)
	}
	return engine.Counted(len(s.seats), "marked seat")
}

// cannot says why a seat cannot be written to now; "" when it can.
func (m *Model) cannot(id string) string {
	switch seat := m.seats[id]; {
	case seat == nil:
		return "the seat is gone"
	case seat.Life != engine.LifeRunning:
		return "it is " + lookOf(seat).word
	case seat.Activity.Draft != "":
		return "a draft stands in its input box"
	case seat.Activity.State == engine.ActivityWaiting:
		return "it waits for a person"
	}
	return ""
}

// able lists the seats of a message that can be written to.
func (s *sender) able(m *Model) []string {
	var out []string
	for _, id := range s.seats {
		if m.cannot(id) == "" {
			out = append(out, id)
		}
	}
	return out
}

func (m *Model) whyNoSend() string {
	s := m.here().seat
	switch {
	case len(m.marks) > 0 && m.showsMarks():
		return ""
	case s == nil:
		return "put the cursor on a seat first"
	case s.Life != engine.LifeRunning:
		return clean(s.Address) + " is " + lookOf(s).word + ": nothing can be typed there"
	}
	return ""
}

func (m *Model) openSend() tea.Cmd {
	s := &sender{text: &input{lines: true, most: maxMessage}}
	if m.showsMarks() {
		s.seats = m.markedSeats()
	}
	if len(s.seats) == 0 {
		s.seats = []string{m.here().seat.ID}
		s.alone = len(m.marks) > 1 || len(m.marks) == 1 && !m.marks[s.seats[0]]
	}
	m.push(s)
	text := m.unsent[s.one()]
	if text == "" {
		return nil
	}
	s.text.insert(text)
	s.kept = true
	return s.fuse.light(m, typePause)
}

// showsMarks reports whether marks are in sight: a message that answers what another screen
// shows goes to no seat that is not seen there.
func (m *Model) showsMarks() bool {
	return m.cur == screenFleet || m.cur == screenPressure || m.cur == screenWall
}

// markedSeats lists what is marked, in the order of the picture.
func (m *Model) markedSeats() []string {
	var out []string
	for _, s := range m.fleet.Seats() {
		if m.marks[s.ID] {
			out = append(out, s.ID)
		}
	}
	return out
}

// closed says where a text is that was typed and not sent.
func (s *sender) closed(m *Model) tea.Cmd {
	if s.sent != 0 || strings.TrimSpace(s.text.text()) == "" || s.result != nil && s.one() == "" {
		return nil
	}
	again := m.reg.hint("send") + " on " + s.called(m)
	if s.one() == "" {
		again = m.reg.hint("send") + " with marks"
	}
	return m.say(toneText, false, "the text is kept: "+again+" shows it again")
}

// onSent goes on with the next seat, lets go of a text that arrived, and tells of one that
// did not where its dialog is closed.
func (m *Model) onSent(msg sentMsg) tea.Cmd {
	arrived := msg.err == nil && msg.delivery.Outcome == engine.OutcomeDelivered
	key := msg.seat
	if msg.many {
		key = ""
	}
	var next tea.Cmd
	if len(msg.rest) > 0 {
		next = m.deliver(sentMsg{id: msg.id, seat: msg.rest[0], text: msg.text, rest: msg.rest[1:], many: true, left: msg.left || !arrived})
	} else if arrived && !msg.left && m.unsent[key] == msg.text {
		delete(m.unsent, key)
	}
	if arrived && len(msg.delivery.Warnings) == 0 {
		return next
	}
	for _, o := range m.overlays {
		if s, ok := o.(*sender); ok && s.sent == msg.id {
			return next
		}
	}
	why := saidOf(msg.delivery)
	if msg.err != nil {
		why = errorText(msg.err)
	}
	if !arrived {
		why += "; its text is kept"
	}
	return tea.Batch(next, m.say(toneBad, true, "the message to "+m.addressOf(msg.seat)+": "+why))
}

// saidOf is what is known of a delivery, in one line.
func saidOf(d engine.Delivery) string {
	return strings.Join(append([]string{joinWords(": ", d.Word(), d.Why)}, d.Warnings...), "; ")
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
	s.result, s.kept, s.sure = nil, false, false
	if m.unsent[s.one()] = s.text.text(); strings.TrimSpace(m.unsent[s.one()]) == "" {
		delete(m.unsent, s.one())
	}
	return s.fuse.light(m, typePause)
}

func (s *sender) update(m *Model, msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case armMsg:
		s.fuse.burnt(msg)
	case sentMsg:
		if msg.id != s.sent {
			return nil
		}
		s.result[msg.seat] = msg
		if s.due--; s.due > 0 {
			return nil
		}
		s.sent = 0
		arrived := 0
		for _, r := range s.result {
			if r.err == nil && r.delivery.Outcome == engine.OutcomeDelivered {
				arrived++
			}
		}
		if arrived == len(s.seats) {
			s.text.set("")
			if s.one() == "" {
				m.unmark(s.seats)
			}
		}
	}
	return nil
}

func (m *Model) whyNoSendNow() string {
	s, ok := m.top().(*sender)
	if !ok {
		return "no message is open"
	}
	seat := m.seats[s.one()]
	switch {
	case s.sent != 0:
		return "the message is being delivered"
	case strings.TrimSpace(s.text.text()) == "":
		return "the message is empty"
	case s.one() == "" && s.result != nil:
		return "it was sent; type to write another one"
	case s.one() == "" && len(s.able(m)) == 0:
		return "none of them can be written to now"
	case s.one() != "" && (seat == nil || seat.Life != engine.LifeRunning):
		return "the seat does not run any more"
	case s.one() != "" && seat.Activity.Draft != "":
		return "a draft stands in its input box: it is never typed over. Jump there and send or clear it"
	case !s.fuse.ready:
		return "a moment: text was still coming in"
	}
	return ""
}

func (m *Model) sendNow() tea.Cmd {
	s, ok := m.top().(*sender)
	if !ok {
		return nil
	}
	to := s.seats
	if s.one() == "" {
		if to = s.able(m); !s.sure {
			s.sure = true
			return nil
		}
	}
	s.sent, s.due, s.result = m.next(), len(to), map[string]sentMsg{}
	s.kept, s.sure = false, false
	return m.deliver(sentMsg{id: s.sent, seat: to[0], text: s.text.text(), rest: to[1:], many: s.one() == "", left: len(to) < len(s.seats)})
}

// deliver sends a message to one seat; onSent goes on with the rest.
func (m *Model) deliver(msg sentMsg) tea.Cmd {
	c, ctx := m.c, m.ctx
	return func() tea.Msg {
		msg.delivery, msg.err = c.Send(ctx, msg.seat, msg.text)
		return msg
	}
}

func (s *sender) moving(*Model) string { return "" }

func (s *sender) size(cols, rows int) (int, int) {
	if n := len(s.seats); n > 1 {
		return dialogSize(78, 9+n, cols, rows)
	}
	return dialogSize(78, 10, cols, rows)
}

func (s *sender) view(m *Model, cols, rows int) []string {
	w, h := s.size(cols, rows)
	inner := w - 4
	var lines []string
	if seat := m.seats[s.one()]; seat != nil {
		l := lookOf(seat)
		lines = append(lines, m.brush.line(inner, false, seg{toneDim, "it is "}, seg{l.tone, l.text(m.brush.g)}, seg{toneDim, dashed(clean(seat.Activity.Why))}))
		if d := clean(seat.Activity.Draft); d != "" {
			lines = append(lines, m.brush.line(inner, false, seg{toneNeed, "draft in its box: "}, seg{toneText, d}))
		}
	} else {
		lines = append(lines, s.targets(m, inner, max(h-8, 1))...)
	}
	if s.alone {
		lines = append(lines, m.brush.text(inner, toneNeed, "marks are not used here: this goes to "+s.called(m)+" alone"))
	}
	lines = append(lines, m.brush.blank(inner, 1)...)
	lines = append(lines, m.brush.line(2, false, seg{toneAccent, m.brush.g.prompt})+s.text.view(m.brush, inner-2, true, ""))
	lines = append(lines, m.brush.blank(inner, 1)...)
	for _, l := range s.outcome(m) {
		for _, part := range wrap(l.text, inner) {
			lines = append(lines, m.brush.text(inner, l.tone, part))
		}
	}
	return m.brush.box(w, h, toneAccent, []seg{{toneStrong, "Message to " + s.called(m)}}, "", inset(m.brush.fill(lines, inner, h-2)))
}

// targets are the seats of a message to many, a line each, at most most of them: what
// becomes of it there.
func (s *sender) targets(m *Model, w, most int) []string {
	var out []string
	name := min(max(w/2-4, 12), 24)
	for i, id := range s.seats {
		if i == most-1 && len(s.seats) > most {
			return append(out, m.brush.text(w, toneDim, "and "+itoa(len(s.seats)-i)+" more"))
		}
		k, word := toneDim, ""
		switch r, ok := s.result[id]; {
		case ok && r.err != nil:
			k, word = toneBad, errorText(r.err)
		case ok && r.delivery.Outcome == engine.OutcomeDelivered:
			k, word = toneBusy, saidOf(r.delivery)
		case ok:
			k, word = toneNeed, saidOf(r.delivery)
		case m.cannot(id) != "":
			k, word = toneNeed, "not sent: "+m.cannot(id)
		case s.sent != 0:
			k, word = toneStart, "delivering"
		}
		l := lookUnknown
		if seat := m.seats[id]; seat != nil {
			l = lookOf(seat)
		}
		out = append(out, m.brush.line(w, false, seg{l.tone, l.mark(m.brush.g) + " "}, seg{toneText, pad(cutMiddle(m.addressOf(id), name), name) + "  "}, seg{k, clean(word)}))
	}
	return out
}

// outcome says what is known of the delivery.
func (s *sender) outcome(m *Model) []readLine {
	r, answered := s.result[s.one()]
	switch {
	case s.text.full:
		return []readLine{{"", "No room for that: a message has at most 200 KB; put it in a file and send its path.", toneNeed}}
	case s.sent != 0:
		return []readLine{{"", "delivering, and looking whether it arrived", toneStart}}
	case s.sure:
		return []readLine{{"", m.reg.hint("send-now") + " again sends it to " + itoa(len(s.able(m))) + " of " + engine.Counted(len(s.seats), "seat") + ", one after the other.", toneNeed}}
	case s.one() == "" && s.result != nil:
		return nil
	case answered && r.err != nil:
		return []readLine{{"", errorText(r.err), toneBad}}
	case answered:
		k := toneNeed
		if r.delivery.Outcome == engine.OutcomeDelivered {
			k = toneBusy
		}
		return []readLine{{"", clean(saidOf(r.delivery)), k}, {"", clean(joinWords(" ", "proof:", r.delivery.Source)), toneDim}}
	case s.kept:
		return []readLine{{"", "Kept from before: typed, and not sent or not proven to be.", toneNeed}}
	}
	how := "The text is pasted as it is and its arrival is verified."
	if n := s.text.breaks(); n > 0 {
		how = itoa(n+1) + " lines, broken at " + m.brush.g.newline + ". " + how
	}
	return []readLine{{"", how, toneDim}}
}
