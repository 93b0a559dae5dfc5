package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"rig/engine"
)

// Model is the console as a Bubble Tea model. It is one value that is changed in
// Update alone; screens and dialogs are parts of it.
type Model struct {
	c   engine.Console
	opt Options
	ctx context.Context
	reg *registry

	brush   brush
	profile colorprofile.Profile
	bg      background
	w, h    int
	mouse   bool

	now      time.Time
	operator engine.Operator
	fleet    *engine.Fleet // nil before the first picture
	seats    map[string]*engine.SeatView
	waits    map[string]*engine.AttentionItem // what each seat waits for a person with, heaviest, unseen
	streams  streams
	frames   map[string]frameOf
	focus    focus

	screens map[screenID]screen
	cur     screenID
	trail   []screenID // screens before this one, newest last
	marks   map[string]bool
	marked  string            // seat that was marked last
	unsent  map[string]string // messages that were typed and not sent, by seat; "" = to what was marked
	filters map[screenID]string
	typing  *input // the filter line while it is open

	overlays []overlay
	toast    toast
	runs     []*run
	serial   int // numbers requests, so that late answers are told from right ones
	clock    int // number of the running one-second tick; 0 = none
	quitting bool
	bell     bell

	papersAsked int // number of the request for what a seat has to read; 0 = none

	ahead []move // pressed before there was a picture to move in

	// after makes a command that answers after a time; tests put their own clock
	// here.
	after func(d time.Duration, answer func(time.Time) tea.Msg) tea.Cmd
}

// streams are the channels that the engine delivers on.
type streams struct {
	fleets <-chan *engine.Fleet
	frames <-chan engine.PaneFrame
	ended  bool
}

// toast is one line of news in the footer.
type toast struct {
	text  string
	tone  tone
	id    int
	stays bool // until the next key
}

// New makes the console's model. It refuses keys that collide.
func New(ctx context.Context, c engine.Console, opt Options) (*Model, error) {
	reg, err := newRegistry(opt.Keys)
	if err != nil {
		return nil, err
	}
	m := &Model{
		c: c, opt: opt, ctx: ctx, reg: reg, profile: colorprofile.TrueColor, mouse: !opt.NoMouse,
		frames: map[string]frameOf{}, marks: map[string]bool{}, unsent: map[string]string{}, filters: map[screenID]string{},
		seats: map[string]*engine.SeatView{}, screens: newScreens(), cur: screenFleet, after: tea.Tick,
	}
	m.brush.g = unicodeGlyphs()
	if opt.ASCII {
		m.brush.g = asciiGlyphs()
	}
	m.restyle()
	return m, nil
}

func (m *Model) restyle() { m.brush.theme = pickTheme(m.opt.Theme, m.profile, m.bg) }

// Init starts the streams and the slow clock.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(m.connect(), m.readNow(), m.minute(), m.readOperator(), tea.RequestBackgroundColor)
}

// Revision is the revision of the picture that is shown, 0 before the first.
func (m *Model) Revision() uint64 {
	if m.fleet == nil {
		return 0
	}
	return m.fleet.Revision
}

// Screen names the screen that is shown.
func (m *Model) Screen() string { return m.screens[m.cur].info().slug }

// Update takes one message. It never blocks and never calls the Console.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	before := frameMark{m.Revision(), m.cur}
	cmds := []tea.Cmd{m.dispatch(msg)}
	m.screens[m.cur].settle(m)
	if w := m.wizard(); w != nil {
		w.keepTall(m)
	}
	if p, open := m.top().(*picker); open {
		p.renew(m)
	}
	cmds = append(cmds, m.refocus(), m.tickWhileRunning())
	if after := (frameMark{m.Revision(), m.cur}); m.opt.OnFrame != nil && after != before {
		f, name := m.opt.OnFrame, m.Screen()
		cmds = append(cmds, func() tea.Msg { f(after.revision, name); return nil })
	}
	return m, tea.Batch(cmds...)
}

type frameMark struct {
	revision uint64
	screen   screenID
}

func (m *Model) dispatch(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
		for _, o := range m.overlays {
			o.update(m, msg)
		}
		return nil
	case tea.KeyPressMsg:
		return m.onKey(msg)
	case tea.PasteMsg:
		return m.onPaste(msg.Content)
	case tea.MouseWheelMsg:
		return m.onWheel(msg.Mouse())
	case tea.MouseClickMsg:
		return m.onClick(msg.Mouse())
	case tea.ColorProfileMsg:
		m.profile = msg.Profile
		m.restyle()
		return nil
	case tea.BackgroundColorMsg:
		m.bg = backgroundLight
		if msg.IsDark() {
			m.bg = backgroundDark
		}
		m.restyle()
		return nil
	}
	return m.onEngine(msg)
}

