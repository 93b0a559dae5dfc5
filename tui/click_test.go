package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
	"rig/tui/tuitest"
)

// click clicks on the first line that holds a text.
func (d *driver) click(words string) {
	d.t.Helper()
	for y, l := range strings.Split(d.text(), "\n") {
		if y > 1 && strings.Contains(l, words) { // below the names of the screens
			d.send(tea.MouseClickMsg{Button: tea.MouseLeft, X: 8, Y: y})
			return
		}
	}
	d.t.Fatalf("%q is not on screen:\n%s", words, d.text())
}

// A click on another line selects it, also when that is about the same seat; only a
// click on the line that is selected does what Enter does there.
func TestClickSelectsBeforeItOpens(t *testing.T) {
	for name, c := range map[string]struct {
		keys  []string
		lines [2]string
		jumps int
		opens bool
	}{
		"a fact":       {[]string{"i"}, [2]string{"because", "directory"}, 1, false},
		"an event":     {[]string{"9"}, [2]string{"seat.launched", "operation.done"}, 0, true},
		"a reboot row": {[]string{"6"}, [2]string{"dev-impl@shop        ●", "dev-qa@shop          ◆"}, 0, true},
		"a seat":       {nil, [2]string{"qa           ▲", "impl         ●"}, 1, false},
	} {
		d := drive(t, tuitest.Fleet(7), options())
		d.c.JumpAnswer = engine.Jump{Inside: true, Client: "/dev/pts/3"}
		d.keys(c.keys...)
		for _, words := range c.lines {
			d.click(words)
			if d.c.Called("Jump") != 0 || d.m.top() != nil {
				t.Errorf("%s: one click on %q opens something\n%s", name, words, d.text())
			}
		}
		d.click(c.lines[1])
		if d.c.Called("Jump") != c.jumps || (d.m.top() != nil) != c.opens {
			t.Errorf("%s: a second click: %d jumps\n%s", name, d.c.Called("Jump"), d.text())
		}
	}
}

// A click on a rig that is selected folds it, as Enter does; one on an operation goes
// into its journal.
func TestClickDoesWhatEnterDoes(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.click("degraded")
	if d.m.here().seat != nil {
		t.Fatalf("the rig is not selected\n%s", d.text())
	}
	d.click("degraded")
	d.hasNot("impl         ●")
	d.keys("8")
	d.click("✗ failed        1h")
	d.hasNot("reading its journal")
	d.click("✗ failed        1h")
	if !d.m.operations().inside {
		t.Errorf("not in the journal\n%s", d.text())
	}
}

// Whoever clicks on an event no longer follows the newest; without a list in sight there
// is nothing to click on.
func TestClickStaysWhereItIs(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("9")
	d.click("operation.done")
	at := d.m.events().list.key()
	f := *tuitest.Fleet(7)
	f.Revision = 2
	d.send(fleetMsg{&f})
	if d.m.events().list.key() != at {
		t.Errorf("the cursor went on\n%s", d.text())
	}
	d = drive(t, tuitest.Fleet(7), options())
	d.size(80, 24)
	d.keys("i")
	for y := range 20 {
		d.send(tea.MouseClickMsg{Button: tea.MouseLeft, X: 8, Y: y})
	}
	if d.c.Called("Jump") != 0 || d.m.seatScreen().list.cursor != 0 {
		t.Error("a click on the pane goes through facts that nobody sees")
	}
}
