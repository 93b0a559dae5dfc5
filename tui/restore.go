package tui

import (
	"sort"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// restoreTab is one of the three lists of the Restore screen.
type restoreTab int

const (
	tabReboot    restoreTab = iota // what would become of each seat
	tabSnapshots                   // what a restore could stand on
	tabPast                        // receipts of restores
	restoreTabs
)

// How often the screen asks again while it is shown. Nothing is asked while it
// is not.
const (
	restoreCalm = 30 * time.Second // when nothing is known to have changed
	restoreSoon = 2 * time.Second  // after a change, so that a storm of them costs one look
)

// restoreScreen is the standing answer to "if this machine rebooted now", with
// the snapshots and the past restores beside it. A check reads files of every
// seat, so it is made only while somebody looks.
type restoreScreen struct {
	tab    restoreTab
	parts  [restoreTabs]restorePart
	report engine.RestoreCheckReport
	snaps  []engine.SnapshotView
	past   []engine.RestoreStatus

	rows     []rebootRow
	snapRows []engine.SnapshotView
	pastRows []engine.RestoreStatus
	folded   map[string]bool
	wake     int  // number of the timer that runs, 0 = none
	soon     bool // the timer that runs is the short one
}

// restorePart is what the lists have in common: where the cursor is, and how
// far reading them came.
type restorePart struct {
	lookup
	list list
	at   time.Time
}

// rebootRow is a rig or one of its seats.
type rebootRow struct {
	key  string
	rig  engine.RestoreCheckRig
	seat *engine.RestoreCheckSeat // nil: the rig
}

// Answers of the screen's commands.
type (
	checkedMsg struct {
		id     int
		report engine.RestoreCheckReport
		err    error
	}
	snapshotsMsg struct {
		id   int
		list []engine.SnapshotView
		err  error
	}
	restoresMsg struct {
		id   int
		list []engine.RestoreStatus
		err  error
	}
	restoreDueMsg struct{ id int }
)

func newRestoreScreen() *restoreScreen { return &restoreScreen{folded: map[string]bool{}} }

func (s *restoreScreen) info() screenInfo { return infoOf(screenRestore) }

func (s *restoreScreen) part() *restorePart { return &s.parts[s.tab] }

// refresh asks again when what is shown was never read, or soon when the picture
// changed since.
func (s *restoreScreen) refresh(m *Model) tea.Cmd {
	s.filter(m)
	if m.cur != screenRestore {
		return nil
	}
	p := s.part()
	switch {
	case p.busy:
		return nil
	case !p.loaded || s.wake == 0:
		return s.read(m)
	case p.mark != restoreMark(m) && !s.soon:
		s.soon = true
		return s.arm(m, restoreSoon)
	}
	return nil
}

// restoreMark sums up what of a picture a restore depends on.
func restoreMark(m *Model) string {
	mark := ""
	for _, s := range m.fleet.Seats() {
		mark += s.ID + string(s.Life) + itoa(int(s.Generation)) + string(s.Continuity) + "/"
	}
	for _, op := range m.fleet.Ops {
		mark += op.ID + string(op.State) + "/"
	}
	for _, ev := range m.fleet.Recent { // newest first; a snapshot is made between two pictures
		if strings.HasPrefix(ev.Type, "snapshot.") {
			return mark + itoa(int(ev.Seq))
		}
	}
	return mark
}

func (s *restoreScreen) arm(m *Model, wait time.Duration) tea.Cmd {
	s.wake = m.next()
	id := s.wake
	return m.after(wait, func(time.Time) tea.Msg { return restoreDueMsg{id} })
}

// read asks for what the tab shows.
func (s *restoreScreen) read(m *Model) tea.Cmd {
	p := s.part()
	p.mark = restoreMark(m)
	c, ctx, id, host := m.c, m.ctx, p.ask(m), m.opt.HostChecks
	switch s.tab {
	case tabSnapshots:
		return func() tea.Msg {
			list, err := c.AllSnapshots(ctx)
			return snapshotsMsg{id, list, err}
		}
	case tabPast:
		return func() tea.Msg {
			list, err := c.Restores(ctx, 0)
			return restoresMsg{id, list, err}
		}
	case tabReboot, restoreTabs:
	}
	return func() tea.Msg {
		opt := engine.RestoreCheckOptions{Full: true}
		if host != nil {
			opt.Host = host()
		}
		report, err := c.RestoreCheck(ctx, opt)
		return checkedMsg{id, report, err}
	}
}

func (s *restoreScreen) update(m *Model, msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case checkedMsg:
		return s.answered(m, tabReboot, msg.id, msg.err, func() { s.report = msg.report })
	case snapshotsMsg:
		return s.answered(m, tabSnapshots, msg.id, msg.err, func() { s.snaps = msg.list })
	case restoresMsg:
		return s.answered(m, tabPast, msg.id, msg.err, func() { s.past = msg.list })
	case restoreDueMsg:
		if msg.id != s.wake {
			return nil
		}
		s.wake, s.soon = 0, false
		if m.cur != screenRestore || s.part().busy {
			return nil
		}
		return s.read(m)
	}
	return nil
}

