package tui

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"rig/engine"
	"rig/tui/tuitest"
)

// marked lists the members that are marked.
func (d *driver) marked() string {
	d.t.Helper()
	var out []string
	for _, id := range slices.Sorted(maps.Keys(d.m.marks)) {
		out = append(out, d.m.seats[id].Member)
	}
	return strings.Join(out, " ")
}

// A range is of the lines between two marks as they stand on the screen: in its order, and
// without what its filter hides.
func TestARangeIsOfWhatIsInSight(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("3", "g")
	var want []string
	rows := d.m.screens[screenPressure].(*pressureScreen).rows
	for _, s := range rows[:3] {
		want = append(want, s.ID)
	}
	slices.Sort(want)
	d.keys("v", "j", "j", "v")
	if got := slices.Sorted(maps.Keys(d.m.marks)); !slices.Equal(got, want) {
		t.Errorf("marked %v, want %v\n%s", got, want, d.text())
	}
	d = drive(t, tuitest.Fleet(7), options())
	d.keys("/", "claude", "enter", "v", "G", "v")
	if got := d.marked(); got != "impl qa architect deploy" {
		t.Errorf("of those that match: %s\n%s", got, d.text())
	}
}

// A mark that was taken away is no beginning of a range, and neither is one that the filter
// hides.
func TestARangeBeginsAtAMark(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("space", "k", "space", "j", "v")
	if got := d.marked(); got != "review" || !strings.Contains(d.m.toast.text, "range starts here") {
		t.Errorf("marked %s, says %q", got, d.m.toast.text)
	}
}

// Under a filter the mark on a rig marks what is in sight of it.
func TestAMarkOnARigIsOfWhatMatches(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("/", "codex", "enter", "g", "space")
	if got := d.marked(); got != "review scout" {
		t.Errorf("marked %s", got)
	}
	d.keys("esc", "esc", "g", "space")
	if got := len(d.m.marks); got != 7 {
		t.Errorf("%d marked", got)
	}
}

// Marks of a kind that an item has nothing to do with do not keep it from being resolved.
func TestMarksDoNotKeepAnItemFromBeingResolved(t *testing.T) {
	f := tuitest.Fleet(7)
	seat := f.Seats()[0]
	f.Attention = []engine.AttentionItem{{Key: "c", Class: engine.AttnCompaction, Seat: seat.Address, SeatID: seat.ID, Reason: "not audited"}}
	d := drive(t, f, options())
	d.keys("j", "j", "space", "2", "r") // a codex is marked, which is not compacted
	if w := d.m.wizard(); w == nil || w.def.verb != engine.VerbCompact {
		t.Errorf("says %q", d.m.toast.text)
	}
}
