package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

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
