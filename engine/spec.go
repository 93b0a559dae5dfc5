package engine

import (
	"encoding/json"
	"slices"
	"strings"
)

// RigSpec is a rig as its author wrote it, checked and with its paths resolved.
// Package specs makes it from YAML; the planners read it. A value of this type
// that came out of a loader has no errors in it.
type RigSpec struct {
	Version          string         `json:"version"` // of the dialect, "0.2"
	Name             string         `json:"name"`
	Summary          string         `json:"summary,omitempty"`
	Root             string         `json:"root"`   // directory that relative paths start from, absolute
	Path             string         `json:"path"`   // the file, absolute, or "builtin:<name>"
	Digest           string         `json:"digest"` // SHA-256 of the source bytes, hex
	CultureFile      string         `json:"culture_file,omitempty"`
	Docs             []string       `json:"docs,omitempty"`
	PermissionPolicy string         `json:"permission_policy,omitempty"`
	Startup          StartupSpec    `json:"startup,omitzero"`
	Workspace        *WorkspaceSpec `json:"workspace,omitempty"`
	Policies         Policies       `json:"policies,omitzero"`
	Pods             []PodSpec      `json:"pods"`
	Edges            []EdgeSpec     `json:"edges,omitempty"` // between pods, as written; AllEdges has every edge
	Advisories       []Advisory     `json:"advisories,omitempty"`
}

// PodSpec is a group of members.
type PodSpec struct {
	ID         string            `json:"id"`
	Label      string            `json:"label,omitempty"`
	Summary    string            `json:"summary,omitempty"`
	Continuity *ContinuityPolicy `json:"continuity_policy,omitempty"`
	Startup    StartupSpec       `json:"startup,omitzero"`
	Members    []MemberSpec      `json:"members"`
	Edges      []EdgeSpec        `json:"edges,omitempty"` // inside the pod, ends qualified as pod.member
}

// MemberSpec is a named place in a pod. Model, Effort, RestorePolicy and
// PermissionPolicy are as written after parsing, and the effective values (of
// member, profile, agent and rig) after loading.
type MemberSpec struct {
	ID               string            `json:"id"`
	Label            string            `json:"label,omitempty"`
	AgentRef         string            `json:"agent_ref"` // builtin:…, local:… or path:…
	Profile          string            `json:"profile"`
	Runtime          RuntimeName       `json:"runtime"`
	Cwd              string            `json:"cwd"`            // absolute
	CwdWritten       string            `json:"cwd_as_written"` // what the author wrote
	Model            string            `json:"model,omitempty"`
	Effort           string            `json:"effort,omitempty"`
	Role             string            `json:"role,omitempty"`
	CodexProfile     string            `json:"codex_config_profile,omitempty"`
	RestorePolicy    RestorePolicy     `json:"restore_policy,omitempty"`
	PermissionPolicy string            `json:"permission_policy,omitempty"`
	Env              map[string]string `json:"env,omitempty"`
	ReadinessMS      int               `json:"readiness_timeout_ms,omitempty"` // 0 = the default, 30 s
	Startup          StartupSpec       `json:"startup,omitzero"`
	Source           SessionSource     `json:"session_source,omitempty"` // nil = a fresh conversation

	// Launch is what the loader made of the startup blocks of every layer
	// (agent, profile, culture file, rig, pod, member), in delivery order, the
	// files with absolute paths.
	Launch StartupSpec `json:"launch,omitzero"`
}

// EdgeSpec relates two members, both named pod.member.
type EdgeSpec struct {
	Kind EdgeKind `json:"kind"`
	From string   `json:"from"`
	To   string   `json:"to"`
}

