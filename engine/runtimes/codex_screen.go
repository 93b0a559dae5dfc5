package runtimes

import (
	"strings"
	"unicode/utf8"

	"rig/engine"
)

// codexMark starts the input line of Codex, and its history lines too: the input
// line is the last one, with the footer below it.
const codexMark = "› "

const codexPlaceholder = "Ask Codex to do anything"

// readCodex judges a screen of Codex. A turn that streams text leaves no trace on
// the screen, so "idle" from here is weak.
func readCodex(lines []string) screenView {
	lines = tidy(lines)
	if v, ok := codexDialog(lines); ok {
		return v
	}
	if at, ok := codexComposer(lines); ok {
		return codexComposerView(lines[:at], lines[at:])
	}
	return readEnds(lines, codexEnds)
}

// codexComposer finds the input line: the last line with the mark, at most a
// draft and two footer lines above the bottom. The footer names the model and
// the directory.
func codexComposer(lines []string) (int, bool) {
	for i := len(lines) - 1; i >= 0 && i >= len(lines)-maxDraft; i-- {
		if !strings.HasPrefix(lines[i], codexMark) && lines[i] != "›" {
			continue
		}
		for _, l := range lines[i+1:] {
			if strings.HasPrefix(l, "  ") && (strings.Contains(l, " · ") || strings.Contains(l, "? for shortcuts")) {
				return i, true
			}
		}
		return 0, false
	}
	return 0, false
}

func codexComposerView(above, box []string) screenView {
	v := screenView{kind: screenBox, draft: codexDraft(box)}
	recent := lastLines(above, 8)
	if v.queued = codexQueued(above); v.queued {
		v.state, v.why, v.rule = engine.ActivityBusy, "working", "queued messages above the input line"
	}
	for _, l := range recent {
		if !strings.HasPrefix(l, "• ") {
			continue
		}
		switch rest := l[len("• "):]; {
		case strings.HasPrefix(rest, "Reconnecting...") && strings.Contains(rest, "esc to interrupt"):
			v.state, v.code, v.rule = engine.ActivityBusy, CodeRetrying, "status line: Reconnecting"
			v.why = "retrying: " + printable(rest, 80)
		case strings.HasSuffix(rest, "esc to interrupt)") && strings.Contains(rest, " (") && v.state == "":
			v.state, v.why, v.rule = engine.ActivityBusy, "working", "status line: esc to interrupt"
		}
	}
	if v.state == "" {
		codexIdle(&v, recent)
	}
	v.sayQueued()
	return v
}

// codexQueued sees messages that the client holds: a block of their own right above the
// input line, of one line or more for each.
func codexQueued(above []string) bool {
	for i := len(above) - 1; i >= 0; i-- {
		if above[i] != "" && !strings.HasPrefix(above[i], "  ") {
			return strings.HasPrefix(above[i], "• Messages to be submitted after next tool call")
		}
	}
	return false
}

func codexDraft(box []string) string {
	var text []string
	for i, l := range box {
		if i > 0 && (l == "" || strings.Contains(l, " · ")) {
			break
		}
		text = append(text, strings.TrimPrefix(strings.TrimPrefix(l, "›"), "  "))
	}
	d := strings.TrimSpace(strings.Join(text, "\n"))
	if d == codexPlaceholder {
		return ""
	}
	return d
}

// codexIdle names how the last turn ended: the last block of the conversation,
// if it is one of the client's own notices.
func codexIdle(v *screenView, recent []string) {
	v.state, v.why, v.rule, v.weak = engine.ActivityIdle, "at the prompt", "input line, no working line", true
	at := -1
	for i, l := range recent {
		if strings.HasPrefix(l, "■ ") {
			at = i
		} else if at >= 0 && (strings.HasPrefix(l, "• ") || strings.HasPrefix(l, codexMark) || strings.HasPrefix(l, "  Worked for")) {
			at = -1
		}
	}
	if at < 0 {
		return
	}
	notice := printable(redactText(strings.TrimPrefix(strings.Join(recent[at:], " "), "■ ")), 200)
	plain := strings.ReplaceAll(notice, "’", "'")
	switch {
	case strings.HasPrefix(plain, "You've hit your usage limit"):
		v.state, v.code, v.why, v.weak = engine.ActivityLimit, CodeUsageLimit, notice, false
	case strings.HasPrefix(plain, "Conversation interrupted"):
		v.code, v.why = CodeInterrupted, "the last turn was interrupted"
	default:
		v.code, v.why = CodeAPIError, "the last turn failed: "+notice
	}
	v.rule = "notice at the end of the conversation"
}

