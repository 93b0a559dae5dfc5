package agentsim

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

const (
	idA = "11111111-1111-4111-8111-111111111111"
	idB = "22222222-2222-4222-8222-222222222222"
)

var everyEvent = []string{
	"SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest",
	"Notification", "Stop", "StopFailure", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact",
}

func TestClaudeSession(t *testing.T) {
	w := newWorld(t)
	set := w.settings("", everyEvent...)
	s := w.start("c", KindClaude, "--session-id", idA, "--settings", set, "--permission-mode", "manual")
	s.sees("manual mode on")
	w.status("idle")
	s.sees("SL ok")
	if r := w.registry()[0]; r["sessionId"] != idA || r["procStart"] == "" || r["tmux"] != "c:@1.%1" {
		t.Errorf("registry: %v", r)
	}
	if fileExists(w.transcript(idA)) {
		t.Error("a transcript before the first prompt")
	}
	s.types("hello [[say:Hello from the stand-in.]]")
	s.sees("● Hello from the stand-in.")
	w.status("idle")
	w.until("Stop ran", func() bool { return strings.HasSuffix(w.events(), "Stop") })
	if st, err := os.Stat(w.transcript(idA)); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("transcript: %v %v", st, err)
	}
	s.types("[[wait:30]] think")
	s.sees("esc to interrupt")
	w.status("busy")
	w.until("its hook ran", func() bool { return strings.HasSuffix(w.events(), "Stop UserPromptSubmit") })
	s.keys("Escape")
	w.status("idle")
	s.sees("❯\u00a0[[wait:30]] think")
	s.keys("C-u")
	s.lacks("[[wait:30]] think")
	s.types("/exit")
	s.sees("EXIT=0")
	s.sees("--resume " + idA[:8])
	if len(w.registry()) != 0 {
		t.Error("the registry file outlived a clean exit")
	}
	want := "SessionStart:startup UserPromptSubmit Stop UserPromptSubmit SessionEnd:prompt_input_exit"
	if got := w.events(); got != want {
		t.Errorf("events\n got %s\nwant %s", got, want)
	}
}

func TestClaudePermission(t *testing.T) {
	w := newWorld(t)
	s := w.start("c", KindClaude, "--session-id", idA, "--settings", w.settings("", everyEvent...), "--permission-mode", "manual")
	s.sees("manual mode on")
	s.types("run [[sh:mkdir made]]")
	s.sees("Do you want to proceed?")
	w.status("waiting")
	if got := w.registry()[0]["waitingFor"]; got != "permission prompt" {
		t.Errorf("waitingFor %v", got)
	}
	s.keys("Escape")
	s.sees("Interrupted · What should Claude do instead?")
	w.status("idle")
	s.types("again [[sh:mkdir made]]")
	s.sees("Do you want to proceed?")
	s.keys("1")
	s.sees("Done after the tool.")
	if !fileExists(w.project + "/made") {
		t.Error("the allowed command did not run")
	}
	s.types("[[ask]] q")
	s.sees("Enter to select")
	w.until("input needed", func() bool { return w.registry()[0]["waitingFor"] == "input needed" })
	s.keys("Down", "Enter")
	s.sees("Which colour? → Blue")
	w.until("all hooks ran", func() bool { return strings.Count(w.events(), "Stop") >= 2 })
	if got := w.events(); strings.Count(got, "PermissionRequest") != 3 || strings.Contains(got, "PermissionRequest Stop") {
		t.Errorf("events: %s", got)
	}
}

func TestClaudeForkAndMemory(t *testing.T) {
	w := newWorld(t)
	set := w.settings("context", "SessionStart", "SessionEnd")
	first := w.start("a", KindClaude, "--session-id", idA, "--settings", set, "--permission-mode", "manual", "remember the boat is called Marlin")
	first.sees("Noted: the boat is called Marlin")
	first.types("what do you remember about harbour code?")
	first.sees("I remember about harbour code: the harbour code is teal-42")
	first.types("what do you remember about the moon?")
	first.sees("I do not know anything about the moon.")
	w.tmux("kill-session", "-t", "=a")
	w.until("the registry is empty", func() bool { return len(w.registry()) == 0 })
	fork := w.start("b", KindClaude, "--resume", idA, "--fork-session", "--session-id", idB, "--settings", set, "--permission-mode", "manual")
	fork.sees("manual mode on")
	w.status("idle")
	if got := w.registry()[0]["sessionId"]; got != idB {
		t.Errorf("registry of the fork: %v", got)
	}
	if fileExists(w.transcript(idB)) {
		t.Error("the fork's file is there before its first prompt")
	}
	fork.types("what do you remember about boat?")
	fork.sees("I remember about boat: ")
	fork.sees("Marlin")
	ids, snake := map[string]int{}, map[string]int{}
	for _, r := range lines(t, w.transcript(idB)) {
		if v, ok := r["sessionId"].(string); ok {
			ids[v]++
		}
		if v, ok := r["session_id"].(string); ok {
			snake[v]++
		}
	}
	if len(ids) != 1 || ids[idB] == 0 || snake[idA] == 0 || snake[idB] == 0 {
		t.Errorf("sessionId %v, session_id %v", ids, snake)
	}
	if got := w.events(); !strings.HasSuffix(got, "SessionEnd:other SessionStart:fork") {
		t.Errorf("events: %s", got)
	}
}

