package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// outside starts the console in a terminal of its own, which is no client of the
// seats' server. When the console ends, its exit status is shown and the terminal
// stays, so that what was left switched on can be seen.
func (w *world) outside(cols, rows int, args ...string) *screen {
	w.t.Helper()
	return w.terminal(cols, rows, append([]string{"tui"}, args...)...)
}

// terminal runs a verb in a terminal of a tmux server of its own.
func (w *world) terminal(cols, rows int, args ...string) *screen {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	dir, err := os.MkdirTemp(w.dir, "t")
	if err != nil {
		w.t.Fatal(err)
	}
	s := &screen{w, filepath.Join(dir, "o")}
	words := []string{"new-session", "-d", "-s", "terminal", "-x", strconv.Itoa(cols), "-y", strconv.Itoa(rows), "env"}
	for _, kv := range w.env {
		if !strings.HasPrefix(kv, "PS1=") {
			words = append(words, kv)
		}
	}
	words = append(words, "RIG_TUI_MARKER=1", "sh", "-c", `"$0" "$@"; echo "ended $?"; exec cat`, self)
	s.tmux(append(words, args...)...)
	s.tmux("set-option", "-g", "status", "off")
	w.t.Cleanup(func() { _, _ = s.try("kill-server") })
	return s
}

// marker is the revision and the screen that are shown, from the window title;
// zero before the first frame.
func (s *screen) marker() (revision int, name string) {
	s.w.t.Helper()
	words := strings.Fields(s.tmux("display-message", "-p", "-t", "terminal", "#{pane_title}"))
	if len(words) < 3 || words[0] != "rig" {
		return 0, ""
	}
	n, err := strconv.Atoi(strings.TrimPrefix(words[len(words)-2], "r"))
	if err != nil {
		return 0, ""
	}
	return n, words[len(words)-1]
}

// on waits until a frame of a screen is drawn.
func (s *screen) on(name string) {
	s.w.t.Helper()
	s.w.eventually("the screen is "+name, func() (bool, string) {
		r, at := s.marker()
		return r > 0 && at == name, at + "\n" + s.look()
	})
}

// past waits until a newer picture than a revision is drawn.
func (s *screen) past(revision int) {
	s.w.t.Helper()
	s.w.eventually(fmt.Sprintf("a picture after revision %d", revision), func() (bool, string) {
		r, _ := s.marker()
		return r > revision, fmt.Sprint(r)
	})
}

// look is what stands on the screen.
func (s *screen) look() string {
	s.w.t.Helper()
	return s.tmux("capture-pane", "-p", "-t", "terminal")
}

// lacks waits until none of the texts is on the screen.
func (s *screen) lacks(texts ...string) {
	s.w.t.Helper()
	s.w.eventually("the screen has not "+strings.Join(texts, ", "), func() (bool, string) {
		out := s.look()
		for _, text := range texts {
			if strings.Contains(out, text) {
				return false, "“" + text + "” in\n" + out
			}
		}
		return true, ""
	})
}

// paste puts text in as a terminal does, in brackets when the program asked for
// them.
func (s *screen) paste(text string) {
	s.w.t.Helper()
	s.tmux("set-buffer", "-b", "clip", "--", text)
	s.tmux("paste-buffer", "-p", "-r", "-b", "clip", "-t", "terminal")
}

// resize gives the terminal another size.
func (s *screen) resize(cols, rows int) {
	s.w.t.Helper()
	s.tmux("resize-window", "-t", "terminal", "-x", strconv.Itoa(cols), "-y", strconv.Itoa(rows))
}

// pid is the console's own process.
func (s *screen) pid() int {
	s.w.t.Helper()
	shell := s.tmux("display-message", "-p", "-t", "terminal", "#{pane_pid}")
	b, err := os.ReadFile("/proc/" + shell + "/task/" + shell + "/children")
	if err != nil {
		s.w.t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		s.w.t.Fatalf("children of %s: %q", shell, b)
	}
	return n
}

// left waits until the console has ended with a status, and checks that the
// terminal is as it was before: no alternate screen, no mouse, a cursor, and
// pastes without brackets.
func (s *screen) left(status int) {
	s.w.t.Helper()
	s.shows(fmt.Sprintf("ended %d", status))
	modes := s.tmux("display-message", "-p", "-t", "terminal", "#{alternate_on} #{mouse_any_flag} #{cursor_flag} #{keypad_flag}")
	if modes != "0 0 1 0" {
		s.w.t.Errorf("alternate screen, mouse, cursor, keypad: %s", modes)
	}
	s.paste("pasted-text\n")
	s.shows("pasted-text")
	if out := s.look(); strings.Contains(out, "200~") {
		s.w.t.Errorf("bracketed paste is still on:\n%s", out)
	}
}