// Advisory is something the author should know that stops nothing.
type Advisory struct {
	Code    Code   `json:"code"`
	Place   string `json:"place"` // file:line:column
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// SessionSource says from where a new seat takes its first conversation. It is a
// launch-time input: after the launch it is history. The sum is closed, so that
// one seat has one source and none of them carries a resume token.
type SessionSource interface {
	// Mode is the word of the spec: fork, rebuild or agent_image.
	Mode() string
	json.Marshaler
	isSessionSource()
}

// ForkSource starts a new conversation from a copy of another one, which is named
// by its runtime's own id.
type ForkSource struct{ Parent ParentToken }

// RebuildSource primes a fresh conversation with files in trust order, the most
// trusted first. The loader makes the paths absolute.
type RebuildSource struct{ Artifacts []string }

// ImageSource starts from a stored agent image. Version is text; "" means "1".
type ImageSource struct{ Name, Version string }

// Mode is "fork".
func (ForkSource) Mode() string { return "fork" }

// Mode is "rebuild".
func (RebuildSource) Mode() string { return "rebuild" }

// Mode is "agent_image".
func (ImageSource) Mode() string { return "agent_image" }

func (ForkSource) isSessionSource()    {}
func (RebuildSource) isSessionSource() {}
func (ImageSource) isSessionSource()   {}

// sourceJSON has the shape of the spec's block.
type sourceJSON struct {
	Mode string        `json:"mode"`
	Ref  sourceRefJSON `json:"ref"`
}

type sourceRefJSON struct {
	Kind    string `json:"kind"`
	Value   any    `json:"value"`
	Version string `json:"version,omitempty"`
}

// MarshalJSON writes the block with the parent's id redacted.
func (s ForkSource) MarshalJSON() ([]byte, error) {
	return json.Marshal(sourceJSON{Mode: s.Mode(), Ref: sourceRefJSON{Kind: "native_id", Value: s.Parent}})
}

// MarshalJSON writes the block as the spec has it.
func (s RebuildSource) MarshalJSON() ([]byte, error) {
	return json.Marshal(sourceJSON{Mode: s.Mode(), Ref: sourceRefJSON{Kind: "artifact_set", Value: s.Artifacts}})
}

// MarshalJSON writes the block as the spec has it.
func (s ImageSource) MarshalJSON() ([]byte, error) {
	return json.Marshal(sourceJSON{Mode: s.Mode(), Ref: sourceRefJSON{Kind: "image_name", Value: s.Name, Version: s.Version}})
}

// Moment is an occasion on which startup material applies.
type Moment string

// Moments of a start.
const (
	MomentFresh   Moment = "fresh_start"
	MomentRestore Moment = "restore"
)

// Moments lists both occasions, the default of every startup entry.
var Moments = []Moment{MomentFresh, MomentRestore}

// StartupSpec is material given to an occupant when it starts.
type StartupSpec struct {
	Files   []StartupFile   `json:"files,omitempty"`
	Actions []StartupAction `json:"actions,omitempty"`
}

// StartupFile is a text given to the occupant at its start.
type StartupFile struct {
	Path      string   `json:"path"`          // as written, relative to the folder of its spec
	Abs       string   `json:"abs,omitempty"` // absolute; set by the loader
	Hint      string   `json:"delivery_hint"` // auto or send_text
	Required  bool     `json:"required"`      // a missing file stops the launch
	AppliesOn []Moment `json:"applies_on"`
}

// OfSeat reports whether the file is one of the seat's own, such as seat:RECAP.md.
func (f StartupFile) OfSeat() bool { return strings.HasPrefix(f.Path, SeatScheme) }

// StartupAction is a line typed into the occupant at its start.
type StartupAction struct {
	Type       string   `json:"type"` // slash_command or send_text
	Value      string   `json:"value"`
	Phase      string   `json:"phase"` // after_files or after_ready
	AppliesOn  []Moment `json:"applies_on"`
	Idempotent bool     `json:"idempotent"` // may be sent again on a restore
}

// WorkspaceSpec names the repositories that the rig works on.
type WorkspaceSpec struct {
	Root          string     `json:"workspace_root"`
	Repos         []RepoSpec `json:"repos,omitempty"`
	DefaultRepo   string     `json:"default_repo,omitempty"`
	KnowledgeRoot string     `json:"knowledge_root,omitempty"`
}

// RepoSpec is one repository of a workspace.
type RepoSpec struct {
	Name string `json:"name"`
	Path string `json:"path"` // as written; relative to the workspace root
	Kind string `json:"kind"` // user, project, knowledge, lab or delivery
}

// ContinuityPolicy is a pod's wish for continuity, kept with the pod on record.
// A nil flag was not written.
type ContinuityPolicy struct {
	Enabled         bool                `json:"enabled"`
	SyncTriggers    []string            `json:"sync_triggers,omitempty"`
	Artifacts       ContinuityArtifacts `json:"artifacts,omitzero"`
	RestoreProtocol ContinuityProtocol  `json:"restore_protocol,omitzero"`
}

// ContinuityArtifacts says which files a pod keeps for its continuity.
type ContinuityArtifacts struct {
	SessionLog   *bool `json:"session_log,omitempty"`
	RestoreBrief *bool `json:"restore_brief,omitempty"`
	Quiz         *bool `json:"quiz,omitempty"`
}

// ContinuityProtocol says how a pod wants to be brought back.
type ContinuityProtocol struct {
	PeerDriven    *bool `json:"peer_driven,omitempty"`
	VerifyViaQuiz *bool `json:"verify_via_quiz,omitempty"`
}

// Policies are the rig-wide rules of a spec.
type Policies struct {
	ClaudeCompaction *ClaudeCompaction `json:"claude_compaction,omitempty"`
}

// Member finds a member by its logical id, pod.member.
func (s RigSpec) Member(logical string) (MemberSpec, bool) {
	pod, member, _ := strings.Cut(logical, ".")
	for _, p := range s.Pods {
		if p.ID != pod {
			continue
		}
		for _, m := range p.Members {
			if m.ID == member {
				return m, true
			}
		}
	}
	return MemberSpec{}, false
}

// Logicals lists the logical ids of all members in the order of the spec.
func (s RigSpec) Logicals() []string {
	var ids []string
	for _, p := range s.Pods {
		for _, m := range p.Members {
			ids = append(ids, Logical(p.ID, m.ID))
		}
	}
	return ids
}

// AllEdges lists the edges of every pod, then those between pods.
func (s RigSpec) AllEdges() []EdgeSpec {
	var all []EdgeSpec
	for _, p := range s.Pods {
		all = append(all, p.Edges...)
	}
	return append(all, s.Edges...)
}

// ClosedEnv names the variables of a host agent and of a host tmux that never
// reach an occupant and that no spec may set. RIG_* belongs to the product and
// is refused with them.
var ClosedEnv = []string{
	"CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_ENTRYPOINT",
	"CLAUDE_PID", "CLAUDE_PROJECT_DIR", "TMUX", "TMUX_PANE",
}

// ReservedEnv reports whether a spec or a flag may not set the variable.
func ReservedEnv(name string) bool {
	return strings.HasPrefix(name, "RIG_") || slices.Contains(ClosedEnv, name)
}
