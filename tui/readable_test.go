package tui

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"rig/engine"
	"rig/tui/tuitest"
)

// Evidence is read row by row, never as JSON.
func TestEvidenceIsRowsAndNeverJSON(t *testing.T) {
	t.Parallel()
	rows := evidenceRows(map[string]any{
		"packet":     map[string]any{"bytes": 1328, "gaps": nil, "sources": []string{"the predecessor's transcript"}},
		"session_id": "01M8",
		"steps":      []map[string]any{{"seat": "a", "state": "done"}, {"seat": "b"}},
		"empty":      nil,
	})
	want := []string{
		"packet|bytes: 1328", "|sources: the predecessor's transcript", "session id|01M8",
		"steps|- seat: a", "|  state: done", "|- seat: b",
	}
	var got []string
	for _, r := range rows {
		got = append(got, r.label+"|"+r.text)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the rows are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	line := payloadText(json.RawMessage(`{"packet":{"bytes":1328,"gaps":null,"sources":["x","y"]}}`))
	if line != "packet (bytes 1328, sources x; y)" {
		t.Errorf("in one line it is %q", line)
	}
}

// What the first line of a seat's receipt says is not said again below it.
func TestReceiptSaysThingsOnce(t *testing.T) {
	t.Parallel()
	s := engine.SeatReceipt{Outcome: engine.ContinuityFresh, Binding: engine.BindingUnchanged, Generation: 2, Evidence: map[string]any{
		"continuity_outcome": "fresh", "generation": float64(3), "binding_outcome": engine.BindingUnchanged, "pane": "%8",
	}}
	left := unsaid(s)
	if len(left) != 2 || left["pane"] == nil || left["generation"] == nil {
		t.Errorf("left is %v: what differs from the first line must stay", left)
	}
}

// A label that is too long for its column stands above its text, whole.
func TestLongLabelsAreWhole(t *testing.T) {
	t.Parallel()
	d := drive(t, tuitest.Fleet(7), options())
	lines := wrapped([]readLine{{"snapshot", "yes", toneText}, {"restore-preconditions", "the launch order is clear", toneText}}, d.m.brush, 40)
	text := ansiText(lines)
	if !strings.Contains(text, "restore-preconditions") || !strings.Contains(text, "the launch order is clear") {
		t.Errorf("cut:\n%s", text)
	}
	for _, l := range lines {
		if width(l) != 40 {
			t.Errorf("%q is not 40 wide", l)
		}
	}
}

// Help and palette use the width of the terminal, and where a line is cut all of
// it stands below the list.
func TestHelpIsReadWhole(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{160, 50}, {120, 40}, {80, 24}, {60, 20}, {40, 12}} {
		for _, open := range []string{"?", ":"} {
			d := drive(t, tuitest.Fleet(7), options())
			d.size(size[0], size[1])
			d.keys(open)
			p, ok := d.m.top().(*picker)
			if !ok {
				t.Fatal("no list")
			}
			for range p.all {
				it := p.found[p.list.cursor]
				text := squeezed(strings.ReplaceAll(ansiText(p.view(d.m, d.m.w, d.m.h-1)), "│", ""))
				if !strings.Contains(text, squeezed(it.note)) || !strings.Contains(text, squeezed(it.why)) {
					t.Fatalf("%dx%d: %q is not read whole:\n%s", size[0], size[1], it.whole(), d.text())
				}
				d.keys("down")
			}
		}
	}
}

// The help has each heading once, and is searched for all that it says: also for why a key
// does nothing here.
func TestHelpIsSearchedForWhatItSays(t *testing.T) {
	t.Parallel()
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("g", "j", "j", "j", "j", "?") // a codex seat
	p, ok := d.m.top().(*picker)
	if !ok {
		t.Fatal("no list")
	}
	seen, last := map[string]bool{}, ""
	for _, it := range p.all {
		if it.group != last && seen[it.group] {
			t.Errorf("%q is a heading twice", it.group)
		}
		seen[it.group], last = true, it.group
	}
	d.keys("c", "o", "d", "e", "x")
	d.has("Compact", "a codex seat is not compacted in place")
}

