package runtimes

import (
	"strings"

	"rig/engine"
)

// Codes of what Claude Code and Codex may show. They stand in readiness, in
// activity and in the attention list.
const (
	CodeTrustGate        engine.Code = "trust_gate"
	CodeLoginRequired    engine.Code = "login_required"
	CodeOnboarding       engine.Code = "onboarding_gate"
	CodeAPIKeyGate       engine.Code = "api_key_gate"
	CodeBypassGate       engine.Code = "bypass_gate"
	CodeSettingsError    engine.Code = "settings_error"
	CodeSettingsWarning  engine.Code = "settings_warning"
	CodeResumeSelection  engine.Code = "resume_selection"
	CodeResumePicker     engine.Code = "resume_picker"
	CodeMCPGate          engine.Code = "mcp_gate"
	CodeImportsGate      engine.Code = "imports_gate"
	CodeHookTrustGate    engine.Code = "hook_trust_gate"
	CodeUpdateGate       engine.Code = "update_gate"
	CodeOtherCwd         engine.Code = "resume_cwd_gate"
	CodeModelGate        engine.Code = "model_selection_gate"
	CodeLocked           engine.Code = "conversation_locked"
	CodeDialog           engine.Code = "dialog"
	CodePanel            engine.Code = "panel"
	CodePermissionPrompt engine.Code = "permission_prompt"
	CodeQuestion         engine.Code = "question"
	CodeRetrying         engine.Code = "retrying"
	CodeCompacting       engine.Code = "compacting"
	CodeInterrupted      engine.Code = "interrupted"
	CodeAPIError         engine.Code = "api_error"
	CodeCompactFailed    engine.Code = "compact_failed"
	CodeUsageLimit       engine.Code = "usage_limit"
	CodeRateLimited      engine.Code = "rate_limited"

	CodeNoConversation   engine.Code = "no_conversation_found"
	CodeNoSavedSession   engine.Code = "no_saved_session"
	CodeSourceMissing    engine.Code = "source_rollout_missing"
	CodeNoRollout        engine.Code = "no_rollout_found"
	CodeArchived         engine.Code = "conversation_archived"
	CodeSessionInUse     engine.Code = "session_id_in_use"
	CodeTrustRefused     engine.Code = "trust_refused"
	CodeUnreachable      engine.Code = "provider_unreachable"
	CodeClientExited     engine.Code = "client_exited"
	CodeClientNotStarted engine.Code = "client_not_started"
	CodeReturnedToShell  engine.Code = "returned_to_shell"
)

// inputMark starts the input line of Claude Code. The no-break space is what
// tells it from the prompts in the history, which have an ordinary one.
const inputMark = "❯\u00a0"

// claudeQueuedMark is what the client puts into an empty input line while it holds a
// message.
const claudeQueuedMark = "Press up to edit queued messages"

// claudePlaceholders are texts that the client itself puts into an empty input
// line.
var claudePlaceholders = []string{claudeQueuedMark, "Resend your message to try again", "Try \""}

// readClaude judges a screen of Claude Code.
func readClaude(lines []string) screenView {
	lines = tidy(lines)
	if top, input, bottom, ok := claudeBox(lines); ok {
		return claudeBoxView(lines[:top], lines[input:bottom], lines[bottom+1:])
	}
	if v, ok := claudeDialog(lines); ok {
		return v
	}
	return claudeLastWords(lines)
}

// claudeBox finds the input box nearest to the bottom: a rule, the input line
// with what was typed, a rule, and at most a few lines below.
func claudeBox(lines []string) (top, input, bottom int, ok bool) {
	const under = 12 // status line, hints and warnings below the box
	bottom = -1
	for i := len(lines) - 1; i > 0 && i >= len(lines)-under-maxDraft; i-- {
		switch {
		case isEdge(lines[i]) && bottom < 0 && len(lines)-i <= under:
			bottom = i
		case isEdge(lines[i]) || bottom < 0 && len(lines)-i > under:
			return 0, 0, 0, false
		case bottom > 0 && isInput(lines[i]) && isEdge(lines[i-1]):
			return i - 1, i, bottom, true
		}
	}
	return 0, 0, 0, false
}

// isEdge recognises the upper and lower edge of the box: a rule, or the rounded
// frame that older clients draw.
func isEdge(l string) bool {
	return isRule(l) || isRule(strings.TrimPrefix(l, "╭")) || isRule(strings.TrimPrefix(l, "╰"))
}

// isInput recognises the first line of the input: the mark of the prompt, of the
// shell mode, or of an older client.
func isInput(l string) bool {
	return strings.HasPrefix(l, inputMark) || l == "❯" || strings.HasPrefix(l, "!\u00a0") || strings.HasPrefix(l, "│ >")
}

// maxDraft is how many lines of a draft are looked through for the input mark.
const maxDraft = 60

func claudeBoxView(above, box, below []string) screenView {
	v := screenView{kind: screenBox, draft: claudeDraft(box)}
	switch {
	case hasWords(below, "esc to interrupt"), olderBusy(above):
		claudeBusy(&v, above)
		claudeQueued(&v, above, box)
	case claudeLimit(&v, above, below):
	case hasWords(below, "Not logged in"):
		v.state, v.code, v.gate = engine.ActivityWaiting, CodeLoginRequired, true
		v.why, v.rule = "not logged in: someone must run /login", "status area: Not logged in"
	default:
		claudeIdle(&v, above)
	}
	return v
}

