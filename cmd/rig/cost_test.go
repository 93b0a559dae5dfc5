package main

import (
	"strings"
	"testing"
)

// TestAQueuedMessageIsNotRead: a message to a client in mid-turn is called queued, by
// both clients, and whatever ends the seat says that it has not been taken, that a
// turn runs and that a draft stands in the box.
func TestAQueuedMessageIsNotRead(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("cost", "impl:claude-code", "qa:codex", "idle:claude-code"))
	for _, ref := range []string{"dev.impl", "dev.qa"} {
		w.must("send", ref, "[[slow:600]] a long job", "--verify")
		w.must("wait", ref, "--until", "busy")
		if out := w.must("send", ref, "URGENT stop", "--verify"); !strings.HasPrefix(out, "queued: ") {
			t.Errorf("%s: %s", ref, out)
		}
		if out := w.must("send", ref, "and stop this", "--verify", "--json"); !strings.Contains(out, `"queued":true`) {
			t.Errorf("%s: %s", ref, out)
		}
		out := w.must("handover", ref, "--source", "fresh", "--reason", "r", "--dry-run")
		if !strings.Contains(out, "a message is queued that the incumbent's client has not taken yet") {
			t.Errorf("%s: the handover is silent:\n%s", ref, out)
		}
	}
	r := w.run("broadcast", "stop, both", "--seats", "dev.impl,dev.qa", "--verify", "--json")
	if r.code != 0 || strings.Count(r.out, `"queued":true`) != 2 {
		t.Errorf("broadcast: exit %d\n%s%s", r.code, r.out, r.err)
	}
	if out := w.must("send", "dev.idle", "hello again", "--json"); !strings.Contains(out, `"queued":false`) {
		t.Errorf("an idle client: %s", out)
	}
	w.must("wait", "dev.idle", "--until", "idle")
	if out := w.must("send", "dev.idle", "hello", "--verify"); !strings.HasPrefix(out, "delivered: ") {
		t.Errorf("an idle client: %s", out)
	}
	w.must("wait", "dev.idle", "--until", "idle")
	w.tmux("send-keys", "-t", w.seat("dev.idle").Pane, "-l", "half a sentence")
	w.screenHas("dev.idle", "half a sentence")
	queued := " is in mid-turn, has a message queued that its client has not taken yet: all of that ends with it"
	down := w.must("down", "cost", "--dry-run")
	for _, line := range []string{"dev-impl@cost" + queued, "dev-qa@cost" + queued, "dev-idle@cost has a draft in its input box: that ends with it"} {
		if strings.Count(down, line) != 1 {
			t.Errorf("%q is not said of a down:\n%s", line, down)
		}
	}
	if out := w.must("seat", "stop", "dev.impl", "--reason", "r", "--dry-run"); !strings.Contains(out, "dev-impl@cost"+queued) {
		t.Errorf("a stop is silent:\n%s", out)
	}
}

// TestANeverPromptedForkIsNotCompacted: its plan says what its attempt would fail of.
func TestANeverPromptedForkIsNotCompacted(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("kid", "impl:claude-code"))
	w.must("send", "dev.impl", "[[tokens:400000]] remember", "--verify")
	w.must("wait", "dev.impl", "--until", "idle")
	w.must("handover", "dev.impl", "--source", "fork:dev.impl", "--reason", "r")
	w.must("wait", "dev.impl", "--until", "idle")
	r := w.run("compact", "dev.impl", "--dry-run")
	if !strings.Contains(r.out+r.err, "no restore packet could be written") {
		t.Errorf("%d\n%s%s", r.code, r.out, r.err)
	}
}
