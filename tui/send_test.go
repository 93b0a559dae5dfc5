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

// Like every other verb a message goes to what is marked: named one by one, with one
// question more, and not to a seat that it could harm.
func TestAMessageGoesToWhatIsMarked(t *testing.T) {
	f := tuitest.Fleet(7)
	f.Rigs[0].Seats[2].Activity.Draft = "half a thought"
	d := drive(t, f, options())
	d.keys("space", "space", "space", "s")
	d.has("Message to 3 marked seats", "dev-impl@shop", "dev-qa@shop", "not sent: it waits for a person", "not sent: a draft stands in its input box")
	d.keys("go on")
	d.fire(typePause)
	d.keys("enter")
	d.has("Enter again sends it to 1 of 3 seats")
	if sent, _, _ := d.c.Did(); len(sent) != 0 {
		t.Fatalf("sent %q at once", sent)
	}
	d.keys(" ")
	d.fire(typePause)
	d.hasNot("again sends it")
	d.keys("enter", "enter")
	if sent, _, _ := d.c.Did(); len(sent) != 1 || sent[0] != "seat000 go on " {
		t.Fatalf("sent %q", sent)
	}
	d.has("delivered", "not sent: a draft")
	d.keys("enter", "enter")
	if sent, _, _ := d.c.Did(); len(sent) != 1 || len(d.m.marks) != 3 {
		t.Errorf("sent %q, %d marks", sent, len(d.m.marks))
	}

	f = tuitest.Fleet(7)
	f.Rigs[0].Seats[2].Activity.Draft = ""
	d = drive(t, f, options())
	d.keys("space", "j", "space", "s", "go on")
	if d.fire(typePause); len(d.m.marks) != 2 {
		t.Fatalf("%d marks", len(d.m.marks))
	}
	d.keys("esc")
	d.has("the text is kept: s with marks shows it again")
	d.keys("s")
	d.has("go on", "Kept from before")
	d.fire(typePause)
	d.keys("enter", "enter")
	if sent, _, _ := d.c.Did(); len(sent) != 2 {
		t.Errorf("sent %q:\n%s", sent, d.text())
	}
	if len(d.m.marks) != 0 || len(d.m.unsent) != 0 {
		t.Errorf("%d marks, kept %q", len(d.m.marks), d.m.unsent)
	}
}

// A screen that shows no marks sends to what it shows.
func TestAMessageFromAScreenWithoutMarks(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("space", "2", "s")
	if s := d.m.top().(*sender); s.one() != d.m.here().seat.ID || d.m.marks[s.one()] {
		t.Fatalf("goes to %q", s.seats)
	}
	d.has("marks are not used here: this goes to dev-qa@shop alone")
	d.keys("esc", "5", "s")
	if s := d.m.top().(*sender); s.one() == "" {
		t.Errorf("goes to %q", s.seats)
	}
}

// What is said beside a delivery is shown: that the client only holds the message, and that
// it is not on record. The text that arrived is let go of all the same.
func TestWhatIsSaidBesideADeliveryIsShown(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.c.Delivery = engine.Delivery{Outcome: engine.OutcomeDelivered, Why: "not taken yet", Queued: true, Warnings: []string{"not on record: held"}}
	d.keys("s", "go on")
	d.fire(typePause)
	d.keys("enter")
	d.has("queued: not taken yet", "not on record: held")
	d.keys("esc", "s", "and on")
	d.fire(typePause)
	d.hold = true
	d.keys("enter", "esc")
	d.hold = false
	for _, cmd := range d.held {
		d.run(cmd)
	}
	if !strings.Contains(d.m.toast.text, "not on record: held") || strings.Contains(d.m.toast.text, "kept") || d.m.unsent["seat000"] != "" {
		t.Errorf("says %q, keeps %q", d.m.toast.text, d.m.unsent)
	}
}
