package tui

import (
	"cmp"
	"encoding/json"
	"time"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// eventsScreen shows the audit log, newest first, and follows it.
type eventsScreen struct {
	lookup
	list   list
	all    []engine.Event
	rows   []engine.Event
	follow bool
}

// eventsKept bounds how much of the log is held; older events are read with
// `rig events`.
const eventsKept = 1000

func (s *eventsScreen) info() screenInfo { return infoOf(screenEvents) }

// refresh reads what is newer than what is held, when this screen is shown.
func (s *eventsScreen) refresh(m *Model) tea.Cmd {
	s.filter(m)
	if m.cur != screenEvents || s.busy || s.loaded && !s.behind(m) {
		return nil
	}
	return s.read(m)
}

func (s *eventsScreen) behind(m *Model) bool {
	return len(m.fleet.Recent) > 0 && (len(s.all) == 0 || m.fleet.Recent[0].Seq > s.all[0].Seq)
}

func (s *eventsScreen) read(m *Model) tea.Cmd {
	f := engine.EventFilter{Newest: true, Limit: eventsKept}
	if len(s.all) > 0 {
		f.After = s.all[0].Seq
	}
	c, ctx, id := m.c, m.ctx, s.ask(m)
	return func() tea.Msg {
		events, err := c.Events(ctx, f)
		return eventsMsg{id, events, err}
	}
}

func (s *eventsScreen) update(m *Model, msg tea.Msg) tea.Cmd {
	e, ok := msg.(eventsMsg)
	if !ok {
		return nil
	}
	if _, good := s.answered(e.id, e.err); !good {
		return nil
	}
	s.all = append(append([]engine.Event(nil), e.events...), s.all...)
	if len(s.all) > eventsKept {
		s.all = s.all[:eventsKept]
	}
	s.filter(m)
	return nil
}

func (s *eventsScreen) filter(m *Model) {
	s.rows = s.rows[:0]
	keys := []string{}
	filter := m.filters[screenEvents]
	for _, e := range s.all {
		if filter != "" && !matches(filter, e.Type, e.Seat, e.Rig, e.Operator, string(e.Payload)) {
			continue
		}
		s.rows = append(s.rows, e)
		keys = append(keys, itoa(int(e.Seq)))
	}
	s.list.set(keys)
	if s.follow {
		s.list.cursor = 0
		s.list.clamp()
	}
}

func (s *eventsScreen) settle(m *Model) {
	_, h := m.bodySize()
	s.list.settle(h - 1)
}

func (s *eventsScreen) move(_ *Model, d move) tea.Cmd {
	s.list.move(d)
	s.follow = s.list.cursor == 0
	return nil
}

func (s *eventsScreen) event() *engine.Event {
	if s.list.cursor < len(s.rows) {
		return &s.rows[s.list.cursor]
	}
	return nil
}

func (s *eventsScreen) subject(m *Model) subject {
	e := s.event()
	if e == nil {
		return subject{}
	}
	return subject{seat: m.seats[e.SeatID], copy: e.Type + " " + e.Seat + " " + string(e.Payload)}
}

func (s *eventsScreen) panes(*Model) []string { return nil }

// columns of the audit log for a terminal of w cells. What happened says little without
// where, so that on a narrow one both are shortened and both stay.
func (s *eventsScreen) columns(w int) []column {
	n := len(s.rows)
	leastKind, leastWhere := 18, 18
	if w < stackCols {
		leastKind, leastWhere = 14, 12
	}
	kind := widest(10, 28, n, func(i int) string { return s.rows[i].Type })
	where := widest(8, 30, n, func(i int) string { return eventPlace(s.rows[i]) })
	by := widest(8, 20, n, func(i int) string { return s.rows[i].Operator })
	return []column{
		{head: "TIME", w: 8, most: 15},
		{head: "EVENT", w: min(kind, leastKind), most: kind, words: true},
		{head: "WHERE", w: min(where, leastWhere), most: where, rank: 1, words: true},
		{head: "BY", w: 8, most: by, rank: 3, words: true},
		{head: "WHAT", w: 14, most: 300, rank: 2},
	}
}

func (s *eventsScreen) view(m *Model, w, h int) []string {
	switch {
	case s.err != "" || !s.loaded:
		return m.unread(w, h, &s.lookup, "audit log")
	case len(s.all) == 0:
		return m.notice(w, h, "Nothing has happened yet", "Every change that a verb makes is written here in the moment it is made.")
	case len(s.rows) == 0:
		return m.nothingMatches(w, h)
	}
	t := m.brush.table(s.columns(w), w, 1)
	return append([]string{t.head()}, s.list.lines(h-1, func(i int, on bool) string { return s.line(m, s.rows[i], on, t) })...)
}

// eventPlace is where an event happened, or to what.
func eventPlace(e engine.Event) string {
	if at := cmp.Or(e.Seat, e.Rig); at != "" {
		return at
	}
	var of struct {
		Image  string `json:"image"`
		Target string `json:"target"` // of an operation
	}
	if json.Unmarshal(e.Payload, &of) != nil { // other events happen nowhere
		return ""
	}
	return cmp.Or(of.Image, of.Target)
}

func (s *eventsScreen) line(m *Model, e engine.Event, on bool, t table) string {
	where := eventPlace(e)
	cells := [][]seg{
		{{toneDim, m.stamp(e.At, t.f[0])}},
		{{eventTone(e.Type), clean(e.Type)}},
		{{toneText, cutMiddle(clean(where), t.f[2])}},
		{{toneDim, clean(e.Operator)}},
		{{toneDim, payloadText(e.Payload)}},
	}
	return t.row(on, cells)
}

// stamp is a time in w cells: with its date, or where that has no room with the
// day of the month when it is not today.
func (m *Model) stamp(at time.Time, w int) string {
	at, now := at.In(m.opt.zone()), m.now.In(m.opt.zone())
	switch {
	case w >= 15:
		return at.Format("Jan _2 15:04:05")
	case at.YearDay() != now.YearDay() || at.Year() != now.Year():
		return at.Format("_2 15:04")
	}
	return at.Format("15:04:05")
}

func (s *eventsScreen) at(m *Model, _, y int) click {
	row := s.list.top + y - 1
	if y < 1 || row >= len(s.rows) {
		return clickNone
	}
	return s.list.click(row)
}

func (m *Model) events() *eventsScreen {
	s, ok := m.screens[screenEvents].(*eventsScreen)
	if !ok {
		return &eventsScreen{}
	}
	return s
}

func (m *Model) toggleFollow() tea.Cmd {
	s := m.events()
	s.follow = !s.follow
	if s.follow {
		s.list.move(move{to: -1})
	}
	return nil
}

// openEvent shows the whole of an event.
func (m *Model) openEvent() tea.Cmd {
	e := m.events().event()
	if e == nil {
		return nil
	}
	lines := []readLine{{"event", clean(e.Type), toneStrong}}
	for _, l := range []readLine{
		{"when", e.At.In(m.opt.zone()).Format("Mon 2 Jan 2006 15:04:05.000 MST"), toneText},
		{"seat", clean(e.Seat), toneText},
		{"rig", clean(e.Rig), toneText},
		{"by", clean(e.Operator), toneText},
		{"operation", clean(e.OpID), toneText},
		{"number", itoa(int(e.Seq)), toneDim},
	} {
		if l.text != "" {
			lines = append(lines, l)
		}
	}
	if rows := payloadRows(e.Payload); len(rows) > 0 {
		lines = append(append(lines, readLine{}), rows...)
	}
	m.push(&reader{title: "Event", lines: lines, copy: string(e.Payload)})
	return nil
}
