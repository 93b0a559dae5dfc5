package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"rig/engine"
)

// TestServerDiesDuringRestore kills the tmux server while two clients are being
// proven: the receipt says so, no token is lost, and the next attempt brings both
// back with their memory.
func TestServerDiesDuringRestore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("up", w.spec("dies", "a:claude-code", "b:codex"))
	w.know("dev.a", "HERON")
	w.know("dev.b", "OTTER")
	w.reboot()
	w.setenv("AGENTSIM_START_MS", "3000")
	done := make(chan result, 1)
	go func() { done <- w.run("up", "dies", "--json") }()
	pid := ""
	w.eventually("both seats are being started", func() (bool, string) {
		out, err := w.tryTmux("list-panes", "-a", "-F", "#{pid} #{session_name}")
		if f := strings.Fields(out); err == nil && len(f) > 0 {
			pid = f[0]
		}
		return strings.Contains(out, "dev-a@dies") && strings.Contains(out, "dev-b@dies"), out
	})
	// A server that dies under the question for a session is asked again, by a new one: that is another story.
	w.eventually("both sessions are on record as made", func() (bool, string) {
		var op struct {
			Steps []struct {
				ID    string `json:"step_id"`
				State string `json:"state"`
			} `json:"steps"`
		}
		w.into(&op, "op", "show", w.ops()[0].ID)
		made := 0
		for _, s := range op.Steps {
			if strings.HasSuffix(s.ID, "/create") && s.State == "done" {
				made++
			}
		}
		return made == 2, fmt.Sprintf("%+v", op)
	})
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(n, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if r := <-done; r.code == 0 || strings.Contains(r.out, `"outcome":"resumed"`) {
		t.Errorf("the receipt of a restore without a server: exit %d\n%s%s", r.code, r.out, r.err)
	}
	w.setenv("AGENTSIM_START_MS", "20")
	if op := w.ops()[0]; !engine.OpState(op.State).Ended() {
		w.run("op", "rollback", op.ID)
	}
	for _, ref := range []string{"dev.a", "dev.b"} {
		if s := w.seat(ref); !s.Token {
			t.Errorf("%s lost its token: %+v", ref, s)
		}
	}
	w.spareServer(t)
	var rec restoreDoc
	r := w.into(&rec, "up", "dies")
	if got := rec.outcomes(); r.code != 0 || !sameMap(got, map[string]string{"dev-a@dies": "resumed", "dev-b@dies": "resumed"}) {
		t.Fatalf("exit %d, %v\n%s%s", r.code, got, r.out, r.err)
	}
	w.recalls("dev.a", "HERON")
	w.recalls("dev.b", "OTTER")
}

// spareServer waits until nothing of the dead server is left that holds a
// conversation open.
func (w *world) spareServer(t *testing.T) {
	t.Helper()
	w.eventually("the dead server's clients are gone", func() (bool, string) {
		r := w.run("restore-check", "--full")
		return !strings.Contains(r.out, "conversation-live"), r.out
	})
}

// TestDecisionIsAskedInATerminal: y starts the seat afresh, an empty line leaves
// it; a pipe is never asked.
func TestDecisionIsAskedInATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("up", w.spec("ask", "a:claude-code", "b:codex"))
	w.know("dev.a", "HERON")
	w.know("dev.b", "OTTER")
	w.must("down", "ask")
	if err := os.Remove(w.conversationFile(".claude/projects/*/*.jsonl")); err != nil {
		t.Fatal(err)
	}
	if r := w.run("up", "ask"); r.code != 1 || strings.Contains(r.err, "[y/N]") {
		t.Errorf("in a pipe: exit %d\n%s%s", r.code, r.out, r.err)
	}
	s := w.terminal(110, 40, "up", "ask")
	s.shows("dev-a@ask", "[y/N]")
	s.keys("Enter")
	s.shows("ended 1")
	if seat := w.seat("dev.a"); seat.Life == "running" || seat.Continuity != "awaiting-decision" {
		t.Errorf("after no: %+v", seat)
	}
	yes := w.terminal(110, 40, "up", "ask")
	yes.shows("dev-a@ask", "[y/N]")
	yes.text("y")
	yes.keys("Enter")
	yes.shows("fresh-primed", "ended 1")
	if seat := w.seat("dev.a"); seat.Life != "running" || seat.Continuity != "fresh-primed" {
		t.Errorf("after yes: %+v", seat)
	}
}