func TestClaudeOldForkHookNamesTheParent(t *testing.T) {
	w := newWorld(t)
	set := w.settings("", "SessionStart")
	if code, _, errText := w.sim(KindClaude, "-p", "--session-id", idA, "hi"); code != 0 {
		t.Fatal(errText)
	}
	s := w.startIn(w.project, []string{"AGENTSIM_FAIL=parent-id-hook"}, "b", KindClaude, "--resume", idA, "--fork-session", "--session-id", idB, "--settings", set, "--permission-mode", "manual")
	s.sees("manual mode on")
	w.until("the start hook ran", func() bool { return w.events() != "" })
	if got := lines(t, w.hooked)[0]; got["session_id"] != idA || got["source"] != "resume" {
		t.Errorf("hook: %v", got)
	}
	if got := w.registry()[0]["sessionId"]; got != idB {
		t.Errorf("registry: %v", got)
	}
}

func TestClaudeCompaction(t *testing.T) {
	w := newWorld(t)
	s := w.start("c", KindClaude, "--session-id", idA, "--settings", w.settings("context", everyEvent...), "--permission-mode", "manual", "remember the anchor is green")
	s.sees("Noted: the anchor is green")
	s.types("[[tokens:450000]] big")
	s.sees("Canned answer 2.")
	s.types("/compact")
	s.sees("Compacted (ctrl+o to see full summary)")
	w.status("idle")
	rows := readRows(w.transcript(idA))
	branch, _ := activeBranch(rows)
	if branch[0].Subtype != "compact_boundary" || !branch[1].Summary {
		t.Errorf("the branch begins with %s %s", branch[0].Subtype, branch[1].Type)
	}
	s.types("what do you remember about anchor?")
	s.sees("I do not know anything about anchor.")
	s.types("what do you remember about harbour?")
	s.sees("I remember about harbour: the harbour code is teal-42")
	if got := w.events(); !strings.Contains(got, "PreCompact:manual SubagentStop SessionStart:compact PostCompact:manual") {
		t.Errorf("events: %s", got)
	}
	s.types("[[compactfail:Error: Conversation too long.]] x")
	s.sees("Canned answer")
	s.types("/compact")
	s.sees("Error during compaction: Error: Conversation too long.")
	s.types("[[tokens:990000]] fill")
	w.status("idle")
	s.types("one more")
	w.until("it compacted by itself", func() bool {
		return strings.Contains(w.events(), "PreCompact:auto") && strings.HasSuffix(w.events(), "Stop")
	})
}

func TestClaudeClearFollowsInTheRegistry(t *testing.T) {
	w := newWorld(t)
	s := w.start("c", KindClaude, "--session-id", idA, "--settings", w.settings("", everyEvent...), "--permission-mode", "manual", "hello")
	s.sees("Canned answer 1.")
	w.status("idle")
	pid := w.registry()[0]["pid"]
	s.types("/clear")
	w.until("the id changed", func() bool { r := w.registry(); return len(r) == 1 && r[0]["sessionId"] != idA && r[0]["pid"] == pid })
	w.until("both hooks ran", func() bool { return strings.HasSuffix(w.events(), "SessionEnd:clear SessionStart:clear") })
	id, _ := w.registry()[0]["sessionId"].(string)
	s.types("after clear")
	s.sees("Canned answer 2.")
	w.until("the new file is there", func() bool { return fileExists(w.transcript(id)) })
}

