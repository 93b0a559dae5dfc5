package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// opsScreen lists operations, running ones first, with the journal of the
// selected one.
type opsScreen struct {
	lookup
	list    list
	all     []engine.Operation
	rows    []engine.Operation
	journal journal
	steps   list // cursor in the journal while it has the keys
	inside  bool
}

// journal is the steps of one operation.
type journal struct {
	id    string
	asked int
	mark  string
	op    engine.Operation
	steps []engine.OperationStep
	err   string
}

func (s *opsScreen) info() screenInfo { return infoOf(screenOps) }

// refresh reads the list again when an operation began, moved or ended.
func (s *opsScreen) refresh(m *Model) tea.Cmd {
	s.filter(m)
	if m.cur != screenOps {
		return nil
	}
	mark := opsMark(m)
	if !s.stale(mark) {
		return s.readJournal(m)
	}
	s.mark = mark
	return tea.Batch(s.read(m), s.readJournal(m))
}

// opsMark sums up what of a picture concerns operations.
func opsMark(m *Model) string {
	mark := ""
	for _, op := range m.fleet.Ops {
		mark += op.ID + string(op.State) + itoa(op.Done) + op.Now + "/"
	}
	if len(m.fleet.Recent) > 0 {
		mark += itoa(int(m.fleet.Recent[0].Seq))
	}
	return mark
}

func (s *opsScreen) read(m *Model) tea.Cmd {
	c, ctx, id := m.c, m.ctx, s.ask(m)
	return func() tea.Msg {
		ops, err := c.Operations(ctx, engine.OperationFilter{})
		return opsMsg{id, ops, err}
	}
}

// readJournal reads the steps of the selected operation when they may differ
// from what is held.
func (s *opsScreen) readJournal(m *Model) tea.Cmd {
	op := s.op()
	if op == nil {
		return nil
	}
	mark := op.ID + s.mark
	if s.journal.mark == mark {
		return nil
	}
	if s.journal.id != op.ID {
		s.journal = journal{id: op.ID}
		s.steps = list{}
	}
	s.journal.mark, s.journal.asked = mark, m.next()
	c, ctx, id, opID := m.c, m.ctx, s.journal.asked, op.ID
	return func() tea.Msg {
		got, steps, err := c.Operation(ctx, opID)
		return opMsg{id, got, steps, err}
	}
}

func (s *opsScreen) update(m *Model, msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case opsMsg:
		if _, good := s.answered(msg.id, msg.err); !good {
			return nil
		}
		s.all = msg.ops
		return s.refresh(m)
	case opMsg:
		if msg.id != s.journal.asked {
			return nil
		}
		s.journal.op, s.journal.steps, s.journal.err = msg.op, msg.steps, ""
		if msg.err != nil {
			s.journal.err = errorText(msg.err)
		}
		keys := make([]string, len(msg.steps))
		for i, st := range msg.steps {
			keys[i] = st.StepID
		}
		s.steps.set(keys)
	}
	return nil
}

func (s *opsScreen) filter(m *Model) {
	s.rows = s.rows[:0]
	keys := []string{}
	filter := m.filters[screenOps]
	for _, op := range s.all {
		if filter != "" && !matches(filter, string(op.Verb), op.Target, string(op.State), op.Operator, op.Reason) {
			continue
		}
		s.rows = append(s.rows, op)
		keys = append(keys, op.ID)
	}
	newest := s.list.cursor == 0 && !s.inside // stays on the newest, also when there is a newer one
	s.list.set(keys)
	if newest {
		s.list.cursor, s.list.top = 0, 0
	}
}

// sizes: the list never needs much width, the journal does.
func (s *opsScreen) sizes(m *Model) areas {
	a := m.divide(min(len(s.rows), 8), false)
	if a.shape == shapeSplit {
		a.listW = max(m.w*2/5, 50)
		a.sideW = m.w - a.listW - 1
	}
	if a.sideW == 0 && s.inside {
		a.sideW, a.sideH, a.listH = a.listW, a.listH, 0
	}
	return a
}

func (s *opsScreen) settle(m *Model) {
	a := s.sizes(m)
	s.list.settle(a.listH - 1)
	head := 0
	if op := s.op(); op != nil {
		head = len(s.journalTop(m, *op, max(a.sideW-2, 1)))
	}
	s.steps.settle(max(a.sideH-2-head, 1))
}

func (s *opsScreen) move(m *Model, d move) tea.Cmd {
	if s.inside {
		s.steps.move(d)
		return nil
	}
	s.list.move(d)
	return s.readJournal(m)
}

func (s *opsScreen) op() *engine.Operation {
	if s.list.cursor < len(s.rows) {
		return &s.rows[s.list.cursor]
	}
	return nil
}

func (s *opsScreen) subject(m *Model) subject {
	op := s.op()
	if op == nil {
		return subject{}
	}
	return subject{seat: m.seats[op.SeatID], copy: op.ID, op: op.ID}
}

