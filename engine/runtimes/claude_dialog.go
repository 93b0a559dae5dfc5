package runtimes

import (
	"slices"
	"strings"

	"rig/engine"
)

// claudeFooters are the last lines of the client's menus. A menu replaces the
// input box, so a conversation that quotes one still has the box below it.
var claudeFooters = []string{
	"Enter to confirm", "Enter to select", "Esc to cancel", "Esc to close", "Esc to clear",
	"Type to search", "←/→ to switch", "Press Enter to", "Space to select",
}

// claudeDialog judges a screen that ends in a menu.
func claudeDialog(lines []string) (screenView, bool) {
	if len(lines) == 0 {
		return screenView{}, false
	}
	footer := strings.TrimSpace(lines[len(lines)-1])
	known := false
	for _, f := range claudeFooters {
		known = known || strings.HasPrefix(footer, f)
	}
	if !known {
		return screenView{}, false
	}
	region := dialogRegion(lines[:len(lines)-1])
	v := screenView{kind: screenDialog, state: engine.ActivityWaiting}
	for _, d := range claudeDialogs {
		if d.match(region, footer) {
			v.code, v.why, v.gate = d.code, d.why, d.gate
			v.rule = "menu with the footer " + printable(footer, 60)
			return v, true
		}
	}
	v.code, v.why, v.rule = CodeDialog, "a question that is not known to rig", "menu with the footer "+printable(footer, 60)
	v.gate = true
	return v, true
}

// dialogRegion cuts the lines that belong to the menu: from the rule above its
// selected entry, or a screenful when there is none.
func dialogRegion(lines []string) []string {
	const most = 40
	at := len(lines)
	for i := len(lines) - 1; i >= 0 && i >= len(lines)-most; i-- {
		if _, selected, ok := optionText(lines[i]); ok && selected {
			at = i
			break
		}
	}
	start := max(0, at-most)
	for i := min(at, len(lines)) - 1; i >= start; i-- {
		if isRule(lines[i]) || strings.HasPrefix(lines[i], "▔▔▔") {
			return lines[i+1:]
		}
	}
	return lines[start:]
}

// dialogForm is one known menu.
type dialogForm struct {
	code  engine.Code
	why   string
	gate  bool
	match func(region []string, footer string) bool
}

var claudeDialogs = []dialogForm{
	{CodeTrustGate, "asks whether this folder is trusted", true, func(r []string, _ string) bool {
		return hasLine(r, "Accessing workspace:") && hasOption(r, "Yes, I trust this folder")
	}},
	{CodeAPIKeyGate, "asks whether to use the API key of the environment", true, func(r []string, _ string) bool {
		return hasLine(r, "Detected a custom API key in your environment") && hasOption(r, "No")
	}},
	{CodeBypassGate, "asks to accept the bypass-permissions mode", true, func(r []string, _ string) bool {
		return hasLine(r, "WARNING: Claude Code running in Bypass Permissions mode") && hasOption(r, "Yes, I accept")
	}},
	{CodeSettingsError, "a settings file has an error", true, func(r []string, _ string) bool {
		return hasLine(r, "Settings Error") && hasOption(r, "Exit and fix manually")
	}},
	{CodeSettingsWarning, "a settings file has a warning", true, func(r []string, _ string) bool {
		return hasLine(r, "Settings Warning") && hasOption(r, "Exit and fix manually")
	}},
	{CodeResumeSelection, "asks whether to resume from a summary or in full", true, func(r []string, _ string) bool {
		return hasOption(r, "Resume from summary") && hasOption(r, "Resume full session")
	}},
	{CodeResumePicker, "asks which conversation to resume", true, func(r []string, footer string) bool {
		return hasLine(r, "Resume session") && strings.HasPrefix(footer, "Type to search") ||
			hasLine(r, "Choose a conversation") || hasLine(r, "Select a conversation")
	}},
	{CodeMCPGate, "asks which MCP servers of the project to enable", true, func(r []string, _ string) bool {
		return lineWith(r, "MCP server", ".mcp.json") || lineWith(r, "new MCP servers found in this project") ||
			lineWith(r, "New MCP server found in this project")
	}},
	{CodeImportsGate, "asks whether CLAUDE.md may import files from outside of the project", true, func(r []string, _ string) bool {
		return hasLine(r, "Allow external CLAUDE.md file imports?")
	}},
	{CodeLoginRequired, "asks to log in", true, func(r []string, _ string) bool {
		return hasLine(r, "Select login method") || hasLine(r, "Not logged in")
	}},
	{CodeOnboarding, "asks first-run questions", true, func(r []string, _ string) bool {
		return hasLine(r, "Choose the text style") || hasLine(r, "Let's get started")
	}},
	{CodePermissionPrompt, "asks for permission", false, func(r []string, footer string) bool {
		return strings.Contains(footer, "Tab to amend") || hasLine(r, "Do you want to ") && hasOption(r, "Yes")
	}},
	{CodeQuestion, "asks a question", false, func(_ []string, footer string) bool {
		return strings.HasPrefix(footer, "Enter to select")
	}},
	{CodePanel, "a screen that someone opened is in front of the prompt", false, func(_ []string, footer string) bool {
		return strings.HasPrefix(footer, "←/→ to switch") || strings.HasSuffix(footer, "Esc to close")
	}},
}

// lineWith reports whether one line of the region holds every one of the words.
func lineWith(region []string, words ...string) bool {
	return slices.ContainsFunc(region, func(l string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(l, w) })
	})
}

// lastWords are texts with which a client ends, each at the start of a line.
type lastWords struct {
	start string
	also  string // must stand in the same message, wrapped or not
	code  engine.Code
	why   string
	fail  bool
}

var claudeEnds = []lastWords{
	{"No conversation found with session ID", "", CodeNoConversation, "the client found no conversation with that id in this home", true},
	{"Error: Session ID", "is already in use", CodeSessionInUse, "the chosen session id is in use", true},
	{"Claude Code didn't start because this folder isn't trusted", "", CodeTrustRefused, "the folder was not trusted and the client ended", true},
	{"Unable to connect to Anthropic services", "", CodeUnreachable, "the client could not reach its provider", true},
	{"Resume this session with:", "", CodeClientExited, "the client ended", false},
}

// claudeLastWords judges a screen without box and menu.
func claudeLastWords(lines []string) screenView { return readEnds(lines, claudeEnds) }

func readEnds(lines []string, ends []lastWords) screenView {
	recent := lastLines(lines, 30)
	for i := len(recent) - 1; i >= 0; i-- {
		s := strings.TrimSpace(recent[i])
		for _, e := range ends {
			if !strings.HasPrefix(s, e.start) || e.also != "" && !strings.Contains(joined(recent[i:]), e.also) {
				continue
			}
			return screenView{kind: screenShell, code: e.code, why: e.why, fail: e.fail, rule: "line starting with " + e.start}
		}
	}
	return screenView{kind: screenOther}
}
