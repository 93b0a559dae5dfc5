package runtimes

import (
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// startInFront starts a program in a process group of its own that is in front of
// the terminal before its first instruction: one that ran earlier could be refused
// its first read. early is what the system told of the process meanwhile, mostly nil.
//
// The new process itself asks for its group to be put in front. The system stops
// whoever asks that from the background, unless it ignores the signal. The panes of
// the versions of tmux seen here ignore it. Elsewhere the process is stopped, for we
// must not ignore it: the program would inherit that. Then we, who are in front, put
// its group there and let it go on; it asks again, and becomes the program.
func startInFront(tty terminal, program string, argv []string, attr syscall.ProcAttr) (pid int, early *childChange, err error) {
	if !tty.controls() {
		attr.Sys = &syscall.SysProcAttr{Setpgid: true}
		pid, err = syscall.ForkExec(program, argv, &attr)
		return pid, nil, err
	}
	attr.Sys = &syscall.SysProcAttr{Foreground: true, Ctty: 0}
	// The thread that forks stands still until the program runs, and keeps its share
	// of the processors: somebody else must be able to go on.
	if runtime.GOMAXPROCS(0) < 2 {
		runtime.GOMAXPROCS(2)
	}
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGCHLD)
	defer signal.Stop(told)
	over, seen := make(chan struct{}), make(chan *childChange)
	go func() { seen <- letInFront(tty, told, over) }()
	pid, err = syscall.ForkExec(program, argv, &attr)
	close(over)
	return pid, <-seen, err
}

// letInFront answers the stop of the child that wants to be in front, until over. An
// end of the child in that time is kept: the system tells it only once.
func letInFront(tty terminal, told <-chan os.Signal, over <-chan struct{}) (early *childChange) {
	for {
		select {
		case <-over:
			return early
		case <-told:
		}
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, syscall.WUNTRACED|syscall.WNOHANG, nil)
		switch {
		case err != nil || pid <= 0:
		case !ws.Stopped():
			early = &childChange{status: ws}
		case ws.StopSignal() != syscall.SIGSTOP: // a freeze is left alone
			tty.giveTo(pid)
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	}
}
