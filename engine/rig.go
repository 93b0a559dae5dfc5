package engine

import "time"

// RuntimeName is a kind of occupant.
type RuntimeName string

// The runtimes of the product.
const (
	RuntimeClaude   RuntimeName = "claude-code"
	RuntimeCodex    RuntimeName = "codex"
	RuntimeTerminal RuntimeName = "terminal"
)

// Rig is a team. Several rows may share a name over time; at most one of them is
// not archived while it runs.
type Rig struct {
	ID         string    `json:"id"`
	Name       string    `json:"name"`
	Summary    string    `json:"summary,omitempty"`
	SpecPath   string    `json:"spec_path,omitempty"`   // the file or "builtin:<name>"
	SpecDigest string    `json:"spec_digest,omitempty"` // SHA-256 of its bytes, hex
	Root       string    `json:"root,omitempty"`        // directory that relative paths of the spec start from
	Policies   string    `json:"policies,omitempty"`    // JSON of the spec's policies
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
	ArchivedAt time.Time `json:"archived_at,omitzero"` // zero while the rig is addressable by name
	StoppedAt  time.Time `json:"stopped_at,omitzero"`  // set by down, cleared by up
	Version    int64     `json:"version"`              // bumped by every write of the row
}

// Pod is a group of members in a rig.
type Pod struct {
	ID         string `json:"id"`
	RigID      string `json:"rig_id"`
	Name       string `json:"name"`
	Label      string `json:"label"`
	Summary    string `json:"summary,omitempty"`
	Continuity string `json:"continuity_policy,omitempty"` // JSON of the pod's continuity policy
	Ordinal    int    `json:"ordinal"`                     // position in the spec
}

// Lifecycle is what a seat's occupant is believed to be doing with its life; ""
// before the first one.
type Lifecycle string

// Lifecycles of an occupant, as stored. Derived views may narrow them.
const (
	LifecycleActive    Lifecycle = "active"    // bound and believed alive
	LifecycleRetired   Lifecycle = "retired"   // ended by a verb of ours
	LifecycleCompacted Lifecycle = "compacted" // compacted, not audited
)

// RestorePolicy says what a restore may do with a seat. Later values are
// narrower; a member may only narrow what its agent allows.
type RestorePolicy string

// Restore policies.
const (
	RestoreResume     RestorePolicy = "resume_if_possible"
	RestoreFresh      RestorePolicy = "relaunch_fresh"
	RestoreCheckpoint RestorePolicy = "checkpoint_only" // refused in a spec, as there are no checkpoints; on record of older builds
)

// Seat is a member's durable position. Its identity (id, pod, member, rig) never
// changes; occupants come and go.
type Seat struct {
	ID      string      `json:"id"`
	RigID   string      `json:"rig_id"`
	PodID   string      `json:"pod_id"`
	Pod     string      `json:"pod"`
	Member  string      `json:"member"`
	Label   string      `json:"label,omitempty"`
	Runtime RuntimeName `json:"runtime"`

	AgentRef         string            `json:"agent_ref"`
	Profile          string            `json:"profile"`
	Role             string            `json:"role,omitempty"`
	Model            string            `json:"model,omitempty"`
	Effort           string            `json:"effort,omitempty"`
	CodexProfile     string            `json:"codex_config_profile,omitempty"`
	PermissionPolicy string            `json:"permission_policy,omitempty"`
	RestorePolicy    RestorePolicy     `json:"restore_policy"`
	Cwd              string            `json:"cwd"`           // absolute
	Env              map[string]string `json:"env,omitempty"` // what the spec adds
	ReadinessMS      int               `json:"readiness_timeout_ms,omitempty"`
	Ordinal          int               `json:"ordinal"` // position in the spec

	Generation       int64          `json:"generation"` // ordinal of the current occupant, 0 = never had one
	Lifecycle        Lifecycle      `json:"occupant_lifecycle,omitempty"`
	Continuity       Continuity     `json:"continuity_outcome,omitempty"`
	Binding          BindingOutcome `json:"binding_outcome,omitempty"`
	ContextDelivered bool           `json:"context_delivered,omitempty"`
	Previous         string         `json:"previous_occupant,omitempty"` // "address (generation n)"
	HandoverAt       time.Time      `json:"handover_at,omitzero"`
	HandoverBy       string         `json:"handover_by,omitempty"`
	ForkedFrom       string         `json:"forked_from,omitempty"` // seat and generation, never a token
	LastError        string         `json:"last_error,omitempty"`

	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"` // when it was made, or what it last came to: a compaction, a start that failed, a decision that it waits for
	Version   int64     `json:"version"`    // bumped by every write of the row
}

// Logical is the seat's id inside its rig.
func (s Seat) Logical() string { return Logical(s.Pod, s.Member) }

// EdgeKind is how two members relate.
type EdgeKind string

// The closed set of edge kinds. Only delegates_to and spawned_by order a launch.
const (
	EdgeDelegatesTo  EdgeKind = "delegates_to"
	EdgeSpawnedBy    EdgeKind = "spawned_by"
	EdgeCanObserve   EdgeKind = "can_observe"
	EdgeCollaborates EdgeKind = "collaborates_with"
	EdgeEscalatesTo  EdgeKind = "escalates_to"
)

// EdgeKinds lists every kind, in the order they are documented.
var EdgeKinds = []EdgeKind{EdgeDelegatesTo, EdgeSpawnedBy, EdgeCanObserve, EdgeCollaborates, EdgeEscalatesTo}

// Edge is a directed relation between two seats of one rig.
type Edge struct {
	RigID string   `json:"rig_id"`
	From  string   `json:"from"` // seat id
	To    string   `json:"to"`   // seat id
	Kind  EdgeKind `json:"kind"`
}
