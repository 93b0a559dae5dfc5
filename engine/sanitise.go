package engine

import (
	"regexp"
	"strings"
	"sync"
)

// EscapeSequences matches whole escape sequences, so that no "[31m" is left behind:
// CSI, terminated OSC, DCS, APC, PM and SOS, and two-byte ones. Of one that never
// ends only the introducer goes, so that it cannot take the text with it.
var EscapeSequences = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]` +
		`|(?:\x1b[\]PX^_]|[\x{90}\x{98}\x{9d}-\x{9f}])[^\x07\x1b\x{9c}]*(?:\x07|\x1b\\|\x{9c})` +
		`|\x1b[ -/]*[0-~]`)
})

// Sanitise makes text safe to paste: escape sequences and every C0 and C1 control
// but newline and tab are dropped, CR LF becomes LF, invalid UTF-8 becomes U+FFFD.
// Without this a text that holds ESC[201~ ends the bracketed paste and types the
// rest as keys (before tmux 3.7).
func Sanitise(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if strings.ContainsAny(text, "\x1b\u009b\u0090\u0098\u009d\u009e\u009f") {
		text = EscapeSequences().ReplaceAllString(text, "")
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < 0x20 || r >= 0x7f && r <= 0x9f:
			return -1
		}
		return r
	}, text)
}
