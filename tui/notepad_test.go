package tui

import (
	"encoding/json"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
	"rig/tui/tuitest"
)

// padOf opens the recap wizard on its text.
func padOf(t *testing.T, recap string) (*driver, *notepad) {
	t.Helper()
	d := drive(t, tuitest.Fleet(7), options())
	d.c.Recap = recap
	d.keys("W", "tab")
	return d, d.m.wizard().field().pad
}

// A text that nobody touches is sent as it is on disk, byte for byte, whatever of it can be drawn; a line that is touched is what
// is seen of it, and the others stay.
func TestTextThatNobodyTouchesStays(t *testing.T) {
	hostileText := "# A\r\n\x1b[2Jred\ttab\u202e\n👩‍🚀 ✔️ e\u0301\nhunter2\nno break at the end"
	d, pad := padOf(t, hostileText)
	if pad.text() != hostileText {
		t.Errorf("loaded as %q", pad.text())
	}
	d.keys("down", "end", "!")
	want := strings.Replace(hostileText, "\x1b[2Jred\ttab\u202e", "red\ttab!", 1)
	if pad.text() != want {
		t.Errorf("one line touched: %q, want %q", pad.text(), want)
	}
	d.keys("down", "end", "!")
	if !strings.Contains(pad.text(), "\n👩‍🚀 ✔️ e\u0301!\n") {
		t.Errorf("clusters are not kept: %q", pad.text())
	}
	d.hasNot("hunter2", "\x1b[2J")
	d.has("[redacted:secret]")
}

// The keys that write: breaks, joins, words, ends, and a walk in the column.
func TestWritingInALongText(t *testing.T) {
	d, pad := padOf(t, "one two\n\nthree\n")
	steps := []struct {
		keys []string
		want string
	}{
		{[]string{"right", "right", "right", "enter"}, "one\n two\n\nthree\n"},
		{[]string{"backspace"}, "one two\n\nthree\n"},
		{[]string{"delete"}, "onetwo\n\nthree\n"},
		{[]string{"end", "delete"}, "onetwo\nthree\n"},
		{[]string{"delete"}, "onetwothree\n"},
		{[]string{"ctrl+k", "home", "ctrl+k"}, "\n"},
		{[]string{"a b", "ctrl+w"}, "a \n"},
		{[]string{"right", "backspace"}, "a "},
		{[]string{"ctrl+u", "delete", "left", "up", "pgup", "down", "pgdown", "backspace"}, ""},
		{[]string{"ja", "q", "D", "y", "?", ":", "space", "1"}, "jaqDy?: 1"},
	}
	for _, s := range steps {
		d.keys(s.keys...)
		d.frame()
		if pad.text() != s.want {
			t.Fatalf("%v gives %q, want %q", s.keys, pad.text(), s.want)
		}
	}
	if pad.insert(strings.Repeat("x", maxNotepad)); !pad.full || pad.text() != "jaqDy?: 1" {
		t.Error("there is room for everything")
	}
	d.has("no room for that")
}

// A paste of lines writes and presses nothing; the plan has what was pasted, and nothing of it is applied.
func TestAPastedRecapIsPlannedAsItIs(t *testing.T) {
	d, _ := padOf(t, "-")
	d.send(tea.PasteMsg{Content: "# Recap\r\n\ty\ny\n\x1b]0;owned\x07a\x1b[31m\n"})
	d.keys("ctrl+s")
	w := d.m.wizard()
	if w.phase != phasePreview || len(applied(d)) != 0 {
		t.Fatalf("phase %d, applied %v", w.phase, applied(d))
	}
	var got engine.RecapArgs
	if err := json.Unmarshal(w.plans[0].Request.Args, &got); err != nil || got.Text != "# Recap\n\ty\ny\na\n" || got.File != "" {
		t.Errorf("%+v %v", got, err)
	}
	d.keys("esc")
	if w.phase != phaseAsk || w.field().pad.text() != got.Text {
		t.Error("a step back loses the text")
	}
}

