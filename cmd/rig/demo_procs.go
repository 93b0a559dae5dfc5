package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"rig/engine"
	"rig/engine/runtimes"
)

// guard starts a process that outlives this one, however it ends, and removes the
// demo if this one has not. It waits at the end of a pipe that only this process
// holds open. The result takes it away again.
func (d *demoRig) guard() (stop func()) {
	r, w, err := os.Pipe()
	if err != nil {
		return func() {}
	}
	defer r.Close()
	cmd := exec.Command(d.self, "demo-guard", d.dir) //nolint:noctx // it has a life of its own
	cmd.Stdin, cmd.Dir = r, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		w.Close()
		return func() {} // the demo removes itself as long as nobody kills it
	}
	return func() {
		w.Close()
		_ = cmd.Wait() // what it could not remove stays, and this process has said so
	}
}

// demoGuard is that process.
func demoGuard(args []string) int {
	if len(args) != 1 {
		return 2
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return 1
	}
	if _, err := os.Lstat(args[0]); err != nil {
		return 0
	}
	self, err := os.Executable()
	if err != nil || len(demoIn(args[0], self).remove()) > 0 {
		return 1
	}
	return 0
}

// endDetached kills the processes of operations, which sit in no pane and could
// bring the server back, and gives what they were.
func (d *demoRig) endDetached(ctx context.Context) (procs []runtimes.Process) {
	if os.Getenv("RIG_HOME") != d.rigHome { // not in the demo's world: that record is somebody's own
		return nil
	}
	a, err := openApp(appRead)
	if err != nil {
		return nil
	}
	defer a.close()
	for _, f := range []engine.OperationFilter{{Open: true}, {Undo: true}} {
		ops, err := a.engine().Operations(ctx, f)
		if err != nil {
			return procs
		}
		for _, op := range ops {
			if op.Owner.PID == os.Getpid() || lives(a.deps.Procs, op.Owner) != engine.Present {
				continue
			}
			if syscall.Kill(op.Owner.PID, syscall.SIGKILL) == nil {
				procs = append(procs, runtimes.Process{PID: op.Owner.PID, Start: op.Owner.PIDStart})
			}
		}
	}
	return procs
}

// removeFolder deletes a folder into which a process that ends may still write.
func removeFolder(ctx context.Context, dir string) error {
	t := time.NewTicker(50 * time.Millisecond)
	defer t.Stop()
	for {
		err := os.RemoveAll(dir)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-t.C:
		}
	}
}

// processes lists the server of the demo and what its panes run.
func (d *demoRig) processes(ctx context.Context) []runtimes.Process {
	out, err := exec.CommandContext(ctx, "tmux", "-S", d.socket, "list-panes", "-a", "-F", "#{pid} #{?pane_dead,,#{pane_pid}}").Output()
	if err != nil {
		return nil
	}
	procs := identify(runtimes.NewProcesses(), string(out))
	files := runtimes.NewFiles(d.rigHome, d.self, d.self)
	a, err := openApp(appRead)
	if err != nil {
		return procs
	}
	defer a.close()
	f, err := a.engine().Fleet(ctx)
	if err != nil {
		return procs
	}
	for _, s := range f.Seats() {
		sessions, _, err := a.engine().SeatHistory(ctx, s.ID)
		if err != nil {
			continue
		}
		for _, se := range sessions {
			if st, ok, err := files.RunState(se.ID); err == nil && ok && st.PID > 0 && !st.Exited && st.PIDStart != "" {
				procs = append(procs, runtimes.Process{PID: st.PID, Start: st.PIDStart})
			}
		}
	}
	return procs
}

// identify gives the living processes behind a list of numbers, each once.
func identify(ps *runtimes.Processes, pids string) (procs []runtimes.Process) {
	seen := map[int]bool{}
	for _, word := range strings.Fields(pids) {
		pid, err := strconv.Atoi(word)
		if err != nil || seen[pid] {
			continue
		}
		seen[pid] = true
		if p, ok, err := ps.Info(pid); err == nil && ok {
			procs = append(procs, p)
		}
	}
	return procs
}

var _ engine.Occupants = (*runtimes.Files)(nil)

// waitGone waits for a process to end; one that does not is killed. A number that
// another process or thread has by now is nobody of ours.
func waitGone(ctx context.Context, ps *runtimes.Processes, p runtimes.Process) bool {
	t := time.NewTicker(20 * time.Millisecond)
	defer t.Stop()
	killAt := time.Now().Add(3 * time.Second)
	for {
		alive, err := ps.Alive(p.PID, p.Start)
		if err == nil && !alive {
			return true
		}
		if err == nil && time.Now().After(killAt) {
			_ = syscall.Kill(p.PID, syscall.SIGKILL)
		}
		select {
		case <-ctx.Done():
			return false
		case <-t.C:
		}
	}
}
