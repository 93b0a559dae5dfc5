package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTerminalRingsAndNotifies reads the bytes that tell of a new wait where they
// arrive: the bell as the outer tmux heard it, the desktop notification in both
// forms, wrapped for the tmux around the console. A console that was not asked to
// ring stays silent.
func TestTerminalRingsAndNotifies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("up", w.spec("ring", "impl:claude-code"))
	loud, silent := w.outside(100, 30, "--notify", "--bell"), w.outside(100, 30)
	record := filepath.Join(w.dir, "bytes")
	for _, s := range []*screen{loud, silent} {
		s.shows("1 running", "idle", "live")
		s.tmux("set-option", "-g", "monitor-bell", "on")
		s.tmux("set-option", "-g", "bell-action", "any")
	}
	loud.tmux("pipe-pane", "-t", "terminal", "cat >"+record)
	w.must("send", "dev.impl", "[[ask]] which one", "--verify")
	for _, s := range []*screen{loud, silent} {
		s.shows("waiting")
	}
	rang := func(s *screen) string {
		return s.tmux("display-message", "-p", "-t", "terminal", "#{window_bell_flag}")
	}
	w.eventually("the bell is heard", func() (bool, string) { got := rang(loud); return got == "1", got })
	const text = "rig: dev-impl@ring, an answer"
	want := "\x1bPtmux;\x1b\x1b]9;" + text + "\x1b\x1b\\\x1b\x1b]777;notify;rig;" + text + "\x1b\x1b\\\x1b\\\a"
	w.eventually("the notification is written", func() (bool, string) {
		b, err := os.ReadFile(record)
		return err == nil && strings.Contains(string(b), want), string(b)
	})
	if got := rang(silent); got != "0" {
		t.Errorf("a console that was not asked to ring rang: %s", got)
	}
}

// TestTerminalConsoleInAPopup opens the console itself as a popup over a person's
// client, and jumps from it: the popup closes and that very client is switched.
func TestTerminalConsoleInAPopup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("up", w.spec("over", "sh:terminal", "two:terminal"))
	s := w.terminal(120, 40, "attach", "dev.sh")
	var client string
	w.eventually("a person is at the seat", func() (bool, string) {
		client = w.tmux("list-clients", "-F", "#{client_name}")
		return client != "" && !strings.Contains(client, "\n"), client
	})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "tui", "--popup", "--client", client) //nolint:noctx // it ends with the popup
	cmd.Env = append(append([]string{}, w.env...), "TMUX="+w.socket+",0,0")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.shows("1 Fleet", "2 running", "┌─", "Enter jump")
	s.keys("j")
	s.shows("dev-two@over")
	s.keys("M")
	s.shows("this console runs in it")
	s.keys("Escape")
	s.lacks("Where the seats are")
	s.keys("Enter")
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	w.eventually("the popup has closed", func() (bool, string) {
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("the popup: %v", err)
			}
			return true, ""
		default:
			// tmux 3.3a was once seen to miss the end of a popup's process until another child of it ended.
			w.tmux("run-shell", "true")
			return false, ""
		}
	})
	s.lacks("1 Fleet")
	if got := w.tmux("list-clients", "-F", "#{client_name} #{client_session}"); got != client+" dev-two@over" {
		t.Errorf("the client shows %s", got)
	}
}

// TestTerminalNeverTypesOverADraft: what stands in a seat's input box is shown in
// the message dialog, and no message is typed while it stands there.
func TestTerminalNeverTypesOverADraft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("up", w.spec("draft", "impl:claude-code"))
	s := w.outside(120, 40)
	s.shows("1 running", "idle")
	seat := func() string { return w.tmux("capture-pane", "-p", "-t", "=dev-impl@draft:") }
	w.tmux("send-keys", "-t", "=dev-impl@draft:", "-l", "half a thought")
	s.keys("s")
	s.shows("Message to dev-impl@draft", "draft in its box: half a thought")
	s.text("from the console")
	s.keys("Enter")
	s.shows("never typed over")
	if out := seat(); !strings.Contains(out, "half a thought") || strings.Contains(out, "from the console") {
		t.Errorf("the draft was typed over:\n%s", out)
	}
	w.tmux("send-keys", "-t", "=dev-impl@draft:", "C-u")
	s.lacks("draft in its box")
	s.keys("Enter")
	s.shows("delivered")
	if out := seat(); strings.Contains(out, "half a thought") {
		t.Errorf("the draft went along:\n%s", out)
	}
}
