package engine

import (
	"encoding/json"
	"log/slog"
	"strings"
	"time"
)

// ResumeToken is the native id by which a runtime resumes a seat's own
// conversation. It prints redacted; Reveal is for adapters and the record.
type ResumeToken struct{ v string }

// NewResumeToken wraps a native id that was proven to be the seat's own.
func NewResumeToken(v string) ResumeToken { return ResumeToken{v} }

// Reveal gives the raw id. Only launch lines, evidence checks and the record may
// call it.
func (t ResumeToken) Reveal() string { return t.v }

// Empty reports whether there is no token.
func (t ResumeToken) Empty() bool { return t.v == "" }

// String redacts.
func (t ResumeToken) String() string { return redact(t.v) }

// MarshalJSON redacts, so that no JSON of a row can leak a token.
func (t ResumeToken) MarshalJSON() ([]byte, error) { return json.Marshal(redact(t.v)) }

// withoutToken is a file's path as it may be shown: clients name the files of a
// conversation after its id.
func withoutToken(path string, t ResumeToken) string {
	if t.Empty() {
		return path
	}
	return strings.ReplaceAll(path, t.v, t.String())
}

// LogValue redacts in logs.
func (t ResumeToken) LogValue() slog.Value { return slog.StringValue(redact(t.v)) }

// ParentToken is the native id of a conversation that a fork starts from. It is
// a different type from ResumeToken on purpose: nothing converts one into the
// other, so a parent's id cannot become a seat's own.
type ParentToken struct{ v string }

// NewParentToken wraps the id of a fork's source.
func NewParentToken(v string) ParentToken { return ParentToken{v} }

// Reveal gives the raw id, for launch lines and the check that a child differs.
func (t ParentToken) Reveal() string { return t.v }

// Empty reports whether there is no token.
func (t ParentToken) Empty() bool { return t.v == "" }

// String redacts.
func (t ParentToken) String() string { return redact(t.v) }

// MarshalJSON redacts.
func (t ParentToken) MarshalJSON() ([]byte, error) { return json.Marshal(redact(t.v)) }

// LogValue redacts in logs.
func (t ParentToken) LogValue() slog.Value { return slog.StringValue(redact(t.v)) }

func redact(v string) string {
	switch {
	case v == "":
		return ""
	case len(v) < 12:
		return "tok_…"
	}
	return "tok_…" + v[len(v)-4:]
}

// Continuity is where an occupant's knowledge comes from. It is built from
// evidence, never from intent.
type Continuity string

// Continuity outcomes, in the words of the seed documents. ContinuityNone reads
// "unverified": nothing is claimed.
const (
	ContinuityNone        Continuity = ""
	ContinuityResumed     Continuity = "resumed"
	ContinuityForked      Continuity = "forked"
	ContinuityRebuilt     Continuity = "rebuilt"
	ContinuityFresh       Continuity = "fresh"
	ContinuityFreshPrimed Continuity = "fresh-primed"
	ContinuityAwaiting    Continuity = "awaiting-decision"
	ContinuityAttention   Continuity = "attention_required"
	ContinuityFailed      Continuity = "failed"
	ContinuityRecovered   Continuity = "operator_recovered"
)

// BindingOutcome is what happened to the seat itself in its last change of
// occupant. It is independent of Continuity.
type BindingOutcome string

// Binding outcomes.
const (
	BindingNone       BindingOutcome = ""
	BindingHandedOver BindingOutcome = "handed_over"
	BindingUnchanged  BindingOutcome = "unchanged"
	BindingPartial    BindingOutcome = "partial"
	BindingFailed     BindingOutcome = "failed"
)

// SessionStatus is the stored state of one registration of a runtime process.
type SessionStatus string

// Session statuses. Superseded, Detached and Exited are terminal.
const (
	SessionRunning    SessionStatus = "running"
	SessionUnknown    SessionStatus = "unknown"
	SessionDetached   SessionStatus = "detached"
	SessionExited     SessionStatus = "exited"
	SessionSuperseded SessionStatus = "superseded"
)

// Terminal reports whether the registration is history.
func (s SessionStatus) Terminal() bool {
	return s == SessionDetached || s == SessionExited || s == SessionSuperseded
}

// Origin says who started an occupant.
type Origin string

