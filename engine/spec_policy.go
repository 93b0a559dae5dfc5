package engine

import (
	"fmt"
	"strings"
)

// ClaudeCompaction is the managed compaction policy, policies.claude_compaction.
// A nil threshold was not written; with neither of them the default of
// DefaultCompactPercent counts.
type ClaudeCompaction struct {
	Enabled          bool   `json:"enabled"`
	ThresholdPercent *int   `json:"threshold_percent,omitempty"` // share of the context window, 1 to 100
	ThresholdTokens  *int64 `json:"threshold_tokens,omitempty"`  // 1 or more

	PreCompactInstruction string `json:"pre_compact_instruction,omitempty"`
	CompactInstruction    string `json:"compact_instruction,omitempty"`
	MessageInline         string `json:"message_inline,omitempty"`
	MessageFilePath       string `json:"message_file_path,omitempty"`
	PostRestoreAudit      string `json:"post_restore_audit_instruction,omitempty"`

	// TellNeighbours has the agents on a seat's edges told when it was compacted,
	// whoever did it. It does not depend on Enabled.
	TellNeighbours bool `json:"tell_neighbours,omitempty"`
}

// DefaultCompactPercent is the threshold of an enabled policy that names none.
const DefaultCompactPercent = 80

// Active reports whether the policy is on: enabled and with a valid threshold.
// Launch and enforcement both ask here, so that they cannot disagree. The text
// says why it is off.
func (c *ClaudeCompaction) Active() (on bool, why string) {
	switch {
	case c == nil:
		return false, "no policy is set"
	case !c.Enabled:
		return false, "the policy is not enabled"
	case c.ThresholdPercent != nil && (*c.ThresholdPercent < 1 || *c.ThresholdPercent > 100):
		return false, fmt.Sprintf("threshold_percent %d is not within 1 to 100", *c.ThresholdPercent)
	case c.ThresholdTokens != nil && *c.ThresholdTokens < 1:
		return false, fmt.Sprintf("threshold_tokens %d is not 1 or more", *c.ThresholdTokens)
	}
	return true, ""
}

// Thresholds gives the limits of an active policy; 0 means that this measure is
// not used. Whichever is reached first counts.
func (c *ClaudeCompaction) Thresholds() (percent int, tokens int64) {
	if on, _ := c.Active(); !on {
		return 0, 0
	}
	if c.ThresholdPercent != nil {
		percent = *c.ThresholdPercent
	}
	if c.ThresholdTokens != nil {
		tokens = *c.ThresholdTokens
	}
	if percent == 0 && tokens == 0 {
		percent = DefaultCompactPercent
	}
	return percent, tokens
}

// CheckNativeID checks that text has the form of a runtime's conversation id and
// returns it without the line end it may have come with. Claude Code and Codex
// both use UUIDs; a terminal has no conversation. The error says what is wrong
// and never quotes the text, which may be a secret.
func CheckNativeID(rt RuntimeName, text string) (string, error) {
	if rt != RuntimeClaude && rt != RuntimeCodex {
		return "", Errorf(CodeNotSupported, "runtime %q has no conversation ids", string(rt)).
			WithHint("only claude-code and codex conversations have an id")
	}
	id := strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	if isUUID(id) {
		return id, nil
	}
	msg, hint := nativeIDFault(id)
	return "", Errorf(CodeInvalid, "not a %s conversation id: %s", rt, msg).WithHint("%s", hint)
}

// nativeIDFault names the mistake in a text that is not a UUID.
func nativeIDFault(id string) (msg, hint string) {
	const form = "give the whole id, 8-4-4-4-12 hexadecimal digits"
	switch {
	case id == "":
		return "it is empty", form
	case strings.TrimSpace(id) == "":
		return "it is blank", form
	case strings.ContainsAny(id, "\n\r"):
		return "it has more than one line", "give one id on one line"
	case strings.HasPrefix(id, "-"):
		return "it looks like an option", form
	case strings.Contains(id, "/") || strings.HasSuffix(id, ".jsonl"):
		return "it looks like a path", "give the id only, without folder and file ending"
	case holdsUUID(id):
		return "there is more around the id", "strip what stands before and after the id"
	case len(id) < uuidLen && strings.Trim(id, "0123456789abcdefABCDEF-") == "":
		return "it is a shortened id", form
	}
	return "it has not the form of a UUID", form
}

// SameNativeID compares two conversation ids; the letters of a UUID may be in
// either case.
func SameNativeID(a, b string) bool { return a != "" && strings.EqualFold(a, b) }

const uuidLen = 36

// isUUID reports whether s is 8-4-4-4-12 hexadecimal digits. It is written out
// because a compiled pattern would cost every start of the program.
func isUUID(s string) bool {
	if len(s) != uuidLen {
		return false
	}
	for i := range len(s) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if s[i] != '-' {
				return false
			}
		} else if !strings.ContainsRune("0123456789abcdefABCDEF", rune(s[i])) {
			return false
		}
	}
	return true
}

// holdsUUID reports whether an id stands inside something longer.
func holdsUUID(s string) bool {
	for i := 0; i+uuidLen <= len(s); i++ {
		if isUUID(s[i : i+uuidLen]) {
			return true
		}
	}
	return false
}
