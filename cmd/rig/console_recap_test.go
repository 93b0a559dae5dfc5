package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTerminalWritesARecap writes a seat's recap by the wizard: first from nothing, with a hostile paste, then anew from the one
// that is there; a draft that cannot be addressed is blocked and changed. What is read afterwards is the file and the audit log.
func TestTerminalWritesARecap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("up", w.spec("rc", "sh:terminal"))
	seat := filepath.Join(w.dir, "rig", "rigs", "rc", "seats", "dev-sh")
	s := w.outside(120, 40)
	s.shows("sh", "idle")
	s.keys("W")
	s.shows("Write a seat's recap  dev-sh@rc", "none: the text below is the recap")
	s.keys("Tab")
	s.shows("nothing was written yet")
	s.paste("# Recap\n\n## Decisions\n\nHerons \x1b[2J\x1b]0;owned\x07stand.\n\n# Recap\n")
	s.shows("Herons stand.", "7 lines")
	s.keys("C-s")
	s.shows("recap_not_addressable", "the headings in lines 1 and 7 have the same path: Recap", "change the draft and write again")
	s.keys("a")
	s.shows("nothing can be applied until it is gone")
	if exists(seat) {
		t.Fatal("a blocked plan wrote something")
	}
	s.keys("Escape")
	s.shows("^s plan", "line 8 of 8")
	s.keys("Up", "C-k", "Tab")
	s.text("before the rebuild")
	s.keys("Enter")
	s.shows("+ # Recap", "+ Herons stand.", "rig context recap-write --seat dev-sh@rc --file DRAFT")
	s.answer("rc")
	s.shows("recap written", "done")
	const first = "# Recap\n\n## Decisions\n\nHerons stand.\n\n\n"
	if got := readText(t, filepath.Join(seat, "RECAP.md")); got != first {
		t.Errorf("RECAP.md is %q", got)
	}
	s.closes()

	s.keys("W")
	s.shows("7 lines, 39 bytes")
	s.keys("Tab")
	s.shows("begins as the present one", "line 1 of 7")
	s.keys("Down", "Down", "Down", "Down", "End")
	s.text(" UNVERIFIED: they sleep.")
	s.keys("C-s")
	s.shows("- Herons stand.", "+ Herons stand. UNVERIFIED: they sleep.", "7 lines, 39 bytes, written just now")
	s.answer("rc")
	s.shows("recap written")
	if got, want := readText(t, filepath.Join(seat, "RECAP.md")), strings.Replace(first, "stand.", "stand. UNVERIFIED: they sleep.", 1); got != want {
		t.Errorf("RECAP.md is %q", got)
	}
	old, err := filepath.Glob(filepath.Join(seat, "recap-superseded", "*.md"))
	if err != nil || len(old) != 1 || readText(t, old[0]) != first {
		t.Errorf("kept: %v %v", old, err)
	}
	s.closes()
	s.keys("q")
	s.left(0)
	recapsOnRecord(t, w)
}

// recapsOnRecord reads the audit log and the journals of two recaps.
func recapsOnRecord(t *testing.T, w *world) {
	t.Helper()
	var log struct {
		Events []struct {
			Seat    string          `json:"seat"`
			OpID    string          `json:"op_id"`
			Payload json.RawMessage `json:"payload"`
		} `json:"events"`
	}
	w.into(&log, "events", "--type", "seat.recap_written")
	if len(log.Events) != 2 || log.Events[0].Seat != "dev-sh@rc" || log.Events[0].OpID == "" {
		t.Fatalf("%+v", log)
	}
	both := string(log.Events[0].Payload) + string(log.Events[1].Payload)
	if !strings.Contains(both, `"digest"`) || !strings.Contains(both, "before the rebuild") || strings.Contains(both, "Herons") {
		t.Errorf("payloads %s", both)
	}
	if out := w.must("op", "show", log.Events[0].OpID, "--json"); strings.Contains(out, "Herons") || !strings.Contains(out, "publish the draft by one rename") {
		t.Errorf("the journal:\n%s", out)
	}
	record, err := os.ReadFile(filepath.Join(w.dir, "rig", "rig.db"))
	if err != nil || strings.Contains(string(record), "Herons") {
		t.Errorf("the record holds the text: %v", err)
	}
}
