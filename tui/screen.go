package tui

import (
	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// screenID names a screen.
type screenID int

// The screens.
const (
	screenFleet screenID = iota
	screenAttention
	screenPressure
	screenWall
	screenSeat
	screenImages
	screenOps
	screenEvents
	screenRestore
)

// screenInfo is what the rest of the console knows of a screen.
type screenInfo struct {
	id       screenID
	slug     string // in ids and markers
	name     string
	short    string // the name where room is short
	about    string
	place    int // its number key
	in       scope
	disabled func(m *Model) string
}

// screenList lists the screens in the order of their keys.
func screenList() []screenInfo {
	return []screenInfo{
		{screenFleet, "fleet", "Fleet", "Fleet", "rigs, pods and seats, the live pane, what changed last", 1, scopeFleet, nil},
		{screenAttention, "attention", "Attention", "Attn", "everything that waits for a person, heaviest first", 2, scopeAttention, nil},
		{screenPressure, "pressure", "Pressure", "Press", "context windows as gauges, fullest first", 3, scopePressure, nil},
		{screenWall, "wall", "Wall", "Wall", "as many live panes as fit", 4, scopeWall, nil},
		{screenSeat, "seat", "Seat", "Seat", "one seat: pane, status, evidence, occupants, work", 5, scopeSeat, (*Model).whyNoSeatScreen},
		{screenRestore, "restore", "Restore", "Restore", "what would come back if this machine rebooted now; snapshots; past restores", 6, scopeRestore, nil},
		{screenImages, "images", "Images", "Images", "agent images: where they come from, what protects them, what they start", 7, scopeImages, nil},
		{screenOps, "operations", "Operations", "Ops", "running and past operations with their journals", 8, scopeOps, nil},
		{screenEvents, "events", "Events", "Events", "the audit log, followed live", 9, scopeEvents, nil},
	}
}

// screen is one page of the console. Its view takes its size and changes
// nothing; settle keeps cursors inside the window after each message.
type screen interface {
	info() screenInfo
	// refresh takes a new picture, a new filter, or the moment of being shown.
	refresh(m *Model) tea.Cmd
	// update takes answers of commands; every screen sees each of them.
	update(m *Model, msg tea.Msg) tea.Cmd
	settle(m *Model)
	move(m *Model, d move) tea.Cmd
	subject(m *Model) subject
	// panes lists the seats whose live panes are on screen.
	panes(m *Model) []string
	view(m *Model, w, h int) []string
	// at puts the cursor on the row that a click meant.
	at(m *Model, x, y int) click
}

func newScreens() map[screenID]screen {
	return map[screenID]screen{
		screenFleet: newFleetScreen(), screenAttention: &attentionScreen{}, screenPressure: &pressureScreen{},
		screenWall: &wallScreen{}, screenSeat: &seatScreen{}, screenImages: &imagesScreen{}, screenOps: &opsScreen{}, screenEvents: &eventsScreen{follow: true}, screenRestore: newRestoreScreen(),
	}
}

// infoOf gives the description of a screen.
func infoOf(id screenID) screenInfo {
	for _, s := range screenList() {
		if s.id == id {
			return s
		}
	}
	return screenInfo{}
}

// scope is where keys go now: the topmost dialog, the filter line, or the screen.
func (m *Model) scope() scope {
	if n := len(m.overlays); n > 0 {
		return m.overlays[n-1].scope(m)
	}
	if m.typing != nil {
		return scopeFilter
	}
	return m.screens[m.cur].info().in
}

// show goes to a screen and remembers the way back.
func (m *Model) show(id screenID) tea.Cmd {
	if id == m.cur {
		return nil
	}
	if reason := infoOf(id).disabled; reason != nil {
		if why := reason(m); why != "" {
			return m.say(toneNeed, false, why)
		}
	}
	m.remember(id)
	s := m.screens[m.cur].subject(m)
	if id == screenSeat && s.seat != nil {
		m.seatScreen().open(s.seat.ID)
	}
	m.trail = append(m.trail, m.cur)
	if len(m.trail) > 20 {
		m.trail = m.trail[1:]
	}
	m.cur, m.typing = id, nil
	cmd := m.renew(id)
	if to, lists := m.screens[id].(seatLister); lists && s.seat != nil {
		to.meet(s.seat.ID)
	}
	return cmd
}

// seatLister is a screen of the seats in their order: whoever comes to it finds the cursor
// on the seat that was under it before. Attention and Pressure are none: what is heaviest
// or fullest is first there, whoever it is.
type seatLister interface {
	// meet puts the cursor on a seat that is in sight, and leaves it where it is otherwise.
	meet(seatID string)
}

func (s *fleetScreen) meet(seatID string) { s.list.to("seat/" + seatID) }
func (s *wallScreen) meet(seatID string)  { s.list.to(seatID) }

// remember drops a screen from the way back, so that going in circles does not
// make the way longer.
func (m *Model) remember(id screenID) {
	kept := m.trail[:0]
	for _, t := range m.trail {
		if t != id {
			kept = append(kept, t)
		}
	}
	m.trail = kept
}

// lastScreen goes to the screen before this one.
func (m *Model) lastScreen() tea.Cmd {
	if len(m.trail) == 0 {
		return m.say(toneDim, false, "there is no screen before this one")
	}
	return m.show(m.trail[len(m.trail)-1])
}

// back goes one level back: a filter, what is looked into, then marks, then the
// screen before. On the first screen it forgets the way there, and it never quits.
func (m *Model) back() tea.Cmd {
	switch {
	case m.filters[m.cur] != "":
		return m.setFilter("")
	case m.cur == screenImages && m.images().inside:
		return m.openImage()
	case m.cur == screenOps && m.operations().inside:
		return m.leaveOperation()
	case len(m.marks) > 0:
		m.marks, m.marked = map[string]bool{}, ""
		return nil
	case m.cur == screenFleet:
		m.trail = nil
	case len(m.trail) > 0:
		m.cur = m.trail[len(m.trail)-1]
		m.trail = m.trail[:len(m.trail)-1]
		return m.renew(m.cur)
	default:
		m.cur = screenFleet
		return m.renew(m.cur)
	}
	return m.say(toneNeed, false, "this is the first screen; "+m.reg.hint("quit")+" quits")
}

// quitWord says what quit does here.
func (m *Model) quitWord() string {
	if m.cur != screenFleet {
		return "to Fleet"
	}
	return "quit"
}

// quit leaves from the first screen and goes back to it from others.
func (m *Model) quit() tea.Cmd {
	if m.cur != screenFleet {
		m.trail, m.typing = nil, nil
		m.cur = screenFleet
		return m.renew(m.cur)
	}
	return m.leave("quit")
}

// leave ends the console; while something would end with it, or never begin, only when the
// key is pressed again.
func (m *Model) leave(key string) tea.Cmd {
	r := m.unsafeRun()
	if r == nil || m.quitting {
		return tea.Quit
	}
	m.quitting = true
	why := r.called() + " runs inside this console; quitting cuts it off"
	if waiting := len(r.plans) - r.at - 1; waiting > 0 && r.plan().Detached {
		why = r.called() + " is under way; quitting leaves out the " + engine.Counted(waiting, "seat") + " whose turn has not come"
	}
	return m.say(toneNeed, true, why+". Press "+m.reg.hint(key)+" again to quit")
}

func (m *Model) seatScreen() *seatScreen {
	s, ok := m.screens[screenSeat].(*seatScreen)
	if !ok {
		return &seatScreen{}
	}
	return s
}

func (m *Model) whyNoSeatScreen() string {
	if m.cur == screenSeat || m.screens[m.cur].subject(m).seat != nil || m.seatScreen().id != "" {
		return ""
	}
	return "no seat is selected: put the cursor on a seat first"
}
