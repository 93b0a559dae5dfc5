package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rig/engine"
)

// TestAMessageIsDeliveredWhileTheRecordIsHeld: what was typed is no failure because the
// record cannot be written: "try again" would have it done twice.
func TestAMessageIsDeliveredWhileTheRecordIsHeld(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("held", "impl:claude-code", "qa:codex", "more:claude-code"))
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.dir, "rig", "rig.db")+"?_txlock=immediate&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err == nil {
		_, err = tx.Exec("UPDATE rigs SET name = name") // the lock of a writer
	}
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	results := make(chan result, 3)
	for _, args := range [][]string{
		{"send", "dev.impl", "first", "--verify"},
		{"broadcast", "second", "--seats", "dev.qa", "--verify", "--json"},
		{"broadcast", "third", "--seats", "dev.more", "--verify"},
	} {
		go func() { results <- w.run(args...) }()
	}
	for range 3 {
		r := <-results
		all := r.out + r.err
		if r.code != 0 || !strings.Contains(all, "not on record: another process holds the record") || strings.Contains(all, "try again") || strings.Contains(all, "refused") {
			t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
		}
	}
}

// TestMessagesAtOnceStayApart: agents write to one of them at the same time. What one has
// typed is to the next a draft that it may neither append to nor take for its own.
func TestMessagesAtOnceStayApart(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("many", "impl:claude-code", "qa:codex"))
	const each = 4
	results := make(chan result, 2*each)
	text := func(i int) string { return fmt.Sprintf("message %d of many ends here", i) }
	for i := range each {
		for _, seat := range []string{"dev.impl", "dev.qa"} {
			args := []string{"send", seat, text(i), "--verify"}
			go func() { results <- w.run(args[:4-i%2]...) }() // with proof and without
		}
	}
	for range 2 * each {
		if r := <-results; r.code != 0 {
			t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
		}
	}
	for _, seat := range []string{"dev.impl", "dev.qa"} {
		w.eventually("each stands for itself", func() (bool, string) {
			out := w.must("capture", seat, "--lines", "200")
			apart := !strings.Contains(out, "heremessage") && !strings.Contains(out, "here message")
			for i := range each {
				apart = apart && strings.Contains(out, text(i))
			}
			return apart, out
		})
	}
}

// TestAMessageIsNoCommand: what a client makes of a text in its input box, a command for its
// shell, a completion, a line break, is not made of a message.
func TestAMessageIsNoCommand(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("words", "impl:claude-code", "qa:codex"))
	w.write("project/notes.md", "x")
	for _, seat := range []string{"dev.impl", "dev.qa"} {
		trap := "made-by-" + strings.TrimPrefix(seat, "dev.")
		for _, text := range []string{"!touch " + trap, "\x07\x1b[1m!touch " + trap, "look at @notes.md", "use $skill", "it is :smi", `a path\`} {
			if r := w.run("send", seat, text, "--verify"); r.code != 0 {
				t.Errorf("%s: %q: exit %d\n%s%s", seat, text, r.code, r.out, r.err)
			}
			w.must("wait", seat, "--until", "idle")
			w.screenHas(seat, engine.Sanitise(text))
		}
		if _, err := os.Stat(filepath.Join(w.project, trap)); err == nil {
			t.Errorf("%s ran a message in a shell", seat)
		}
	}
}

// TestASuggestionIsNoDraft: after a few turns Claude Code writes into its empty input box
// what its user might type next. It is no draft: nobody typed it.
func TestASuggestionIsNoDraft(t *testing.T) {
	w := newWorld(t)
	w.setenv("CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION", "true")
	w.must("up", w.spec("ghost", "impl:claude-code"))
	for _, text := range []string{"one", "two"} {
		w.must("send", "dev.impl", text, "--verify")
		w.must("wait", "dev.impl", "--until", "idle")
	}
	w.screenHas("dev.impl", "run the tests")
	if out := w.must("seat", "status", "dev.impl", "--json"); strings.Contains(out, `"draft"`) || !strings.Contains(out, `"state":"idle"`) {
		t.Errorf("%s", out)
	}
	if out := w.must("seat", "stop", "dev.impl", "--reason", "r", "--dry-run"); strings.Contains(out, "draft") {
		t.Errorf("%s", out)
	}
	w.must("send", "dev.impl", "three", "--verify")
	w.must("wait", "dev.impl", "--until", "idle")
	w.tmux("send-keys", "-t", w.seat("dev.impl").Pane, "-l", "mine")
	w.screenHas("dev.impl", "❯\u00a0mine")
	w.refuse("draft_present", 1, "send", "dev.impl", "four", "--verify")
}

// TestADraftThatIsOutOfSight: in a pane that is too small for a draft the edge of the box is
// not shown, and the message would be appended to the draft.
func TestADraftThatIsOutOfSight(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("low", "impl:claude-code"))
	seat := w.seat("dev.impl")
	w.tmux("send-keys", "-t", seat.Pane, "-l", strings.Repeat("half a thought ", 40)+"END")
	w.screenHas("dev.impl", "END")
	w.tmux("resize-window", "-t", seat.Pane, "-x", "60", "-y", "8")
	w.eventually("the edge of the box is out of sight", func() (bool, string) {
		r := w.run("capture", "dev.impl")
		return strings.Contains(r.out, "END") && !strings.Contains(r.out, "❯"), r.out + r.err
	})
	w.refuse("draft_unknown", 1, "send", "dev.impl", "status please", "--verify")
	w.refuse("draft_unknown", 1, "compact", "dev.impl", "--reason", "r")
	if out := w.must("seat", "stop", "dev.impl", "--reason", "r", "--dry-run"); !strings.Contains(out, "where a draft may stand") {
		t.Errorf("a stop is silent:\n%s", out)
	}
	w.tmux("resize-window", "-t", seat.Pane, "-x", "120", "-y", "40")
	w.eventually("the box is seen again", func() (bool, string) {
		r := w.run("capture", "dev.impl")
		return strings.Contains(r.out, "❯"), r.out + r.err
	})
	w.refuse("draft_present", 1, "send", "dev.impl", "status please", "--verify")
}
