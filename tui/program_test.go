package tui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
	"rig/tui/tuitest"
)

// screenful is an output that can be read while it is written.
type screenful struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *screenful) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *screenful) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.NewTimer(10 * time.Second)
	defer deadline.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// running is a console in a made-up terminal.
type running struct {
	out  *screenful
	keys *io.PipeWriter
	done chan error
	stop context.CancelFunc
}

func start(t *testing.T, c engine.Console, opt Options) *running {
	t.Helper()
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	out := &running{out: &screenful{}, keys: w, done: make(chan error, 1), stop: cancel}
	opt.Marker = true
	go func() {
		out.done <- runProgram(ctx, c, opt, tea.WithInput(r), tea.WithOutput(out.out), tea.WithWindowSize(120, 40),
			tea.WithEnvironment([]string{"TERM=xterm-256color", "COLORTERM=truecolor"}), tea.WithoutSignals())
	}()
	t.Cleanup(func() { cancel(); w.Close() })
	return out
}

func (r *running) end(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.done:
		return err
	case <-time.After(10 * time.Second):
		t.Fatal("the console does not end")
		return nil
	}
}

// clean checks that the terminal is given back as it was.
func (r *running) clean(t *testing.T) {
	t.Helper()
	out := r.out.String()
	for on, off := range map[string]string{"\x1b[?1049h": "\x1b[?1049l", "\x1b[?1002h": "\x1b[?1002l", "\x1b[?2004h": "\x1b[?2004l", "\x1b[?25l": "\x1b[?25h"} {
		if i := strings.LastIndex(out, on); i >= 0 && strings.LastIndex(out, off) < i {
			t.Errorf("%q was switched on and not off again", on)
		}
	}
}

func TestProgramShowsTakesKeysAndLeavesCleanly(t *testing.T) {
	c := tuitest.New(tuitest.Fleet(7))
	r := start(t, c, options())
	until(t, "the first picture", func() bool { return strings.Contains(r.out.String(), "rig 3 need you r1 fleet") })
	until(t, "the live pane", func() bool { return strings.Contains(r.out.String(), "fix the failing checkout test") })
	if got := c.Focused(); len(got) != 1 || got[0] != "seat000" {
		t.Errorf("in focus is %v", got)
	}
	_, _ = r.keys.Write([]byte("2"))
	until(t, "the attention screen", func() bool { return strings.Contains(r.out.String(), "r1 attention") })
	_, _ = r.keys.Write([]byte("q"))
	until(t, "the fleet again", func() bool { return strings.Count(r.out.String(), "r1 fleet") > 1 })
	_, _ = r.keys.Write([]byte("q"))
	if err := r.end(t); err != nil {
		t.Error(err)
	}
	r.clean(t)
}

func TestProgramWritesNothingWhenNothingChanges(t *testing.T) {
	c := tuitest.New(tuitest.Fleet(200))
	frames := make(chan string, 64)
	opt := options()
	opt.OnFrame = func(_ uint64, s string) { frames <- s }
	r := start(t, c, opt)
	until(t, "the live pane", func() bool { return strings.Contains(r.out.String(), "fix the failing checkout test") })
	settled := ""
	until(t, "a quiet terminal", func() bool {
		now := r.out.String()
		same := now == settled
		settled = now
		return same
	})
	// The same picture and the same pane again, under other revisions.
	for i := range 5 {
		f := *tuitest.Fleet(200)
		f.Revision = uint64(2 + i)
		c.Publish(&f)
		c.Show(0)
	}
	until(t, "the last revision", func() bool { return strings.Contains(r.out.String(), "r6 fleet") })
	extra := strings.TrimPrefix(r.out.String(), settled)
	for _, part := range strings.Split(extra, "\x1b]2;")[1:] {
		_, after, _ := strings.Cut(part, "\x07")
		for _, sync := range []string{"\x1b[?2026h", "\x1b[?2026l"} { // only brackets around what was written
			after = strings.ReplaceAll(after, sync, "")
		}
		if after != "" {
			t.Errorf("an unchanged picture wrote %q", after)
		}
	}
	r.stop()
	if err := r.end(t); err != nil {
		t.Error(err)
	}
	r.clean(t)
}

