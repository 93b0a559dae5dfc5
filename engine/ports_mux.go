package engine

import (
	"context"
	"time"
)

// PaneID is a tmux pane id such as "%12". It means something only together with
// the server epoch it was read in.
type PaneID string

// Epoch identifies one life of a tmux server: its pid and start time. Every pane
// and session id is void when it changes.
type Epoch string

// Presence is a three-valued answer. Unknown never counts as absent.
type Presence int

// Presences.
const (
	Unknown Presence = iota // nothing could be told
	Absent                  // positively not there
	Present                 // positively there
)

// String gives the word used on screens and in JSON.
func (p Presence) String() string {
	switch p {
	case Present:
		return "present"
	case Absent:
		return "absent"
	case Unknown:
	}
	return "unknown"
}

// MarshalText lets a Presence stand in JSON as its word.
func (p Presence) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// Place is where a terminal looks: a session, and in it a window and a pane, since
// people open others there.
type Place struct {
	Session string
	Window  int    // index; -1 = the one that the session shows
	Pane    PaneID // in that window; "" = the active one
}

// SessionPlace is a session, at what it shows.
func SessionPlace(name string) Place { return Place{Session: name, Window: -1} }

// Place is where a pane is seen.
func (p *Pane) Place() Place { return Place{Session: p.Session, Window: p.Window, Pane: p.ID} }

// Pane is one row of the inventory.
type Pane struct {
	ID       PaneID    `json:"id"`
	PID      int       `json:"pid"` // its root process; 0 for a dead pane of a tmux that forgets it
	Session  string    `json:"session"`
	Window   int       `json:"window"` // index
	Dead     bool      `json:"dead"`
	DeadCode int       `json:"dead_code"`        // exit status; -1 when tmux does not say
	DeadAt   time.Time `json:"dead_at,omitzero"` // zero before 3.3 and for a live pane
	Width    int       `json:"width"`
	Height   int       `json:"height"`
	Activity time.Time `json:"activity"`       // last output in its window, 1 s resolution
	Command  string    `json:"command"`        // foreground command, untrusted
	Title    string    `json:"title"`          // untrusted
	Path     string    `json:"path"`           // current directory, untrusted; not asked of a pane with a seat's tag
	Seat     string    `json:"seat,omitempty"` // our tags
	Gen      string    `json:"gen,omitempty"`
	Op       string    `json:"op,omitempty"`
}

// Inventory is everything the tmux server said in one exchange.
type Inventory struct {
	Socket string   // which server this is; "" = not said
	Server Presence // Absent = positively no server; Unknown = it did not answer
	Epoch  Epoch
	Panes  []Pane
	Faults []string // rows that did not parse
	Path   string   // "control" or "batch": how it was read
	Err    error    // why Server is Unknown
	At     time.Time

	Elsewhere map[string]Inventory // by socket: other servers on which seats are bound, as far as they were asked
}

// Find gives the pane that carries a seat's tag, preferring a live one.
func (inv *Inventory) Find(seatID string) []Pane {
	var out []Pane
	for _, p := range inv.Panes {
		if p.Seat == seatID {
			out = append(out, p)
		}
	}
	return out
}

// Pane gives the pane of an id.
func (inv *Inventory) Pane(id PaneID) (Pane, bool) {
	for i := range inv.Panes { // a pane is large: copied once, not at each comparison
		if inv.Panes[i].ID == id {
			return inv.Panes[i], true
		}
	}
	return Pane{}, false
}

// Guard names a pane and what must be true of it. The tmux server itself checks
// it in the same command list as the action; a difference is CodePaneMismatch.
// Empty fields are not checked, but Seat or Op must be given.
type Guard struct {
	Pane    PaneID
	Epoch   Epoch
	Seat    string
	Gen     string
	Op      string
	PID     int  // pane_pid, 0 = any
	DeadOK  bool // accept a pane whose process has ended (never for paste)
	Session string
}

// SessionSpec describes a session to create.
type SessionSpec struct {
	Name          string
	Dir           string
	Width, Height int
	Argv          []string // run without a shell; at least one word
	Seat          string   // tags, set in the same command list
	Gen           string
	Op            string
}

// PaneRef is what creation returns.
type PaneRef struct {
	Epoch Epoch  `json:"epoch"`
	Pane  PaneID `json:"pane"`
	PID   int    `json:"pid"`
}

