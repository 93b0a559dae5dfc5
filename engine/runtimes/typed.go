package runtimes

import "strings"

// typed gives what must be pasted into a client's input box so that the next Enter submits
// a text as the message that it is. Seen on Claude Code 2.1.332 and Codex 0.171.0, all by a
// paste and Enter:
//
//	!… as the very first character   the rest is run by a shell, in every permission mode, and nobody is asked
//	@… or $… as the last word        Codex: a list of files or skills takes the Enter; a file takes the word's place too
//	:… as the last word              Claude: the name of an emoji takes the Enter, and becomes the emoji
//	\ at the end                     Claude: Enter is a line break, and the backslash is gone
//
// A space before or behind keeps the client from each of them; it submits the text without
// it, or with it. A "/" is left alone: that is how a client's own commands are sent.
func typed(text string) string {
	if strings.HasPrefix(text, "!") {
		text = " " + text
	}
	last := text[strings.LastIndexAny(text, " \t\n")+1:]
	if last != "" && strings.Contains("@$:", last[:1]) || strings.HasSuffix(text, `\`) {
		text += " "
	}
	return text
}

// Typed implements the engine's typist.
func (*Claude) Typed(text string) string { return typed(text) }

// Typed implements the engine's typist.
func (*Codex) Typed(text string) string { return typed(text) }
