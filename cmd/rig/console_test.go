package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// screen is an outer tmux server of a fixed size, in which a person's terminal is
// played: keys go in, the screen comes out.
type screen struct {
	w      *world
	socket string
}

// console starts the program in a session of the world's own server and attaches
// a client to it from an outer server.
func (w *world) console(cols, rows int) *screen {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	s := &screen{w, filepath.Join(w.dir, "o")}
	env := []string{"env"}
	for _, kv := range w.env {
		if !strings.HasPrefix(kv, "PS1=") {
			env = append(env, kv)
		}
	}
	size := []string{"-x", fmt.Sprint(cols), "-y", fmt.Sprint(rows)}
	words := append(env, "RIG_TUI_MARKER=1", self, "tui")
	w.tmux(append(append([]string{"new-session", "-d", "-s", "console"}, size...), words...)...)
	w.tmux("set-option", "-g", "status", "off")
	s.tmux(append(append([]string{"new-session", "-d", "-s", "terminal"}, size...), "env", "-u", "TMUX", "tmux", "-u", "-f", "/dev/null", "-S", w.socket, "attach", "-t", "=console:")...)
	s.tmux("set-option", "-g", "status", "off")
	w.t.Cleanup(func() { _, _ = s.try("kill-server") })
	return s
}

func (s *screen) try(args ...string) (string, error) {
	in := s.w.socket
	s.w.socket = s.socket
	defer func() { s.w.socket = in }()
	return s.w.tryTmux(args...)
}

func (s *screen) tmux(args ...string) string {
	s.w.t.Helper()
	out, err := s.try(args...)
	if err != nil {
		s.w.t.Fatalf("outer tmux %v: %v\n%s", args, err, out)
	}
	return out
}

// keys types named keys.
func (s *screen) keys(keys ...string) {
	s.w.t.Helper()
	s.tmux(append([]string{"send-keys", "-t", "terminal"}, keys...)...)
}

// text types text as it is.
func (s *screen) text(text string) {
	s.w.t.Helper()
	s.tmux("send-keys", "-t", "terminal", "-l", "--", text)
}

// shows waits until every text is on the screen.
func (s *screen) shows(texts ...string) {
	s.w.t.Helper()
	s.w.eventually("the screen shows "+strings.Join(texts, ", "), func() (bool, string) {
		out := s.tmux("capture-pane", "-p", "-t", "terminal")
		for _, text := range texts {
			if !strings.Contains(out, text) {
				return false, "no “" + text + "” in\n" + out
			}
		}
		return true, ""
	})
}

// TestConsoleShowsTheFleetAndJumps drives the real program in a terminal: the
// first picture, the live pane, a filter, the help, and the jump by switch-client
// of the very client that looks at the console.
func TestConsoleShowsTheFleetAndJumps(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("show", "impl:claude-code", "sh:terminal"))
	w.must("send", "dev.sh", "echo marker-$((40+2))")
	s := w.console(120, 40)
	s.shows("impl", "sh", "idle", "2 running")
	s.keys("j")
	s.shows("dev-sh@show", "marker-42")
	s.keys("?")
	s.shows("Quit now")
	s.keys("Escape")
	s.shows("Enter jump") // the footer of the fleet: the help is closed
	s.keys("Enter")
	w.eventually("the client looks at the seat", func() (bool, string) {
		out := w.tmux("list-clients", "-F", "#{client_session}")
		return strings.Contains(out, "dev-sh@show"), out
	})
	s.shows("marker-42")
	if seat := w.seat("dev.sh"); seat.Generation != 1 || seat.Life != "running" {
		t.Errorf("a jump changed the seat: %+v", seat)
	}
}

// TestConsoleHandsOver goes through the handover wizard with the keyboard, and
// takes the handover back.
func TestConsoleHandsOver(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("wiz", "impl:claude-code"))
	s := w.console(120, 40)
	s.shows("impl", "idle")
	s.keys("H")
	s.shows("Reason")
	s.keys("Tab")
	s.text("quick reset: jq, swap my key /x ?")
	s.keys("Enter")
	s.shows("quick reset: jq, swap my key /x ?", "nothing below can be undone", "swap the panes")
	if got := w.seat("dev.impl").Generation; got != 1 {
		t.Fatalf("the preview changed the seat: generation %d", got)
	}
	s.keys("a")
	s.shows(`type dev-impl@wiz to apply: `) // steps that cannot be undone: a name, not a key
	s.keys("Enter")
	s.text("dev-impl@wiz")
	s.shows("applies the plan")
	s.keys("Enter")
	w.eventually("the seat is handed over", func() (bool, string) {
		seat := w.seat("dev.impl")
		return seat.Generation == 2 && seat.Binding == "handed_over", fmt.Sprintf("%+v\n%s", seat, s.tmux("capture-pane", "-p", "-t", "terminal"))
	})
	s.shows("handed_over")
}

// TestConsoleQuitsCleanly ends the console and looks for what it could have left:
// a session, a client, a process; the seats go on.
func TestConsoleQuitsCleanly(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("quit", "sh:terminal"))
	s := w.console(80, 24)
	s.shows("sh", "idle")
	s.keys("q")
	w.eventually("only the seat's session is left", func() (bool, string) {
		out := w.tmux("list-sessions", "-F", "#{session_name}")
		return out == "dev-sh@quit", out
	})
	if seat := w.seat("dev.sh"); seat.Life != "running" {
		t.Errorf("%+v", seat)
	}
}
