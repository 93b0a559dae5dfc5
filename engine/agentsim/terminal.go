package agentsim

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"
)

// terminal is the raw screen and keyboard of a client.
type terminal struct {
	in, out *os.File
	saved   *term.State
	alt     bool
	drawn   []string // rows on the screen
	inline  int      // rows of a dialog drawn on the normal screen
	w, h    int
	title   string
}

// openTerminal makes the terminal raw; ok is false when stdin or stdout is none.
func openTerminal(e *Env) (*terminal, bool) {
	if !term.IsTerminal(int(e.Stdin.Fd())) || !term.IsTerminal(int(e.Stdout.Fd())) {
		return nil, false
	}
	saved, err := term.MakeRaw(int(e.Stdin.Fd()))
	if err != nil {
		return nil, false
	}
	t := &terminal{in: e.Stdin, out: e.Stdout, saved: saved}
	t.write("\x1b[?2004h")
	t.measure()
	return t, true
}

func (t *terminal) write(s string) { _, _ = t.out.WriteString(s) }

// measure reads the size; a terminal without one counts as 80x24.
func (t *terminal) measure() {
	w, h, err := term.GetSize(int(t.out.Fd()))
	if err != nil || w < 1 || h < 1 {
		w, h = 80, 24
	}
	t.w, t.h = w, h
}

// enterAlt goes to the alternate screen.
func (t *terminal) enterAlt() {
	t.endInline()
	t.write("\x1b[?1049h\x1b[2J\x1b[H")
	t.alt, t.drawn = true, nil
}

// close gives the terminal back as it was.
func (t *terminal) close() {
	t.endInline()
	s := "\x1b[?25h\x1b[?2004l"
	if t.alt {
		s += "\x1b[?1049l"
	}
	t.write(s)
	t.alt = false
	_ = term.Restore(int(t.in.Fd()), t.saved)
}

// setTitle names the pane.
func (t *terminal) setTitle(s string) {
	if s = printable(s); s != t.title {
		t.title = s
		t.write("\x1b]2;" + s + "\x07")
	}
}

// draw shows rows on the alternate screen and writes only what changed.
func (t *terminal) draw(rows []string, cy, cx int) {
	if len(rows) > t.h {
		cy -= len(rows) - t.h
		rows = rows[len(rows)-t.h:]
	}
	var b strings.Builder
	b.WriteString("\x1b[?25l")
	for y := range t.h {
		row := ""
		if y < len(rows) {
			row = cut(rows[y], t.w)
		}
		if y < len(t.drawn) && t.drawn[y] == row {
			continue
		}
		fmt.Fprintf(&b, "\x1b[%d;1H%s\x1b[K", y+1, row)
		if y < len(t.drawn) {
			t.drawn[y] = row
		} else {
			t.drawn = append(t.drawn, row)
		}
	}
	fmt.Fprintf(&b, "\x1b[%d;%dH\x1b[?25h", max(0, cy)+1, cx+1)
	t.write(b.String())
}

// drawInline shows rows on the normal screen, below what the shell printed.
func (t *terminal) drawInline(rows []string) {
	var b strings.Builder
	if t.inline > 1 {
		fmt.Fprintf(&b, "\x1b[%dA", t.inline-1)
	}
	b.WriteString("\r")
	for i, row := range rows {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(cut(row, t.w) + "\x1b[K")
	}
	b.WriteString("\x1b[J")
	t.inline = len(rows)
	t.write(b.String())
}

// endInline leaves the dialog where it is and goes below it.
func (t *terminal) endInline() {
	if t.inline > 0 {
		t.write("\r\n")
		t.inline = 0
	}
}

// read sends the decoded keys of the terminal until it is gone. Keys of the
// first moments are dropped when the environment says so.
func (t *terminal) read(e *Env, keys chan<- []key, done <-chan struct{}) {
	var d decoder
	var deaf time.Time
	if e.get("AGENTSIM_EARLY_KEYS") == "lost" {
		deaf = e.Now().Add(200 * time.Millisecond)
	}
	buf := make([]byte, 1<<16)
	for {
		n, err := t.in.Read(buf)
		if n > 0 {
			now := e.Now()
			ks := d.feed(buf[:n], now)
			if len(ks) > 0 && now.After(deaf) {
				select {
				case keys <- ks:
				case <-done:
					return
				}
			}
		}
		if err != nil {
			return
		}
	}
}

// watchSignals listens for the end, and for a change of size.
func watchSignals() (chan os.Signal, func()) {
	c := make(chan os.Signal, 8)
	signal.Notify(c, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGWINCH)
	return c, func() { signal.Stop(c) }
}

// signalCode is the exit code of a process that a signal ended.
func signalCode(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return 1
}

// waitForSignal sleeps until a signal ends the process.
func waitForSignal() int {
	c, stop := watchSignals()
	defer stop()
	for s := range c {
		if s != syscall.SIGWINCH {
			return signalCode(s)
		}
	}
	return 1
}