// CaptureRequest asks for a pane's screen.
type CaptureRequest struct {
	Pane    PaneID
	History int  // lines above the screen; 0 = the visible screen
	Colours bool // keep SGR sequences
	Faint   bool // say what is drawn faint; of no effect with Colours
}

// Screen is what a pane shows, in lines without colours.
type Screen struct {
	Lines []string
	Faint []string // of each line the text that is drawn faint; nil = nobody asked
}

// CaptureResult is one pane's screen, or why it could not be read. The lines have SGR
// sequences where Colours asked for them.
type CaptureResult struct {
	Pane PaneID
	Screen
	Err error
}

// Client is an attached tmux client.
type Client struct {
	Name     string `json:"name"` // its tty
	Session  string `json:"session"`
	PID      int    `json:"pid"`
	Width    int    `json:"width"`
	Height   int    `json:"height"`
	Control  bool   `json:"control"`
	ReadOnly bool   `json:"read_only"`
}

// Mux is tmux as the engine needs it. Every method takes a context with a
// deadline. Errors are *Error: CodeTmuxProbeFailed when tmux did not answer,
// CodeNotFound for positive absence, CodePaneMismatch when a guard refused.
type Mux interface {
	OtherServers
	// Inventory lists every pane of the server. It never fails: trouble is in
	// the value, as Unknown.
	Inventory(ctx context.Context) Inventory
	// InventoryOf is Inventory of the panes of some sessions only: those whose
	// names match a pattern, in which * stands for any text; or of more.
	InventoryOf(ctx context.Context, sessions string) Inventory
	// Capture reads screens in one exchange; a pane that fails fails alone.
	Capture(ctx context.Context, reqs []CaptureRequest) ([]CaptureResult, error)
	// Look gives what Inventory and Capture would, of one exchange; screens only
	// when the server is Present.
	Look(ctx context.Context, reqs []CaptureRequest) (Inventory, []CaptureResult)
	// HasSession asks for an exact session name.
	HasSession(ctx context.Context, name string) (Presence, error)
	// Create makes a detached session; an existing name is CodeSessionExists.
	Create(ctx context.Context, s SessionSpec) (PaneRef, error)
	// KillSession ends the session of a guarded pane; absent is CodeNotFound.
	KillSession(ctx context.Context, g Guard) error
	// KillPane ends a guarded pane and nothing beside it; absent is CodeNotFound.
	KillPane(ctx context.Context, g Guard) error
	// Paste delivers text as one bracketed paste. It does not submit.
	Paste(ctx context.Context, g Guard, text string) error
	// Keys presses named keys such as "Enter" in a guarded pane.
	Keys(ctx context.Context, g Guard, keys ...string) error
	// Tag replaces our tags on a guarded pane; an empty value removes the tag.
	Tag(ctx context.Context, g Guard, seat, gen, op string) error
	// Adopt sets our tags on a pane that carries none. The guard's pane, epoch
	// and pid are checked.
	Adopt(ctx context.Context, g Guard, seat, gen, op string) error
	// Swap exchanges two guarded panes, in one server command list.
	Swap(ctx context.Context, a, b Guard) error
	// Rename renames the session of a guarded pane; an existing name is
	// CodeSessionExists.
	Rename(ctx context.Context, g Guard, name string) error
	// Clients lists attached clients.
	Clients(ctx context.Context) ([]Client, error)
	// SwitchClient points a client at a place.
	SwitchClient(ctx context.Context, client string, to Place) error
	// AttachArgv is the command line that attaches a terminal to a place.
	AttachArgv(to Place) []string
	// PopupArgv is the command line that opens a place of this server in a popup
	// over a client of the server on socket, which may be another one. The client is
	// named, or tmux takes the one that shows pane, or the only one.
	PopupArgv(socket, client, pane string, to Place) []string
	// Watch tells when something moved, until ctx ends. The value is a hint:
	// the reader asks Inventory for the truth.
	Watch(ctx context.Context) <-chan MuxEvent
	// Socket is the path of the server's socket.
	Socket() string
}

// MuxEvent says that something may have changed.
type MuxEvent struct {
	Kind string // "changed", "connected", "lost"
	Path string // "control" or "batch"
}
