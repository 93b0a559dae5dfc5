package tui

import (
	"strings"
	"testing"

	"rig/engine"
	"rig/tui/tuitest"
)

// Where the Fleet has no column for it, the reason of each wait stands below its list, as
// far as there is room, and the rest is counted.
func TestFleetSaysWhyASeatNeedsMe(t *testing.T) {
	t.Parallel()
	d := drive(t, tuitest.Fleet(7), options())
	d.size(120, 40)
	d.has("needs you", "▲ dev-qa@shop          permission prompt: Bash(mkdir build)", "■ plan-architect@shop  usage limit, resets 1:35pm")
	d.size(120, 19)
	d.has("and 2 more, on Attention (2)")
	d.size(200, 50) // the NOTE column says it
	if strings.Contains(d.text(), "needs you") {
		t.Errorf("it is said twice:\n%s", d.text())
	}
	for i := range d.m.fleet.Attention {
		d.m.fleet.Attention[i].Acked = "ana"
	}
	d.size(120, 40)
	if strings.Contains(d.text(), "needs you ──") {
		t.Errorf("what was seen waits:\n%s", d.text())
	}
}

// A reason that the row has no room for stands in full above the selected pane, and only
// where the frame does not say it anyway.
func TestTheSelectedSeatSaysItsWholeReason(t *testing.T) {
	t.Parallel()
	f := tuitest.Fleet(7)
	long := "permission prompt: Bash(go test ./... -count=1 -run TestCheckout -timeout 10m && git push origin main --force-with-lease)"
	for i := range f.Attention {
		if f.Attention[i].Class == engine.AttnWaiting {
			f.Attention[i].Reason = long
		}
	}
	d := drive(t, f, options())
	for _, size := range [][2]int{{120, 40}, {100, 30}} {
		d.size(size[0], size[1])
		d.keys("g", "j", "j", "j")
		said := strings.Join(strings.Fields(strings.ReplaceAll(d.text(), "│", " ")), " ")
		if !strings.Contains(said, "--force-with-lease)") {
			t.Errorf("%v: the reason is cut:\n%s", size, d.text())
		}
	}
	seat := d.m.fleet.Seats()[1]
	if !d.m.frameSays(&engine.SeatView{ID: "nobody", Life: engine.LifeLost, LifeWhy: "its pane is gone"}, "on record, but its pane is gone", 60, 20) {
		t.Error("what stands in place of the pane is said again")
	}
	if d.m.frameSays(seat, long, 60, 9) {
		t.Error("the frame has no room for this reason")
	}
}

// A seat that idles and still needs a person says why in its row, not that it idles.
func TestTheNoteOfASeatThatNeedsMe(t *testing.T) {
	t.Parallel()
	f := tuitest.Fleet(7)
	seat := f.Seats()[0]
	f.Attention = append(f.Attention, engine.AttentionItem{Key: "o", Class: engine.AttnOutcome, Seat: seat.Address, SeatID: seat.ID, Reason: "awaits a decision: two ways on"})
	d := drive(t, f, options())
	note := func() (text string) {
		for _, s := range d.m.noteCell(seat) {
			text += s.text
		}
		return text
	}
	if note() != "awaits a decision: two ways on" {
		t.Errorf("says %q", note())
	}
	seat.OpID, seat.OpVerb = "op", engine.VerbHandover
	if !strings.HasSuffix(note(), "handover is running") {
		t.Errorf("says %q", note())
	}
}
