package engine

import (
	"strings"
	"time"
)

// Fleet is one immutable picture of everything: what any screen and every
// `--json` answer shows. It is built from the record, the tmux inventory, the
// runtimes' readings and the usage samples. Readers must not change it.
type Fleet struct {
	Revision  uint64          `json:"revision"` // grows only when something that is shown changed
	At        time.Time       `json:"at"`
	Live      bool            `json:"live"` // false: from the record alone, tmux not asked yet
	Server    ServerView      `json:"server"`
	Sockets   []SocketView    `json:"sockets"` // where the seats are: our server first
	Rigs      []RigView       `json:"rigs"`
	Attention []AttentionItem `json:"attention"` // heaviest and oldest first
	Ops       []OpView        `json:"operations"`
	Recent    []Event         `json:"recent"` // newest first, bounded
	Totals    Totals          `json:"totals"`
	RecordErr string          `json:"record_error,omitempty"`

	bySeat map[string]*SeatView
}

// Seat finds a seat by id; nil when it is not in this picture.
func (f *Fleet) Seat(id string) *SeatView {
	if f == nil {
		return nil
	}
	return f.bySeat[id]
}

// Seats lists every seat in display order.
func (f *Fleet) Seats() []*SeatView {
	if f == nil {
		return nil
	}
	var out []*SeatView
	for i := range f.Rigs {
		for j := range f.Rigs[i].Seats {
			out = append(out, &f.Rigs[i].Seats[j])
		}
	}
	return out
}

// ServerView is what is known of the tmux server.
type ServerView struct {
	State  Presence `json:"state"`
	Socket string   `json:"socket"`
	Epoch  Epoch    `json:"epoch,omitempty"`
	Path   string   `json:"path,omitempty"` // how it is read: "control" or "batch"
	Why    string   `json:"why,omitempty"`
}

// Silence says that the server does not answer, and why where that is known.
func (s ServerView) Silence() string {
	const silent = "tmux does not answer"
	if _, limit, ok := strings.Cut(s.Why, "did not answer within "); ok {
		return silent + " (nothing within " + limit + ")"
	}
	if s.Why == "" {
		return silent
	}
	return silent + ": " + s.Why
}

// Totals counts what a footer shows.
type Totals struct {
	Rigs      int `json:"rigs"`
	Seats     int `json:"seats"`
	Running   int `json:"running"`
	Busy      int `json:"busy"`
	Waiting   int `json:"waiting"`
	Unknown   int `json:"unknown,omitempty"` // seats of which nobody can tell whether they run
	Attention int `json:"attention"`
}

// SeatLife is what the picture says of a seat's life, derived from record and
// tmux together.
type SeatLife string

// Seat lives. LifeUnknown is drawn "?": it is neither idle nor dead.
const (
	LifeRunning   SeatLife = "running"
	LifeStarting  SeatLife = "starting"  // an operation is bringing it up
	LifeDead      SeatLife = "dead"      // its pane is there, its process has ended
	LifeLost      SeatLife = "lost"      // bound on record, positively not in tmux
	LifeStopped   SeatLife = "stopped"   // ended by a verb of ours
	LifeNever     SeatLife = "never_run" // no occupant yet
	LifeAttention SeatLife = "attention_required"
	LifeUnknown   SeatLife = "unknown"
)

// RigLife sums up the seats of a rig.
type RigLife string

// Rig lives.
const (
	RigRunning   RigLife = "running"
	RigStarting  RigLife = "starting"
	RigDegraded  RigLife = "degraded" // some run, some do not
	RigAttention RigLife = "attention_required"
	RigStopped   RigLife = "stopped"
	RigUnknown   RigLife = "unknown"
)

// RigView is one rig with its seats in spec order.
type RigView struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Life      RigLife    `json:"lifecycle"`
	Why       string     `json:"why,omitempty"`
	SpecPath  string     `json:"spec_path,omitempty"`
	CreatedAt time.Time  `json:"created_at"`
	Running   int        `json:"running_count"`
	Busy      int        `json:"active_count"`
	Unknown   int        `json:"unknown_count,omitempty"` // seats of which nobody can tell whether they run
	Attention int        `json:"attention_count"`
	Pods      []PodView  `json:"pods"`
	Seats     []SeatView `json:"seats"`
}

// PodView is a pod's heading.
type PodView struct {
	Name  string `json:"name"`
	Label string `json:"label"`
}

// EdgeView is a relation of a seat, seen from it.
type EdgeView struct {
	Kind EdgeKind `json:"kind"`
	Seat string   `json:"seat"` // address of the other end
	Out  bool     `json:"out"`  // from this seat to the other
}

