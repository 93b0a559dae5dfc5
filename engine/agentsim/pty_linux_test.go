package agentsim

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// ptyPair opens a pseudo terminal.
func ptyPair(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	var n, unlock int32
	for req, p := range map[uintptr]*int32{syscall.TIOCGPTN: &n, syscall.TIOCSPTLCK: &unlock} {
		if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), req, uintptr(unsafe.Pointer(p))); e != 0 {
			t.Fatal(e)
		}
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

func resize(t *testing.T, f *os.File, cols, rows uint16) {
	t.Helper()
	size := [4]uint16{rows, cols}
	if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), syscall.TIOCSWINSZ, uintptr(unsafe.Pointer(&size))); e != 0 {
		t.Fatal(e)
	}
}

// output collects what a terminal shows.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func TestPseudoTerminal(t *testing.T) {
	for kind, c := range map[string]struct {
		args       []string
		ready, bye string
	}{
		KindClaude: {[]string{"--permission-mode", "manual"}, "manual mode on", "/exit"},
		KindCodex:  {codexArgs, "Ask Codex to do anything", "/quit"},
	} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			master, slave := ptyPair(t)
			defer func() { _ = master.Close() }()
			resize(t, master, 100, 30)
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(self, c.args...)
			cmd.Env, cmd.Dir = append(w.env[:len(w.env):len(w.env)], simKind+"="+kind), w.project
			cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = slave.Close()
			var seen output
			go func() {
				buf := make([]byte, 4096)
				for {
					n, err := master.Read(buf)
					seen.mu.Lock()
					seen.text.Write(buf[:n])
					seen.mu.Unlock()
					if err != nil {
						return
					}
				}
			}()
			shows := func(text string) {
				t.Helper()
				w.until("the terminal got "+text, func() bool { return strings.Contains(seen.String(), text) })
			}
			shows(c.ready)
			for _, want := range []string{"\x1b[?1049h", "\x1b[?2004h"} {
				shows(want)
			}
			before := strings.Count(seen.String(), c.ready)
			resize(t, master, 60, 20)
			w.until("it drew again for the new size", func() bool { return strings.Count(seen.String(), c.ready) > before })
			send(t, master, "\x1b[200~"+c.bye+"\x1b[201~")
			shows(c.bye)
			send(t, master, "\r")
			shows("\x1b[?1049l")
			if err := finished(cmd); err != nil {
				t.Errorf("%v", err)
			}
		})
	}
}

func send(t *testing.T, f *os.File, s string) {
	t.Helper()
	if _, err := f.WriteString(s); err != nil {
		t.Fatal(err)
	}
}

// finished waits for the end of a process, at most ten seconds.
func finished(cmd *exec.Cmd) error {
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		return err
	case <-time.After(10 * time.Second):
		_ = cmd.Process.Kill()
		return errors.New("the client did not end")
	}
}
