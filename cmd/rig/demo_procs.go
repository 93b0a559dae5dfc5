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
// bring the server back, and gives their ids.
func (d *demoRig) endDetached(ctx context.Context) (pids []int) {
	a, err := openApp(appRead)
	if err != nil {
		return nil
	}
	defer a.close()
	for _, f := range []engine.OperationFilter{{Open: true}, {Undo: true}} {
		ops, err := a.engine().Operations(ctx, f)
		if err != nil {
			return pids
		}
		for _, op := range ops {
			if op.Owner.PID == os.Getpid() || lives(a.deps.Procs, op.Owner) != engine.Present {
				continue
			}
			if syscall.Kill(op.Owner.PID, syscall.SIGKILL) == nil {
				pids = append(pids, op.Owner.PID)
			}
		}
	}
	return pids
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
func (d *demoRig) processes(ctx context.Context) []int {
	out, err := exec.CommandContext(ctx, "tmux", "-S", d.socket, "list-panes", "-a", "-F", "#{pid} #{?pane_dead,,#{pane_pid}}").Output()
	if err != nil {
		return nil
	}
	seen := map[int]bool{}
	var pids []int
	for _, word := range strings.Fields(string(out)) {
		if pid, err := strconv.Atoi(word); err == nil && pid > 0 && !seen[pid] {
			seen[pid] = true
			pids = append(pids, pid)
		}
	}
	files := runtimes.NewFiles(d.rigHome, d.self)
	a, err := openApp(appRead)
	if err != nil {
		return pids
	}
	defer a.close()
	f, err := a.engine().Fleet(ctx)
	if err != nil {
		return pids
	}
	for _, s := range f.Seats() {
		sessions, _, err := a.engine().SeatHistory(ctx, s.ID)
		if err != nil {
			continue
		}
		for _, se := range sessions {
			st, ok, err := files.RunState(se.ID)
			if err != nil || !ok || st.PID <= 0 || st.Exited {
				continue
			}
			// Only the process that was meant: its number may be another's by now.
			if now, alive, err := a.deps.Procs.Start(st.PID); err == nil && alive && now == st.PIDStart {
				pids = append(pids, st.PID)
			}
		}
	}
	return pids
}

var _ engine.Occupants = (*runtimes.Files)(nil)

// waitGone waits for a process to end; one that does not is killed.
func waitGone(ctx context.Context, pid int) bool {
	t := time.NewTicker(20 * time.Millisecond)
	defer t.Stop()
	killAt := time.Now().Add(3 * time.Second)
	for {
		if err := syscall.Kill(pid, 0); err != nil {
			return true
		}
		if time.Now().After(killAt) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		select {
		case <-ctx.Done():
			return false
		case <-t.C:
		}
	}
}