// Esc in the journal of an operation goes back to the list, not to another screen,
// and Enter on a step opens all of it.
func TestJournalGoesOneLevelAtATime(t *testing.T) {
	t.Parallel()
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("8", "j", "enter", "j")
	if !strings.Contains(d.text(), "Enter the step") {
		t.Errorf("the footer does not say what Enter does:\n%s", d.text())
	}
	d.keys("enter")
	r, ok := d.m.top().(*reader)
	if !ok {
		t.Fatalf("Enter on a step opens nothing:\n%s", d.text())
	}
	if text := plainText(r.lines); !strings.Contains(text, "step ") || !strings.Contains(text, "evidence") {
		t.Errorf("the step reads %q", text)
	}
	d.keys("esc", "esc")
	if d.m.cur != screenOps || d.m.operations().inside {
		t.Errorf("Esc went past the list: screen %v", d.m.cur)
	}
	d.keys("esc")
	if d.m.cur != screenFleet {
		t.Errorf("and then not back to the Fleet")
	}
}

// Titles of steps and what went wrong are read whole in the journal.
func TestJournalWrapsLongSteps(t *testing.T) {
	t.Parallel()
	d := drive(t, tuitest.Fleet(7), options())
	st := engine.OperationStep{
		StepID: "1", Title: "wait until it is proven ready; a gate is offered to a person, then rolled back", State: engine.StepFailed,
		Effect: engine.EffectCommit, Error: "the client asked whether the folder is trusted, and nobody answered within two minutes",
		StartedAt: d.m.now, EndedAt: d.m.now.Add(time.Second),
	}
	for _, w := range []int{120, 68, 38, 20} {
		text := strings.Join(strings.Fields(ansiText(d.m.stepLines(st, w, true))), " ")
		text = strings.ReplaceAll(strings.ReplaceAll(text, " 1.0s", ""), "▌✗ ", "")
		if !strings.Contains(text, st.Title) || !strings.Contains(text, st.Error) || !strings.Contains(text, "commit") {
			t.Errorf("%d wide it reads %q", w, text)
		}
	}
}

// A step that waits for a person says for what, and how to get there.
func TestAStepAtAGateLeadsThere(t *testing.T) {
	t.Parallel()
	d := drive(t, tuitest.Fleet(7), options())
	st := engine.OperationStep{
		StepID: "1", Kind: engine.StepReady, Seat: "dev-impl@shop", Title: "wait until it is proven ready", State: engine.StepStarted, StartedAt: d.m.now,
		Evidence: []byte(`{"gate":"trust_gate","why":"asks for trust","session":"rig-staged","offered_until":"2026-03-03T10:01:00Z"}`),
	}
	for _, state := range []engine.StepState{engine.StepStarted, engine.StepDone} {
		st.State = state
		text := strings.Join(strings.Fields(ansiText(d.m.stepLines(st, 70, false))), " ")
		const want = "the successor waits at a gate: asks for trust; `rig attach dev-impl@shop` leads there, until 10:01:00"
		if strings.Contains(text, want) != (state == engine.StepStarted) {
			t.Errorf("%s: it reads %q", state, text)
		}
	}
}

// A list of tall rows always shows the whole of the selected one.
func TestTallListShowsTheCursor(t *testing.T) {
	t.Parallel()
	keys := []string{"a", "b", "c", "d", "e", "f"}
	for h := 2; h < 14; h++ {
		l := list{}
		l.set(keys)
		for i := range keys {
			l.cursor = i
			l.settle(h)
			out, all := l.tall(h, func(i int, _ bool) []string { return []string{keys[i] + "1", keys[i] + "2"} })
			text := strings.Join(out, " ")
			if len(out) > h || !strings.Contains(text, keys[i]+"1 "+keys[i]+"2") {
				t.Errorf("h %d, cursor on %s: %q", h, keys[i], text)
			}
			if all != (h >= 12) {
				t.Errorf("h %d: all is %v", h, all)
			}
		}
	}
}

// A refusal stands until the next key, whole, and then the keys are back.
func TestRefusalsAreReadWholeAndGo(t *testing.T) {
	t.Parallel()
	d := drive(t, tuitest.Fleet(7), options())
	d.size(60, 20)
	long := strings.Repeat("the server did not answer ", 5) + "END"
	d.run(d.m.say(toneNeed, false, long))
	if !strings.Contains(d.text(), "END") {
		t.Errorf("cut:\n%s", d.text())
	}
	d.size(120, 40)
	d.keys("H", "enter", "enter")
	if !strings.Contains(d.text(), "reason: ") {
		t.Fatalf("nothing is refused:\n%s", d.text())
	}
	d.keys("x")
	if strings.Contains(d.text(), "reason: needed") || !strings.Contains(d.text(), "Enter plan") {
		t.Errorf("the refusal hides the keys:\n%s", d.text())
	}
}