// answered takes an answer and arranges the next look.
func (s *restoreScreen) answered(m *Model, tab restoreTab, id int, err error, take func()) tea.Cmd {
	p := &s.parts[tab]
	mine, good := p.answered(id, err)
	if !mine {
		return nil
	}
	p.at = m.now
	if good {
		take()
	}
	s.filter(m)
	if m.cur != screenRestore {
		return nil
	}
	s.soon = false
	return s.arm(m, restoreCalm)
}

// filter makes the rows of the tabs from what was read.
func (s *restoreScreen) filter(m *Model) {
	filter := m.filters[screenRestore]
	s.rows, s.snapRows, s.pastRows = s.rows[:0], s.snapRows[:0], s.pastRows[:0]
	rigs := append([]engine.RestoreCheckRig(nil), s.report.Rigs...)
	sort.SliceStable(rigs, func(i, j int) bool { return urgency(rigs[i]) < urgency(rigs[j]) })
	for _, r := range rigs {
		s.addRig(r, filter)
	}
	keys := [restoreTabs][]string{}
	for _, r := range s.rows {
		keys[tabReboot] = append(keys[tabReboot], r.key)
	}
	for _, v := range s.snaps {
		if filter == "" || matches(filter, v.Rig, v.Kind, v.ID, v.Why) {
			s.snapRows = append(s.snapRows, v)
			keys[tabSnapshots] = append(keys[tabSnapshots], v.ID)
		}
	}
	for _, v := range s.past {
		if filter == "" || matches(filter, v.Rig, v.Attempt, string(v.Original), string(v.Current)) {
			s.pastRows = append(s.pastRows, v)
			keys[tabPast] = append(keys[tabPast], v.Attempt+"/"+v.RigID)
		}
	}
	for i := range keys {
		s.parts[i].list.set(keys[i])
	}
}

// urgency orders rigs: what has something to decide or to repair first, then what
// cannot be told, then what has a caveat, then what needs nobody.
func urgency(r engine.RestoreCheckRig) int {
	switch {
	case toDecide(r) > 0 || r.Verdict == engine.VerdictNotRestorable:
		return 0
	case r.Verdict == engine.VerdictUnknownState:
		return 1
	case r.Verdict == engine.VerdictCaveats:
		return 2
	}
	return 3
}

// toDecide counts the seats of a rig that would not come back by themselves.
func toDecide(r engine.RestoreCheckRig) int {
	n := 0
	for _, s := range r.Seats {
		if s.Action == string(engine.ContinuityAwaiting) || s.Action == string(engine.ContinuityFailed) {
			n++
		}
	}
	return n
}