func TestClaudeEnds(t *testing.T) {
	w := newWorld(t)
	args := []string{"--settings", w.settings("", "SessionEnd"), "--permission-mode", "manual"}
	for name, kill := range map[string]func(s seat, pid int){
		"143": func(_ seat, pid int) { _ = syscall.Kill(pid, syscall.SIGTERM) },
		"137": func(_ seat, pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) },
		"0":   func(s seat, _ int) { s.keys("C-c"); s.sees("Press Ctrl-C again to exit"); s.keys("C-c") },
		"7":   func(s seat, _ int) { s.types("[[die:7]]") },
	} {
		s := w.start("k"+name, KindClaude, args...)
		s.sees("manual mode on")
		w.until("the registry has it", func() bool { return len(w.registry()) == 1 })
		pid, _ := w.registry()[0]["pid"].(float64)
		kill(s, int(pid))
		s.sees("EXIT=" + name)
		if left := len(w.registry()); (name == "137" || name == "7") != (left == 1) {
			t.Errorf("after %s: %d registry files", name, left)
		}
		for _, f := range w.registry() {
			if n, ok := f["pid"].(float64); ok {
				_ = os.Remove(w.registryPath(int(n)))
			}
		}
		w.tmux("kill-session", "-t", "=k"+name)
	}
}

func TestClaudeGates(t *testing.T) {
	w := newWorld(t)
	strange, err := os.MkdirTemp("/tmp", "asim-strange")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(strange) }()
	s := w.startIn(strange, nil, "t1", KindClaude, "--permission-mode", "manual")
	s.sees("Quick safety check: Is this a project you created or one you trust?")
	if len(w.registry()) != 0 {
		t.Error("a registry file before trust")
	}
	s.keys("Enter")
	s.sees("Claude Code didn't start because this folder isn't trusted.")
	s.sees("EXIT=1")
	s = w.startIn(strange, nil, "t2", KindClaude, "--permission-mode", "manual", "[[say:after trust]]")
	s.sees("❯ No, exit")
	s.keys("Down")
	s.sees("❯ Yes, I trust this folder")
	s.keys("Enter")
	s.sees("● after trust")
	s = w.start("t3", KindClaude, "--settings", `{"idleCompaction":"no"}`)
	s.sees("idleCompaction: Expected boolean, but received string")
	s.keys("Escape")
	s.sees("EXIT=1")
	s = w.start("t4", KindClaude, "--resume", "99999999-9999-4999-8999-999999999999")
	s.sees("No conversation found with session ID: 99999999-9999-4999-8999-999999999999")
	s.sees("EXIT=1")
	s = w.startIn(w.project, []string{"AGENTSIM_FAIL=exit:3:boom"}, "t5", KindClaude)
	s.sees("boom")
	s.sees("EXIT=3")
}

func TestClaudeTyping(t *testing.T) {
	w := newWorld(t)
	s := w.start("c", KindClaude, "--session-id", idA, "--settings", w.settings("", "UserPromptSubmit"), "--permission-mode", "manual")
	s.sees("manual mode on")
	prompts := func() []string {
		var out []string
		for _, e := range lines(t, w.hooked) {
			if p, ok := e["prompt"].(string); ok {
				out = append(out, p)
			}
		}
		return out
	}
	arrives := func(n int) string {
		t.Helper()
		w.until("the prompt arrived", func() bool { return len(prompts()) == n })
		w.status("idle")
		return prompts()[n-1]
	}
	s.keys("-l", "one\ntwo")
	s.sees("  two")
	s.keys("Enter")
	if got := arrives(1); got != "one\ntwo" {
		t.Errorf("LF: %q", got)
	}
	s.tmux("set-buffer", "-b", "p", "l1\nl2\nl3\nl4\nl5")
	s.tmux("paste-buffer", "-p", "-b", "p", "-t", "=c:")
	s.sees("[Pasted text #1 +4 lines]")
	s.keys("Enter")
	if got := arrives(2); !strings.Contains(got, "<pasted_content id=") || !strings.Contains(got, "l1\nl2\nl3\nl4\nl5") {
		t.Errorf("paste: %q", got)
	}
	s.keys("-l", strings.Repeat("w ", 450))
	s.sees("[Pasted text #2]")
	s.keys("Enter")
	if got := arrives(3); !strings.Contains(got, "<pasted_content id=") {
		t.Errorf("a burst of 900: %q", got)
	}
	s.tmux("send-keys", "-t", "=c:", "-l", strings.Repeat("y", 90), ";", "send-keys", "-t", "=c:", "Enter")
	s.sees("❯\u00a0yyyy")
	s.settle()
	if n := len(prompts()); n != 3 {
		t.Errorf("an Enter right behind 90 characters submitted: %q", prompts()[n-1])
	}
	s.keys("Enter")
	arrives(4)
	s.types("[[wait:1]] busy")
	s.sees("esc to interrupt")
	s.types("queued words")
	s.sees("Queued · ctrl+x ctrl+s to send now")
	if got := arrives(6); got != "queued words" {
		t.Errorf("queued: %q", got)
	}
}
