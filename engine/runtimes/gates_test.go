package runtimes

import (
	"strings"
	"testing"

	"rig/engine"
)

// TestQuestionsOfAProject: what Claude Code 2.1.332 asks before it begins in a project with
// an .mcp.json, or with a CLAUDE.md that imports files from elsewhere (seen on it).
func TestQuestionsOfAProject(t *testing.T) {
	t.Parallel()
	rule := strings.Repeat("─", 120)
	for name, c := range map[string]struct {
		lines []string
		code  engine.Code
	}{
		"one server": {[]string{
			rule, "  New MCP server found in this project: mine", "",
			"  MCP servers may execute code or access system resources. All tool calls require approval. Learn more in the MCP documentation.", "",
			"    Use this MCP server", "    Use this and all future MCP servers in this project", "  ❯ Continue without using this MCP server", "",
			"  Enter to confirm · Esc to reject",
		}, CodeMCPGate},
		"two servers": {[]string{
			rule, "  2 new MCP servers found in this project", "", "  Select any you wish to enable.", "",
			"  MCP servers may execute code or access system resources. All tool calls require approval. Learn more in the MCP documentation.", "",
			"  ❯ [✔] mine", "    [✔] other", "       Enable selected", "", " Space to select · Esc to reject all",
		}, CodeMCPGate},
		"imports": {[]string{
			rule, "  Allow external CLAUDE.md file imports?", "",
			"  This project's CLAUDE.md or .claude/rules imports files outside the current working directory. Never allow this for third-party repositories.", "",
			"  External imports:", "    /etc/hostname", "",
			"  Important: Only use Claude Code with files you trust.", "", "  ❯ No, disable external imports", "    Yes, allow external imports", "",
			"  Enter to confirm · Esc to disable",
		}, CodeImportsGate},
	} {
		if v := readClaude(c.lines); v.code != c.code || !v.gate || v.state != engine.ActivityWaiting {
			t.Errorf("%s: %s %s, gate %v: %s", name, v.state, v.code, v.gate, v.why)
		}
	}
}