// codexFooters are the last lines of the client's menus, in lower case.
var codexFooters = []string{"press enter to ", "enter confirm", "enter continue", "enter select", "r retry "}

// codexDialog judges a screen that ends in a menu.
func codexDialog(lines []string) (screenView, bool) {
	if len(lines) == 0 {
		return screenView{}, false
	}
	footer := strings.TrimSpace(lines[len(lines)-1])
	known := false
	for _, f := range codexFooters {
		known = known || strings.HasPrefix(strings.ToLower(footer), f)
	}
	if !known {
		return screenView{}, false
	}
	region := codexRegion(lines[:len(lines)-1])
	v := screenView{kind: screenDialog, state: engine.ActivityWaiting, rule: "menu with the footer " + printable(footer, 60)}
	for _, d := range codexDialogs {
		if d.match(region, footer) {
			v.code, v.why, v.gate = d.code, d.why, d.gate
			return v, true
		}
	}
	v.code, v.why, v.gate = CodeDialog, "a question that is not known to rig", true
	return v, true
}

// codexRegion cuts the lines of the menu: from the last prompt or answer of the
// conversation above its entries.
func codexRegion(lines []string) []string {
	const most = 30
	start := max(0, len(lines)-most)
	options := false
	for i := len(lines) - 1; i >= start; i-- {
		_, selected, ok := optionText(lines[i])
		if ok && selected && !options {
			options = true
			continue
		}
		if options && (strings.HasPrefix(lines[i], codexMark) || strings.HasPrefix(lines[i], "• ")) {
			return lines[i+1:]
		}
	}
	return lines[start:]
}

var codexDialogs = []dialogForm{
	{CodeLocked, "this conversation is open in another process", true, func(r []string, footer string) bool {
		return lineWith(lastLines(r, 3), "🔒", "This conversation is open in another app") && strings.HasPrefix(footer, "r retry")
	}},
	{CodeLoginRequired, "asks to sign in", true, func(r []string, _ string) bool {
		return hasLine(r, "Welcome to Codex") && hasOption(r, "Sign in with ChatGPT")
	}},
	{CodeTrustGate, "asks whether this folder is trusted", true, func(r []string, _ string) bool {
		return hasLine(r, "Trust this folder?") && hasOption(r, "Trust and continue") ||
			hasLine(r, "Do you trust the contents of this directory?")
	}},
	{CodeHookTrustGate, "asks to review new or changed hooks", true, func(r []string, _ string) bool {
		return hasLine(r, "Hooks need review") && hasOption(r, "Trust all and continue")
	}},
	{CodeOtherCwd, "asks in which directory to resume", true, func(r []string, _ string) bool {
		return hasLine(r, "Working directory · ") && hasOption(r, "Use session directory")
	}},
	{CodeUpdateGate, "offers an update", true, func(r []string, _ string) bool {
		return lineWith(r, "Update available") && (hasOption(r, "Update now") || hasOption(r, "Skip"))
	}},
	{CodeModelGate, "asks for a model", true, func(r []string, _ string) bool {
		n := 0
		for _, l := range r {
			if s, _, ok := optionText(l); ok && strings.HasPrefix(strings.ToLower(s), "gpt-") {
				n++
			}
		}
		return n >= 2
	}},
	{CodePermissionPrompt, "asks for approval", false, func(r []string, _ string) bool {
		return hasLine(r, "Would you like to ")
	}},
}

var codexEnds = []lastWords{
	{"ERROR: No saved session found", "", CodeNoSavedSession, "Codex found no saved session with that id in this home", true},
	{"Error: Failed to resume session", "missing source rollout", CodeSourceMissing, "the rollout that this fork refers to is gone", true},
	{"Error:", "no rollout found for thread id", CodeNoRollout, "Codex found no rollout of that conversation in this home", true},
	{"ERROR:", "is archived", CodeArchived, "the conversation is archived", true},
	{"Error:", "is archived", CodeArchived, "the conversation is archived", true},
	{"To continue this session, run:", "", CodeClientExited, "the client ended", false},
}

// hasSpinner reports whether a pane title begins with a Braille pattern, which
// is how Codex shows in the title that a turn runs.
func hasSpinner(title string) bool {
	r, _ := utf8.DecodeRuneInString(title)
	return r > 0x2800 && r <= 0x28ff
}
