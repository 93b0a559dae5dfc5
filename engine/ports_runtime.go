package engine

import (
	"context"
	"time"
)

// Start is how an occupant gets its conversation. It is a closed sum: resume and
// fork in one launch cannot be expressed.
type Start interface{ isStart() }

// StartFresh begins a new conversation. SessionID is chosen by us where the
// runtime allows it.
type StartFresh struct{ SessionID string }

// StartResume continues the seat's own conversation.
type StartResume struct{ Token ResumeToken }

// StartFork begins a new conversation from another one. NewID is chosen by us
// where the runtime allows it; it must differ from the parent.
type StartFork struct {
	Parent ParentToken
	NewID  string
}

func (StartFresh) isStart()  {}
func (StartResume) isStart() {}
func (StartFork) isStart()   {}

// LaunchRequest is everything a runtime needs to build its command line.
type LaunchRequest struct {
	Seat       Seat
	Address    string
	SessionID  string // our id of the occupant
	Generation int64
	Start      Start
	Prompt     string   // opening prompt, passed as one argument where the runtime takes one
	Settings   string   // the one --settings value, claude only
	Env        []string // the caller's environment
	RigEnv     []string // RIG_* of the occupant
}

// LaunchLine is a command ready for the supervisor.
type LaunchLine struct {
	Argv   []string
	Env    []string // complete and cleaned
	Dir    string
	Homes  Homes
	Token  ResumeToken // the native id, where we chose it or it is already known
	Prompt bool        // the opening prompt is in Argv
}

// RuntimeCaps says what a runtime can do.
type RuntimeCaps struct {
	Resume   bool
	Fork     bool
	Usage    bool
	Prompt   bool // takes an opening prompt as an argument
	Compacts bool // has a /compact that we drive
}

// Probe is everything that is known about one occupant at one moment: the input
// of every judgement a runtime makes about it.
type Probe struct {
	Seat     Seat
	Address  string
	Session  Session
	Pane     Pane
	Run      RunState
	RunKnown bool
	Signals  Signals
	Screen   Screen // without lines when it was not captured
	Parent   ParentToken
	Started  time.Time // when this occupant was launched
	Now      time.Time
}

// ReadyState is how far a start has come.
type ReadyState string

// Ready states.
const (
	ReadyStarting ReadyState = "starting"
	ReadyYes      ReadyState = "ready"
	ReadyGate     ReadyState = "gate"   // waits for a person: attention, never answered by us
	ReadyFailed   ReadyState = "failed" // ended or refused; Evidence holds its words
	ReadyUnknown  ReadyState = "unknown"
)

// Readiness is one look at a starting occupant.
type Readiness struct {
	State    ReadyState     `json:"state"`
	Code     Code           `json:"code,omitempty"` // trust_gate, login_required, no_conversation_found …
	Why      string         `json:"why"`
	Evidence map[string]any `json:"evidence,omitempty"`
}

// Identity is a native id and how it is known to be this occupant's.
type Identity struct {
	Token      ResumeToken `json:"token"`
	Proven     bool        `json:"proven"` // the client's own registry, lock or rollout of that pid shows it
	Provenance Provenance  `json:"provenance"`
	Code       Code        `json:"code,omitempty"` // why not, when not proven
	Why        string      `json:"why"`
	PID        int         `json:"pid,omitempty"`
	// Unwritten says that the client holds this conversation open at this moment
	// and has no file of it: nobody prompted it yet. False is no proof of a prompt.
	Unwritten bool           `json:"unwritten,omitempty"`
	Evidence  map[string]any `json:"evidence,omitempty"`
}

// ActivityState is what an occupant is doing.
type ActivityState string

// Activity states: the one enum of the product.
const (
	ActivityIdle    ActivityState = "idle"
	ActivityBusy    ActivityState = "busy"
	ActivityWaiting ActivityState = "waiting" // for a person
	ActivityLimit   ActivityState = "limit"   // at a usage limit
	ActivityExited  ActivityState = "exited"
	ActivityUnknown ActivityState = "unknown"
)

// Confidence grades a reading.
type Confidence string

// Confidences.
const (
	ConfidenceHigh Confidence = "high" // the client's own word about this very process
	ConfidenceLow  Confidence = "low"  // a guess from what is shown
	ConfidenceNone Confidence = "none" // no evidence
)

// CodeSuspended is the reading of a client that was stopped (SIGSTOP, Ctrl-Z).
const CodeSuspended Code = "suspended"

