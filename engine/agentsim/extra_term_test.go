package agentsim

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestClaudeIdleCompactionCanBeTurnedOff(t *testing.T) {
	w := newWorld(t)
	w.env = append(w.env, "AGENTSIM_IDLE_COMPACT_MS=300")
	set := w.settings("", "PreCompact", "Stop", "SessionStart")
	on := w.startIn(w.project, []string{"AGENTSIM_IDLE_COMPACT_MS=300"}, "on", KindClaude, "--session-id", idA, "--settings", set, "--permission-mode", "manual", "hello")
	on.sees("Compacted while idle")
	w.until("it compacted by itself", func() bool { return strings.HasSuffix(w.events(), "Stop PreCompact:auto SessionStart:compact") })
	on.types("/exit")
	on.sees("EXIT=0")
	off := w.startIn(w.project, []string{"AGENTSIM_IDLE_COMPACT_MS=300"}, "off", KindClaude, "--settings", `{"idleCompaction":false}`, "--permission-mode", "manual", "hello")
	off.sees("Canned answer 1.")
	off.settle()
	off.settle()
	if strings.Contains(off.screen(), "Compacted") {
		t.Error("idleCompaction false did not hold it off")
	}
}

func TestDirectivesOfTheProcess(t *testing.T) {
	w := newWorld(t)
	for _, kind := range []string{KindClaude, KindCodex} {
		args := codexArgs
		ready := "Ask Codex to do anything"
		if kind == KindClaude {
			args, ready = []string{"--permission-mode", "manual"}, "manual mode on"
		}
		s := w.start(kind, kind, args...)
		s.sees(ready)
		mark := filepath.Join(w.home, kind+".pid")
		s.types("[[title:A NAME]] [[child:echo $$ >" + mark + "; exec sleep 300]] [[say:started]] go")
		s.sees("started")
		w.until("the pane has the title", func() bool { return strings.Contains(s.paneTitle(), "A NAME") })
		w.until("the child runs", func() bool { b, err := os.ReadFile(mark); return err == nil && strings.HasSuffix(string(b), "\n") })
		pid := int(number(t, mark))
		group, err := syscall.Getpgid(pid)
		if err != nil || group != pid {
			t.Errorf("%s: the child is in group %d: %v", kind, group, err)
		}
		if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
		s.types("[[hang]]")
		s.settleBusy()
		s.keys("Escape", "C-c", "C-c")
		s.settleBusy()
		if strings.Contains(s.screen(), "EXIT=") {
			t.Errorf("%s: a client that hangs listened", kind)
		}
		w.tmux("kill-session", "-t", "="+kind)
	}
}

// settleBusy lets a beat of a busy screen pass: until it has changed.
func (s seat) settleBusy() {
	s.t.Helper()
	before := s.screen()
	s.until("the clock on the screen goes on", func() bool { return s.screen() != before })
}

func number(t *testing.T, file string) (n int64) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range strings.TrimSpace(string(b)) {
		n = n*10 + int64(c-'0')
	}
	return n
}

func TestSmallAndChangingSizes(t *testing.T) {
	w := newWorld(t)
	s := w.start("c", KindClaude, "--permission-mode", "manual")
	s.sees("manual mode on")
	s.tmux("resize-window", "-t", "=c:", "-x", "50", "-y", "14")
	s.types("[[wait:20]] think")
	s.sees("esc to interrupt")
	rows := strings.Split(strings.TrimRight(s.screen(), "\n"), "\n")
	if last := rows[len(rows)-1]; !strings.Contains(last, "esc to interrupt") || len([]rune(last)) > 50 {
		t.Errorf("last row: %q", last)
	}
	box := 0
	for i, r := range rows {
		if strings.HasPrefix(r, "❯\u00a0") && strings.HasPrefix(rows[i-1], "───") && strings.HasPrefix(rows[i+1], "───") {
			box++
		}
	}
	if box != 1 {
		t.Errorf("%d input boxes:\n%s", box, s.screen())
	}
	s.keys("Escape")
	s.sees("❯\u00a0[[wait:20]] think")
	s.tmux("resize-window", "-t", "=c:", "-x", "20", "-y", "5")
	s.settle()
	s.tmux("resize-window", "-t", "=c:", "-x", "160", "-y", "50")
	s.sees("manual mode on · ← for agents")
	x := w.start("x", KindCodex, codexArgs...)
	x.sees("Ask Codex")
	x.tmux("resize-window", "-t", "=x:", "-x", "20", "-y", "5")
	x.settle()
	x.tmux("resize-window", "-t", "=x:", "-x", "100", "-y", "30")
	x.sees("› Ask Codex to do anything")
}

func TestClaudeAnswerCanReachTheFileLate(t *testing.T) {
	w := newWorld(t)
	w.script("hook", `cat >>"$HOME/hooks.jsonl"; echo >>"$HOME/hooks.jsonl"; grep -c '"type":"assistant"' "$HOME"/.claude/projects/*/`+idA+`.jsonl >"$HOME/seen"`)
	s := w.startIn(w.project, []string{"AGENTSIM_WRITE_MS=2000"}, "c", KindClaude, "--session-id", idA, "--settings", w.settings("", "Stop"), "--permission-mode", "manual", "hello")
	s.sees("Canned answer 1.")
	w.until("Stop ran", func() bool { return w.events() == "Stop" })
	w.status("idle")
	if n := number(t, filepath.Join(w.home, "seen")); n != 0 {
		t.Errorf("the Stop hook saw %d answers on file", n)
	}
	if got := lines(t, w.hooked)[0]["last_assistant_message"]; got != "Canned answer 1." {
		t.Errorf("last_assistant_message %q", got)
	}
	w.until("the answer is on file", func() bool {
		held := remembered(readRows(w.transcript(idA)))
		return len(held) > 0 && held[len(held)-1].text == "Canned answer 1. "
	})
}

func TestForcedGates(t *testing.T) {
	w := newWorld(t)
	if code, _, errText := w.sim(KindClaude, "-p", "--session-id", idA, "hi"); code != 0 {
		t.Fatal(errText)
	}
	for fault, c := range map[string]struct {
		kind, want string
		args       []string
	}{
		"resume-menu": {KindClaude, "Resume from summary (instant, recommended)", []string{"--resume", idA}},
		"trust":       {KindClaude, "❯ No, exit", nil},
		"apikey":      {KindClaude, "❯ No (recommended)", nil},
		"login":       {KindClaude, "Unable to connect to Anthropic services", nil},
		"update":      {KindCodex, "› 1. Update now", nil},
		"hooks":       {KindCodex, "Hooks need review", nil},
		"login|trust": {KindCodex, "> 1. Sign in with ChatGPT", nil},
	} {
		name := strings.NewReplacer("|", "-").Replace(fault) + c.kind
		s := w.startIn(w.project, []string{"'AGENTSIM_FAIL=" + fault + "'"}, name, c.kind, c.args...)
		s.sees(c.want)
		w.tmux("kill-session", "-t", "="+name)
	}
}

func TestCodexPicker(t *testing.T) {
	w := newWorld(t)
	s := w.start("a", KindCodex, append(codexArgs, "remember the winch is brass")...)
	s.sees("Worked for")
	s.keys("C-c")
	s.sees("EXIT=0")
	s = w.start("b", KindCodex, append([]string{"resume"}, codexArgs...)...)
	s.sees("› 1. Mock title")
	s.keys("Enter")
	s.sees("Noted: the winch is brass")
}