// onEngine takes what commands bring back.
func (m *Model) onEngine(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case streamsMsg:
		m.streams = streams{fleets: msg.fleets, frames: msg.frames}
		return tea.Batch(m.nextFleet(), m.nextFrames())
	case fleetMsg:
		return tea.Batch(m.setFleet(msg.fleet), m.nextFleet())
	case framesMsg:
		m.setFrames(msg.frames)
		return m.nextFrames()
	case streamEndMsg:
		m.streams.ended = true
		return nil
	case nowMsg:
		m.setNow(msg.at)
		if msg.minute {
			return m.minute()
		}
		return nil
	case secondMsg:
		m.clock = 0
		m.setNow(msg.at)
		return nil
	case operatorMsg:
		m.operator = msg.operator
		return nil
	case focusedMsg:
		m.focus.busy = false
		return nil
	case toastEndMsg:
		if msg.id == m.toast.id && !m.toast.stays {
			m.toast = toast{}
		}
		return nil
	case sayMsg:
		if msg.tone == toneText && m.top() != nil && m.wizard() == nil {
			return nil // good news of a moment ago does not stand over the keys of a dialog
		}
		return m.say(msg.tone, msg.tone == toneBad, msg.text)
	}
	return m.onAnswer(msg)
}

// onAnswer takes answers that belong to a jump, a run, a dialog or a screen.
func (m *Model) onAnswer(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case jumpMsg:
		return m.onJump(msg)
	case progressMsg:
		return m.onProgress(msg)
	case appliedMsg:
		return m.onApplied(msg)
	case cancelledMsg:
		return m.onCancelled(msg)
	case papersMsg:
		return m.onPapers(msg)
	}
	var cmds []tea.Cmd
	if sent, ok := msg.(sentMsg); ok {
		cmds = append(cmds, m.onSent(sent))
	}
	for _, o := range m.overlays {
		cmds = append(cmds, o.update(m, msg))
	}
	for _, s := range m.screens {
		cmds = append(cmds, s.update(m, msg))
	}
	return tea.Batch(cmds...)
}

// setNow moves the time on; it never goes back, whichever source is ahead.
func (m *Model) setNow(at time.Time) {
	if at.After(m.now) {
		m.now = at
	}
}

// setFleet takes a new picture. A picture that is older than the one shown is
// left aside.
func (m *Model) setFleet(f *engine.Fleet) tea.Cmd {
	if f == nil || m.fleet != nil && f.Revision < m.fleet.Revision {
		return nil
	}
	fresh := m.fleet == nil || f.Live && !m.fleet.Live
	m.fleet = f
	m.setNow(f.At)
	m.seats = make(map[string]*engine.SeatView, len(m.seats))
	for _, s := range f.Seats() {
		m.seats[s.ID] = s
	}
	m.waits = firstWaits(f)
	for id := range m.marks {
		if m.seats[id] == nil {
			delete(m.marks, id)
		}
	}
	for id := range m.frames {
		if m.seats[id] == nil {
			delete(m.frames, id)
		}
	}
	for id := range m.unsent {
		if id != "" && m.seats[id] == nil {
			delete(m.unsent, id)
		}
	}
	cmds := []tea.Cmd{m.ring(f), m.askColours()}
	if fresh { // the library reads the size before it listens for changes, and misses one in between
		cmds = append(cmds, tea.RequestWindowSize)
	}
	for _, s := range m.screens {
		cmds = append(cmds, s.refresh(m))
	}
	for _, o := range m.overlays {
		cmds = append(cmds, o.update(m, pictureMsg{}))
	}
	ahead := m.ahead
	m.ahead = nil
	for _, d := range ahead {
		m.screens[m.cur].settle(m)
		cmds = append(cmds, m.screens[m.cur].move(m, d))
	}
	return tea.Batch(cmds...)
}

// askColours asks once, and only when the first picture of what runs is there, the
// tmux around for 24-bit colours. Who wants no colours is not given more of them.
func (m *Model) askColours() tea.Cmd {
	ask, ctx := m.opt.TrueColour, m.ctx
	if ask == nil || !m.fleet.Live || m.profile != colorprofile.ANSI && m.profile != colorprofile.ANSI256 {
		return nil
	}
	m.opt.TrueColour = nil
	return func() tea.Msg {
		if ask(ctx) {
			return tea.CapabilityMsg{Content: "RGB"} // as if the terminal had said so
		}
		return nil
	}
}

func (m *Model) setFrames(frames []engine.PaneFrame) {
	for _, f := range frames {
		m.frames[f.SeatID] = frameOf{lines: paneText(f.Lines), cols: f.Cols, rows: f.Rows, err: clean(f.Err)}
	}
}

// say puts a line of news into the footer. Errors stay until the next key.
func (m *Model) say(k tone, stays bool, text string) tea.Cmd {
	m.toast = toast{text: clean(text), tone: k, id: m.next(), stays: stays}
	return m.toastEnd(m.toast.id)
}

// fail says an error with what to do next.
func (m *Model) fail(err error) tea.Cmd { return m.say(toneBad, true, errorText(err)) }

func (m *Model) next() int {
	m.serial++
	return m.serial
}
