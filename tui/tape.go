package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// tape is the dialog that scrubs back through the screens recorded around the
// changes of a seat's state: the moments at the left or above, the screen of the
// chosen one beside it.
type tape struct {
	seat    string
	list    list
	shots   []engine.Shot
	id      int // of the request that fills it, 0 when it is answered
	trouble string
	seek    string // digits of a time of day that were typed
}

type shotsMsg struct {
	id    int
	shots []engine.Shot
	err   error
}

// openTape asks for what was recorded of the seat under the cursor.
func (m *Model) openTape() tea.Cmd {
	s := m.here().seat
	if s == nil {
		return nil
	}
	t := &tape{seat: s.ID, id: m.next()}
	m.push(t)
	c, ctx, id, seat := m.c, m.ctx, t.id, s.ID
	return func() tea.Msg {
		shots, err := c.Shots(ctx, seat)
		return shotsMsg{id, shots, err}
	}
}

func (t *tape) scope(*Model) scope            { return scopeRead }
func (t *tape) typing() bool                  { return false }
func (t *tape) paste(*Model, string) tea.Cmd  { return nil }
func (t *tape) move(m *Model, d move) tea.Cmd { t.seek = ""; t.settle(m); t.list.move(d); return nil }

// settle fits the list of moments into its place.
func (t *tape) settle(m *Model) {
	_, h, _, _ := t.sizes(m.w, m.h-1)
	t.list.settle(h)
}

// key takes the digits of a time of day: the cursor goes to the last moment that
// was not after it.
func (t *tape) key(m *Model, k tea.KeyPressMsg) tea.Cmd {
	text := k.Key().Text
	switch {
	case k.String() == "backspace":
		t.seek = ""
		return nil
	case len(text) != 1 || !strings.Contains("0123456789", text):
		return nil
	case len(t.seek) == 4:
		t.seek = ""
	}
	t.seek += text
	if len(t.seek) == 4 {
		t.settle(m)
		i := shotAt(t.shots, t.seek, m.now, m.opt.zone())
		if i < 0 {
			return m.say(toneNeed, false, "nothing was recorded until "+t.seek[:2]+":"+t.seek[2:])
		}
		t.list.cursor = i
		t.list.clamp()
	}
	return nil
}

// shotAt finds the newest shot that was not after a time of day, "0312", of the last day
// that was recorded, or of the one before where that is still to come; -1 when there is none.
func shotAt(shots []engine.Shot, hhmm string, now time.Time, zone *time.Location) int {
	clock, err := time.Parse("1504", hhmm)
	if err != nil || len(shots) == 0 {
		return -1
	}
	day := shots[len(shots)-1].At.In(zone)
	at := time.Date(day.Year(), day.Month(), day.Day(), clock.Hour(), clock.Minute(), 0, 0, zone)
	if at.After(now) {
		at = at.AddDate(0, 0, -1)
	}
	for i := len(shots) - 1; i >= 0; i-- {
		if shots[i].At.Before(at.Add(time.Minute)) {
			return i
		}
	}
	return -1
}

func (t *tape) update(m *Model, msg tea.Msg) tea.Cmd {
	got, ok := msg.(shotsMsg)
	if !ok || got.id != t.id || t.id == 0 {
		return nil
	}
	t.id, t.shots = 0, got.shots
	if got.err != nil {
		t.trouble = errorText(got.err)
	}
	keys := make([]string, len(t.shots))
	for i, s := range t.shots {
		keys[i] = itoa(i) + s.At.String()
	}
	t.list.set(keys)
	t.settle(m)
	t.list.move(move{to: 1})
	return nil
}

// shot is the one under the cursor; nil when there is none.
func (t *tape) shot() *engine.Shot {
	if t.list.cursor < len(t.shots) {
		return &t.shots[t.list.cursor]
	}
	return nil
}

// copyText is the screen of the chosen moment.
func (t *tape) copyText() string {
	if s := t.shot(); s != nil {
		return strings.Join(s.Lines, "\n")
	}
	return ""
}

func (t *tape) moving(*Model) string {
	if len(t.shots) < 2 {
		return ""
	}
	return moveList
}

func (t *tape) size(cols, rows int) (int, int) { return dialogSize(cols, rows, cols, rows) }

