package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// has remarks each text that a page lacks.
func has(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			t.Errorf("it lacks %q:\n%s", text, page)
		}
	}
}

// hasNot remarks each text that a page must not hold.
func hasNot(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(page, text) {
			t.Errorf("it holds %q:\n%s", text, page)
		}
	}
}

// TestAHandoverSaysWhatTheSuccessorKnows: a person who reads the receipt of a handover learns from it what the successor was given,
// from where it comes, and until when it can be taken back.
func TestAHandoverSaysWhatTheSuccessorKnows(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("say", "impl:claude-code", "new:claude-code", "sh:terminal"))
	w.must("send", "dev.impl", "remember the codeword is HERON", "--verify")
	w.must("wait", "dev.impl", "--until", "idle")
	hand := func(ref, source string) string {
		return w.must("handover", ref, "--source", source, "--reason", "r")
	}

	out := hand("dev.impl", "fresh")
	has(t, out, "dev-impl@say  fresh, context delivered (handed_over)", "dev-impl@say (generation 1) → generation 2", "`rig op undo ", "until ")
	has(t, w.must("seat", "status", "dev.impl"), "fresh, context delivered")
	w.must("wait", "dev.impl", "--until", "idle")

	out = hand("dev.impl", "fork:dev.impl")
	has(t, out, "forked (handed_over)", "a copy of the conversation of dev-impl@say (generation 2); nothing was delivered to it")
	hasNot(t, out, "context delivered")
	w.must("wait", "dev.impl", "--until", "idle")

	out = hand("dev.impl", "rebuild")
	has(t, out, "rebuilt, context delivered (handed_over)", "primed with packet:", "gap: RECAP.md was never written", "gap: LEARNED.md was never written")
	hasNot(t, out, "nothing primes")
	w.must("wait", "dev.impl", "--until", "idle")

	w.must("context", "recap-write", "--rig", "say", "--seat", "dev.impl", "--file", w.write("recap", "# Recap\nWe count herons.\n"))
	out = hand("dev.impl", "rebuild")
	has(t, out, "rebuilt, context delivered (handed_over)", "primed with seat:RECAP.md (recap)", "gap: LEARNED.md was never written")
	hasNot(t, out, "nothing primes", "RECAP.md was never written")

	out = hand("dev.new", "rebuild")
	has(t, out, "rebuilt (handed_over)", "gap: RECAP.md was never written", "gap: LEARNED.md was never written", "nothing primes the successor: the seat has neither")
	hasNot(t, out, "context delivered")
	status := w.must("seat", "status", "dev.new")
	has(t, status, "rebuilt, no context delivered")

	out = hand("dev.sh", "fresh")
	has(t, out, "dev-sh@say  fresh, no context delivered (handed_over)")
	has(t, w.must("seat", "status", "dev.sh"), "fresh, no context delivered")
}

// TestADiscoveredSessionIsUnverified: nobody knows what a session of the operator's own remembers, and the receipt says so.
func TestADiscoveredSessionIsUnverified(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("disc", "sh:terminal"))
	w.tmux("new-session", "-d", "-s", "mine", "/bin/sh")
	var found struct {
		Sessions []struct {
			ID      string `json:"id"`
			Session string `json:"tmux_session"`
			Name    string `json:"session_name"`
		} `json:"sessions"`
	}
	w.into(&found, "discover", "--rescan")
	if len(found.Sessions) != 1 {
		t.Fatalf("%+v", found)
	}
	out := w.must("handover", "dev.sh", "--source", "discovered:"+found.Sessions[0].ID, "--reason", "r")
	has(t, out, "dev-sh@disc  unverified (handed_over)")
	has(t, out, "`rig op undo ")
	has(t, w.must("seat", "status", "dev.sh"), "unverified")
}

// TestOpShowIsAPage: why, who, when and how it ended, what failed with what the client said, and what can be done.
func TestOpShowIsAPage(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("show", "a:claude-code"))
	w.must("handover", "dev.a", "--reason", "context\u202e wall", "--operator", "maria")
	done := w.ops()[0]
	page := w.must("op", "show", done.ID)
	has(t, page, "handover dev-a@show  done", "context wall", "maria", "Started", "Ended", "until ", "`rig op undo "+done.ID+"`", "fresh, context delivered (handed_over)")

	claude := slices.Clone(w.env)
	w.setenv("RIG_CLAUDE_COMMAND", `["/bin/sh","-c","echo account suspended; exit 3"]`)
	w.run("handover", "dev.a", "--reason", "again")
	w.env = claude
	failed := w.ops()[0]
	page = w.must("op", "show", failed.ID)
	has(t, page, "handover dev-a@show  failed", "again", "│ account suspended", "the client ended with code 3", "exit_code", "not_handed_over")
	hasNot(t, page, "op undo", "dev-a@show: dev-a@show")

	w.setenv("TEST_KILL_AT", "after:rebind")
	w.run("handover", "dev.a", "--reason", "cut off")
	w.setenv("TEST_KILL_AT", "")
	cut := w.ops()[0]
	has(t, w.must("op", "show", cut.ID), "unfinished", "`rig op finish "+cut.ID+"`")
	w.must("op", "finish", cut.ID)
	w.setenv("TEST_KILL_AT", "after:create")
	w.run("handover", "dev.a", "--reason", "cut off sooner")
	w.setenv("TEST_KILL_AT", "")
	cut = w.ops()[0]
	has(t, w.must("op", "show", cut.ID), "unfinished", "`rig op rollback "+cut.ID+"`")
}

// TestListsInJSONAreLists: what is a list is one when it is empty, and a list of operations is not a list of plans.
func TestListsInJSONAreLists(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("lists", "a:claude-code"))
	var rec receiptDoc
	w.into(&rec, "handover", "dev.a", "--source", "rebuild", "--reason", "r")
	packet, _ := rec.Seats[0].Evidence["packet"].(map[string]any)
	for _, key := range []string{"artifacts", "gaps", "sources"} {
		if _, is := packet[key].([]any); !is {
			t.Errorf("%s is %v", key, packet[key])
		}
	}
	var seat struct {
		ID   string `json:"seat_id"`
		Work struct {
			ID string `json:"seat_id"`
		} `json:"work"`
	}
	if w.into(&seat, "seat", "status", "dev.a"); seat.ID == "" || seat.Work.ID != seat.ID {
		t.Errorf("the work of %q is that of %q", seat.ID, seat.Work.ID)
	}
	var list struct{ Operations []map[string]any }
	w.into(&list, "op", "list")
	for _, op := range list.Operations {
		if op["plan"] != nil || op["id"] == nil || op["state"] == nil {
			t.Errorf("%v", op)
		}
	}
	var shown struct {
		Operation struct{ Plan json.RawMessage }
	}
	if w.into(&shown, "op", "show", rec.Operation.ID); len(shown.Operation.Plan) < 100 {
		t.Errorf("the plan of an operation is %s", shown.Operation.Plan)
	}
}
