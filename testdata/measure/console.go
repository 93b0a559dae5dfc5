//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// console is a running console and the terminal that it draws on.
type console struct {
	cmd   *exec.Cmd
	pty   *os.File
	began time.Time
	done  chan struct{} // closed when the terminal has been read to its end

	mu     sync.Mutex
	all    bytes.Buffer  // what was drawn, up to keep
	marks  []mark        // when each part of it came
	total  int           // bytes drawn
	signal chan struct{} // closed and replaced at each drawing
}

// mark says that the first n bytes had been drawn at a time.
type mark struct {
	n  int
	at time.Time
}

// keep bounds what is remembered of the drawing, in bytes: the first paint lies at its beginning.
const keep = 4 << 20

// console opens the console in a pseudo-terminal of 200x50.
func (w *world) console(ctx context.Context) (*console, error) {
	pty, tty, err := terminal(200, 50)
	if err != nil {
		return nil, err
	}
	defer tty.Close()
	cmd := exec.CommandContext(ctx, w.rig, "tui")
	cmd.Env, cmd.Dir = w.env, w.dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	c := &console{cmd: cmd, pty: pty, done: make(chan struct{}), signal: make(chan struct{}), began: time.Now()}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the console: %w", err)
	}
	go c.read()
	return c, nil
}

// terminal opens a pseudo-terminal: the side to read from and the side to draw on.
func terminal(cols, rows uint16) (*os.File, *os.File, error) {
	pty, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open a pseudo-terminal: %w", err)
	}
	fd := int(pty.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: cols, Row: rows})
	}
	if err != nil {
		pty.Close()
		return nil, nil, fmt.Errorf("prepare the pseudo-terminal: %w", err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		pty.Close()
		return nil, nil, fmt.Errorf("open the terminal: %w", err)
	}
	return pty, tty, nil
}

// answers are what a common terminal says to the questions that a program asks it at its start.
var answers = []struct{ question, answer string }{
	{"\x1b[6n", "\x1b[1;1R"},
	{"\x1b]11;?", "\x1b]11;rgb:0000/0000/0000\x1b\\"},
	{"\x1b]10;?", "\x1b]10;rgb:ffff/ffff/ffff\x1b\\"},
	{"\x1b[?2026$p", "\x1b[?2026;2$y"},
	{"\x1b[?2027$p", "\x1b[?2027;0$y"},
	{"\x1b[c", "\x1b[?62;22c"},
}

// read takes in what is drawn, with the times, and answers the terminal's questions, until the console has gone.
func (c *console) read() {
	defer close(c.done)
	buf := make([]byte, 64<<10)
	for {
		n, err := c.pty.Read(buf)
		if n > 0 {
			c.drawn(buf[:n])
			for _, a := range answers {
				if bytes.Contains(buf[:n], []byte(a.question)) {
					_, _ = c.pty.WriteString(a.answer) // a console that has gone needs no answer
				}
			}
		}
		if err != nil {
			return
		}
	}
}

// drawn remembers a piece of the drawing and wakes who waits for one.
func (c *console) drawn(piece []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total += len(piece)
	if c.all.Len() < keep {
		c.all.Write(piece)
		c.marks = append(c.marks, mark{c.all.Len(), time.Now()})
	}
	close(c.signal)
	c.signal = make(chan struct{})
}

// count is how many bytes were drawn so far, with a channel that is closed when there are more.
func (c *console) count() (int, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total, c.signal
}

var escape = regexp.MustCompile("\x1b(?:\\[[0-9;:?<=>]*[ -/]*[@-~]|[\\]P^_][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\])")

// painted is the time from the start until text stood on the screen, or 0 if it never did.
func (c *console) painted(text string) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.marks {
		if bytes.Contains(escape.ReplaceAll(c.all.Bytes()[:m.n], nil), []byte(text)) {
			return m.at.Sub(c.began)
		}
	}
	return 0
}

// shows waits until text stands on the screen and gives the time from the start until then.
func (c *console) shows(ctx context.Context, text string, limit time.Duration) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		_, more := c.count()
		if took := c.painted(text); took > 0 {
			return took, nil
		}
		select {
		case <-more:
		case <-c.done:
			return 0, fmt.Errorf("the console ended by itself: %q", c.tail())
		case <-ctx.Done():
			return 0, fmt.Errorf("the console never showed the rig: %q", c.tail())
		}
	}
}

// tail is the end of what was drawn, for messages.
func (c *console) tail() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := strings.TrimSpace(string(escape.ReplaceAll(c.all.Bytes(), nil)))
	return text[max(0, len(text)-400):]
}

// alive tells whether the console still runs.
func (c *console) alive() bool {
	select {
	case <-c.done:
		return false
	default:
		return true
	}
}

// end stops the console the way a closing terminal does, and by force if it does not go.
func (c *console) end() {
	_ = c.cmd.Process.Signal(syscall.SIGHUP)
	timer := time.AfterFunc(3*time.Second, func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	_ = c.cmd.Wait() // its status was never the question
	c.pty.Close()
}