// Origins. A claimed session is the operator's own: we release it, never kill it.
const (
	OriginLaunched Origin = "launched"
	OriginClaimed  Origin = "claimed"
)

// StartupStatus is how far an occupant's start came.
type StartupStatus string

// Startup statuses.
const (
	StartupPending   StartupStatus = "pending"
	StartupReady     StartupStatus = "ready"
	StartupAttention StartupStatus = "attention_required"
	StartupFailed    StartupStatus = "failed"
)

// Provenance ranks where a resume token was learned; a weaker source never
// overwrites a stronger one.
type Provenance string

// Provenances, weakest first.
const (
	ProvenanceNone     Provenance = ""
	ProvenanceScrape   Provenance = "scrape"
	ProvenanceAdoption Provenance = "adoption"
	ProvenanceHook     Provenance = "hook"
	ProvenanceOperator Provenance = "operator"
)

// Rank orders provenances; unknown ones rank lowest.
func (p Provenance) Rank() int {
	switch p {
	case ProvenanceNone:
		return -1
	case ProvenanceAdoption:
		return 1
	case ProvenanceHook:
		return 2
	case ProvenanceOperator:
		return 3
	case ProvenanceScrape:
	}
	return 0
}

// Homes are the folders in which a runtime keeps the conversation files of an
// occupant. They are fixed at launch, because the caller's environment may
// differ later.
type Homes struct {
	Home      string `json:"home,omitempty"`
	ClaudeDir string `json:"claude_dir,omitempty"` // CLAUDE_CONFIG_DIR, or <home>/.claude
	CodexDir  string `json:"codex_dir,omitempty"`  // CODEX_HOME, or <home>/.codex
}

// Session is one occupant on record: a runtime process that sits or sat in a
// seat. "Latest" always means the highest generation.
type Session struct {
	ID          string        `json:"id"`
	SeatID      string        `json:"seat_id"`
	Generation  int64         `json:"generation"`
	Name        string        `json:"session_name"` // tmux session at bind time
	Runtime     RuntimeName   `json:"runtime"`
	Status      SessionStatus `json:"status"`
	Origin      Origin        `json:"origin"`
	Startup     StartupStatus `json:"startup_status"`
	StartupNote string        `json:"startup_note,omitempty"` // gate or failure code with its evidence, redacted
	Continuity  Continuity    `json:"continuity,omitempty"`   // how this occupant came to be

	Token        ResumeToken `json:"resume_token,omitzero"`
	Provenance   Provenance  `json:"resume_provenance,omitempty"`
	LastVerified time.Time   `json:"resume_last_verified,omitzero"`

	PID       int       `json:"pid,omitempty"`       // the client's process
	PIDStart  string    `json:"pid_start,omitempty"` // its start time, as /proc gives it
	Build     string    `json:"build,omitempty"`     // version of the client, where known
	Homes     Homes     `json:"homes"`
	Settings  string    `json:"settings,omitempty"` // what we added to its launch, JSON
	CreatedAt time.Time `json:"created_at"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	ExitCode  *int      `json:"exit_code,omitempty"`
	LastSeen  time.Time `json:"last_seen_at,omitzero"`
	Version   int64     `json:"version"`
}

// Tenure is the durable identity of one occupant: append-only, never deleted.
type Tenure struct {
	SeatID     string     `json:"seat_id"`
	Generation int64      `json:"generation"`
	SessionID  string     `json:"session_id"`
	Kind       string     `json:"kind"` // initial, handover, adopt, fresh, restore
	Continuity Continuity `json:"continuity,omitempty"`
	Source     string     `json:"source,omitempty"` // seat and generation, or artifacts
	Reason     string     `json:"reason,omitempty"`
	Operator   string     `json:"operator,omitempty"`
	StartedAt  time.Time  `json:"started_at"`
	EndedAt    time.Time  `json:"ended_at,omitzero"`
}

// Binding says where the occupant physically is. Pane ids are void when the
// server epoch differs.
type Binding struct {
	SeatID      string    `json:"seat_id"`
	Socket      string    `json:"socket"` // tmux socket path, "" = the configured one
	Epoch       Epoch     `json:"epoch"`
	SessionName string    `json:"session_name"`
	Pane        PaneID    `json:"pane"`
	PanePID     int       `json:"pane_pid"`
	UpdatedAt   time.Time `json:"updated_at"`
	Version     int64     `json:"version"`
}
