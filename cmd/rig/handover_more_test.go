package main

import (
	"os"
	"strings"
	"testing"
)

// TestFailedHandoverIsOnRecord: continuity and binding are told apart on the
// receipt, in the event and on the seat, also when there is no successor.
func TestFailedHandoverIsOnRecord(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("bad", "impl:claude-code"))
	w.must("send", "dev.impl", "remember the codeword is HERON", "--verify")
	w.must("wait", "dev.impl", "--until", "idle")
	before := w.seat("dev.impl")
	was := w.env
	w.env = append([]string(nil), was...)
	w.setenv("RIG_CLAUDE_COMMAND", `["/bin/false"]`)
	var rec receiptDoc
	r := w.into(&rec, "handover", "dev.impl", "--source", "fork:dev.impl", "--reason", "context wall")
	w.env = was
	if r.code != 1 || len(rec.Seats) != 1 || rec.Seats[0].Outcome != "failed" || rec.Seats[0].Binding != "unchanged" {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	after := w.seat("dev.impl")
	if after.Binding != "unchanged" || after.Continuity != before.Continuity || after.Generation != 1 || after.PanePID != before.PanePID || after.Life != "running" {
		t.Errorf("%+v", after)
	}
	out := w.run("seat", "status", "dev.impl").out
	for _, want := range []string{"Continuity outcome", "Binding outcome", "unchanged", "Last error"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in the status:\n%s", want, out)
		}
	}
	ev := w.events("seat.handover_failed")
	if len(ev) != 1 || ev[0].OpID != rec.Operation.ID || ev[0].Payload["binding_outcome"] != "unchanged" || ev[0].Payload["continuity_outcome"] != "failed" ||
		ev[0].Payload["reason"] != "context wall" || ev[0].Payload["current_occupant"] != "dev-impl@bad (generation 1)" {
		t.Errorf("%+v", ev)
	}
	// Cut off when the successor was proven and its binding was under way.
	w.setenv("TEST_KILL_AT", "before:rebind")
	w.run("handover", "dev.impl", "--source", "fork:dev.impl", "--reason", "again")
	w.setenv("TEST_KILL_AT", "")
	op := w.ops()[0]
	if out := w.must("op", "rollback", op.ID, "--dry-run"); !strings.Contains(out, "undo “swap the panes") || !strings.Contains(out, "No changes were made") {
		t.Errorf("the dry run:\n%s", out)
	}
	if r := w.into(&rec, "op", "rollback", op.ID, "--reason", "put it back"); r.code != 0 || rec.Seats[0].Outcome != "forked" || rec.Seats[0].Binding != "failed" {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	if s := w.seat("dev.impl"); s.Binding != "failed" || s.Generation != 1 || s.PanePID != before.PanePID {
		t.Errorf("%+v", s)
	}
	w.into(&rec, "handover", "dev.impl", "--source", "fork:dev.impl", "--reason", "now")
	if s := w.seat("dev.impl"); !rec.OK || s.Binding != "handed_over" || s.Continuity != "forked" {
		t.Errorf("%+v", s)
	}
	// A down ends the incumbent that the undo window keeps.
	if out := w.must("down", "bad", "--dry-run"); !strings.Contains(out, "end the former occupant that an undo could still bring back (_rig-") {
		t.Errorf("the dry run:\n%s", out)
	}
	w.must("down", "bad")
	if left := w.sessions(); left != "" {
		t.Errorf("sessions are left: %s", left)
	}
	w.refuse("undo_window_closed", 1, "op", "undo", rec.Operation.ID)
}

// discoveredID finds a session of the operator's own.
func (w *world) discoveredID(session string) string {
	w.t.Helper()
	var found struct {
		Sessions []struct {
			ID      string `json:"id"`
			Session string `json:"session"`
			Status  string `json:"status"`
		} `json:"sessions"`
	}
	w.into(&found, "discover", "--rescan")
	for _, d := range found.Sessions {
		if d.Session == session && d.Status == "active" {
			return d.ID
		}
	}
	w.t.Fatalf("no session %s: %+v", session, found)
	return ""
}