// CodeQueued is the reading of a client at work of which nothing more is known than that
// it holds a message which it has not taken yet. Whether it does is Activity.Queued: a
// client that retries or compacts has that as its code.
const CodeQueued Code = "queued"

// Reading is one candidate answer about an occupant with where it came from.
// Competing readings are kept, for `rig explain`.
type Reading struct {
	State      ActivityState `json:"state"`
	Why        string        `json:"why"`            // in words: "permission prompt", "usage limit, resets 1:35pm"
	Code       Code          `json:"code,omitempty"` // permission_prompt, question, trust_gate, retrying, usage_limit …
	Source     string        `json:"source"`         // registry, hook, pane, rollout, process, title
	Rule       string        `json:"rule"`           // what was matched
	At         time.Time     `json:"at,omitzero"`    // when the source says so; zero = now
	Confidence Confidence    `json:"confidence"`
	Ends       string        `json:"ends,omitempty"` // the shell line that ends this state, where one does
}

// Activity is a runtime's judgement with the evidence it weighed.
type Activity struct {
	Reading
	Competing []Reading `json:"competing,omitempty"`
	Queued    bool      `json:"queued,omitempty"` // the client holds a message that it has not taken yet, whatever else it does
	Draft     string    `json:"draft,omitempty"`  // text standing in the input box, redacted
	Wake      time.Time `json:"-"`                // look again no later than this; zero = when something moves
}

// Held reports that an operation at work has stopped the client, and lets it go on or
// ends it: nothing is under way in it, and it waits for nobody.
func (a Activity) Held() bool { return a.State == ActivityBusy && a.Code == CodeSuspended }

// Usage is one context-pressure sample.
type Usage struct {
	Known      bool       `json:"known"`
	Tokens     int64      `json:"tokens"`
	Window     int64      `json:"window"`  // 0 = not known
	Percent    float64    `json:"percent"` // share of the real window; with Window 0 the client's own word, or 0
	Source     string     `json:"source"`  // statusline, transcript, rollout
	SampledAt  time.Time  `json:"sampled_at,omitzero"`
	Generation int64      `json:"generation"`
	Confidence Confidence `json:"confidence"`
	Note       string     `json:"note,omitempty"` // why it is unknown or doubtful
	// Stale says that this is the last good reading and not the present one; it is
	// derived, not stored.
	Stale bool `json:"stale,omitempty"`
}

// Share is the share of the window that is in use, such as "42%"; a little is
// "<1%" and not nothing. Without a window it is the client's own word.
func (u Usage) Share() string {
	whole := itoa(int64(u.Percent + 0.5))
	if whole == "0" && u.Tokens > 0 {
		whole = "<1"
	}
	return whole + "%"
}

// ConversationState says whether a conversation could be continued.
type ConversationState struct {
	Exists  Presence       `json:"exists"`
	Path    string         `json:"path,omitempty"`
	Live    bool           `json:"live"` // some process has it open now
	LivePID int            `json:"live_pid,omitempty"`
	Caveats []string       `json:"caveats,omitempty"` // archived, compressed, about to be cleaned up …
	Why     string         `json:"why,omitempty"`
	Details map[string]any `json:"details,omitempty"`
}

// Runtime is one kind of occupant. Its judgements are pure readings of evidence:
// it starts, types and kills nothing.
type Runtime interface {
	Name() RuntimeName
	Caps() RuntimeCaps
	// ValidToken checks the form of a native id; the error never quotes it.
	ValidToken(id string) error
	// Line builds the launch line. It refuses what the runtime cannot do
	// (resume or fork of a terminal, a malformed token).
	Line(r LaunchRequest) (LaunchLine, error)
	// Preflight lists what would stop a launch: program missing, directory gone,
	// transcript missing, conversation live elsewhere. It reads only.
	Preflight(ctx context.Context, r LaunchRequest) []Blocker
	// Ready looks once at a starting occupant.
	Ready(ctx context.Context, p Probe) Readiness
	// Identify reads the native id of the running occupant from the client's own
	// files. An id equal to p.Parent is never returned.
	Identify(ctx context.Context, p Probe) Identity
	// Activity judges what the occupant is doing.
	Activity(ctx context.Context, p Probe) Activity
	// Usage gives the newest trustworthy context sample.
	Usage(ctx context.Context, p Probe) Usage
	// Conversation looks for a stored conversation.
	Conversation(ctx context.Context, token string, cwd string, h Homes) ConversationState
	// Hint guesses whether a foreign pane runs this runtime, for discovery.
	Hint(pane Pane, screen []string, procs []string) (Confidence, string)
	// Close releases watchers and caches.
	Close() error
}