// What was written is not lost by one key, and a file and a text are not both the draft.
func TestARecapIsNotLostOrMeantTwice(t *testing.T) {
	d, _ := padOf(t, "# A\n")
	d.keys("esc")
	if d.m.wizard() != nil {
		t.Error("a text that nobody touched holds the wizard open")
	}
	d.keys("W", "tab", "x", "esc")
	d.has("nowhere else")
	d.keys("y", "esc")
	if d.m.wizard() == nil {
		t.Error("a key in between does not begin anew")
	}
	pad := d.m.wizard().field().pad
	d.keys("shift+tab", "/tmp/a.md", "enter")
	d.has("only one of the two can be the draft")
	if d.c.Called("Plan") != 0 || pad.text() != "xy# A\n" {
		t.Errorf("planned %d times, the text is %q", d.c.Called("Plan"), pad.text())
	}
	d.keys("esc", "esc")
	if d.m.wizard() != nil {
		t.Error("Esc twice does not leave")
	}
}

// Without a seat under the cursor the wizard asks for one, and the text is that
// seat's; what cannot be read is not another's text.
func TestARecapOfAChosenSeat(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("7", "W")
	w := d.m.wizard()
	if w.field().id != "seat" || w.fields[2].pad.text() == "" {
		t.Fatalf("asks for %s, the text is %q", w.field().id, w.fields[2].pad.text())
	}
	d.c.Fail["SeatRecap"] = engine.Errorf(engine.CodeUnavailable, "the present recap cannot be read").WithHint("look at it")
	d.keys("qa", "tab", "tab")
	d.has("cannot be read")
	if w.fields[2].pad.text() != "" {
		t.Errorf("the text of another seat stays: %q", w.fields[2].pad.text())
	}
	delete(d.c.Fail, "SeatRecap")
	d.keys("x", "ctrl+s")
	if r := w.plans[0].Request; r.Target != "dev-qa@shop" {
		t.Errorf("%+v", r)
	}
	d = drive(t, tuitest.Fleet(7), options())
	d.keys("space", "space", "W")
	if d.m.wizard() != nil || !strings.Contains(d.m.toast.text, "one seat at a time") {
		t.Errorf("two marked seats: %q", d.m.toast.text)
	}
}

// The plain console asks for the text line by line, keeps its blanks, and says the
// plan with the lines that change.
func TestPlainRecap(t *testing.T) {
	c := tuitest.New(tuitest.Fleet(7))
	out := plainly(t, c, options(), "context recap-write dev-impl", "", "# Recap", "", "  kept blanks", "cancel", ".", "done for today", "yes")
	if _, _, done := c.Did(); len(done) != 1 || done[0] != "context recap-write dev-impl@shop" {
		t.Errorf("applied %v:\n%s", done, out)
	}
	if strings.Contains(out, "recap_written") {
		t.Errorf("what was done is said twice:\n%s", out)
	}
	for _, want := range []string{"Draft file?", "Text? Markdown;", "Offered: 10 lines, 152 bytes", "a single . ends it", "- The cart is renamed in four files", "in a shell: rig context recap-write --seat dev-impl@shop --file -", "recap written", "path: /home/ana"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not said:\n%s", want, out)
		}
	}
	if strings.ContainsAny(out, "\x1b\u202e") || strings.Contains(out, "hunter2") {
		t.Errorf("something was said as it is:\n%q", out)
	}
	for name, lines := range map[string][]string{
		"what is offered": {"context recap-write dev-impl", "", "", "", "no"}, "a file": {"context recap-write dev-impl", "/tmp/a.md", "", "no"},
		"left in the text": {"context recap-write dev-impl", "", "cancel"}, "the input ends": {"context recap-write dev-impl", "", "# A", "more"},
	} {
		c := tuitest.New(tuitest.Fleet(7))
		out := plainly(t, c, options(), lines...)
		if _, _, done := c.Did(); len(done) != 0 || !strings.Contains(out, "Nothing was changed") {
			t.Errorf("%s: applied %v\n%s", name, done, out)
		}
	}
}
