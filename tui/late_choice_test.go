package tui

import (
	"strings"
	"testing"

	"rig/engine"
	"rig/tui/tuitest"
)

// What can be done is looked at again when it is chosen: the palette and the help stay
// open while the world goes on.
func TestWhatIsChosenIsLookedAtAgain(t *testing.T) {
	for name, c := range map[string]struct {
		before *engine.Fleet
		keys   []string
		pick   string
		says   string
	}{
		"the undo window closed": {handedOver("dev-impl@shop"), nil, "Undo", "nothing of dev-impl@shop can be undone"},
		"nothing waits now":      {tuitest.Fleet(7), []string{"2"}, "Snooze", "nothing waits for you here"},
		"it was acknowledged":    {tuitest.Fleet(7), []string{"2"}, "Ack", "nothing waits for you here"},
		"it was resolved":        {tuitest.Fleet(7), []string{"2"}, "Resolve", "nothing waits for you here"},
	} {
		d := drive(t, c.before, options())
		d.keys(append(c.keys, ":")...)
		after := *tuitest.Fleet(7)
		after.Revision, after.Attention, after.Ops = c.before.Revision+1, nil, nil
		d.send(fleetMsg{&after})
		d.keys(c.pick, "enter")
		if _, open := d.m.top().(*picker); !open || !strings.Contains(d.m.toast.text, c.says) {
			t.Errorf("%s: says %q\n%s", name, d.m.toast.text, d.text())
		}
	}
}

// What could not be done when the list was opened can be chosen once it can.
func TestWhatIsPossibleByNowCanBeChosen(t *testing.T) {
	f := tuitest.Fleet(7)
	f.Attention = nil
	d := drive(t, f, options())
	d.keys(":")
	after := *tuitest.Fleet(7)
	after.Revision = f.Revision + 1
	d.send(fleetMsg{&after})
	d.keys("Next need", "enter")
	if d.m.top() != nil || d.m.toast.text != "" {
		t.Errorf("says %q\n%s", d.m.toast.text, d.text())
	}
}

// What a list that stays open says of its items is what is true now, also of the seats in it.
func TestAnOpenListSaysWhatIsTrueNow(t *testing.T) {
	t.Parallel()
	f := tuitest.Fleet(7)
	f.Attention = nil
	d := drive(t, f, options())
	d.keys(":", "Next need")
	if !strings.Contains(d.text(), "not now: nobody") {
		t.Fatalf("nothing waits, and the palette does not say so\n%s", d.text())
	}
	after := *tuitest.Fleet(7)
	after.Revision = f.Revision + 1
	d.send(fleetMsg{&after})
	if text := d.text(); strings.Contains(text, "not now: nobody") || !strings.Contains(text, "waits for a person") {
		t.Errorf("the palette still says that nobody waits\n%s", text)
	}
	seat := after.Seats()[0]
	d.keys("esc", ":", seat.Address)
	seat.Activity.State, seat.Activity.Why = engine.ActivityLimit, "out of turns"
	later := after
	later.Revision++
	d.send(fleetMsg{&later})
	if !strings.Contains(d.text(), "out of turns") {
		t.Errorf("the palette shows an old state of %s\n%s", seat.Address, d.text())
	}
}