// sizes gives the list of moments and the screen beside or below it.
func (t *tape) sizes(cols, rows int) (listW, listH, paneW, paneH int) {
	w, h := t.size(cols, rows)
	inner, room := w-4, h-2
	if cols >= splitCols {
		listW = 38
		return listW, room, inner - listW - 2, room
	}
	listH = min(max(room/3, 3), 8)
	return inner, listH, inner, room - listH - 1
}

func (t *tape) view(m *Model, cols, rows int) []string {
	w, h := t.size(cols, rows)
	title := []seg{{toneStrong, "What happened in " + m.addressOf(t.seat)}}
	s := t.shot()
	if s == nil {
		return m.brush.box(w, h, toneAccent, title, "", inset(m.brush.fill(t.nothing(m, w-4), w-4, h-2)))
	}
	listW, listH, paneW, paneH := t.sizes(cols, rows)
	moments := t.list.lines(listH, func(i int, on bool) string { return t.line(m, t.shots[i], on, listW) })
	moments = m.brush.fill(moments, listW, listH)
	screen := crop(paneText(s.Lines), paneW, paneH)
	var lines []string
	if cols >= splitCols {
		for i := range moments {
			moments[i] += m.brush.paint(toneBorder, m.brush.g.down) + " "
		}
		lines = beside(moments, screen)
	} else {
		lines = append(append(moments, m.brush.rule(listW, "", toneBorder)), screen...)
	}
	return m.brush.box(w, h, toneAccent, title, t.note(m, s, w), inset(lines))
}

// note says what is on screen: when, why, and where in the ring.
func (t *tape) note(m *Model, s *engine.Shot, w int) string {
	note := itoa(t.list.cursor+1) + "/" + itoa(len(t.shots)) + " " + m.brush.g.dot + " " + momentWord(s.Moment)
	if why := clean(s.Why); why != "" && s.Moment != engine.ShotBefore {
		note += ": " + why
	}
	if t.seek != "" {
		note = "at " + t.seek + strings.Repeat("_", 4-len(t.seek)) + " " + m.brush.g.dot + " " + note
	} else {
		note += " " + m.brush.g.dot + " type a time such as 0312"
	}
	return cut(note, w-8)
}

func momentWord(moment string) string {
	switch moment {
	case engine.ShotBefore:
		return "as it was just before"
	case engine.ShotRest:
		return "a little later"
	}
	return "when it was noticed"
}

// line is one moment: when, and from which state to which.
func (t *tape) line(m *Model, s engine.Shot, on bool, w int) string {
	at := s.At.In(m.opt.zone())
	when := at.Format("15:04:05")
	if m.now.Sub(s.At) > 20*time.Hour {
		when = at.Format("02.01 15:04")
	}
	from, to := lookActivity(s.From), lookActivity(s.To)
	segs := []seg{m.brush.lead(on), {toneText, pad(when, 11) + " "}}
	switch s.Moment {
	case engine.ShotBefore:
		segs = append(segs, seg{from.tone, from.text(m.brush.g)}, seg{toneDim, ", last look"})
	case engine.ShotRest:
		segs = append(segs, seg{toneDim, "  " + m.brush.g.dot + " "}, seg{to.tone, to.word}, seg{toneDim, ", later"})
	default:
		segs = append(segs, seg{toneDim, from.word + " " + m.brush.g.arrow + " "}, seg{to.tone, to.text(m.brush.g)})
	}
	return m.brush.line(w, on, segs...)
}

// nothing says why there is nothing to see.
func (t *tape) nothing(m *Model, w int) []string {
	texts := []string{
		"Nothing is recorded of this seat yet.",
		"While a console or rig watch runs, the seat's screen is kept around each change of its state: before it, when it is noticed, and a little later.",
	}
	switch {
	case t.id != 0:
		texts = []string{"reading what was recorded"}
	case t.trouble != "":
		texts = []string{t.trouble}
	}
	var out []string
	for _, text := range texts {
		for _, l := range wrap(text, w) {
			out = append(out, m.brush.text(w, toneDim, l))
		}
		out = append(out, m.brush.blank(w, 1)...)
	}
	return out
}