// What can be taken back says so where one sees that it was done.
func TestReceiptSaysHowToTakeItBack(t *testing.T) {
	t.Parallel()
	d := drive(t, tuitest.Fleet(7), options())
	r := &engine.Receipt{Operation: engine.ReceiptOp{ID: "op-1"}}
	if d.m.undoLine(r, 80) != nil {
		t.Error("nothing can be taken back")
	}
	f := *d.m.fleet
	f.Ops = append([]engine.OpView(nil), engine.OpView{ID: "op-1", Target: "dev-impl@shop", State: engine.OpDone, UndoUntil: d.m.now.Add(time.Minute)})
	d.send(fleetMsg{&f})
	if text := ansiText(d.m.undoLine(r, 80)); !strings.Contains(text, "u takes it back, until") {
		t.Errorf("it says %q", text)
	}
	d.keys("j")
	if text := ansiText(d.m.undoLine(r, 80)); !strings.Contains(text, "u on dev-impl@shop takes it back, until") {
		t.Errorf("with the cursor elsewhere it says %q", text)
	}
}

// ansiText is drawn lines without their colours.
func ansiText(lines []string) string { return ansi.Strip(strings.Join(lines, "\n")) }

// squeezed is a text without its spaces and line breaks.
func squeezed(s string) string { return strings.Join(strings.Fields(s), "") }

// The step that is under way is in sight, also where the steps do not fit.
func TestRunFollowsTheStepUnderWay(t *testing.T) {
	t.Parallel()
	d := drive(t, tuitest.Fleet(7), options())
	compactRun(d, 7)
	d.size(40, 12)
	d.has("▶ ask what it knows now")
	d.keys("g")
	d.hasNot("▶ ask what it knows now")
}

// What was done without a new occupant is told by what it was, not as a doubt.
func TestReceiptWordOfWhatChangesNoOccupant(t *testing.T) {
	t.Parallel()
	for action, want := range map[string]string{"model_changed": "model changed", "resume_token_set": "resume token set", "attention_cleared": "attention cleared", "cleaned": "cleaned"} {
		if word, _ := receiptWord(engine.SeatReceipt{Action: action}); word != want {
			t.Errorf("%s reads %q", action, word)
		}
	}
	if word, _ := receiptWord(engine.SeatReceipt{Action: "launched"}); word != "unverified" {
		t.Errorf("a launch without an outcome reads %q", word)
	}
}

// Without a rig nothing is named that would be refused.
func TestNoRigsNamesOnlyWhatWorks(t *testing.T) {
	t.Parallel()
	d := drive(t, tuitest.Fleet(0), options())
	d.has("U  brings up a rig", "Then A takes over a session")
}

// The choice that Enter would take stands in the field before anything is typed.
func TestFieldShowsWhatEnterWouldTake(t *testing.T) {
	t.Parallel()
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("D")
	d.has("Rig             shop (type to search)")
	d.keys("esc")
	d.run(d.m.openWizard(expandDef()))
	if f := d.m.wizard().field(); f == nil || f.id != "fragment" {
		t.Error("the rig under the cursor is asked for again")
	}
	d.keys("esc")
	d.run(d.m.openWizard(tokenDef()))
	d.has("Set a seat's resume token  dev-impl@shop")
}

// A list that is searched shrinks with what is found, and keeps its place.
func TestPickerKeepsItsPlace(t *testing.T) {
	t.Parallel()
	d := drive(t, tuitest.Fleet(7), options())
	d.keys(":")
	at := func() (top, h int) {
		for y, l := range d.frame() {
			if strings.Contains(ansi.Strip(l), "─ Commands") {
				return y, len(d.m.top().view(d.m, d.m.w, d.m.h-1))
			}
		}
		return -1, 0
	}
	top, tall := at()
	d.keys("resume-t")
	again, low := at()
	if top != again || low >= tall {
		t.Errorf("the upper border went from %d to %d, the height from %d to %d", top, again, tall, low)
	}
}

// The receipt of a snapshot names it.
func TestReceiptNamesTheSnapshot(t *testing.T) {
	t.Parallel()
	got := extraWords(map[string]any{"snapshot": map[string]any{"id": "01M8", "kind": "manual", "status": "complete", "note": ""}})
	if len(got) != 1 || got[0] != "snapshot 01M8, complete, manual" {
		t.Errorf("it says %q", got)
	}
}

