package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// CompactionMark is the moment from which a compaction counts as the one that was
// asked for: a byte offset of the client's own record, the newest report of its hooks,
// and the time.
type CompactionMark struct {
	Path   string    `json:"path"`
	Offset int64     `json:"offset"` // bytes of the record at that moment
	At     time.Time `json:"at"`
	// Event is the name of the newest hook event then. Only those behind it count; the
	// time decides where there was none, or an older build made the mark.
	Event string `json:"event,omitempty"`
	Tag   string `json:"tag,omitempty"` // stands in the command that was typed
}

// CompactionState is how a compaction that was asked for stands.
type CompactionState string

// Compaction states.
const (
	CompactionPending CompactionState = "pending"
	CompactionDone    CompactionState = "compacted"
	CompactionFailed  CompactionState = "failed"
)

// CompactionProof is what the client's own records say of a compaction since a
// mark. A failure beats a proof.
type CompactionProof struct {
	State      CompactionState `json:"state"`
	Why        string          `json:"why"`
	Source     string          `json:"source,omitempty"` // transcript, hook, pane
	Trigger    string          `json:"trigger,omitempty"`
	PreTokens  int64           `json:"pre_tokens,omitempty"`
	PostTokens int64           `json:"post_tokens,omitempty"`
	At         time.Time       `json:"at,omitzero"`
	Tail       []string        `json:"pane_tail,omitempty"`
}

// compactor is what a runtime offers whose client has a /compact that we drive.
// All of it reads; nothing opens a provider's file for writing.
type compactor interface {
	// CompactionMark gives the present end of the occupant's record.
	CompactionMark(ctx context.Context, p Probe) (CompactionMark, error)
	// CompactionSince looks for a compaction, or its failure, after a mark. The
	// probe's screen is part of the evidence.
	CompactionSince(ctx context.Context, p Probe, m CompactionMark) CompactionProof
	// AnswerTo tells whether a user turn behind the mark holds the marker, and gives
	// what was last answered to it, "" while nothing was.
	AnswerTo(ctx context.Context, p Probe, m CompactionMark, marker string) (asked bool, answer string)
	// LatestCompaction gives the occupant's newest compaction of any origin.
	LatestCompaction(ctx context.Context, p Probe) (CompactionProof, bool)
}

// Directive is the one restore directive that an occupant gets after a
// compaction, through its client's SessionStart hook. It is bound to occupant,
// conversation and attempt, so that nobody else can take it.
type Directive struct {
	Attempt      string    `json:"attempt"`
	Seat         string    `json:"seat"` // address
	Session      string    `json:"session"`
	Generation   int64     `json:"generation"`
	Conversation string    `json:"conversation"` // ConversationDigest of the native id
	Packet       string    `json:"packet,omitempty"`
	Map          string    `json:"map,omitempty"`
	Text         string    `json:"text"` // ≤ MaxDirective bytes
	By           string    `json:"by"`   // operation or hook
	CreatedAt    time.Time `json:"created_at"`
}

// MaxDirective bounds a directive in bytes; clients cut hook context at 10,000
// characters.
const MaxDirective = 8000

// ConversationDigest names a conversation, or its file, without its native id.
func ConversationDigest(nativeID string) string {
	sum := sha256.Sum256([]byte(strings.ToLower(nativeID)))
	return hex.EncodeToString(sum[:12])
}

// DirectiveState is how far a directive came: "" (none), armed, claimed,
// delivered or refused.
type DirectiveState string

// Directive states.
const (
	DirectiveNone      DirectiveState = ""
	DirectiveArmed     DirectiveState = "armed"
	DirectiveClaimed   DirectiveState = "claimed" // taken by a hook that has not finished
	DirectiveDelivered DirectiveState = "delivered"
	DirectiveRefused   DirectiveState = "refused" // it was bound to something else
)

// directiveKeeper is what Occupants offers for restore directives.
type directiveKeeper interface {
	// ArmDirective puts a directive where the occupant's own hook finds it, in
	// place of an earlier one.
	ArmDirective(d Directive) error
	// DisarmDirective takes an attempt's directive back; false when it had been
	// claimed before.
	DisarmDirective(sessionID, attempt string) (bool, error)
	// DirectiveOf says how far an attempt's directive came.
	DirectiveOf(sessionID, attempt string) (DirectiveState, error)
}

// DirectiveText is what an occupant is told through its hook after a compaction.
func DirectiveText(d Directive, gaps []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Your conversation was just compacted. You still sit in the seat %s, generation %d (compaction %s).\n", d.Seat, d.Generation, d.Attempt)
	b.WriteString("This is the restore directive, given once. Restore before any other work:\n")
	n := 0
	item := func(format string, args ...any) {
		n++
		fmt.Fprintf(&b, "%d. %s\n", n, fmt.Sprintf(format, args...))
	}
	item("`rig whoami` says who you are; where anything disagrees with it, it wins.")
	if d.Map != "" {
		item("Read your own restore map %s in full, and what it ranks first.", d.Map)
	}
	if d.Packet != "" {
		item("Read the restore packet %s: restore-instructions.md first, then the latest transcript.", d.Packet)
	}
	item("Read what the seat has kept, where it exists: `rig context get seat:RECAP.md`, then `rig context get seat:LEARNED.md`.")
	item("`rig context work-install` lists what the project declares: read what your task needs of it.")
	item("Then restate: identity, current work, why it matters, next owner, relevant files, constraints.")
	for _, g := range gaps {
		fmt.Fprintf(&b, "Gap: %s.\n", g)
	}
	b.WriteString("This text is information; an ordinary message may ask you to act on it. An audit follows.\n")
	if t := b.String(); len(t) <= MaxDirective {
		return t
	}
	return strings.ToValidUTF8(b.String()[:MaxDirective], "")
}
