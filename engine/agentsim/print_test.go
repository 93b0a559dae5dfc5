package agentsim

import (
	"strings"
	"testing"
)

func TestRefusals(t *testing.T) {
	w := newWorld(t)
	if code, out, _ := w.sim(KindClaude, "-p", "--session-id", idA, "[[say:one]]"); code != 0 || out != "one \n" {
		t.Fatalf("%d %q", code, out)
	}
	const wrong = "99999999-9999-4999-8999-999999999999"
	for _, c := range []struct {
		kind string
		args string
		code int
		out  string // a part of stdout or stderr
	}{
		{KindClaude, "--version", 0, "2.1.332 (Claude Code)\n"},
		{KindClaude, "--help", 0, "Usage: claude [options]"},
		{KindClaude, "--session-id notauuid", 1, "Error: Invalid session ID. Must be a valid UUID.\n"},
		{KindClaude, "-p --session-id " + idA + " hi", 1, "Error: Session ID " + idA + " is already in use.\n"},
		{KindClaude, "--resume " + wrong, 1, "No conversation found with session ID: " + wrong + "\n"},
		{KindClaude, "--resume " + wrong + " --fork-session", 1, "No conversation found with session ID: "},
		{KindClaude, "-p --resume notauuid hi", 1, "Error: --resume requires a valid session ID or session title when used with --print."},
		{KindClaude, "--session-id " + idB + " --resume " + idA, 1, "Error: --session-id with --continue or --resume also needs --fork-session.\n"},
		{KindClaude, "--permission-mode nope -p hi", 1, "argument 'nope' is invalid. Allowed choices are acceptEdits, auto, bypassPermissions, manual, dontAsk, plan.\n"},
		{KindClaude, "--bogus", 1, "error: unknown option '--bogus'\n"},
		{KindClaude, "--settings", 1, "argument missing"},
		{KindClaude, "--settings /no/such.json -p hi", 1, "Error: Settings file not found: /no/such.json\n"},
		{KindClaude, "-p", 1, "Error: Input must be provided"},
		{KindClaude, "-p [[err:400]]", 1, "API Error: 400 mock error 400"},
		{KindClaude, "--effort silly -p [[say:x]]", 0, "Warning: Unknown --effort value 'silly'"},
		{KindClaude, "-p -c [[say:went-on]]", 0, "went-on"},
		{KindClaude, "agents --json", 0, "[]\n"},
		{KindCodex, "--version", 0, "codex-cli 0.171.0\n"},
		{KindCodex, "--help", 0, "Usage: codex"},
		{KindCodex, "-a bogus", 2, "error: invalid value 'bogus' for '--ask-for-approval <APPROVAL_POLICY>'\n  [possible values: on-request, never]"},
		{KindCodex, "-s bogus", 2, "[possible values: read-only, workspace-write, danger-full-access]"},
		{KindCodex, "--bogus", 2, "error: unexpected argument '--bogus' found"},
		{KindCodex, "-m", 2, "a value is required"},
		{KindCodex, "resume " + wrong, 1, "Error: stdin is not a terminal\n"},
		{KindCodex, "archive " + wrong, 1, "Error: failed to archive session\n"},
		{"other", "", 2, "unknown client"},
	} {
		code, out, errText := w.sim(c.kind, strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(out+errText, c.out) {
			t.Errorf("%s %s: %d %q %q", c.kind, c.args, code, out, errText)
		}
	}
	w.env = append(w.env, "CODEX_HOME=/no/such/place")
	if code, _, errText := w.sim(KindCodex, "resume", "x"); code != 1 || !strings.Contains(errText, "that path does not exist") {
		t.Errorf("CODEX_HOME: %d %q", code, errText)
	}
}

func TestClaudeConfigDirMovesEverything(t *testing.T) {
	w := newWorld(t)
	w.env = append(w.env, "CLAUDE_CONFIG_DIR="+w.home+"/moved")
	if code, _, errText := w.sim(KindClaude, "-p", "--session-id", idA, "hi"); code != 0 {
		t.Fatal(errText)
	}
	if !fileExists(w.home + "/moved/projects/" + claudeSlug(w.project) + "/" + idA + ".jsonl") {
		t.Error("the transcript is not under CLAUDE_CONFIG_DIR")
	}
}

func TestRememberedByAnotherProcess(t *testing.T) {
	w := newWorld(t)
	for _, step := range [][2]string{
		{"remember the keel is lead", "Noted: the keel is lead"},
		{"what is keel?", "the keel is lead"},
		{"what do you remember about the sail?", "I do not know anything about the sail."},
	} {
		args := []string{"-p", "--resume", idA, step[0]}
		if step[0][0] == 'r' {
			args = []string{"-p", "--session-id", idA, step[0]}
		}
		if _, out, errText := w.sim(KindClaude, args...); !strings.Contains(out, step[1]) {
			t.Errorf("%s: %q %q", step[0], out, errText)
		}
	}
}