// The names of the screens stand as long as there is room beside what must be
// seen; read-only is said longer than counts are.
func TestHeaderKeepsNamesBeforeCounts(t *testing.T) {
	t.Parallel()
	opt := options()
	opt.ReadOnly = true
	d := drive(t, tuitest.Fleet(7), opt)
	d.has("6 Restore", "read-only", "▲ 3", "live")
	d.size(80, 24)
	d.has("read-only", "▲ 3", "live")
}

// A count of nothing is not drawn as trouble, and no forecast is read whole.
func TestPressureIsQuietAboutNothing(t *testing.T) {
	t.Parallel()
	if some(0, toneBad) != toneDim || some(1, toneBad) != toneBad {
		t.Error("none of something is drawn as trouble")
	}
	d := drive(t, tuitest.Fleet(7), options())
	if text := ansiText(d.m.labelled("wall in", "? no forecast: 2 of 3 samples since the start", toneUnknown, 30)); squeezed(text) != squeezed("wall in ? no forecast: 2 of 3 samples since the start") {
		t.Errorf("it reads %q", text)
	}
}

// However narrow the terminal is, the footer says where all keys are listed.
func TestFooterAlwaysNamesTheHelp(t *testing.T) {
	t.Parallel()
	for _, s := range sizes {
		d := drive(t, tuitest.Fleet(7), options())
		d.size(s.w, s.h)
		for _, screen := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"} {
			d.keys(screen)
			lines := strings.Split(strings.TrimRight(d.text(), "\n"), "\n")
			if foot := lines[len(lines)-1]; !strings.Contains(foot, "? help") || !strings.Contains(foot, "  ? help") {
				t.Errorf("%dx%d, screen %s: %q", s.w, s.h, screen, foot)
			}
		}
	}
}

// The frame of a seat whose pane is gone says that what it shows is no news.
func TestTheScreenOfALostSeatIsCalledItsLast(t *testing.T) {
	t.Parallel()
	d := scene(t, tuitest.Fleet(7), 120, 40, options())
	for _, s := range d.m.seats {
		d.m.frames[s.ID] = frameOf{lines: []string{"what stood there"}, cols: 80, rows: 24}
		s.Pane = "%7"
		box := ansiText(d.m.paneBox(s, 70, 12))
		if got, want := strings.Contains(box, lastScreen), s.Life == engine.LifeLost; got != want {
			t.Errorf("%s, %s:\n%s", s.Address, s.Life, box)
		}
		tile := ansiText((&wallScreen{}).tile(d.m, s, 70, 12))
		if got, want := strings.Contains(tile, lastScreen), s.Life == engine.LifeLost; got != want {
			t.Errorf("on the Wall: %s, %s:\n%s", s.Address, s.Life, tile)
		}
	}
}

// A journal of several seats says whose each step is; that of one seat does not repeat it.
func TestAJournalOfManySeatsNamesThem(t *testing.T) {
	t.Parallel()
	d := drive(t, tuitest.Fleet(7), options())
	steps := []engine.OperationStep{{Title: "save a snapshot"}, {Title: "create its session", Seat: "dev-a@x"}, {Title: "wait", Seat: "dev-a@x"}, {Title: "create its session", Seat: "dev-b@x"}}
	text := func(steps []engine.OperationStep) string {
		var lines []string
		for i := range steps {
			lines = append(lines, d.m.headedStep(steps, i, 60, false)...)
		}
		return ansiText(lines)
	}
	got := text(steps)
	for _, name := range []string{"dev-a@x", "dev-b@x"} {
		if strings.Count(got, name) != 1 {
			t.Errorf("%s does not stand there once:\n%s", name, got)
		}
	}
	if one := text(steps[:3]); strings.Contains(one, "dev-a@x") {
		t.Errorf("one seat is named:\n%s", one)
	}
	if got := stepWords(steps[1], steps); got != "dev-a@x: create its session" {
		t.Errorf("in one line: %q", got)
	}
	if got := stepWords(engine.OperationStep{Title: "record that dev-a@x is empty", Seat: "dev-a@x"}, steps); got != "record that dev-a@x is empty" {
		t.Errorf("twice: %q", got)
	}
	if got := stepWords(steps[1], steps[:3]); got != "create its session" {
		t.Errorf("one seat is named: %q", got)
	}
	if got := stepWords(steps[0], steps); got != "save a snapshot" {
		t.Errorf("without a seat: %q", got)
	}
}