func (s *restoreScreen) addRig(r engine.RestoreCheckRig, filter string) {
	var seats []rebootRow
	for i := range r.Seats {
		seat := &r.Seats[i]
		if filter == "" || matches(filter, seat.Seat, rebootLook(*seat).word, seat.Why, string(seat.Runtime)) {
			seats = append(seats, rebootRow{"seat/" + seat.SeatID, r, seat})
		}
	}
	if filter != "" && len(seats) == 0 && !matches(filter, r.Rig, verdictWord(r.Verdict)) {
		return
	}
	s.rows = append(s.rows, rebootRow{key: "rig/" + r.RigID, rig: r})
	if filter != "" || !s.folded[r.RigID] {
		s.rows = append(s.rows, seats...)
	}
}

func (s *restoreScreen) settle(m *Model) { s.part().list.settle(s.sizes(m).listH - restoreHead) }

func (s *restoreScreen) move(_ *Model, d move) tea.Cmd {
	s.part().list.move(d)
	return nil
}

// row gives the rig or seat under the cursor.
func (s *restoreScreen) row() (rebootRow, bool) {
	if c := s.parts[tabReboot].list.cursor; s.tab == tabReboot && c < len(s.rows) {
		return s.rows[c], true
	}
	return rebootRow{}, false
}

func (s *restoreScreen) snapshot() (engine.SnapshotView, bool) {
	if c := s.parts[tabSnapshots].list.cursor; s.tab == tabSnapshots && c < len(s.snapRows) {
		return s.snapRows[c], true
	}
	return engine.SnapshotView{}, false
}

func (s *restoreScreen) attempt() (engine.RestoreStatus, bool) {
	if c := s.parts[tabPast].list.cursor; s.tab == tabPast && c < len(s.pastRows) {
		return s.pastRows[c], true
	}
	return engine.RestoreStatus{}, false
}

func (s *restoreScreen) subject(m *Model) subject {
	if r, ok := s.row(); ok {
		out := subject{rig: m.rig(r.rig.RigID), copy: r.rig.Rig, topic: "status"}
		if r.seat != nil {
			out.copy, out.seat = r.seat.Seat, m.seats[r.seat.SeatID]
		}
		return out
	}
	if v, ok := s.snapshot(); ok {
		return subject{rig: m.rig(v.RigID), copy: v.ID, snapshot: v.ID}
	}
	if v, ok := s.attempt(); ok {
		return subject{rig: m.rig(v.RigID), copy: v.Attempt}
	}
	return subject{}
}

func (s *restoreScreen) panes(*Model) []string { return nil }

func (s *restoreScreen) at(m *Model, x, y int) click {
	a, p := s.sizes(m), s.part()
	row := p.list.top + y - restoreHead
	if x >= a.listW || y < restoreHead || y >= a.listH || row >= len(p.list.keys) {
		return clickNone
	}
	return p.list.click(row)
}

// fold folds the rig under the cursor, or unfolds it.
func (s *restoreScreen) fold(m *Model, fold bool) tea.Cmd {
	r, ok := s.row()
	if !ok {
		return nil
	}
	s.folded[r.rig.RigID] = fold
	s.filter(m)
	if fold {
		s.parts[tabReboot].list.to("rig/" + r.rig.RigID)
	}
	return nil
}

func (m *Model) restoreScreen() *restoreScreen {
	s, ok := m.screens[screenRestore].(*restoreScreen)
	if !ok {
		return newRestoreScreen()
	}
	return s
}

// nextRestoreTab goes on to the next list of the screen.
func (m *Model) nextRestoreTab() tea.Cmd {
	s := m.restoreScreen()
	s.tab = (s.tab + 1) % restoreTabs
	if !s.part().loaded || s.part().mark != restoreMark(m) {
		return s.read(m)
	}
	return nil
}

// openRestoreRow shows all that is known of the row under the cursor.
func (m *Model) openRestoreRow() tea.Cmd {
	s := m.restoreScreen()
	title, lines := s.about(m)
	r := &reader{title: title, lines: lines, copy: m.here().copy}
	m.push(r)
	v, ok := s.snapshot()
	if !ok {
		return nil
	}
	r.id = m.next()
	c, ctx, id, head := m.c, m.ctx, r.id, lines
	return func() tea.Msg {
		d, err := c.Snapshot(ctx, v.ID)
		return readMsg{id, append(append([]readLine(nil), head...), snapshotLines(d)...), err}
	}
}
