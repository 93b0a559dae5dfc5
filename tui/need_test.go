package tui

import (
	"strings"
	"testing"
	"time"

	"rig/engine"
	"rig/tui/tuitest"
)

// alsoCutOff adds to a picture an operation that was cut off and waits for a person,
// behind what the seats wait for and before what was seen.
func alsoCutOff(f *engine.Fleet) *engine.Fleet {
	f.Ops = append(f.Ops, engine.OpView{ID: "op-cut", Verb: engine.VerbHandover, Target: "dev-impl@shop", State: engine.OpUnfinished, StartedAt: tuitest.Start()})
	item := engine.AttentionItem{Key: "unfinished/op-cut", Class: engine.AttnUnfinished, OpID: "op-cut", Target: "dev-impl@shop", Reason: "handover of dev-impl@shop was cut off half-way", Remedy: "rig op rollback op-cut", Since: tuitest.Start()}
	at := 0
	for at < len(f.Attention) && f.Attention[at].Acked == "" {
		at++
	}
	f.Attention = append(f.Attention[:at:at], append([]engine.AttentionItem{item}, f.Attention[at:]...)...)
	f.Totals.Attention++
	return f
}

// seenOnly acknowledges what the seats wait for, and snoozes the first.
func seenOnly(f *engine.Fleet) *engine.Fleet {
	for i := range f.Attention {
		f.Attention[i].Acked = "bob"
	}
	f.Attention[0].Until = tuitest.Start().Add(time.Hour)
	return f
}

func TestNextNeedReachesWhatIsNoSeat(t *testing.T) {
	d := drive(t, alsoCutOff(tuitest.Fleet(7)), options())
	var seen []string
	for range 5 {
		d.keys("w")
		name := "op"
		if s := d.m.here().seat; s != nil {
			name = s.Member
		}
		seen = append(seen, name)
		if d.m.cur == screenAttention && name == "op" {
			d.keys("1")
		}
	}
	if got := strings.Join(seen, " "); got != "qa scout architect op op" {
		t.Errorf("w goes %s", got)
	}
	d.keys("2", "g", "w")
	if got := d.m.here().item; got.Acked != "" || d.m.cur != screenAttention {
		t.Errorf("on Attention w goes to %+v", got)
	}
}

// The cursor is on what waits, not on what somebody has seen or a filter hides.
func TestNextNeedOpensAttentionOnTheItem(t *testing.T) {
	d := drive(t, alsoCutOff(seenOnly(tuitest.Fleet(7))), options())
	d.keys("2", "G", "/", "scout", "enter", "w")
	if !strings.Contains(d.m.toast.text, "hidden by the filter") {
		t.Errorf("says %q", d.m.toast.text)
	}
	d.keys("1", "w")
	if it := d.m.here().item; it == nil || it.OpID != "op-cut" {
		t.Errorf("w goes to %+v on %s", it, d.m.Screen())
	}
}

func TestNobodyElseWaits(t *testing.T) {
	d := drive(t, seenOnly(tuitest.Fleet(7)), options())
	d.keys("w")
	d.has("nobody else waits for you: 1 snoozed, 2 acknowledged")
	f := tuitest.Fleet(7)
	f.Attention, f.Revision = nil, 2
	d.send(fleetMsg{f})
	d.keys("w")
	d.has("nobody waits for you")
}

// A rig's line counts what its header counts, also an operation that was cut off.
func TestTheLineOfARigCountsACutOffOperation(t *testing.T) {
	d := drive(t, alsoCutOff(tuitest.Fleet(7)), options())
	d.size(200, 50)
	d.has("▲ 4 need you", "▲ 4 ·")
	d = drive(t, alsoCutOff(seenOnly(tuitest.Fleet(7))), options())
	d.m.fleet.Rigs[0].Attention = 0
	d.size(200, 50)
	d.has("▲ 1 needs you")
}

// Attention opens on what is heaviest, whatever was first in the pictures before anybody
// looked; once it is shown, or somebody chose an item, the cursor stays on its item.
func TestAttentionOpensOnTheHeaviest(t *testing.T) {
	var more []engine.AttentionItem
	heavier := func(rev uint64, reason string) fleetMsg {
		f := *tuitest.Fleet(7)
		f.Revision = rev
		more = append([]engine.AttentionItem{{Key: reason, Class: engine.AttnGate, Seat: "dev-impl@shop", SeatID: "seat000", Reason: reason}}, more...)
		f.Attention = append(append([]engine.AttentionItem(nil), more...), f.Attention...)
		return fleetMsg{&f}
	}
	d := drive(t, tuitest.Fleet(7), options())
	d.send(heavier(2, "a gate"))
	d.keys("2")
	if got := d.m.here().item; got == nil || got.Reason != "a gate" {
		t.Errorf("opens on %+v", got)
	}
	d.send(heavier(3, "another gate"))
	if got := d.m.here().item; got == nil || got.Reason == "another gate" {
		t.Errorf("went on to %+v under the eyes", got)
	}
	d.keys("j")
	at := d.m.here().item.Key
	d.keys("1")
	d.send(heavier(4, "a third gate"))
	d.keys("2")
	if got := d.m.here().item; got.Key != at {
		t.Errorf("left the item that was chosen for %+v", got)
	}
}

// A filter finds what an item is called on its row, and what an operation was done to.
func TestAttentionIsFilteredByWhatItShows(t *testing.T) {
	for words, want := range map[string]string{"an answer": "dev-qa@shop", "cut-off": "dev-impl@shop", "dev-impl": "dev-impl@shop"} {
		f := withCutOff(tuitest.Fleet(7), false)
		f.Attention[0].Target = "dev-impl@shop"
		f.Attention[0].Reason, f.Attention[0].Remedy = "a handover", "rig op rollback op-77"
		d := drive(t, f, options())
		d.keys("2", "/", words, "enter")
		if it := d.m.here().item; it == nil || waits(*it) != want {
			t.Errorf("%q finds %+v", words, it)
		}
	}
}
