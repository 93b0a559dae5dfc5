package transcript

import "time"

// Runtime names the client whose file format is meant.
type Runtime string

// The two clients whose records this package can read.
const (
	RuntimeClaude Runtime = "claude-code"
	RuntimeCodex  Runtime = "codex"
)

// Role says who a message really comes from. The clients file many things under
// "user" that no person ever wrote, so this is our own judgement, not a copy of
// the record's role field.
type Role string

// The roles a [Message] can have.
const (
	// RoleOperator is text that a person, or a program on a person's behalf,
	// entered as an ordinary prompt.
	RoleOperator Role = "operator"
	// RoleAssistant is text the model answered.
	RoleAssistant Role = "assistant"
	// RoleTool is a tool call; only handed out with [Options.Tools].
	RoleTool Role = "tool"
	// RoleSummary is the text a compaction left in place of what it removed.
	RoleSummary Role = "summary"
	// RoleInjected is text the client added by itself (command echoes, hook
	// context, reminders, error notices); only with [Options.Injected].
	RoleInjected Role = "injected"
)

// Message is one piece of conversation.
type Message struct {
	Role Role
	// Label tells kinds of injected text apart, for example "command",
	// "reminder", "meta", "interrupt", "api-error"; empty for other roles.
	Label string
	// Text is the message with escapes decoded, line ends as "\n" and NUL bytes
	// removed. It may hold other control characters: clean it before a terminal
	// sees it. For RoleTool it is one short line about the call's input.
	Text string
	// Time is the record's own timestamp; zero when it has none.
	Time time.Time
	// UUID is the record's identifier as written; empty when it has none.
	UUID string
	// Line is the 1-based line number in the source; 0 from tail reads, which
	// do not count lines.
	Line int
	// Offset is the byte offset of the record's line in the source.
	Offset int64
	// ToolName is the called tool; RoleTool only.
	ToolName string
	// Paths are the files and directories a tool call names; RoleTool only.
	Paths []string
	// Inherited marks messages that a forked rollout copied from its parent.
	Inherited bool
	// Rewound is set on a prompt that took the place of an earlier one, which a person
	// took back together with what followed it (Claude only): the messages from the
	// offset RewoundTo up to this one are no longer part of the conversation.
	Rewound   bool
	RewoundTo int64
}

// Options steer a reader. The zero value hands out operator, assistant and
// summary messages with the default bounds.
type Options struct {
	// Tools also hands out tool calls as RoleTool messages.
	Tools bool
	// Injected also hands out what the client added by itself.
	Injected bool
	// MaxLine is the most bytes of one line that are ever held in memory, after
	// overlong strings in it were shortened. A line above it is skipped and
	// counted. 0 means 16 MiB.
	MaxLine int
	// MaxString is what is kept of a single JSON string once its line is longer
	// than 1 MiB, in bytes. 0 means 1 MiB.
	MaxString int
	// middle is set when reading does not begin at the start of the file, so
	// that half of something there is not taken for a whole.
	middle bool
}

// Skip is one line that could not be used.
type Skip struct {
	// Line is the 1-based line number and Offset the byte offset of the line.
	Line   int   `json:"line"`
	Offset int64 `json:"offset"`
	// Reason is one short sentence for a person.
	Reason string `json:"reason"`
}

// MaxSkips is how many skipped lines a [Summary] lists one by one; further ones
// are only counted.
const MaxSkips = 50

// MaxCompactions is how many compactions a [Summary] lists (the latest ones);
// earlier ones are only counted.
const MaxCompactions = 64

// Compaction is one event that replaced the conversation by a summary.
type Compaction struct {
	// At is the event's time; zero when the record has none.
	At time.Time `json:"at"`
	// Trigger is "manual" or "auto" as recorded, empty where the client does
	// not record it (Codex).
	Trigger string `json:"trigger,omitempty"`
	// Offset is the byte offset of its line, Line its number (0 from tails).
	Offset int64 `json:"offset"`
	Line   int   `json:"line,omitempty"`
	// PreTokens and PostTokens are the context size before and after; 0 when
	// not recorded.
	PreTokens  int64 `json:"pre_tokens,omitempty"`
	PostTokens int64 `json:"post_tokens,omitempty"`
}

