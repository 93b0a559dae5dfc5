package runtimes

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rig/engine"
)

// tmuxServer is a private tmux server, ended with the test.
type tmuxServer struct {
	t      *testing.T
	socket string
	files  *Files
	dir    string
}

func newTmux(t *testing.T) *tmuxServer {
	t.Helper()
	// Not t.TempDir: a socket's path may have about 100 bytes.
	short, err := os.MkdirTemp("", "rt")
	if err != nil {
		t.Fatal(err)
	}
	s := &tmuxServer{t: t, socket: filepath.Join(short, "s"), files: NewFiles(filepath.Join(short, "h"), self(t), self(t)), dir: short}
	t.Cleanup(func() {
		pids, _ := s.try("list-panes", "-a", "-F", "#{?pane_dead,,#{pane_pid}}")
		var procs []Process
		for _, word := range strings.Fields(pids) {
			if pid, err := strconv.Atoi(word); err == nil {
				if p, ok, err := readProcess(pid); err == nil && ok && !p.gone() {
					procs = append(procs, p)
				}
			}
		}
		_, _ = s.try("kill-server")
		s.ended(procs)
		if err := os.RemoveAll(short); err != nil {
			t.Error(err)
		}
	})
	s.run("new-session", "-d", "-s", "holder", "-x", "100", "-y", "30", "sleep", "600")
	s.run("set-option", "-g", "remain-on-exit", "on")
	return s
}

