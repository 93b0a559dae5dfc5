package main

import (
	"strings"
	"testing"
)

// TestPanesThatAPersonMoved: a seat is its pane, wherever a person has put it. What
// ends a seat ends nothing that stands beside it: neither another seat nor a pane of
// a session that the person made.
func TestPanesThatAPersonMoved(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("mv", "a:terminal", "b:terminal", "c:terminal"))
	a, b, c := w.seat("dev.a"), w.seat("dev.b"), w.seat("dev.c")
	w.tmux("join-pane", "-d", "-s", b.Pane, "-t", "=dev-a@mv:")
	w.tmux("new-session", "-d", "-s", "mine", "cat")
	mine := w.tmux("list-panes", "-t", "=mine:", "-F", "#{pane_id} #{pane_pid}")
	w.tmux("join-pane", "-d", "-s", c.Pane, "-t", "=mine:")

	if s := w.seat("dev.b"); s.Life != "running" || s.Session != "dev-a@mv" {
		t.Errorf("b beside a: %+v", s)
	}
	if line := w.must("attach", "dev.c"); !strings.Contains(line, "=mine:") {
		t.Errorf("attach to c in another session: %s", line)
	}
	w.must("send", "dev.c", "echo moved-$((40+2))")
	w.eventually("the text reaches the moved pane", func() (bool, string) {
		screen := w.must("capture", "dev.c")
		return strings.Contains(screen, "moved-42"), screen
	})

	if plan := w.must("seat", "stop", "dev.a", "--reason", "r", "--dry-run"); strings.Contains(plan, "end with it") {
		t.Errorf("a plan that ends the seat beside it:\n%s", plan)
	}
	w.must("seat", "stop", "dev.a", "--reason", "r")
	if s := w.seat("dev.a"); s.Life != "stopped" {
		t.Errorf("a: %+v", s)
	}
	if s := w.seat("dev.b"); s.Life != "running" || s.Pane != b.Pane || s.PanePID != b.PanePID {
		t.Errorf("b after the stop of a: %+v", s)
	}
	if r := w.run("launch", "mv", "dev.a"); r.code != 1 || !strings.Contains(r.out+r.err, "→") {
		t.Errorf("launch while another seat is in the session of that name: exit %d\n%s%s", r.code, r.out, r.err)
	} else {
		t.Logf("%s%s", r.out, r.err)
	}
	w.must("down", "mv")
	if got := w.sessions(); got != "mine" {
		t.Errorf("sessions left: %q, a's pane was %s", got, a.Pane)
	}
	if got := w.tmux("list-panes", "-t", "=mine:", "-F", "#{pane_id} #{pane_pid}"); got != mine {
		t.Errorf("the person's session: %q, was %q", got, mine)
	}
}

// TestRenamedSession: a person gave the session of a seat another name. The verbs
// go by the pane, and a handover and its undo end where they began.
func TestRenamedSession(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("rn", "a:claude-code"))
	w.must("send", "dev.a", "remember the codeword is HERON", "--verify")
	w.tmux("rename-session", "-t", "=dev-a@rn:", "other")
	if line := w.must("attach", "dev.a"); !strings.Contains(line, "=other:") {
		t.Errorf("attach: %s", line)
	}
	w.must("send", "dev.a", "hello", "--verify")
	w.must("wait", "dev.a", "--until", "idle")
	before := w.seat("dev.a")
	var rec receiptDoc
	w.into(&rec, "handover", "dev.a", "--reason", "r")
	if s := w.seat("dev.a"); !rec.OK || s.Generation != 2 || s.Binding != "handed_over" || s.Session != "other" {
		t.Fatalf("handover: %+v\n%+v", rec, s)
	}
	w.must("op", "undo", rec.Operation.ID)
	if s := w.seat("dev.a"); s.Generation != 1 || s.Pane != before.Pane || s.Session != "other" || w.sessions() != "other" {
		t.Errorf("undo: %+v in %s", s, w.sessions())
	}
}
