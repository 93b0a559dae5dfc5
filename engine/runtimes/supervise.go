package runtimes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"rig/engine"
)

// Exit statuses of the supervisor when there was no client to take one from, as
// shells give them.
const (
	exitBadLaunch  = 125
	exitCannotExec = 126
	exitNotFound   = 127
	exitSignalBase = 128
)

const (
	// hangupGrace is how long a client may go on after its pane is gone. Claude
	// Code needs up to two seconds for its own end; a client that stays longer
	// would work where nobody sees it.
	hangupGrace = 10 * time.Second
	// farewell is how long we stay after the last line. The kernel hands terminal
	// output on in the background, and tmux drops what has not arrived when the
	// pane's process is gone: the reason for an end would be lost.
	farewell = 25 * time.Millisecond
	// A client that ends this early has failed its start: we stay long enough for
	// whoever started it to read on the pane what it said.
	earlyEnd      = 5 * time.Second
	earlyFarewell = 600 * time.Millisecond
	// resumePause keeps a client that stops itself again and again from keeping
	// a processor busy.
	resumePause = 50 * time.Millisecond
)

// Supervise is the body of the hidden verb "seat-exec <launch file>": the first
// process of every pane of ours. It reads and deletes the launch file, runs the
// client in a process group of its own in the foreground of the pane's terminal,
// reports pid, start time and end, and gives the client's exit status on, so that
// tmux shows it on the dead pane.
//
// The group of its own is what makes a freeze possible: tmux continues a pane's
// first process whenever that is stopped, so the client must not be it. A client
// that was stopped with SIGSTOP stays stopped; one that suspends itself as if a
// shell were behind it (SIGTSTP) is put in front again at once, since here there
// is no shell to bring it back.
//
// SIGHUP, SIGTERM, SIGINT and SIGQUIT go on to the client's group. args are the
// words behind the verb, env is the pane's own environment: it gives TERM and the
// pane id. What went wrong before the client ran stands on the pane and in the
// report.
func Supervise(args, env []string) int {
	path := strings.Join(args, " ")
	sigs := make(chan os.Signal, 16)
	signal.Notify(sigs, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT)
	defer signal.Stop(sigs)
	s := &supervisor{report: strings.TrimSuffix(path, launchSuffix) + ".json", sigs: sigs}
	s.state.SupervisorPID = os.Getpid()
	l, err := readLaunch(path)
	if err != nil {
		return s.refuse(exitBadLaunch, "the launch file "+path+" cannot be used: "+reason(err))
	}
	s.seat = printable(l.Seat, 120)
	s.tty = openTerminal()
	if s.tty.ok {
		// tmux moves a dead pane up by one line to make room for its own notice:
		// the first line must not be the client's reason for ending.
		fmt.Fprint(os.Stdout, "\r\n")
	}
	code, err := s.start(l, env)
	if err != nil {
		return s.refuse(code, reason(err))
	}
	return s.follow()
}

// supervisor is one run of Supervise.
type supervisor struct {
	seat   string
	report string // path of the run state
	state  engine.RunState
	tty    terminal
	sigs   chan os.Signal
	early  *childChange // the client's end, when it was told during its start
	hungUp bool
}

// readLaunch reads a launch file and deletes it, so that argv and environment
// stay on disk no longer than needed.
func readLaunch(path string) (engine.LaunchFile, error) {
	var l engine.LaunchFile
	if !strings.HasSuffix(path, launchSuffix) || !filepath.IsAbs(path) {
		return l, errors.New("it is not an absolute path to a launch file")
	}
	b, err := readPrivate(path, maxLaunchFile)
	if err != nil {
		return l, err
	}
	if err := os.Remove(path); err != nil {
		return l, err
	}
	if err := json.Unmarshal(b, &l); err != nil {
		return l, errors.New(jsonFault(err))
	}
	if len(l.Argv) == 0 || l.Argv[0] == "" {
		return l, errors.New("it names no program")
	}
	return l, nil
}

// start runs the client. The error says why it could not, the code how a shell
// would report that.
func (s *supervisor) start(l engine.LaunchFile, paneEnviron []string) (int, error) {
	env := occupantPaneEnv(l.Env, paneEnviron)
	program, err := resolve(l.Argv[0], env, l.Dir)
	if err != nil {
		return exitNotFound, fmt.Errorf("%s: %s", l.Argv[0], reason(err))
	}
	pid, early, err := startInFront(s.tty, program, l.Argv, syscall.ProcAttr{Dir: l.Dir, Env: env, Files: []uintptr{0, 1, 2}})
	if err != nil {
		code := exitCannotExec
		if errors.Is(err, fs.ErrNotExist) {
			code = exitNotFound
		}
		return code, fmt.Errorf("%s in %s: %s", program, l.Dir, reason(err))
	}
	// Only now: an ignored signal would be inherited by the client. From here on
	// we are in the background of the terminal and must be able to write to it.
	signal.Ignore(syscall.SIGTTOU, syscall.SIGTTIN, syscall.SIGTSTP)
	s.early = early
	s.state.PID, s.state.StartedAt = pid, time.Now().UTC()
	if p, ok, err := readProcess(pid); err == nil && ok {
		s.state.PIDStart = p.Start
	}
	s.save()
	return 0, nil
}

