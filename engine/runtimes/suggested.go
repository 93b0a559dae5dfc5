package runtimes

import (
	"slices"
	"strings"
	"unicode/utf8"

	"rig/engine"
)

// A client writes into its empty input box what its user might type: a placeholder, or,
// Claude Code after a few turns, a suggestion of the model's. Nobody has typed that, and
// only how it is drawn tells it from a draft: faint, but for its first character where the
// cursor stands on that (seen on Claude Code 2.1.332 with
// CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION=true, and on Codex 0.171.0).

// readClaudeScreen is readClaude of a screen that says what is drawn faint.
func readClaudeScreen(s engine.Screen) screenView { return readClaude(unsuggested(s)) }

// readCodexScreen is readCodex of a screen that says what is drawn faint.
func readCodexScreen(s engine.Screen) screenView {
	v := readCodex(s.Lines)
	if len(s.Faint) != len(s.Lines) {
		return v
	}
	for i, l := range slices.Backward(s.Lines) {
		if strings.HasPrefix(l, codexMark) { // the last one is the input line
			if suggests(v.draft, s.Faint[i]) {
				v.draft = ""
			}
			break
		}
	}
	return v
}

// suggests reports whether the text of an input line is drawn as a suggestion is.
func suggests(text, faint string) bool {
	text, faint = strings.TrimSpace(text), strings.TrimSpace(faint)
	if text == "" || faint == "" {
		return false
	}
	_, first := utf8.DecodeRuneInString(text)
	return text == faint || strings.TrimSpace(text[first:]) == faint
}

// unsuggested gives the lines of a screen without a suggestion in Claude Code's input box.
// What the client itself puts there stays: it says that a message is queued.
func unsuggested(s engine.Screen) []string {
	if len(s.Faint) != len(s.Lines) {
		return s.Lines
	}
	for i, l := range s.Lines {
		text, input := strings.CutPrefix(l, inputMark)
		if !input || !suggests(text, s.Faint[i]) || slices.ContainsFunc(claudePlaceholders, func(p string) bool { return strings.HasPrefix(text, p) }) {
			continue
		}
		out := slices.Clone(s.Lines)
		out[i] = inputMark
		for j := i + 1; j < len(out) && !isEdge(out[j]) && strings.TrimSpace(out[j]) == strings.TrimSpace(s.Faint[j]); j++ {
			out[j] = ""
		}
		return out
	}
	return s.Lines
}