func (s *opsScreen) panes(*Model) []string { return nil }

func (m *Model) operations() *opsScreen {
	s, ok := m.screens[screenOps].(*opsScreen)
	if !ok {
		return &opsScreen{}
	}
	return s
}

// openOperation gives the keys to the journal; there it opens the whole of a step.
func (m *Model) openOperation() tea.Cmd {
	s := m.operations()
	if !s.inside {
		s.inside = s.op() != nil
		return nil
	}
	if steps := m.asItStands(s.journal.id, s.journal.steps); s.steps.cursor < len(steps) {
		text := m.stepText(steps[s.steps.cursor])
		m.push(&reader{title: "Step " + itoa(s.steps.cursor+1) + " of " + itoa(len(steps)), lines: text, copy: plainText(text)})
	}
	return nil
}

// operationWord says what that does now.
func (m *Model) operationWord() string {
	if m.operations().inside {
		return "the step"
	}
	return "journal"
}

// leaveOperation gives the keys back to the list.
func (m *Model) leaveOperation() tea.Cmd {
	m.operations().inside = false
	return nil
}

// opWord is the name of an operation in the list: what it is done to stands beside it.
func opWord(v engine.Verb) string {
	return clean(strings.TrimPrefix(strings.TrimPrefix(string(v), "agent-"), "seat "))
}

func (s *opsScreen) columns() []column {
	n, failed := len(s.rows), 0
	for i := range s.rows {
		failed = max(failed, min(width(clean(s.rows[i].Error)), 10))
	}
	out := []column{
		{head: "OPERATION", w: 9, most: widest(9, 16, n, func(i int) string { return opWord(s.rows[i].Verb) })},
		{head: "OF", w: 11, most: widest(11, 26, n, func(i int) string { return s.rows[i].Target })},
		{head: "STATE", w: 13},
		{head: "FOR", w: 3, rank: 1, tail: true},
		{head: "BY", w: 6, most: widest(6, 16, n, func(i int) string { return s.rows[i].Operator }), rank: 3},
	}
	if failed > 0 {
		out = append(out, column{head: "ERROR", w: 10, most: 200, rank: 4})
	}
	return out
}

func (s *opsScreen) view(m *Model, w, h int) []string {
	switch {
	case s.err != "" || !s.loaded:
		return m.unread(w, h, &s.lookup, "operations")
	case len(s.all) == 0:
		return m.notice(w, h, "No operation yet", "Whatever a verb changes is written down step by step and stands here, also after the console was closed.",
			m.reg.hint("up")+" brings up a rig.")
	case len(s.rows) == 0:
		return m.nothingMatches(w, h)
	}
	a := s.sizes(m)
	var lines []string
	if a.listH > 0 {
		t := m.brush.table(s.columns(), a.listW, 1)
		lines = append([]string{t.head()}, s.list.lines(a.listH-1, func(i int, on bool) string { return s.line(m, s.rows[i], on, t) })...)
	}
	var beyond []string
	if a.sideW > 0 {
		beyond = s.journalBox(m, a.sideW, a.sideH)
	}
	return m.join(a, lines, nil, beyond)
}

func (s *opsScreen) line(m *Model, op engine.Operation, on bool, t table) string {
	l := lookOp(m.opState(op))
	since := op.StartedAt
	if !op.EndedAt.IsZero() {
		since = op.EndedAt
	}
	cells := [][]seg{
		{{toneStrong, opWord(op.Verb)}},
		{{toneText, cutMiddle(clean(op.Target), t.f[1])}},
		{{l.tone, l.text(m.brush.g)}},
		{{toneDim, age(m.now, since)}},
		{{toneDim, clean(op.Operator)}},
		{{toneBad, clean(op.Error)}},
	}
	return t.row(on, cells)
}

// opState takes the picture's word for an operation that has not ended: it knows
// when the owner is dead.
func (m *Model) opState(op engine.Operation) engine.OpState {
	for _, v := range m.fleet.Ops {
		if v.ID == op.ID {
			return v.State
		}
	}
	return op.State
}

func (s *opsScreen) at(m *Model, x, y int) click {
	a := s.sizes(m)
	row := s.list.top + y - 1
	if x >= a.listW || y < 1 || y >= a.listH || row >= len(s.rows) {
		return clickNone
	}
	s.inside = s.inside && row == s.list.cursor // what it was inside of is not under the cursor any more
	return s.list.click(row)
}

// reload reads the list of the screen again.
func (m *Model) reload() tea.Cmd {
	switch s := m.screens[m.cur].(type) {
	case *opsScreen:
		s.journal.mark = ""
		return tea.Batch(s.read(m), s.readJournal(m))
	case *eventsScreen:
		return s.read(m)
	case *imagesScreen:
		return s.sync(m)
	case *restoreScreen:
		return s.read(m)
	case *seatScreen:
		s.askedFor = ""
		return s.refresh(m)
	}
	return nil
}