// olderBusy sees the progress line of older clients, which names the key itself.
func olderBusy(above []string) bool {
	for _, l := range lastLines(above, 4) {
		if spinnerLine(l) && strings.Contains(l, "esc to interrupt)") {
			return true
		}
	}
	return false
}

// hasWords looks for words in the area below the input box, which belongs to
// the client and the user's status line, not to the conversation.
func hasWords(below []string, words string) bool {
	for _, l := range below {
		if strings.Contains(l, words) {
			return true
		}
	}
	return false
}

func claudeDraft(box []string) string {
	text := strings.TrimLeft(box[0], "❯!│> ")
	for _, l := range box[1:] {
		text += "\n" + strings.TrimPrefix(strings.TrimPrefix(l, "│"), "  ")
	}
	text = strings.TrimRight(strings.Trim(text, "\u00a0 \n"), "│ \u00a0\n")
	for _, p := range claudePlaceholders {
		if strings.HasPrefix(text, p) {
			return ""
		}
	}
	return text
}

// claudeBusy tells the kinds of busy apart by the spinner line above the box.
func claudeBusy(v *screenView, above []string) {
	v.state, v.why, v.rule = engine.ActivityBusy, "working", "status area: esc to interrupt"
	for _, l := range lastLines(above, 6) {
		switch {
		case !spinnerLine(l):
		case strings.Contains(l, " · retrying in "):
			v.code, v.why, v.rule = CodeRetrying, "retrying: "+afterSpinner(l), "spinner line: retrying in"
		case strings.Contains(l, "Compacting conversation"):
			v.code, v.why, v.rule = CodeCompacting, "compacting the conversation", "spinner line: Compacting conversation"
		}
	}
}

// claudeQueued sees a message that the client holds, by what stands under the message or
// in the empty input line.
func claudeQueued(v *screenView, above, box []string) {
	v.queued = hasWords(lastLines(above, 8), "Queued · ") || strings.HasPrefix(strings.TrimLeft(box[0], "❯│>\u00a0 "), claudeQueuedMark)
	v.sayQueued()
}

// spinnerLine recognises the client's own progress line: a star of some form at
// the very left.
func spinnerLine(l string) bool {
	for _, star := range []string{"· ", "✢ ", "✳ ", "✶ ", "✻ ", "✽ ", "* "} {
		if strings.HasPrefix(l, star) {
			return true
		}
	}
	return false
}

func afterSpinner(l string) string {
	_, rest, _ := strings.Cut(l, " ")
	return printable(redactText(rest), 120)
}

// claudeLimit sees a usage limit: the warning lines below the box, or the
// limit's answer as the last thing in the conversation. The registry says idle
// all the while.
func claudeLimit(v *screenView, above, below []string) bool {
	for _, l := range below {
		s := strings.TrimSpace(l)
		if strings.HasPrefix(s, "⚠") && strings.Contains(strings.ToLower(s), "limit reached") {
			v.state, v.code, v.rule = engine.ActivityLimit, CodeUsageLimit, "warning below the input box"
			v.why = printable(redactText(strings.TrimSpace(strings.TrimPrefix(s, "⚠"))), 160)
			return true
		}
	}
	last := claudeContent(above, 3)
	for i, l := range last {
		answer := strings.HasPrefix(l, "  ⎿  You've hit your ") && strings.Contains(l, "limit") && i > 0 && strings.HasPrefix(last[i-1], "❯ ")
		notice := strings.HasPrefix(l, "● Usage limit reached ·")
		if answer || notice {
			v.state, v.code, v.rule = engine.ActivityLimit, CodeUsageLimit, "limit notice as the last answer"
			v.why = printable(redactText(strings.TrimLeft(l, " ⎿●")), 160)
			return true
		}
	}
	return false
}

// claudeContent gives the last lines of the conversation, without the hints
// that the client sets flush right above the box, and with plain blanks.
func claudeContent(above []string, n int) []string {
	var kept []string
	for _, l := range lastLines(above, n+3) {
		if trimmed := strings.TrimLeft(l, " "); len(l)-len(trimmed) > 12 {
			continue
		}
		kept = append(kept, strings.ReplaceAll(l, "\u00a0", " "))
	}
	if len(kept) > n {
		kept = kept[len(kept)-n:]
	}
	return kept
}

func claudeIdle(v *screenView, above []string) {
	v.state, v.why, v.rule = engine.ActivityIdle, "at the prompt", "empty input box, no esc to interrupt"
	if v.draft != "" {
		v.why, v.rule = "at the prompt, with text in the input line", "input box, no esc to interrupt"
	}
	for _, l := range claudeContent(above, 1) {
		switch {
		case strings.HasPrefix(l, "● API Error:"):
			v.code, v.why = CodeAPIError, "the last turn failed: "+printable(redactText(strings.TrimPrefix(l, "● ")), 160)
		case strings.HasPrefix(l, "  ⎿  Error") && strings.Contains(l, "Error during compaction:"), strings.HasPrefix(l, "  ⎿  Compaction failed ·"):
			v.code, v.why = CodeCompactFailed, printable(redactText(strings.TrimPrefix(l, "  ⎿  ")), 160)
		case strings.HasPrefix(l, "  ⎿  Interrupted ·"):
			v.code, v.why = CodeInterrupted, "the last turn was interrupted"
		default:
			continue
		}
		v.rule = "last line of the conversation"
	}
}
