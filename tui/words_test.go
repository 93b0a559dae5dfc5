package tui

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"rig/engine"
	"rig/tui/tuitest"
)

// The line of a rig says why it needs somebody whole or not at all.
func TestTheReasonOfARigIsNotCut(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	r := engine.RigView{Name: "a-rig-of-great-length", Life: engine.RigAttention, Why: "some seats need a person", Attention: 1, Running: 3, Seats: make([]engine.SeatView, 4)}
	for w := 20; w < 120; w++ {
		line := strings.TrimRight(ansiText([]string{d.m.brush.line(w, false, d.m.rigCells(&r, false, w)...)}), " ")
		if strings.Contains(line, "  s") && !strings.HasSuffix(line, "a person") {
			t.Fatalf("%d: %q", w, line)
		}
	}
	r.Life, r.Why = engine.RigUnknown, "tmux does not answer"
	if line := ansiText([]string{d.m.brush.line(72, false, d.m.rigCells(&r, false, 72)...)}); !strings.Contains(line, "tmux") {
		t.Errorf("nobody says why it is not known: %q", line)
	}
}

// An event of the library says of which image.
func TestAnImageEventNamesTheImage(t *testing.T) {
	e := engine.Event{Type: "image.pinned", Payload: json.RawMessage(`{"image":"agent-image:base:1"}`)}
	if got := eventPlace(e); got != "agent-image:base:1" {
		t.Errorf("%q", got)
	}
	e = engine.Event{Type: "operation.rolled_back", Payload: json.RawMessage(`{"target":"dev-impl@uni"}`)}
	if got := eventPlace(e); got != "dev-impl@uni" {
		t.Errorf("%q", got)
	}
	if got := eventPlace(engine.Event{Payload: json.RawMessage(`7`)}); got != "" {
		t.Errorf("%q", got)
	}
}

// A receipt says each thing once, in words, and of a rollback how things stand.
func TestReceiptsInWords(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	rec := &engine.Receipt{Outcome: "rolled_back", Operation: engine.ReceiptOp{ID: "op-1", State: engine.OpRolledBack}, Seats: []engine.SeatReceipt{{
		Seat: "dev-impl@shop", Outcome: engine.ContinuityFailed, Binding: engine.BindingUnchanged, Action: "rolled_back", Evidence: map[string]any{"action": "rolled_back"},
	}}}
	text := ansiText(d.m.receipt(rec, nil, 100))
	if strings.Contains(text, "rolled_back") || strings.Contains(text, "action") || !strings.Contains(text, "what it had begun is undone") {
		t.Error(text)
	}
	rec = &engine.Receipt{OK: true, Outcome: "done", Operation: engine.ReceiptOp{ID: "op-2", State: engine.OpDone}, Extra: map[string]any{"note": "nothing has to be removed: 1 image, all protected"}}
	if text := ansiText(d.m.receipt(rec, nil, 100)); !strings.Contains(text, "nothing has to be removed") {
		t.Error(text)
	}
}

// Room that is left over goes to columns of words before those of marks.
func TestColumnsOfWordsGrowFirst(t *testing.T) {
	got := fit([]column{{w: 10, most: 40}, {w: 8, most: 20, words: true}, {w: 5}}, 37)
	if got[0] != 10 || got[1] != 18 || got[2] != 5 {
		t.Errorf("%v", got)
	}
}

// What stands above the pressure gauges is whole or not there.
func TestPressureSummaryIsNotCut(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("3")
	for w := 60; w < 130; w++ {
		d.size(w, 24)
		if line := d.frame()[2]; strings.Contains(line, "…") {
			t.Fatalf("%d: %q", w, line)
		}
	}
}

// Where the Seat screen has room for the pane alone, it says how to the facts.
func TestTheNarrowSeatScreenNamesTheWayToItsFacts(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.size(80, 24)
	d.keys("i")
	d.has("Tab shows its facts")
	d.keys("tab")
	d.has("Status")
	d.size(120, 40)
	d.hasNot("Tab shows its facts")
}

// A time without room for its date still tells today from another day.
func TestStampsTellTheDay(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	now := d.m.now
	if got := d.m.stamp(now, 8); got != now.In(d.m.opt.zone()).Format("15:04:05") {
		t.Errorf("today: %q", got)
	}
	then := now.Add(-48 * time.Hour)
	if got := d.m.stamp(then, 8); got != then.In(d.m.opt.zone()).Format("_2 15:04") || len(got) > 8 {
		t.Errorf("another day: %q", got)
	}
}
