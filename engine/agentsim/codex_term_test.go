package agentsim

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

var codexArgs = []string{"--no-daemon", "-a", "on-request", "-s", "workspace-write", "--dangerously-bypass-hook-trust"}

func (w *world) codexHooks(start string, events ...string) {
	w.settings(start, events...)
	b, err := os.ReadFile(filepath.Join(w.home, "settings.json"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(".codex/hooks.json", string(b))
}

func (w *world) rollouts() []string {
	all, err := filepath.Glob(filepath.Join(w.home, ".codex", "sessions", "*", "*", "*", "*.jsonl"))
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// tasks counts the records of a kind in a rollout.
func tasks(t *testing.T, path, kind string) (n int) {
	t.Helper()
	for _, r := range readCodexRows(path) {
		if r.Type == kind || r.Payload.Type == kind {
			n++
		}
	}
	return n
}

// idOf is the session that a rollout's name ends in.
func idOf(path string) string {
	base := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	return base[len(base)-36:]
}

func (s seat) paneTitle() string {
	return s.tmux("display-message", "-p", "-t", "="+s.name+":", "#{pane_title}")
}

func TestCodexSession(t *testing.T) {
	w := newWorld(t)
	w.codexHooks("context", "SessionStart", "UserPromptSubmit", "Stop", "SessionEnd", "PermissionRequest", "PreCompact", "PostCompact")
	s := w.start("x", KindCodex, codexArgs...)
	s.sees("Ask Codex to do anything")
	if len(w.rollouts()) != 0 || w.events() != "" {
		t.Errorf("before the first prompt: %v, events %q", w.rollouts(), w.events())
	}
	locks, _ := filepath.Glob(filepath.Join(w.home, ".codex", "thread-writer-locks", "*.lock"))
	if len(locks) != 1 {
		t.Fatalf("locks: %v", locks)
	}
	s.types("hello [[say:Hello from the stand-in.]]")
	s.sees("• Hello from the stand-in.")
	s.sees("Worked for")
	path := w.rollouts()[0]
	if idOf(path) != strings.TrimSuffix(filepath.Base(locks[0]), ".lock") || readCodexRows(path)[0].Payload.ID != idOf(path) {
		t.Errorf("rollout %s, lock %s", path, locks[0])
	}
	if !w.hasOpen(path) || !w.hasOpen(locks[0]) {
		t.Error("the process does not hold its rollout and its lock open")
	}
	if got := w.events(); got != "SessionStart:startup UserPromptSubmit Stop" {
		t.Errorf("events: %s", got)
	}
	w.until("notify told of the turn and of the title", func() bool { return len(lines(t, filepath.Join(w.home, "notify.jsonl"))) == 2 })
	s.types("[[wait:30]] think")
	s.sees("esc to interrupt")
	w.until("the title spins", func() bool { return strings.ContainsAny(s.paneTitle(), "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏") })
	s.keys("Escape")
	s.sees("■ Conversation interrupted")
	w.until("the abort is on file", func() bool { return tasks(t, path, "turn_aborted") == 1 })
	s.types("[[esc:touch " + w.home + "/outside]] x")
	s.sees("Would you like to run the following command?")
	s.keys("y")
	s.sees("You approved codex to run")
	s.sees("Done after the tool.")
	s.types("what do you remember about harbour?")
	s.sees("the harbour code is teal-42")
	s.types("/compact")
	s.sees("Context compacted")
	w.until("the compaction is on file", func() bool { return tasks(t, path, "compacted") == 1 })
	s.types("[[limit]] go")
	s.sees("You’ve hit your usage limit.")
	s.keys("C-c")
	s.sees("codex resume " + idOf(path))
	s.sees("EXIT=0")
	if got := w.events(); !strings.Contains(got, "PreCompact:manual PostCompact:manual SessionStart:compact UserPromptSubmit") || !strings.HasSuffix(got, "SessionEnd:other") {
		t.Errorf("events: %s", got)
	}
}

// hasOpen tells whether some process has a file open.
func (w *world) hasOpen(path string) bool {
	fds, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && to == path {
			return true
		}
	}
	return false
}

func TestCodexForkNeedsItsParent(t *testing.T) {
	w := newWorld(t)
	w.codexHooks("", "SessionStart", "SessionEnd")
	a := w.start("a", KindCodex, append(codexArgs, "remember the mast is oak")...)
	a.sees("Noted: the mast is oak")
	a.sees("Worked for")
	parent := w.rollouts()[0]
	second := w.start("b", KindCodex, append([]string{"resume", idOf(parent)}, codexArgs...)...)
	second.sees("🔒  This conversation is open in another app")
	second.keys("q")
	second.sees("EXIT=0")
	fork := w.start("f", KindCodex, append([]string{"fork", idOf(parent)}, codexArgs...)...)
	fork.sees("Ask Codex to do anything")
	w.until("the fork's rollout is there at launch", func() bool { return len(w.rollouts()) == 2 })
	child := w.rollouts()[1]
	head := readCodexRows(child)[0].Payload
	if head.ForkedFrom != idOf(parent) || head.Base == nil || head.Base.Thread != idOf(parent) || head.ID == idOf(parent) {
		t.Errorf("head of the fork: %+v", head)
	}
	fork.types("what do you remember about mast?")
	fork.sees("I remember about mast: ")
	if got := w.events(); got != "SessionStart:startup SessionStart:fork" {
		t.Errorf("events: %s", got)
	}
	fork.types("[[wait:60]] long")
	fork.sees("• Working (")
	w.tmux("kill-session", "-t", "=f")
	w.until("the lock of the fork is free", func() bool { return !w.hasOpen(child) })
	if open, done := tasks(t, child, "task_started"), tasks(t, child, "task_complete")+tasks(t, child, "turn_aborted"); open != done+1 {
		t.Errorf("a killed client leaves %d turns open", open-done)
	}
	again := w.start("g", KindCodex, append([]string{"resume", idOf(child)}, codexArgs...)...)
	again.sees("■ Conversation interrupted")
	again.keys("C-c")
	again.sees("EXIT=0")
	if err := os.Rename(parent, parent+".away"); err != nil {
		t.Fatal(err)
	}
	lost := w.start("h", KindCodex, append([]string{"resume", idOf(child)}, codexArgs...)...)
	lost.sees("missing source rollout")
	lost.sees("EXIT=1")
}

func TestCodexTyping(t *testing.T) {
	w := newWorld(t)
	w.codexHooks("", "UserPromptSubmit")
	s := w.start("x", KindCodex, codexArgs...)
	s.sees("Ask Codex to do anything")
	s.tmux("send-keys", "-t", "=x:", "-l", "abc", ";", "send-keys", "-t", "=x:", "Enter")
	s.sees("› abc")
	s.settle()
	if w.events() != "" {
		t.Error("an Enter right behind typed text submitted")
	}
	s.keys("Enter")
	w.until("the second Enter submitted", func() bool { return w.events() == "UserPromptSubmit" })
	s.sees("Worked for")
	s.tmux("set-buffer", "-b", "p", "l1\nl2\nl3")
	s.tmux("paste-buffer", "-p", "-b", "p", "-t", "=x:", ";", "send-keys", "-t", "=x:", "Enter")
	w.until("a bracketed paste and Enter in one call submitted", func() bool { return len(lines(t, w.hooked)) == 2 })
	if got := lines(t, w.hooked)[1]["prompt"]; got != "l1\nl2\nl3" {
		t.Errorf("paste: %q", got)
	}
	s.tmux("set-buffer", "-b", "p", strings.Repeat("w ", 600))
	s.tmux("paste-buffer", "-p", "-b", "p", "-t", "=x:")
	s.sees("[Pasted Content 1200 chars]")
}

func TestCodexGates(t *testing.T) {
	w := newWorld(t)
	if err := os.MkdirAll(filepath.Join(w.project, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.codexHooks("", "Stop")
	s := w.start("a", KindCodex, "--no-daemon")
	s.sees("Trust this folder?")
	s.keys("Enter")
	s.sees("Hooks need review")
	s.sees("1 hook is new or changed.")
	s.keys("Down", "Enter")
	s.sees("Ask Codex to do anything")
	b, err := os.ReadFile(filepath.Join(w.home, ".codex", "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{fmt.Sprintf("[projects.%q]\ntrust_level = \"trusted\"", w.project), "hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("config.toml is without %s:\n%s", want, b)
		}
	}
	s = w.start("b", KindCodex, "--no-daemon", "resume", "01990000-0000-7000-8000-000000000000")
	s.sees("ERROR: No saved session found with ID 01990000")
	s.sees("EXIT=1")
	s = w.start("c", KindCodex, "--no-daemon")
	s.sees("Ask Codex to do anything")
	pid := strings.TrimSpace(s.tmux("display-message", "-p", "-t", "=c:", "#{pane_pid}"))
	for _, child := range children(pid) {
		_ = syscall.Kill(child, syscall.SIGTERM)
	}
	s.sees("EXIT=143")
}

// children lists the processes that a shell has started.
func children(parent string) []int {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	var out []int
	for _, f := range stats {
		b, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		s := string(b)
		rest := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
		var pid int
		if _, err := fmt.Sscan(s, &pid); err == nil && len(rest) > 1 && rest[1] == parent {
			out = append(out, pid)
		}
	}
	return out
}

func TestCodexArchive(t *testing.T) {
	w := newWorld(t)
	s := w.start("a", KindCodex, append(codexArgs, "hello")...)
	s.sees("Worked for")
	s.keys("C-c")
	s.sees("EXIT=0")
	id := idOf(w.rollouts()[0])
	if code, out, _ := w.sim(KindCodex, "archive", id); code != 0 || out != "Archived session "+id+".\n" || len(w.rollouts()) != 0 {
		t.Errorf("archive: %d %q", code, out)
	}
	gone := w.start("b", KindCodex, append([]string{"resume", id}, codexArgs...)...)
	gone.sees("This conversation is archived")
	gone.keys("Escape")
	gone.sees("EXIT=0")
	if code, out, _ := w.sim(KindCodex, "unarchive", id); code != 0 || out != "Unarchived session Mock title ("+id+").\n" || len(w.rollouts()) != 1 {
		t.Errorf("unarchive: %d %q", code, out)
	}
	if code, _, errText := w.sim(KindCodex, "unarchive", id); code != 1 || errText != "Error: failed to unarchive session\n" {
		t.Errorf("unarchive again: %d %q", code, errText)
	}
}
