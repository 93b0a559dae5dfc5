package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
	"rig/tui/tuitest"
)

// sentText is the text of the only message that went out.
func (d *driver) sentText() string {
	d.t.Helper()
	d.fire(typePause)
	d.keys("enter")
	sent, _, _ := d.c.Did()
	if len(sent) != 1 {
		d.t.Fatalf("sent %q:\n%s", sent, d.text())
	}
	return strings.TrimPrefix(sent[0], "seat000 ")
}

func TestAPastedMessageKeepsItsLines(t *testing.T) {
	for paste, want := range map[string]string{
		"first\nsecond  line\n\tthird":    "first\nsecond  line\n\tthird",
		"first\r\nsecond\rthird":          "first\nsecond\nthird",
		"a paragraph\n\nanother one\n":    "a paragraph\n\nanother one\n",
		"one\x1b[2J\n\x1b]0;t\x07two\x00": "one\ntwo",
		"買い物\n👩‍🚀 go":                     "買い物\n👩‍🚀 go",
	} {
		d := drive(t, tuitest.Fleet(7), options())
		d.keys("s")
		d.send(tea.PasteMsg{Content: paste})
		d.has("⏎", "broken at ⏎")
		if got := d.sentText(); got != want {
			t.Errorf("%q was sent as %q", paste, got)
		}
	}
}

func TestLinesOfAMessageAreEditedInOneLine(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("s")
	d.send(tea.PasteMsg{Content: "one\ntwo\nthree"})
	d.has("one⏎two⏎three", "3 lines")
	d.keys("ctrl+w", "backspace", "home", "right", "right", "right", "delete", " ")
	d.has("› one two")
	d.hasNot("⏎")
	if got := d.sentText(); got != "one two" {
		t.Errorf("sent %q", got)
	}
}

// Only a message has lines: a name that is pasted with a break stays one line.
func TestOtherFieldsTakeALineBreakAsASpace(t *testing.T) {
	in := newInput("")
	in.insert("one\ntwo\n")
	if in.text() != "one two" {
		t.Errorf("%q", in.text())
	}
}

func TestAMessageThatIsTooLongSaysSo(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("s", "look: ")
	d.send(tea.PasteMsg{Content: strings.Repeat("a line of a long text\n", 12<<10)})
	d.has("No room", "put it in a file")
	d.keys("x")
	d.hasNot("No room")
	d.send(tea.PasteMsg{Content: strings.Repeat("a line of a long text\n", 4<<10)})
	d.has("lines")
	if got := d.sentText(); !strings.HasPrefix(got, "look: xa line") || len(got) < 80<<10 {
		t.Errorf("%d bytes were sent", len(got))
	}
}

func TestAMessageOfLineBreaksAloneIsEmpty(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("s")
	d.send(tea.PasteMsg{Content: "\n\n"})
	d.fire(typePause)
	d.keys("enter")
	if sent, _, _ := d.c.Did(); len(sent) != 0 || !strings.Contains(d.m.toast.text, "empty") {
		t.Errorf("sent %q, says %q", sent, d.m.toast.text)
	}
}

// A text that was typed and not sent is there when the dialog opens again, on its own
// seat alone, until it is sent or cleared.
func TestAnUnsentMessageIsKept(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("s", "go on, please", "esc")
	d.has("the text is kept: s on dev-impl@shop shows it again")
	d.keys("j", "s")
	d.hasNot("go on, please")
	d.keys("esc", "k", "s")
	d.has("go on, please", "Kept from before")
	if got := d.sentText(); got != "go on, please" {
		t.Errorf("sent %q", got)
	}
	d.keys("esc", "s")
	d.hasNot("go on, please", "Kept from before", "the text is kept")
	d.keys("x", "backspace", "esc")
	d.hasNot("the text is kept")
	if len(d.m.unsent) != 0 {
		t.Errorf("kept %q", d.m.unsent)
	}
}

func TestAMessageThatFailsBehindItsDialogIsTold(t *testing.T) {
	for outcome, tells := range map[string]bool{"delivered": false, "typed-not-submitted": true} {
		d := drive(t, tuitest.Fleet(7), options())
		d.c.Delivery = engine.Delivery{Outcome: outcome, Why: "the box still holds it"}
		d.keys("s", "go on")
		d.fire(typePause)
		d.hold = true
		d.keys("enter", "esc")
		d.hold = false
		for _, cmd := range d.held {
			d.run(cmd)
		}
		if got := strings.Contains(d.m.toast.text, "typed-not-submitted: the box still holds it; its text is kept"); got != tells || (d.m.unsent["seat000"] == "go on") != tells {
			t.Errorf("%s: says %q, keeps %q", outcome, d.m.toast.text, d.m.unsent)
		}
	}
}

func TestAMessageSaysThatMarksAreNotUsed(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("s")
	d.hasNot("marks are not used")
	d.keys("esc", "space", "k", "s") // the seat itself
	d.hasNot("marks are not used")
	d.keys("esc", "j", "space", "k", "s")
	d.has("marks are not used here: this goes to dev-qa@shop alone")
}