// own starts a client as an operator would, in a session of their own, and gives
// the pid of its pane.
func (w *world) own(session string) string {
	w.t.Helper()
	pid := w.tmux("new-session", "-d", "-s", session, "-c", w.project, "-x", "160", "-y", "48", "-P", "-F", "#{pane_pid}", "exec '"+w.self()+"' agentsim claude")
	w.eventually(session+" is up", func() (bool, string) {
		out := w.tmux("capture-pane", "-p", "-t", "="+session+":")
		return strings.Contains(out, "❯"), out
	})
	return pid
}

// TestOperatorsOwnSession: a session of the operator's own takes a seat by a
// handover, is never typed into and never ended, and leaves it by a release, an
// adoption, and a handover to a launched successor.
func TestOperatorsOwnSession(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("own", "impl:claude-code", "sh:terminal"))
	pid := w.own("mine")
	alive := func() string {
		return w.tmux("list-panes", "-t", "=mine:", "-F", "#{pane_pid} #{@rig_seat} #{@rig_gen}")
	}
	before := w.seat("dev.impl")
	id := w.discoveredID("mine")
	var found struct {
		Sessions []struct{ ID, Status string } `json:"sessions"`
	}
	w.refuse("runtime_mismatch", 1, "handover", "dev.sh", "--source", "discovered:"+id, "--reason", "r")
	w.refuse("already_bound", 1, "adopt", id, "dev.impl")
	screen := w.tmux("capture-pane", "-p", "-t", "=mine:")

	// Undone inside its window, the incumbent goes on where it was, and the session is the operator's again.
	w.must("send", "dev.impl", "remember the codeword is EGRET", "--verify")
	w.must("wait", "dev.impl", "--until", "idle")
	w.terminal(160, 49, "attach", "dev.impl") // with the status line, the size that the panes have
	watches := func() string { return w.tmux("list-clients", "-F", "#{client_session}") }
	w.eventually("a person looks at the seat", func() (bool, string) { return watches() == "dev-impl@own", watches() })
	var rec receiptDoc
	w.into(&rec, "handover", "dev.impl", "--source", "discovered:"+id, "--reason", "mine is ready")
	if watches() != "mine" {
		t.Errorf("who looked at the seat now looks at %s", watches())
	}
	if w.into(&found, "discover"); found.Sessions[0].Status != "claimed" {
		t.Errorf("taken by a seat, it is %s", found.Sessions[0].Status)
	}
	w.must("op", "undo", rec.Operation.ID)
	s := w.seat("dev.impl")
	if got := strings.TrimSpace(alive()); got != pid || s.Generation != 1 || s.Session != "dev-impl@own" || s.Pane != before.Pane || s.PanePID != before.PanePID || s.Continuity != "fresh" {
		t.Errorf("undone: %q, %+v", got, s)
	}
	if w.into(&found, "discover"); found.Sessions[0].Status != "active" {
		t.Errorf("let go, it is %s", found.Sessions[0].Status)
	}
	w.must("send", "dev.impl", "which codeword?", "--verify")
	w.must("wait", "dev.impl", "--until", "idle")
	if text := w.must("capture", "dev.impl"); !strings.Contains(text, "EGRET") {
		t.Errorf("the incumbent does not go on:\n%s", text)
	}

	r := w.into(&rec, "handover", "dev.impl", "--source", "discovered:"+id, "--reason", "mine is ready")
	s = w.seat("dev.impl")
	if r.code != 0 || rec.Seats[0].Outcome != "" || rec.Seats[0].Binding != "handed_over" || rec.Seats[0].Delivered ||
		s.Continuity != "" || s.Binding != "handed_over" || s.Generation != 3 || s.ID != before.ID || s.Seat != before.Seat {
		t.Fatalf("exit %d %+v\n%s%s", r.code, s, r.out, r.err)
	}
	if got := alive(); got != pid+" "+s.ID+" 3" || w.tmux("capture-pane", "-p", "-t", "=mine:") != screen {
		t.Errorf("the session: %s", got)
	}
	if left := w.sessions(); strings.Contains(left, "dev-impl@own") || !strings.Contains(left, "_rig-") {
		t.Errorf("the incumbent is not kept, or has the seat's name: %s", left)
	}
	if out := w.run("seat", "status", "dev.impl").out; !strings.Contains(out, "unverified") {
		t.Errorf("no continuity may be claimed:\n%s", out)
	}
	w.refuse("claimed_session", 1, "seat", "stop", "dev.impl", "--reason", "r")
	w.must("send", "dev.impl", "remember the codeword is HERON", "--verify")
	w.must("wait", "dev.impl", "--until", "idle")
	own := w.token("dev.impl")
	if shown := w.must("op", "show", rec.Operation.ID, "--json") + r.out + w.must("events", "--json"); len(own) != 36 || strings.Contains(shown, own) {
		t.Errorf("its own id is not on record, or printed: %d characters", len(own))
	}

	// Released, it keeps running as the operator's; adopted, it is the seat's again.
	w.must("release", "dev.impl")
	if got := strings.TrimSpace(alive()); got != pid || w.seat("dev.impl").Life == "running" {
		t.Errorf("after the release: %q, the seat is %s", got, w.seat("dev.impl").Life)
	}
	w.refuse("no_session", 1, "release", "dev.impl")
	w.must("adopt", w.discoveredID("mine"), "dev.impl")
	if s := w.seat("dev.impl"); s.Life != "running" || s.Generation != 4 || alive() != pid+" "+s.ID+" 4" {
		t.Errorf("after the adoption: %+v, %s", s, alive())
	}

	// A launched successor takes the seat's own name; the operator's session stays.
	r = w.into(&rec, "handover", "dev.impl", "--source", "fresh", "--reason", "back to a launched one")
	s = w.seat("dev.impl")
	if r.code != 0 || s.Continuity != "fresh" || s.Session != "dev-impl@own" || s.Generation != 5 || !s.Delivered {
		t.Fatalf("exit %d %+v\n%s%s", r.code, s, r.out, r.err)
	}
	if got := strings.TrimSpace(alive()); got != pid {
		t.Errorf("the operator's session after the handover: %q", got)
	}
	if r := w.run("op", "undo", rec.Operation.ID); r.code != 1 || !strings.Contains(r.err, "the former occupant is the operator's own session, which was released") {
		t.Errorf("exit %d %s", r.code, r.err)
	}
	w.must("seat", "stop", "dev.impl", "--reason", "done")
	if got := w.sessions(); !strings.Contains(got, "mine") || strings.Contains(got, "dev-impl@own") {
		t.Errorf("%s", got)
	}
}

// self is the program under test.
func (w *world) self() string {
	w.t.Helper()
	path, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	return path
}

// A successor that could not be told that the seat is its own waits for it: who handed
// over is told what to send, with the words, and so is who finishes a handover that was
// cut off.
func TestSuccessorThatIsNotTold(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("mute", "impl:claude-code"))
	w.tmux("set-option", "-gw", "synchronize-panes", "on")
	told := func(r result) {
		t.Helper()
		if want := "rig send dev-impl@mute 'The handover of dev-impl@mute is committed: the seat is yours."; r.code != 1 || !strings.Contains(r.out, want) {
			t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
		}
	}
	told(w.run("handover", "dev.impl", "--reason", "r"))
	if s := w.seat("dev.impl"); s.Binding != "partial" || s.Generation != 2 {
		t.Errorf("%+v", s)
	}
	w.setenv("TEST_KILL_AT", "before:go")
	w.run("handover", "dev.impl", "--reason", "again")
	w.setenv("TEST_KILL_AT", "")
	told(w.run("op", "finish", w.ops()[0].ID))
}
