package engine

import (
	"context"
	"time"
)

// Clock tells the time. It is a port so that plans and tests are repeatable.
type Clock interface {
	Now() time.Time
}

// IDs makes unique, sortable ids (ULIDs): a later id sorts after an earlier one.
type IDs interface {
	New() string
	// UUID makes a random version 4 UUID, for native ids that we may choose.
	UUID() string
}

// SpecSource reads specs for the planners: a path, or the name of a built-in
// starter. Errors are *Error with CodeValidationFailed and every problem listed.
type SpecSource interface {
	Load(ctx context.Context, ref string, opts SpecOptions) (RigSpec, error)
	LoadFragment(ctx context.Context, path string, rig RigSpec) (PodSpec, []EdgeSpec, error)
	// IsStarter reports whether name is a built-in starter.
	IsStarter(name string) bool
}

// SpecOptions change how a spec is read.
type SpecOptions struct {
	Cwd string            // replaces the directory that relative cwds start from
	Env map[string]string // added to every member
}

// Processes answers questions about processes by pid. Unknown is an error, never
// a guess.
type Processes interface {
	// Start gives the start time of a live process in the platform's own text
	// form, and false when there is provably no such process.
	Start(pid int) (string, bool, error)
	// Boot identifies this boot of the machine.
	Boot() string
	// Self is the owner record of this process under the given label.
	Self(label string) Owner
	// Stop freezes a process tree, children last found first stopped, and
	// returns the pids that could not be stopped.
	Stop(ctx context.Context, root int) (stopped, refused []int, err error)
	// Continue thaws what Stop froze.
	Continue(ctx context.Context, pids []int) error
	// ContinueTree thaws whatever is stopped in a process tree: after a crash,
	// when the list of what Stop froze is lost.
	ContinueTree(ctx context.Context, root int) error
	// Kill ends a process tree with SIGKILL and waits until it is gone.
	Kill(ctx context.Context, root int) error
}

// Spawner starts a process of this binary that outlives the caller and applies
// one plan. The ticket reaches it through a private file, never through argv.
type Spawner interface {
	// Spawn returns when the process has put its operation, or its refusal, on
	// record; an error when it ended before that.
	Spawn(ctx context.Context, t Ticket) error
}

// Ticket tells a detached process what to apply.
type Ticket struct {
	OpID        string  `json:"op_id"`
	Request     Request `json:"request"`
	Fingerprint string  `json:"fingerprint"`
	// Leases are those of the plan: they are held before it is planned again.
	Leases []string `json:"leases"`
	Basis  []Fact   `json:"basis"`           // what it stands on, to tell what moved
	Build  string   `json:"build,omitempty"` // the build that made the plan
}

// Occupants keeps the files through which a launch reaches the supervisor in
// the pane: argv and environment in, the client's pid and exit status out.
type Occupants interface {
	// WriteLaunch stores a launch file (mode 0600) for a session and returns the
	// argv that the pane must run. The supervisor deletes the file as it reads.
	WriteLaunch(sessionID string, l LaunchFile) (argv []string, err error)
	// RemoveLaunch deletes a launch file that was never read.
	RemoveLaunch(sessionID string) error
	// RemoveUnread deletes every launch file of an operation that was never read:
	// an operation that was cut off does not know the ids of its launches.
	RemoveUnread(opID string) error
	// RunState reads what the supervisor reported for a session; false when it
	// has reported nothing yet.
	RunState(sessionID string) (RunState, bool, error)
	// SettingsFor gives the one --settings value of a Claude launch: our hooks,
	// the status line and the policy keys of that seat.
	SettingsFor(seat Seat, sessionID string, generation int64, idleCompactionOff bool) string
	// Signals reads the newest hook and status-line reports of a session.
	Signals(sessionID string) (Signals, error)
	// Typing holds the right to type into a session's pane against everybody else,
	// other processes included, until release is called or this process ends. It waits
	// as long as ctx allows, then gives CodeInProgress.
	Typing(ctx context.Context, sessionID string) (release func(), err error)
}

// LaunchFile is what the supervisor in a pane runs.
type LaunchFile struct {
	Argv []string          `json:"argv"`
	Env  []string          `json:"env"` // complete, KEY=value
	Dir  string            `json:"dir"`
	Seat string            `json:"seat"`         // address, for its messages
	Op   string            `json:"op,omitempty"` // the operation that launches
	Meta map[string]string `json:"meta,omitempty"`
}

// RunState is what the supervisor reports of the client it runs.
type RunState struct {
	SupervisorPID int       `json:"supervisor_pid"`
	PID           int       `json:"pid"` // the client; 0 before it was started
	PIDStart      string    `json:"pid_start"`
	StartedAt     time.Time `json:"started_at"`
	Exited        bool      `json:"exited"`
	ExitCode      int       `json:"exit_code"` // 128+n for a signal
	ExitedAt      time.Time `json:"exited_at,omitzero"`
	Error         string    `json:"error,omitempty"`
}

// Signals are the newest reports that an occupant's own hooks and status line
// left in the spool.
type Signals struct {
	Hooks      []HookSignal `json:"hooks,omitempty"` // newest last, bounded
	Older      bool         `json:"older,omitempty"` // more came before these and are not among them
	StatusLine []byte       `json:"status_line,omitempty"`
	StatusAt   time.Time    `json:"status_at,omitzero"`
}

// HookSignal is one hook event as the client reported it.
type HookSignal struct {
	Event   string    `json:"event"` // such as SessionStart or Stop
	At      time.Time `json:"at"`
	Payload []byte    `json:"payload"` // the hook's stdin, bounded
	// Name is its file's: names sort in the order in which events came, also where a
	// clock was set back between them, and At does not.
	Name string `json:"name,omitempty"`
}