// Omitted counts what was left out of the messages, by kind.
type Omitted struct {
	ToolCalls   int `json:"tool_calls"`
	ToolResults int `json:"tool_results"`
	Reasoning   int `json:"reasoning"`
	Attachments int `json:"attachments"`
	Images      int `json:"images"`
	// Injected counts texts that the client added by itself.
	Injected int `json:"injected"`
	// Sidechain counts records of sub-agents that were filed in the same file.
	Sidechain int `json:"sidechain"`
	// Duplicates counts records that repeat an earlier one exactly, and the
	// second form of messages that are written in two record shapes.
	Duplicates int `json:"duplicates"`
	// Other counts bookkeeping records without any conversation in them.
	Other int `json:"other"`
}

// Summary is what a reader learned about a file besides its messages.
type Summary struct {
	Runtime Runtime `json:"runtime"`
	// SessionID is the conversation's own id: the first one recorded for
	// Claude, the first header for Codex. It is a native token: redact it.
	SessionID string `json:"session_id,omitempty"`
	// ParentID is the conversation a Codex rollout was forked from, provenance
	// only. Claude transcripts do not record one.
	ParentID string `json:"parent_id,omitempty"`
	// BaseID is the file that a Codex rollout builds on instead of
	// repeating it; empty for one that holds all of its history.
	BaseID string `json:"base_id,omitempty"`
	// BaseEnd is the byte offset in that file at which this one goes on.
	BaseEnd int64 `json:"base_end,omitempty"`
	// StartedAt and LastAt are the first and the latest recorded time; zero
	// when no record has one.
	StartedAt time.Time `json:"started_at"`
	LastAt    time.Time `json:"last_at"`
	// StartCwd is the directory in which the conversation began, and under
	// which it is filed; LastCwd is where it was last seen.
	StartCwd string `json:"start_cwd,omitempty"`
	LastCwd  string `json:"last_cwd,omitempty"`
	// Model and Version are the latest model id and client version seen.
	Model   string `json:"model,omitempty"`
	Version string `json:"version,omitempty"`
	// Title is the conversation's name, if someone gave it one.
	Title string `json:"title,omitempty"`
	// Bytes is the source's length, Lines its non-blank lines, Records the
	// lines that could be read, Messages those handed out as operator,
	// assistant or summary text.
	Bytes    int64   `json:"bytes"`
	Lines    int     `json:"lines"`
	Records  int     `json:"records"`
	Messages int     `json:"messages"`
	Omitted  Omitted `json:"omitted"`
	// Skipped lists the first MaxSkips lines that could not be read,
	// SkippedTotal counts all of them.
	Skipped      []Skip `json:"skipped,omitempty"`
	SkippedTotal int    `json:"skipped_total"`
	// IncompleteTail is set when the last line has no end yet: a live client
	// may still be writing it. It is counted in SkippedTotal too.
	IncompleteTail bool `json:"incomplete_tail,omitempty"`
	// Shortened counts lines in which overlong strings were cut, LeftOutBytes
	// what was cut from them.
	Shortened    int   `json:"shortened,omitempty"`
	LeftOutBytes int64 `json:"left_out_bytes,omitempty"`
	// Compactions lists the latest MaxCompactions, CompactionsTotal counts all.
	Compactions      []Compaction `json:"compactions,omitempty"`
	CompactionsTotal int          `json:"compactions_total"`
	// Rewinds counts the prompts that took the place of earlier ones, see
	// [Message.Rewound].
	Rewinds int `json:"rewinds,omitempty"`
	// Usage is the latest context size on record; nil when there is none.
	Usage *Usage `json:"usage,omitempty"`
	// Turn is the state of the latest turn.
	Turn Turn `json:"turn"`
}

// skip records one unusable line, within bounds.
func (s *Summary) skip(l line, reason string) {
	s.SkippedTotal++
	if len(s.Skipped) < MaxSkips {
		s.Skipped = append(s.Skipped, Skip{Line: l.no, Offset: l.off, Reason: reason})
	}
}

// compaction records one compaction, within bounds.
func (s *Summary) compaction(c Compaction) {
	s.CompactionsTotal++
	if len(s.Compactions) == MaxCompactions {
		copy(s.Compactions, s.Compactions[1:])
		s.Compactions = s.Compactions[:MaxCompactions-1]
	}
	s.Compactions = append(s.Compactions, c)
	if s.Usage != nil {
		s.Usage.Stale = true
	}
}

// seen moves the first and latest time.
func (s *Summary) seen(t time.Time) {
	if t.IsZero() {
		return
	}
	if s.StartedAt.IsZero() {
		s.StartedAt = t
	}
	if t.After(s.LastAt) {
		s.LastAt = t
	}
}