// ended waits for processes of panes: a supervisor whose terminal is gone still
// reports how its client ended, into the folder that is about to be removed.
func (s *tmuxServer) ended(procs []Process) {
	s.t.Helper()
	deadline := time.NewTimer(20 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	ps := NewProcesses()
	for _, p := range procs {
		for alive, err := ps.Alive(p.PID, p.Start); alive || err != nil; alive, err = ps.Alive(p.PID, p.Start) {
			select {
			case <-deadline.C:
				s.t.Errorf("process %d outlived its tmux server", p.PID)
				return
			case <-tick.C:
			}
		}
	}
}

func (s *tmuxServer) try(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-u", "-S", s.socket, "-f", "/dev/null"}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "TERM=xterm-256color", "LC_ALL=C.UTF-8", "CLAUDECODE=1", "TMUX_PANE=%77"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (s *tmuxServer) run(args ...string) string {
	s.t.Helper()
	out, err := s.try(args...)
	if err != nil {
		s.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return strings.TrimRight(out, "\n")
}

// seat launches a command line under the supervisor in a session of its own.
func (s *tmuxServer) seat(name string, env []string, argv ...string) {
	s.t.Helper()
	line, err := s.files.WriteLaunch(name, engine.LaunchFile{
		Argv: argv, Env: append([]string{"PATH=/usr/bin:/bin", "HOME=" + s.dir}, env...), Dir: s.dir, Seat: name + "@shop",
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.run(append([]string{"new-session", "-d", "-s", name, "-x", "100", "-y", "30", "--"}, line...)...)
}

func (s *tmuxServer) state(name string) engine.RunState {
	s.t.Helper()
	st, _, err := s.files.RunState(name)
	if err != nil {
		s.t.Fatal(err)
	}
	return st
}

// runs waits until the supervisor has reported a client.
func (s *tmuxServer) runs(name string) engine.RunState {
	s.t.Helper()
	until(s.t, name+" has a client", func() bool { return s.state(name).PID > 0 })
	return s.state(name)
}

func (s *tmuxServer) format(name, format string) string {
	s.t.Helper()
	return s.run("display-message", "-p", "-t", "="+name+":", format)
}

// status waits for the exit status of a dead pane. tmux 3.3a can miss the end of
// a child until another one ends, so each round gives it one.
func (s *tmuxServer) status(name string) string {
	s.t.Helper()
	var got string
	until(s.t, "tmux knows how "+name+" ended", func() bool {
		s.run("run-shell", "true")
		got = s.format(name, "#{pane_dead_status}")
		return got != ""
	})
	return got
}

func (s *tmuxServer) screen(name string) string {
	return s.run("capture-pane", "-p", "-S", "-50", "-t", "="+name+":")
}

func (s *tmuxServer) keys(name string, keys ...string) {
	s.t.Helper()
	s.run(append([]string{"send-keys", "-t", "=" + name + ":"}, keys...)...)
}

func TestSupervisorRunsAndReports(t *testing.T) {
	s := newTmux(t)
	// One that ends within its own start leaves no start time to be read.
	s.seat("a1", nil, "/bin/sh", "-c", "echo hello; read line; exit 7")
	until(t, "its start is on record", func() bool { return s.state("a1").PIDStart != "" })
	s.keys("a1", "Enter")
	until(t, "the pane is dead", func() bool { return s.format("a1", "#{pane_dead}") == "1" })
	if visible := s.run("capture-pane", "-p", "-t", "=a1:"); !strings.Contains(visible, "hello") {
		t.Errorf("the first line was lost:\n%s", visible)
	}
	st := s.state("a1")
	if !st.Exited || st.ExitCode != 7 || st.PID == 0 || st.PIDStart == "" || st.SupervisorPID == 0 || st.StartedAt.IsZero() || st.Error != "" {
		t.Errorf("state %+v", st)
	}
	if got := s.status("a1"); got != "7" {
		t.Errorf("tmux says %s", got)
	}
	if scr := s.screen("a1"); !strings.Contains(scr, "hello") || !strings.Contains(scr, "rig: a1@shop: client ended with code 7") {
		t.Errorf("screen:\n%s", scr)
	}
	if _, err := os.Stat(s.files.runPath("a1", launchSuffix)); !os.IsNotExist(err) {
		t.Errorf("the launch file is still there: %v", err)
	}
}

// B81: a server that was started from inside an agent, with its variables.
func TestSupervisedEnvironment(t *testing.T) {
	s := newTmux(t)
	s.run("set-environment", "-g", "CLAUDE_CODE_SESSION_ID", "y")
	s.seat("e1", []string{"EXTRA=1"}, "/bin/sh", "-c", "env >env.txt; sleep 600")
	s.runs("e1")
	path := filepath.Join(s.dir, "env.txt")
	until(t, "the environment is written", func() bool {
		b, err := os.ReadFile(path)
		return err == nil && strings.Contains(string(b), "RIG_PANE=")
	})
	env := strings.Split(strings.TrimSpace(readFile(t, path)), "\n")
	for k := range droppedEnv {
		if v := lookup(env, k); v != "" {
			t.Errorf("%s=%s reached the seat", k, v)
		}
	}
	if lookup(env, "EXTRA") != "1" || lookup(env, SpoolEnv) != s.files.SpoolDir("e1") || lookup(env, "RIG_PANE") != s.format("e1", "#{pane_id}") {
		t.Errorf("env %q", env)
	}
	if term := lookup(env, "TERM"); !strings.HasPrefix(term, "screen") && !strings.HasPrefix(term, "tmux") {
		t.Errorf("TERM is the caller's: %q", term)
	}
}

func TestSupervisorCannotStart(t *testing.T) {
	s := newTmux(t)
	s.seat("m1", nil, "no-such-program")
	s.seat("m2", nil, "/etc/passwd")
	for name, code := range map[string]int{"m1": exitNotFound, "m2": exitNotFound} {
		until(t, "the pane is dead", func() bool { return s.format(name, "#{pane_dead}") == "1" })
		st := s.state(name)
		if !st.Exited || st.ExitCode != code || st.Error == "" || st.PID != 0 {
			t.Errorf("%s: %+v", name, st)
		}
		if scr := s.screen(name); !strings.Contains(scr, "rig: "+name+"@shop: ") {
			t.Errorf("%s: screen:\n%s", name, scr)
		}
	}
	s.run("new-session", "-d", "-s", "m3", self(t), SupervisorVerb, filepath.Join(s.dir, "none.launch"))
	until(t, "the pane is dead", func() bool { return s.format("m3", "#{pane_dead}") == "1" })
	if got := s.status("m3"); got != itoa(exitBadLaunch) {
		t.Errorf("no launch file: status %q, screen:\n%s", got, s.screen("m3"))
	}
}

// The client is in front of the terminal in a group of its own: keys and the
// interrupt reach it, and it may change the terminal's modes.
func TestClientIsInFront(t *testing.T) {
	s := newTmux(t)
	s.seat("f1", nil, "/bin/sh", "-c", "stty -echo; trap 'echo got-int' INT; echo ready; while :; do read l && echo \"line:$l\"; done")
	st := s.runs("f1")
	until(t, "ready", func() bool { return strings.Contains(s.screen("f1"), "ready") })
	p, ok, err := readProcess(st.PID)
	if err != nil || !ok || p.Group != st.PID || p.Front != st.PID || p.PPID != st.SupervisorPID {
		t.Errorf("client %+v, state %+v", p, st)
	}
	if got := s.format("f1", "#{pane_pid}"); got != itoa(st.SupervisorPID) {
		t.Errorf("the pane's process is %s", got)
	}
	s.keys("f1", "hi", "Enter")
	until(t, "the line", func() bool { return strings.Contains(s.screen("f1"), "line:hi") })
	s.keys("f1", "C-c")
	until(t, "the interrupt", func() bool { return strings.Contains(s.screen("f1"), "got-int") })
	if st := s.state("f1"); st.Exited {
		t.Errorf("the interrupt ended it: %+v", st)
	}
}

// Freezing the client holds under tmux, also when it is told through the pane's
// own process, and thawing it gives it back its terminal.
func TestFreezeHoldsUnderTmux(t *testing.T) {
	s := newTmux(t)
	s.seat("z1", nil, "/bin/sh", "-c", "setsid sh -c 'i=0; while :; do i=$((i+1)); echo $i >n; done' & while read l; do echo \"line:$l\"; done")
	st := s.runs("z1")
	ps := NewProcesses()
	until(t, "the tool child runs", func() bool { _, err := os.Stat(filepath.Join(s.dir, "n")); return err == nil })
	for _, root := range []int{st.PID, st.SupervisorPID} {
		stopped, refused, err := ps.Stop(t.Context(), root)
		if err != nil || len(refused) != 0 || len(stopped) < 2 || stopped[0] != st.PID || slices.Contains(stopped, st.SupervisorPID) {
			t.Fatalf("stop %d: %v %v %v", root, stopped, refused, err)
		}
		s.keys("z1", "frozen", "Enter")
		s.run("resize-window", "-t", "=z1:", "-x", "90", "-y", "25")
		for _, pid := range stopped {
			if p, ok, err := readProcess(pid); err != nil || !ok || !p.frozen() {
				t.Errorf("%d runs: %+v", pid, p)
			}
		}
		if err := ps.Continue(t.Context(), stopped); err != nil {
			t.Fatal(err)
		}
		until(t, "what was typed meanwhile", func() bool { return strings.Contains(s.screen("z1"), "line:frozen") })
		s.run("clear-history", "-t", "=z1:")
		s.run("send-keys", "-R", "-t", "=z1:")
	}
	if err := ps.Kill(t.Context(), st.SupervisorPID); err != nil {
		t.Fatal(err)
	}
	until(t, "the pane is dead", func() bool { return s.format("z1", "#{pane_dead}") == "1" })
	if st := s.state("z1"); !st.Exited || st.ExitCode != 137 {
		t.Errorf("the supervisor reports %+v", st)
	}
}

// A client that suspends itself as if a shell were behind it goes on at once.
func TestSelfSuspendIsUndone(t *testing.T) {
	s := newTmux(t)
	s.seat("t1", nil, "/bin/sh", "-c", "echo ready; read l; kill -TSTP 0; echo resumed; read l; echo \"line:$l\"; sleep 600")
	st := s.runs("t1")
	until(t, "ready", func() bool { return strings.Contains(s.screen("t1"), "ready") })
	s.keys("t1", "Enter")
	until(t, "it goes on", func() bool { return strings.Contains(s.screen("t1"), "resumed") })
	s.keys("t1", "again", "Enter")
	until(t, "with its terminal", func() bool { return strings.Contains(s.screen("t1"), "line:again") })
	if p, ok, err := readProcess(st.PID); err != nil || !ok || p.frozen() {
		t.Errorf("client %+v", p)
	}
}

func TestEndOfPaneEndsTheClient(t *testing.T) {
	s := newTmux(t)
	s.seat("h1", nil, "/bin/sh", "-c", "trap 'echo bye >bye; exit 3' HUP; echo ready; while :; do sleep 600 & wait; done")
	st := s.runs("h1")
	until(t, "ready", func() bool { return strings.Contains(s.screen("h1"), "ready") })
	s.run("kill-session", "-t", "=h1")
	until(t, "the client ended in order", func() bool { return s.state("h1").Exited })
	if got := s.state("h1"); got.ExitCode != 3 || readFile(t, filepath.Join(s.dir, "bye")) != "bye\n" {
		t.Errorf("state %+v", got)
	}
	until(t, "both are gone", func() bool {
		a, err1 := NewProcesses().Alive(st.PID, "")
		b, err2 := NewProcesses().Alive(st.SupervisorPID, "")
		return err1 == nil && err2 == nil && !a && !b
	})
}

func TestSignalToTheSupervisorReachesTheClient(t *testing.T) {
	s := newTmux(t)
	s.seat("s1", nil, "sleep", "600")
	st := s.runs("s1")
	if err := syscall.Kill(st.SupervisorPID, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	until(t, "the pane is dead", func() bool { return s.format("s1", "#{pane_dead}") == "1" })
	if st := s.state("s1"); !st.Exited || st.ExitCode != 143 {
		t.Errorf("state %+v", st)
	}
	if scr := s.screen("s1"); !strings.Contains(scr, "signal 15") {
		t.Errorf("screen:\n%s", scr)
	}
}

// A client that dies in raw mode on the alternate screen leaves a usable pane.
func TestTerminalIsRestored(t *testing.T) {
	s := newTmux(t)
	s.seat("r1", nil, "/bin/sh", "-c", "stty raw -echo; printf '\\033[?1049h\\033[?25l\\033[?1000hfull screen'; sleep 600")
	st := s.runs("r1")
	until(t, "the alternate screen", func() bool { return s.format("r1", "#{alternate_on} #{cursor_flag} #{mouse_any_flag}") == "1 0 1" })
	if err := syscall.Kill(st.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "the pane is dead", func() bool { return s.format("r1", "#{pane_dead}") == "1" })
	if got := s.status("r1"); got != "137" {
		t.Errorf("tmux says %s", got)
	}
	if got := s.format("r1", "#{alternate_on} #{mouse_any_flag}"); got != "0 0" {
		t.Errorf("flags %q", got)
	}
}

func TestTerminalSeatActivity(t *testing.T) {
	s := newTmux(t)
	s.seat("sh1", []string{"PS1=$ "}, "/bin/bash", "--norc", "-i")
	st := s.runs("sh1")
	rt := NewTerminal(testConfig(t))
	probe := engine.Probe{RunKnown: true, Run: st}
	if r := rt.Ready(t.Context(), probe); r.State != engine.ReadyYes {
		t.Errorf("ready %+v", r)
	}
	until(t, "at the prompt", func() bool { return rt.Activity(t.Context(), probe).State == engine.ActivityIdle })
	s.keys("sh1", "sleep 600", "Enter")
	until(t, "busy", func() bool { return rt.Activity(t.Context(), probe).Why == "runs sleep" })
	if a := rt.Activity(t.Context(), probe); a.State != engine.ActivityBusy || a.Confidence != engine.ConfidenceHigh {
		t.Errorf("activity %+v", a)
	}
	s.keys("sh1", "C-c")
	until(t, "idle again", func() bool { return rt.Activity(t.Context(), probe).State == engine.ActivityIdle })
	s.keys("sh1", "exit 5", "Enter")
	until(t, "it ended", func() bool { return s.state("sh1").Exited })
	probe.Run = s.state("sh1")
	if a := rt.Activity(t.Context(), probe); a.State != engine.ActivityExited || !strings.Contains(a.Why, "code 5") {
		t.Errorf("activity %+v", a)
	}
}
