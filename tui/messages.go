package tui

import (
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// Messages that commands bring back.
type (
	streamsMsg struct {
		fleets <-chan *engine.Fleet
		frames <-chan engine.PaneFrame
	}
	fleetMsg     struct{ fleet *engine.Fleet }
	framesMsg    struct{ frames []engine.PaneFrame }
	streamEndMsg struct{}
	pictureMsg   struct{} // tells dialogs that the picture changed
	nowMsg       struct {
		at     time.Time
		minute bool
	}
	secondMsg   struct{ at time.Time }
	operatorMsg struct{ operator engine.Operator }
	focusedMsg  struct{}
	toastEndMsg struct{ id int }
	armMsg      struct{ id int }
	replanMsg   struct{ id int }
	sayMsg      struct {
		tone tone
		text string
	}
	explainedMsg struct {
		id          int
		explanation engine.Explanation
		err         error
	}
	readMsg struct { // fills a text that is open
		id    int
		lines []readLine
		err   error
	}
	sentMsg struct {
		id       int
		seat     string // id
		text     string
		rest     []string // seats that it goes to after this one
		many     bool     // it goes to others too
		left     bool     // it did not arrive at all of those before
		delivery engine.Delivery
		err      error
	}
	eventsMsg struct {
		id     int
		events []engine.Event
		err    error
	}
	opsMsg struct {
		id  int
		ops []engine.Operation
		err error
	}
	opMsg struct {
		id    int
		op    engine.Operation
		steps []engine.OperationStep
		err   error
	}
	historyMsg struct {
		id       int
		seat     string
		sessions []engine.Session
		tenures  []engine.Tenure
		drift    engine.SpecDrift
		err      error
	}
	jumpMsg struct {
		seat string
		jump engine.Jump
		err  error
	}
	plannedMsg struct {
		id    int
		plans []*engine.Plan
		err   error
	}
	choicesMsg struct {
		id      int
		field   string
		choices []Choice
		err     error
	}
	pressureMsg struct {
		id   int
		plan *engine.CompactPlan
		err  error
	}
	pressureDueMsg struct{}
	cancelledMsg   struct {
		run *run
		err error
	}
	progressMsg struct {
		run      *run
		progress engine.OpProgress
	}
	appliedMsg struct {
		run     *run
		receipt *engine.Receipt
		err     error
	}
)

// frameGap is how long panes are gathered before they are drawn together: a
// screen of busy panes then costs a few frames a second, not one for each.
const frameGap = 40 * time.Millisecond

// connect opens the two streams.
func (m *Model) connect() tea.Cmd {
	c, ctx := m.c, m.ctx
	return func() tea.Msg { return streamsMsg{c.Subscribe(ctx), c.Frames(ctx)} }
}

func (m *Model) nextFleet() tea.Cmd {
	ch, ctx := m.streams.fleets, m.ctx
	if ch == nil {
		return nil
	}
	return func() tea.Msg {
		select {
		case f, ok := <-ch:
			if !ok {
				return ended(ctx.Err())
			}
			return fleetMsg{f}
		case <-ctx.Done():
			return nil
		}
	}
}

// ended tells a stream that broke from one that ended with the console.
func ended(err error) tea.Msg {
	if err != nil {
		return nil
	}
	return streamEndMsg{}
}

func (m *Model) nextFrames() tea.Cmd {
	ch, ctx := m.streams.frames, m.ctx
	if ch == nil {
		return nil
	}
	return func() tea.Msg {
		var got []engine.PaneFrame
		select {
		case f, ok := <-ch:
			if !ok {
				return nil
			}
			got = append(got, f)
		case <-ctx.Done():
			return nil
		}
		gap := time.NewTimer(frameGap)
		defer gap.Stop()
		for {
			select {
			case f, ok := <-ch:
				if !ok {
					return framesMsg{got}
				}
				got = append(got, f)
			case <-gap.C:
				return framesMsg{got}
			case <-ctx.Done():
				return nil
			}
		}
	}
}

func (m *Model) clockFunc() func(time.Time) time.Time {
	now := m.opt.Now
	return func(tick time.Time) time.Time {
		if now == nil {
			return tick
		}
		return now()
	}
}

func (m *Model) readNow() tea.Cmd {
	if m.opt.Now == nil {
		return nil
	}
	at := m.clockFunc()
	return func() tea.Msg { return nowMsg{at: at(time.Time{})} }
}

// minute wakes once a minute, so that ages grow when nothing else happens.
func (m *Model) minute() tea.Cmd {
	at := m.clockFunc()
	return m.after(time.Minute, func(t time.Time) tea.Msg { return nowMsg{at(t), true} })
}

// tickWhileRunning wakes once a second while running times are on screen, and
// not at all otherwise.
func (m *Model) tickWhileRunning() tea.Cmd {
	if m.clock != 0 || !m.showsRunning() {
		return nil
	}
	m.clock = m.next()
	at := m.clockFunc()
	return m.after(time.Second, func(t time.Time) tea.Msg { return secondMsg{at(t)} })
}

func (m *Model) readOperator() tea.Cmd {
	c := m.c
	return func() tea.Msg { return operatorMsg{c.Operator()} }
}

const toastTime = 4 * time.Second

func (m *Model) toastEnd(id int) tea.Cmd {
	return m.after(toastTime, func(time.Time) tea.Msg { return toastEndMsg{id} })
}

// focus keeps the engine told which panes are on screen, one call at a time, so
// that a late call never wins over a newer one.
type focus struct {
	told []string
	busy bool
	once bool
}

func (m *Model) refocus() tea.Cmd {
	want := m.screens[m.cur].panes(m)
	if m.focus.busy || m.focus.once && slices.Equal(want, m.focus.told) || m.streams.fleets == nil {
		return nil
	}
	m.focus = focus{told: want, busy: true, once: true}
	c := m.c
	return func() tea.Msg { c.Focus(want); return focusedMsg{} }
}

// errorText gives an error as one line: what, why, and what to do next.
func errorText(err error) string {
	var e *engine.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	text := err.Error()
	if e.Code != "" {
		text += " [" + string(e.Code) + "]"
	}
	if e.Hint != "" {
		text += " — " + e.Hint
	}
	return text
}
