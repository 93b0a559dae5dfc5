package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
	"rig/tui/tuitest"
)

// reading opens the transcript of the first seat on a screen of a size.
func reading(t *testing.T) (*driver, *paper) {
	t.Helper()
	d := drive(t, tuitest.Fleet(7), Options{})
	d.keys("5", "p", "enter")
	p := d.m.paper()
	if p == nil || !p.shown {
		t.Fatal("no paper is open")
	}
	return d, p
}

func TestPaperShowsItsEndAndTurnsPages(t *testing.T) {
	d, p := reading(t)
	if p.page.To != p.page.Size || p.top != p.last() {
		t.Errorf("not at the end: %d of %d, line %d of %d", p.page.To, p.page.Size, p.top, p.last())
	}
	most := 0
	for range 400 {
		d.keys("ctrl+u")
		most = max(most, len(p.page.Parts))
	}
	if p.page.From != 0 || p.top != 0 || most > 20 {
		t.Errorf("upwards: from %d, line %d, %d messages held", p.page.From, p.top, most)
	}
	d.keys("G")
	if p.page.To != p.page.Size || p.top != p.last() {
		t.Error("G does not go to the end")
	}
	d.keys("g")
	if p.page.From != 0 || p.top != 0 {
		t.Error("g does not go to the beginning")
	}
	d.keys("q")
	if d.m.paper() != nil || d.quit {
		t.Error("q does not close the paper, or closes the console")
	}
}

func TestPaperFindsInTheWholePaper(t *testing.T) {
	d, p := reading(t)
	d.keys("g", "/", "step 4")
	d.keys("enter")
	var seen []string
	for range 40 {
		if p.hit < 0 || !strings.Contains(strings.ToLower(p.lines[p.hit].text), "step 4") || p.hit < p.top || p.hit >= p.top+p.inside.h {
			t.Fatalf("hit %d of %d lines, top %d: %q", p.hit, len(p.lines), p.top, seen)
		}
		seen = append(seen, p.lines[p.hit].text)
		if d.keys("n"); p.round {
			break
		}
	}
	if len(seen) < 6 || p.news != "found from the beginning" || p.lines[p.hit].text != seen[0] {
		t.Errorf("forward: %q, %q", seen, p.news)
	}
	if d.keys("N"); p.news != "found from the end" || p.lines[p.hit].text != seen[len(seen)-1] {
		t.Errorf("around the end: %q, %q", p.lines[p.hit].text, p.news)
	}
	for range len(seen) - 1 {
		d.keys("N")
	}
	if p.lines[p.hit].text != seen[0] {
		t.Errorf("back: %q, want %q", p.lines[p.hit].text, seen[0])
	}
	d.keys("/", "nowhere at all")
	if d.keys("enter"); !strings.Contains(p.trouble, "is nowhere in it") {
		t.Errorf("what is not there: %q", p.trouble)
	}
	d.keys("/", "step 4")
	d.keys("enter", "/", "x", "esc")
	if p.words != "step 4" || d.m.paper() == nil {
		t.Error("Esc in the search field does more than leave it")
	}
}

func TestPaperIsInertAndAsksOnlyInCommands(t *testing.T) {
	d, p := reading(t)
	for _, l := range p.lines {
		if strings.ContainsAny(l.text, "\x1b\x07\u009b\u202e") {
			t.Errorf("not inert: %q", l.text)
		}
	}
	d.hold = true
	before := d.c.Calls()
	d.keys("g", "G", "k", "ctrl+d")
	for _, size := range sizes {
		d.m.Update(tea.WindowSizeMsg{Width: size.w, Height: size.h})
		d.m.View()
	}
	if d.c.Calls() != before {
		t.Error("Update or View called the engine")
	}
	id := p.id
	d.m.Update(paperMsg{id: id - 1, page: engine.PaperPage{Parts: []engine.PaperPart{{Text: "late"}}}})
	if len(p.page.Parts) == 1 {
		t.Error("a late answer was taken")
	}
}

func TestPapersThatCannotBeRead(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), Options{})
	d.c.Fail["ReadPaper"] = engine.Errorf(engine.CodeUnavailable, "the disk is gone").WithHint("look")
	d.keys("5", "p", "j", "j", "enter")
	if d.m.paper() != nil {
		t.Error("a paper that is not there was opened")
	}
	d.keys("k", "enter")
	if p := d.m.paper(); p == nil || !strings.Contains(p.trouble, "the disk is gone") {
		t.Error("trouble is not shown")
	}
}