// broken is a console whose answer makes a screen panic.
type broken struct{ *tuitest.Console }

func (b broken) Explain(context.Context, string, string) (engine.Explanation, error) {
	panic("made to fail")
}

func TestPanicLeavesACleanTerminalAndALog(t *testing.T) {
	opt := options()
	opt.LogPath = filepath.Join(t.TempDir(), "console.log")
	r := start(t, broken{tuitest.New(tuitest.Fleet(7))}, opt)
	until(t, "the first picture", func() bool { return strings.Contains(r.out.String(), "r1 fleet") })
	_, _ = r.keys.Write([]byte("e"))
	err := r.end(t)
	r.clean(t)
	var e *engine.Error
	if !errors.As(err, &e) || !strings.Contains(e.Msg, "made to fail") || !strings.Contains(e.Hint, opt.LogPath) {
		t.Fatalf("the error is %v", err)
	}
	log, err := os.ReadFile(opt.LogPath)
	if err != nil || !strings.Contains(string(log), "made to fail") || !strings.Contains(string(log), "goroutine") {
		t.Errorf("the log holds %q, %v", log, err)
	}
}

// A screen that fails ends the program in the same way, whichever it is.
func TestPanicInAScreenLeavesACleanTerminal(t *testing.T) {
	for _, where := range []string{"Update", "View"} {
		r, w := io.Pipe()
		out := &screenful{}
		g := &guard{}
		m, err := New(t.Context(), tuitest.New(tuitest.Fleet(7)), options())
		if err != nil {
			t.Fatal(err)
		}
		p := tea.NewProgram(guarded{failing{m, where, &atomic.Bool{}}, g, &pacer{}}, tea.WithInput(r), tea.WithOutput(out), tea.WithWindowSize(120, 40), tea.WithoutSignals(), tea.WithContext(t.Context()))
		g.quit = func() { go p.Quit() }
		done := make(chan error, 1)
		go func() { _, err := p.Run(); done <- err }()
		until(t, "the screen", func() bool { return strings.Contains(out.String(), "\x1b[?1049h") })
		_, _ = w.Write([]byte("x"))
		run := &running{out: out, done: done}
		if err := run.end(t); err != nil {
			t.Errorf("%s: %v", where, err)
		}
		run.clean(t)
		if report, _ := g.failure(); report != "made to fail" {
			t.Errorf("%s: the report is %q", where, report)
		}
		w.Close()
	}
}

// failing is the console with a fault that the key x brings out.
type failing struct {
	*Model
	where string
	armed *atomic.Bool
}

func (f failing) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if k, ok := msg.(tea.KeyPressMsg); ok && k.String() == "x" {
		if f.where == "Update" {
			panic("made to fail")
		}
		f.armed.Store(true)
		return f, nil
	}
	return f.Model.Update(msg)
}

func (f failing) View() tea.View {
	if f.armed.Load() {
		panic("made to fail")
	}
	return f.Model.View()
}

// panics is a model that fails where it is told to.
type panics struct{ where string }

func (p panics) Init() tea.Cmd { return nil }

func (p panics) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, ok := msg.(tea.KeyPressMsg); ok && p.where == "Update" {
		panic("made to fail")
	}
	return p, nil
}

func (p panics) View() tea.View {
	if p.where == "View" {
		panic("made to fail")
	}
	return tea.NewView("")
}

func TestGuardEndsTheProgramOnce(t *testing.T) {
	for _, where := range []string{"Update", "View"} {
		quits := 0
		g := &guard{quit: func() { quits++ }}
		s := guarded{panics{where}, g, &pacer{}}
		for range 3 {
			s.Update(tea.KeyPressMsg{Code: 'x'})
			s.View()
		}
		if report, stack := g.failure(); quits != 1 || report != "made to fail" || !strings.Contains(stack, "panics") {
			t.Errorf("%s: quit %d times, report %q", where, quits, report)
		}
	}
}