// SeatView is everything that is shown of a seat. Each group of facts carries
// its own source, age and confidence.
type SeatView struct {
	ID         string      `json:"seat_id"`
	Address    string      `json:"address"`
	Logical    string      `json:"logical_id"`
	RigID      string      `json:"rig_id"`
	Rig        string      `json:"rig"`
	Pod        string      `json:"pod"`
	Member     string      `json:"member"`
	Label      string      `json:"label,omitempty"`
	Runtime    RuntimeName `json:"runtime"`
	Model      string      `json:"model,omitempty"`
	Role       string      `json:"role,omitempty"`
	Cwd        string      `json:"cwd"`
	Generation int64       `json:"generation"`

	Life     SeatLife      `json:"lifecycle"`
	LifeWhy  string        `json:"lifecycle_why"`
	Startup  StartupStatus `json:"startup_status,omitempty"`
	Origin   Origin        `json:"origin,omitempty"`
	ExitCode *int          `json:"exit_code,omitempty"`

	Identity    string `json:"pane_identity,omitempty"` // verified, mismatch; "" = nothing can be told
	IdentityWhy string `json:"pane_identity_why,omitempty"`

	Activity Activity  `json:"activity"`
	Since    time.Time `json:"activity_since,omitzero"` // when this state was first seen
	Usage    Usage     `json:"context"`

	Compaction SeatCompaction `json:"compaction"`

	Continuity       Continuity     `json:"continuity_outcome,omitempty"`
	Binding          BindingOutcome `json:"binding_outcome,omitempty"`
	ContextDelivered bool           `json:"context_delivered,omitempty"`
	OutcomeAt        time.Time      `json:"outcome_at,omitzero"`
	OutcomeBy        string         `json:"outcome_by,omitempty"`
	Previous         string         `json:"previous_occupant,omitempty"`
	ForkedFrom       string         `json:"forked_from,omitempty"`
	LastError        string         `json:"last_error,omitempty"` // of the last operation on it, with its remedy

	SessionName  string     `json:"session_name,omitempty"`
	Pane         PaneID     `json:"pane,omitempty"`
	Window       int        `json:"-"` // index of the pane's window in that session; -1 while the pane is in another
	PanePID      int        `json:"pane_pid,omitempty"`
	PaneSize     [2]int     `json:"pane_size,omitempty"` // columns, rows
	PaneActivity time.Time  `json:"pane_activity,omitzero"`
	Title        string     `json:"pane_title,omitempty"`
	TokenPresent bool       `json:"resume_token_present"`
	TokenRank    Provenance `json:"resume_provenance,omitempty"`
	StartedAt    time.Time  `json:"started_at,omitzero"`

	Edges     []EdgeView  `json:"edges,omitempty"`
	Work      WorkCount   `json:"work"`
	OpID      string      `json:"operation,omitempty"` // the running operation that holds the seat
	OpVerb    Verb        `json:"operation_verb,omitempty"`
	Gate      *StagedGate `json:"staged_gate,omitempty"` // of the operation: what its successor asks a person
	Attention []string    `json:"attention,omitempty"`   // keys of its attention items
}

// StagedGate is a gate at which the successor of a handover waits, in a session that
// is not the seat's.
type StagedGate struct {
	Why     string    `json:"why"`
	Session string    `json:"session"`
	Since   time.Time `json:"since,omitzero"`
	Until   time.Time `json:"until,omitzero"` // then the handover is rolled back
}

// ToSee is where a person has something to look at: the session of a successor at a
// gate, else the seat's pane. Its session is "" where there is none.
func (s *SeatView) ToSee() Place {
	if s.Gate != nil {
		return SessionPlace(s.Gate.Session)
	}
	if s.Window < 0 {
		return SessionPlace(s.SessionName)
	}
	return Place{Session: s.SessionName, Window: s.Window, Pane: s.Pane}
}

// AttentionItem is one thing that waits for a person.
type AttentionItem struct {
	Key      string         `json:"key"` // stable: class, seat or operation, and what it was made of
	Class    string         `json:"class"`
	Seat     string         `json:"seat,omitempty"` // address
	SeatID   string         `json:"seat_id,omitempty"`
	Rig      string         `json:"rig,omitempty"`
	OpID     string         `json:"operation,omitempty"`
	Target   string         `json:"target,omitempty"` // of the operation: a seat or a rig
	Reason   string         `json:"reason"`
	Remedy   string         `json:"remedy"`         // what resolves it, in words with the command
	Weight   int            `json:"weight"`         // heavier first
	Since    time.Time      `json:"since,omitzero"` // zero = not known
	Evidence map[string]any `json:"evidence,omitempty"`
	Acked    string         `json:"acked_by,omitempty"`
	Until    time.Time      `json:"snoozed_until,omitzero"`
}

// Attention classes.
const (
	AttnWaiting    = "waiting"             // the client asks a person
	AttnSuspended  = "suspended"           // the client was stopped (SIGSTOP, Ctrl-Z)
	AttnGate       = "gate"                // trust, login, update, hook review
	AttnLimit      = "usage_limit"         // at a usage limit
	AttnStartup    = "startup"             // a start that needs a person or failed
	AttnOutcome    = "outcome"             // attention_required, awaiting-decision, failed
	AttnDead       = "dead_pane"           // the process ended, the pane is kept
	AttnLost       = "lost"                // on record, not in tmux
	AttnIdentity   = "identity"            // wrong process in the pane
	AttnShared     = "shared_conversation" // one conversation in two seats or panes
	AttnUnfinished = "unfinished_operation"
	AttnServer     = "server" // tmux cannot be read
)

// OpView is an operation as lists show it.
type OpView struct {
	ID        string    `json:"id"`
	Verb      Verb      `json:"verb"`
	Target    string    `json:"target"`
	State     OpState   `json:"state"`
	Operator  string    `json:"operator,omitempty"`
	StartedAt time.Time `json:"started_at"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	Done      int       `json:"steps_done"`
	Total     int       `json:"steps_total"`
	Now       string    `json:"now,omitempty"` // title of the step under way
	Error     string    `json:"error,omitempty"`
	UndoUntil time.Time `json:"undo_until,omitzero"`
	UndoGone  bool      `json:"undo_gone,omitempty"` // the pane that the undo would bring back is not there any more
	Committed bool      `json:"committed"`           // some of it cannot be rolled back any more
}

// PaneFrame is the live screen of one seat's pane.
type PaneFrame struct {
	SeatID string    `json:"seat_id"`
	Lines  []string  `json:"lines"` // with SGR colours only, already cleaned
	Cols   int       `json:"cols"`
	Rows   int       `json:"rows"`
	At     time.Time `json:"at"`
	Err    string    `json:"error,omitempty"`
}
