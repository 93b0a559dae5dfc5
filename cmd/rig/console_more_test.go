package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rig/tmuxctl/tmuxtest"
)

// TestTerminalAttachesAndComesBack jumps from a terminal that is no client of the
// seats' server: it attaches there, and a detach comes back to the console.
func TestTerminalAttachesAndComesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("up", w.spec("away", "sh:terminal"))
	w.must("send", "dev.sh", "echo marker-$((40+2))", "--verify")
	s := w.outside(100, 30)
	s.shows("sh", "idle", "marker-42")
	s.keys("Enter")
	w.eventually("a client looks at the seat", func() (bool, string) {
		out := w.tmux("list-clients", "-F", "#{client_session}")
		return strings.Contains(out, "dev-sh@away"), out + "\n" + s.look()
	})
	s.shows("marker-42")
	s.text("echo typed-$((1+1))")
	s.keys("Enter")
	s.shows("typed-2")
	s.keys("C-b", "d")
	s.shows("back from dev-sh@away", "1 running")
	s.keys("2")
	s.on("attention")
	s.keys("q", "q")
	s.left(0)
}

// TestTerminalOutlivesItsServer keeps a console open while the seats' server is
// killed and another one starts.
func TestTerminalOutlivesItsServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("up", w.spec("server", "sh:terminal"))
	s := w.outside(100, 30)
	s.shows("1 running", "live")
	revision, _ := s.marker()
	w.tmux("kill-server")
	s.past(revision)
	s.shows("no tmux server", "U brings a rig up again", "lost")
	s.keys("2")
	s.shows("a lost seat")
	s.keys("1", "e")
	s.shows("Explain dev-sh@server")
	s.keys("Escape")
	w.must("up", "server")
	s.shows("1 running", "live", "idle")
	s.lacks("no tmux server", "lost")
	s.keys("q")
	s.left(0)
}

// TestTerminalOutlivesAStoppedServer keeps a console open while the seats' server
// stands still: nothing is drawn as it was, and all is back when it goes on.
func TestTerminalOutlivesAStoppedServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("up", w.spec("server", "sh:terminal"))
	s := w.outside(100, 30)
	s.shows("1 running", "live", "idle")
	resume := tmuxtest.Hang(t, w.socket)
	s.shows("tmux does not answer", "unknown")
	s.lacks("live", "idle", "lost")
	resume()
	s.shows("1 running", "live", "idle")
	s.lacks("unknown", "does not answer")
	s.keys("q")
	s.left(0)
}

// TestTerminalOpensBeforeAnyServer opens the console where nothing is, and brings
// a rig up from another shell.
func TestTerminalOpensBeforeAnyServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.outside(80, 24)
	s.shows("No rigs yet", "U  brings up a rig")
	w.must("up", w.spec("later", "sh:terminal"))
	s.shows("later", "1 running", "live", "idle")
	s.keys("q")
	s.left(0)
}

// TestTerminalsShareAttention acknowledges and snoozes in one console and sees it
// in another; the window title counts what is left.
func TestTerminalsShareAttention(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("up", w.spec("both", "impl:claude-code", "rev:claude-code"))
	a, b := w.outside(120, 40), w.outside(100, 30)
	for _, s := range []*screen{a, b} {
		s.shows("2 running", "idle")
		s.keys("2")
		s.on("attention")
	}
	w.must("send", "dev.impl", "[[ask]] which one?")
	w.must("send", "dev.rev", "[[ask]] and now?")
	for _, s := range []*screen{a, b} {
		s.shows("dev-impl@both", "dev-rev@both", "an answer")
		s.titled("rig 2 need you")
	}
	a.keys("a")
	for _, s := range []*screen{a, b} {
		s.shows("seen by ")
		s.titled("rig 1 needs you")
	}
	b.keys("g", "z")
	b.shows("15 minutes")
	b.keys("Enter")
	for _, s := range []*screen{a, b} {
		s.shows("snoozed until ")
		s.titled("rig r")
	}
	a.keys("G", "a")
	b.titled("rig 1 needs you")
}

// titled waits until the window title begins with a text.
func (s *screen) titled(text string) {
	s.w.t.Helper()
	s.w.eventually("the title begins with "+text, func() (bool, string) {
		out := s.tmux("display-message", "-p", "-t", "terminal", "#{pane_title}")
		return strings.HasPrefix(out, text), out + "\n" + s.look()
	})
}

// TestTerminalShowsAWaitSoon lets a client wait for its operator, and measures
// from the client's own write to the frame. Two seconds are what is promised; the
// test allows for a machine that does other things.
func TestTerminalShowsAWaitSoon(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("up", w.spec("soon", "impl:claude-code"))
	s := w.outside(120, 40)
	s.shows("1 running", "idle")
	took := w.attention(s)
	t.Logf("from the client's own write to the frame: %v", took)
	if took > 10*time.Second {
		t.Errorf("%v from the client's own write to the frame", took)
	}
}

// BenchmarkAttention is the time from a client's own write, by which it says that
// it waits, to the frame that says so, in a terminal.
func BenchmarkAttention(b *testing.B) {
	w := newWorld(b)
	w.must("up", w.spec("soon", "impl:claude-code"))
	s := w.outside(120, 40)
	s.shows("1 running", "idle")
	var sum time.Duration
	n := 0
	for b.Loop() {
		sum += w.attention(s)
		n++
		w.tmux("send-keys", "-t", "=dev-impl@soon:", "Escape")
		s.titled("rig r")
	}
	b.ReportMetric(float64(sum.Milliseconds())/float64(n), "ms/wait")
}

// attention makes the client of dev.impl wait, and gives the time from its own
// write to the frame that shows it.
func (w *world) attention(s *screen) time.Duration {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.home, ".claude", "sessions", "*.json"))
	if err != nil || len(files) != 1 {
		w.t.Fatalf("the client's own files: %v, %v", files, err)
	}
	w.must("send", "dev.impl", "[[ask]] which one?")
	s.titled("rig 1 needs you")
	seen := time.Now()
	out, err := os.ReadFile(files[0])
	if err != nil || !strings.Contains(string(out), "waiting") {
		w.t.Fatalf("the client's own file: %s, %v", out, err)
	}
	info, err := os.Stat(files[0])
	if err != nil {
		w.t.Fatal(err)
	}
	return seen.Sub(info.ModTime())
}
