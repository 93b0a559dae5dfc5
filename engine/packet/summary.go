package packet

import (
	_ "embed" // the published schema
	"time"

	"rig/engine/transcript"
)

// Schema is the JSON Schema (draft-07) of restore-summary.json. [Validate]
// judges by this same document.
//
//go:embed schema.json
var Schema []byte

// The files of a packet. FullName is there exactly when the summary has a
// full_transcript.
const (
	SummaryName      = "restore-summary.json"
	InstructionsName = "restore-instructions.md"
	LatestName       = "transcript-latest.md"
	TouchedName      = "touched-files.md"
	FullName         = "transcript.md"
)

// Bounds of a packet.
const (
	// LatestBound is the number of messages in the bounded latest transcript.
	LatestBound = 120
	// latestText bounds one message there, in bytes; the whole of it is in the
	// full transcript.
	latestText = 16 << 10
	topPaths   = 30  // in the summary
	listPaths  = 200 // in the inventory
)

// The omitted classes of the standard.
const (
	ClassReasoning   = "reasoning_records"
	ClassToolOutputs = "raw_tool_outputs"
	ClassToolCalls   = "function_call_output"
	ClassSecrets     = "redacted_secrets"
)

// TrustRanking returns the standard's ranking of sources, the most trusted
// first: when two disagree, the earlier one is right.
func TrustRanking() []string {
	return []string{
		"rig_whoami", "target_rigspec", "bounded_latest_transcript",
		"full_transcript", "touched_files", "restore_summary",
	}
}

// Runtimes returns the runtimes that a packet can name.
func Runtimes() []string { return []string{"claude-code", "codex", "terminal", "external"} }

// Checklist returns the six things that a restored seat must show before its
// restore counts as accepted.
func Checklist() []string {
	return []string{
		"Identity: `rig whoami --json` was run, and the identity it states was taken over any in the transcript.",
		"Workflow: the current work was restated in own words, as it stands now rather than as it once was.",
		"Next owner: who acts next was named.",
		"Files: the instructions, the touched files and the latest transcript were read.",
		"Constraints: the caveats and the authority boundaries were named before any work.",
		"Provenance: the restored-from line was stated with generator version and target repository, and no person had to explain the work again.",
	}
}

// Summary is restore-summary.json. The keys up to GeneratedAt are the
// standard's; the others are optional.
type Summary struct {
	SourceSessionID     string          `json:"source_session_id"`
	SourceRig           string          `json:"source_rig"`
	SourceRuntime       string          `json:"source_runtime"`
	SourceCwd           string          `json:"source_cwd"`
	TargetRig           string          `json:"target_rig"`
	TargetRuntime       string          `json:"target_runtime"`
	TargetWorkspaceRoot string          `json:"target_workspace_root"`
	DefaultTargetRepo   *string         `json:"default_target_repo"`
	RolePointer         string          `json:"role_pointer"`
	Latest              BoundedFile     `json:"bounded_latest_transcript"`
	Full                *CountedFile    `json:"full_transcript,omitempty"`
	Touched             TouchedFiles    `json:"touched_files"`
	Pointers            DurablePointers `json:"durable_pointers"`
	CurrentWork         string          `json:"current_work_summary"`
	NextOwner           string          `json:"next_owner"`
	Caveats             []string        `json:"caveats"`
	AuthorityBoundaries string          `json:"authority_boundaries"`
	OmittedClasses      []string        `json:"omitted_classes"`
	RedactionPolicyID   string          `json:"redaction_policy_id"`
	SourceTrustRanking  []string        `json:"source_trust_ranking"`
	GeneratorVersion    string          `json:"generator_version"`
	GeneratedAt         time.Time       `json:"generated_at"`

	PacketVersion   string         `json:"packet_version,omitempty"`
	WhyItMatters    string         `json:"why_it_matters,omitempty"`
	Unknown         []Unknown      `json:"unknown,omitempty"`
	MemorySurfaces  []Surface      `json:"memory_surfaces,omitempty"`
	Checklist       []string       `json:"acceptance_checklist,omitempty"`
	OmittedCounts   map[string]int `json:"omitted_counts,omitempty"`
	RedactionCounts Counts         `json:"redaction_counts,omitempty"`
	SourceRecord    *SourceRecord  `json:"source_record,omitempty"`
}

// BoundedFile names the latest transcript: at most Bound messages.
type BoundedFile struct {
	Path         string `json:"path"`
	MessageCount int    `json:"message_count"`
	Bound        int    `json:"bound"`
}

// CountedFile names the full transcript. LineCount is its number of messages;
// the key's name is the standard's.
type CountedFile struct {
	Path      string `json:"path"`
	LineCount int    `json:"line_count"`
}

// TouchedFiles names the inventory and repeats its head.
type TouchedFiles struct {
	Path     string      `json:"path"`
	TopPaths []PathCount `json:"top_paths"`
}

// PathCount is one path and how often it was named or touched.
type PathCount struct {
	Path  string `json:"path"`
	Count int    `json:"count"`
}

// DurablePointers lead to what outlives any conversation: queue items, progress
// files, field notes, and other artifacts such as the seat's recap. They are
// addresses, never contents.
type DurablePointers struct {
	Queue      []string `json:"queue_pointers"`
	Progress   []string `json:"progress_pointers"`
	FieldNotes []string `json:"field_note_pointers"`
	Artifacts  []string `json:"artifact_pointers"`
}

// Unknown is a key whose value nobody stated and nothing proves.
type Unknown struct {
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

// Surface is one place where the seat's memory may be. Present says that it was
// looked for and found; nothing is presumed.
type Surface struct {
	Name      string `json:"name"`
	Source    string `json:"source"`
	Present   bool   `json:"present"`
	Freshness string `json:"freshness"`
	Purpose   string `json:"purpose"`
}

// SourceRecord is what was seen of the client's record while it was read.
type SourceRecord struct {
	Lines          int                  `json:"lines"`
	Messages       int                  `json:"messages"`
	Compactions    int                  `json:"compactions"`
	SkippedLines   int                  `json:"skipped_lines"`
	Skipped        []transcript.Skip    `json:"skipped,omitempty"`
	StartedAt      time.Time            `json:"started_at,omitzero"`
	LastActivityAt time.Time            `json:"last_activity_at,omitzero"`
	LastCwd        string               `json:"last_cwd,omitempty"`
	Model          string               `json:"model,omitempty"`
	Turn           transcript.TurnState `json:"turn,omitempty"`
}