// occupantPaneEnv adds what only the pane knows: the kind of its terminal, and
// its id under a name of ours.
func occupantPaneEnv(env, pane []string) []string {
	var set []string
	for _, k := range paneEnv {
		if v := lookup(pane, k); v != "" {
			set = append(set, k+"="+v)
		}
	}
	if lookup(pane, "TERM") == "" {
		set = append(set, "TERM=screen-256color")
	}
	if v := lookup(pane, "TMUX_PANE"); v != "" {
		set = append(set, "RIG_PANE="+v)
	}
	return withEnv(env, set...)
}

// childChange is one thing wait4 told.
type childChange struct {
	status syscall.WaitStatus
	err    error
}

// follow waits for the client's end and passes signals on meanwhile.
func (s *supervisor) follow() int {
	pid := s.state.PID
	if s.early != nil {
		return s.ended(*s.early)
	}
	changes := make(chan childChange)
	go func() {
		for {
			var ws syscall.WaitStatus
			_, err := syscall.Wait4(pid, &ws, syscall.WUNTRACED, nil)
			if errors.Is(err, syscall.EINTR) {
				continue
			}
			changes <- childChange{ws, err}
			if err != nil || ws.Exited() || ws.Signaled() {
				return
			}
		}
	}()
	var grace <-chan time.Time
	for {
		select {
		case c := <-changes:
			if c.err == nil && c.status.Stopped() {
				s.stopped(c.status.StopSignal())
				continue
			}
			return s.ended(c)
		case sig := <-s.sigs:
			s.forward(sig.(syscall.Signal))
			if sig == syscall.SIGHUP && grace == nil {
				s.hungUp = true
				grace = time.After(hangupGrace)
			}
		case <-grace:
			_ = syscall.Kill(-pid, syscall.SIGKILL)
		}
	}
}

// forward passes a signal on. A stopped client only sees it once it is
// continued, and whoever ends the pane means to end the client.
func (s *supervisor) forward(sig syscall.Signal) {
	_ = syscall.Kill(-s.state.PID, sig)
	if sig == syscall.SIGHUP || sig == syscall.SIGTERM {
		_ = syscall.Kill(-s.state.PID, syscall.SIGCONT)
	}
}

// stopped answers a stop of the client. SIGSTOP is a freeze and is left alone.
func (s *supervisor) stopped(sig syscall.Signal) {
	if sig == syscall.SIGSTOP {
		return
	}
	<-time.After(resumePause)
	s.tty.giveTo(s.state.PID)
	_ = syscall.Kill(-s.state.PID, syscall.SIGCONT)
}

// ended reports how the client ended and gives its exit status.
func (s *supervisor) ended(c childChange) int {
	code := exitSignalBase - 1
	how := "the client is gone"
	switch {
	case c.err == nil && c.status.Signaled():
		code = exitSignalBase + int(c.status.Signal())
		how = fmt.Sprintf("client ended by signal %d (%s)", int(c.status.Signal()), c.status.Signal())
	case c.err == nil:
		code = c.status.ExitStatus()
		how = fmt.Sprintf("client ended with code %d", code)
	}
	s.state.Exited, s.state.ExitCode, s.state.ExitedAt = true, code, time.Now().UTC()
	s.save()
	if !s.hungUp {
		s.tty.takeBack(code >= exitSignalBase)
		s.say(how)
		if s.tty.ok && time.Since(s.state.StartedAt) < earlyEnd {
			<-time.After(earlyFarewell)
		}
	}
	return code
}

// refuse reports that no client was started.
func (s *supervisor) refuse(code int, why string) int {
	s.state.Exited, s.state.ExitCode, s.state.Error = true, code, why
	s.save()
	s.say(why)
	return code
}

// say prints one line on the pane.
func (s *supervisor) say(what string) {
	seat := s.seat
	if seat != "" {
		seat += ": "
	}
	fmt.Fprintf(os.Stderr, "\r\nrig: %s%s\r\n", seat, what)
	if s.tty.ok {
		<-time.After(farewell)
	}
}

// save writes the report. When that fails the pane still tells the truth, and
// the reader sees a report that is missing or old.
func (s *supervisor) save() {
	if !strings.HasSuffix(s.report, ".json") || !filepath.IsAbs(s.report) {
		return
	}
	b, err := json.Marshal(s.state)
	if err == nil {
		err = writeAtomic(s.report, b)
	}
	if err != nil {
		s.say("the state of this seat cannot be written: " + reason(err))
	}
}
