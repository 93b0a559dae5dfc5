// Package tmuxtest gives tests a tmux server of their own. The user's server and
// configuration are never touched, and a test ends only when its server is gone.
package tmuxtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Holder is the session that keeps the server of Server alive when a test ends all
// others.
const Holder = "holder"

// Socket gives the path of a socket with no server behind it. Whatever server runs
// there at the end of the test is ended, and waited for. The path is short enough
// for a Unix socket.
func Socket(tb testing.TB) string {
	tb.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		tb.Fatalf("these tests need tmux 3.2a or newer: %v", err)
	}
	dir, err := os.MkdirTemp("", "rigt")
	if err != nil {
		tb.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	tb.Cleanup(func() {
		Kill(tb, socket)
		if err := os.RemoveAll(dir); err != nil {
			tb.Error(err)
		}
	})
	return socket
}

// Server starts a server without configuration that holds one session, Holder, and
// gives its socket. It is ended with the test.
func Server(tb testing.TB) string {
	tb.Helper()
	socket := Socket(tb)
	Start(tb, socket)
	return socket
}

// Start starts a server on a socket of Socket, with the Holder session.
func Start(tb testing.TB, socket string) {
	tb.Helper()
	Tmux(tb, socket, "new-session", "-d", "-s", Holder, "-x", "80", "-y", "24", "--", "cat", "-")
}

// Tmux runs a tmux command on the socket and gives its output without the final line
// break. A failure ends the test.
func Tmux(tb testing.TB, socket string, args ...string) string {
	tb.Helper()
	out, err := command(socket, args...).CombinedOutput()
	if err != nil {
		tb.Fatalf("tmux %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// Kill ends the server on a socket, if there is one, and waits until its process is
// gone, which is after kill-server has returned. A server that lingers is killed.
func Kill(tb testing.TB, socket string) {
	tb.Helper()
	pid := PID(socket)
	if pid == 0 {
		return
	}
	// Numbers come round within seconds under load, so it is this process that must end, not its number.
	start := started(pid)
	gone := func() bool { return !Alive(pid) || started(pid) != start }
	_ = command(socket, "kill-server").Run() // the process is what is checked
	if !poll(time.Second, gone) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if !poll(5*time.Second, gone) {
		tb.Errorf("tmux server %d does not end", pid)
	}
}

// PID gives the process of the server on a socket, 0 when there is none.
func PID(socket string) int {
	out, err := command(socket, "display-message", "-p", "#{pid}").Output()
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		return 0
	}
	return pid
}

// Hang stops the server on a socket where it stands, as a machine that sleeps does.
// It goes on with resume, and at the end of the test at the latest.
func Hang(tb testing.TB, socket string) (resume func()) {
	tb.Helper()
	pid := PID(socket)
	if pid == 0 {
		tb.Fatalf("no server on %s", socket)
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) }) // it may be gone by then
	return func() {
		tb.Helper()
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			tb.Fatal(err)
		}
	}
}

// Eventually polls until ok is true and fails the test after timeout. what is told
// then.
func Eventually(tb testing.TB, timeout time.Duration, what string, ok func() bool) {
	tb.Helper()
	if !poll(timeout, ok) {
		tb.Fatalf("not within %s: %s", timeout, what)
	}
}

// Alive tells whether a process runs. One that has ended but was not yet collected by
// its parent, which may take init a second, does not.
func Alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return !os.IsNotExist(err) || runtime.GOOS != "linux"
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// started tells one life of a process number from the next: the start time in its
// stat line, "" where there is none to read.
func started(pid int) string {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	const startField = 19 // field 22 of the line; the first of rest is field 3
	if f := strings.Fields(rest); len(f) > startField {
		return f[startField]
	}
	return ""
}

func poll(timeout time.Duration, ok func() bool) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	end := time.NewTimer(timeout)
	defer end.Stop()
	for !ok() {
		select {
		case <-end.C:
			return ok()
		case <-tick.C:
		}
	}
	return true
}

func command(socket string, args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", append([]string{"-u", "-f", "/dev/null", "-S", socket}, args...)...)
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "TMUX=") && !strings.HasPrefix(kv, "TMUX_PANE=") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	return cmd
}
