package tui

import (
	"context"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
)

// Options are what a console can be told. The zero value works, apart from what
// it says of a missing function.
type Options struct {
	ReadOnly bool                // no wizard opens, nothing is sent or acknowledged
	NoMouse  bool                // do not ask the terminal for mouse reports
	ASCII    bool                // draw with ASCII only
	Theme    string              // "", dark, light, any, 16 or mono; "" = by what the terminal says
	Keys     map[string][]string // action id to the keys that replace its own
	Zone     *time.Location      // in which times are shown; nil = UTC

	// Now tells the time. It is called by commands only. Without it ages are
	// counted from the pictures' own time.
	Now func() time.Time
	// Attach makes the command that attaches this terminal to a pane and returns
	// when the operator detaches. Without it a jump outside tmux shows the line
	// to type.
	Attach func(argv []string) tea.ExecCommand
	// Bell rings the terminal's bell when something new waits for a person; Notify
	// asks the terminal for a desktop notification as well (OSC 9 and OSC 777).
	Bell, Notify bool

	// Popup runs the command line that opens a popup, until the popup is closed.
	// Without it NoPopup says why there is none.
	Popup   func(ctx context.Context, argv []string) error
	NoPopup string
	// InPopup says that the console is a popup over another terminal: a jump that
	// points that terminal elsewhere closes it.
	InPopup bool
	// Starters lists what `up` can start by name. Without it the field is free.
	Starters func(ctx context.Context) ([]Choice, error)
	// Discovered lists sessions that a seat can adopt. Without it the field is
	// free.
	Discovered func(ctx context.Context) ([]Choice, error)
	// HostChecks looks at what of this machine a restore depends on and the engine
	// cannot see. It is called by commands only; nil = nothing is added.
	HostChecks func() []engine.RestoreCheckItem

	// Marker adds the picture's revision and the screen to the window title, so
	// that a test outside can wait for a frame.
	Marker bool
	// OnFrame is told after each update which revision and screen are about to be
	// drawn. It is called from a command.
	OnFrame func(revision uint64, screen string)
	// LogPath is the file to which a panic's stack is appended; the error that Run
	// returns names it. Without it the stack is in the error's details.
	LogPath string

	// TrueColour asks the tmux around the console whether its client shows 24-bit
	// colours. It may take long: the console is drawn meanwhile with what Env
	// promises. Nil = Env says it all.
	TrueColour func(ctx context.Context) bool

	Input  io.Reader // nil = the terminal
	Output io.Writer // nil = the terminal
	Env    []string  // KEY=value, for what the terminal can show; nil = the process's own
}

// Choice is one thing that a field offers.
type Choice struct {
	Value  string // what is put into the request
	Label  string // how it is listed; "" = the value
	Note   string // what there is to know about it
	Reason string // not empty: it cannot be chosen, and why
	Picked string // of several: what there is to know once it is picked; "" = the note
	Tone   tone   // of the note, where it asks for a person

	Runtime engine.RuntimeName // of a session, "" = not known
}

func (o Options) zone() *time.Location {
	if o.Zone == nil {
		return time.UTC
	}
	return o.Zone
}

// frameOf is a pane's screen, made safe to draw.
type frameOf struct {
	lines []string
	cols  int
	rows  int
	err   string
}

// subject is what the cursor stands on. Several fields can be set: a seat has a
// rig.
type subject struct {
	seat  *engine.SeatView
	rig   *engine.RigView
	image *engine.ImageView
	item  *engine.AttentionItem
	copy  string // what `y` copies
	topic string // what `e` asks about
	op    string // id of an operation
	pod   string // the pod under the cursor
	seats []string

	snapshot string // the snapshot that is selected
}
