package main

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"rig/engine"
	"rig/engine/runtimes"
)

// processes lists the server of the demo and what its panes run.
func (d *demoRig) processes(ctx context.Context) []int {
	out, err := exec.CommandContext(ctx, "tmux", "-S", d.socket, "list-panes", "-a", "-F", "#{pid} #{pane_pid}").Output()
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
			if st, ok, err := files.RunState(se.ID); err == nil && ok && st.PID > 0 && !st.Exited {
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
