package tui

import (
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
	"rig/tui/tuitest"
)

func typePaste(s string) tea.Msg { return tea.PasteMsg{Content: s} }

// fakeExec is a command that would attach a terminal.
type fakeExec struct{ tea.ExecCommand }

func TestJumpDoesWhatTheEngineSays(t *testing.T) {
	two := []engine.Client{{Name: "/dev/pts/3", Session: "work"}, {Name: "/dev/pts/4", Control: true}, {Name: "/dev/pts/9", Session: "mail"}}
	cases := []struct {
		name   string
		jump   engine.Jump
		fail   error
		keys   []string
		jumped string
		execs  int
		says   string
	}{
		{"own client", engine.Jump{Inside: true, Client: "/dev/pts/3"}, nil, nil, "/dev/pts/3 seat000", 0, "went to dev-impl@shop"},
		{"several clients: nobody is chosen", engine.Jump{Inside: true, Clients: two}, nil, nil, "", 0, ""},
		{"several clients: the second", engine.Jump{Inside: true, Clients: two}, nil, []string{"down", "enter"}, "/dev/pts/9 seat000", 0, "went to dev-impl@shop"},
		{"several clients: Esc", engine.Jump{Inside: true, Clients: two}, nil, []string{"esc"}, "", 0, ""},
		{"outside", engine.Jump{Argv: []string{"tmux", "attach"}}, nil, nil, "", 1, ""},
		{"refused", engine.Jump{}, engine.Errorf(engine.CodePaneDead, "the pane is dead").WithHint("rig seat clean"), nil, "", 0, "the pane is dead [pane_dead] — rig seat clean"},
		{"no way", engine.Jump{}, nil, nil, "", 0, "rig attach dev-impl@shop"},
	}
	for _, c := range cases {
		opt := options()
		opt.Attach = func([]string) tea.ExecCommand { return fakeExec{} }
		d := drive(t, tuitest.Fleet(7), opt)
		d.c.JumpAnswer, d.c.Fail["Jump"] = c.jump, c.fail
		d.keys("enter")
		d.frame()
		d.keys(c.keys...)
		_, jumped, _ := d.c.Did()
		if got := strings.Join(jumped, ","); got != c.jumped || d.execs != c.execs || !strings.Contains(d.m.toast.text, c.says) {
			t.Errorf("%s: jumped %q, attached %d times, says %q", c.name, got, d.execs, d.m.toast.text)
		}
	}
	d := drive(t, tuitest.Fleet(7), options())
	d.c.JumpAnswer = engine.Jump{Argv: []string{"tmux", "-S", "/tmp/x", "attach"}}
	d.keys("enter")
	d.has("type in another terminal: tmux -S /tmp/x attach")
}

func TestEnterOnARigFoldsIt(t *testing.T) {
	d := drive(t, tuitest.Fleet(13), options())
	d.keys("g", "enter")
	d.hasNot("     architect")
	d.keys("enter")
	d.has("     architect")
	d.keys("j", "h")
	d.hasNot("     impl")
	d.keys("l")
	d.has("     impl")
	if d.c.Called("Jump") != 0 {
		t.Error("folding jumped")
	}
}

func TestNextNeedGoesRound(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	var seen []string
	for range 4 {
		d.keys("w")
		seen = append(seen, d.m.here().seat.Member)
	}
	if got := strings.Join(seen, " "); got != "qa scout architect qa" {
		t.Errorf("w goes %s", got)
	}
	d.keys("2", "w")
	if got := d.m.here().item.Class; got != engine.AttnDead {
		t.Errorf("on Attention w goes to %s", got)
	}
}

func TestNextNeedSkipsWhatWasSeen(t *testing.T) {
	f := tuitest.Fleet(7)
	for i := range f.Attention {
		f.Attention[i].Acked = "bob"
	}
	d := drive(t, f, options())
	d.keys("w")
	if !strings.Contains(d.m.toast.text, "nobody else waits for you: 3 acknowledged") {
		t.Errorf("says %q", d.m.toast.text)
	}
}

func TestAcknowledgeTakeBackAndSnooze(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("2", "a")
	key := "waiting/seat001"
	if n, ok := d.c.Acked(key); !ok || n != 0 {
		t.Fatalf("a gives %d, %v", n, ok)
	}
	d.keys("z", "down", "enter")
	if n, _ := d.c.Acked(key); n != 3600 {
		t.Errorf("snoozed for %d s", n)
	}
	f := tuitest.Fleet(7)
	f.Revision, f.Attention[0].Acked, f.Attention[0].Until = 2, "bob", tuitest.Start().Add(time.Hour)
	d.send(fleetMsg{f})
	d.has("snoozed until 11:30 by bob")
	d.keys("a")
	if n, _ := d.c.Acked(key); n != -1 {
		t.Errorf("taking it back gives %d", n)
	}
}

func TestSendVerifiesAndProtectsADraft(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("s", "go on", "enter") // at once: it could be a paste
	if sent, _, _ := d.c.Did(); len(sent) != 0 {
		t.Fatalf("a burst with Enter sent %v", sent)
	}
	d.fire(typePause)
	d.keys("enter")
	if sent, _, _ := d.c.Did(); len(sent) != 1 || sent[0] != "seat000 go on" {
		t.Fatalf("sent %v", sent)
	}
	d.has("delivered: seen as a user turn", "proof: transcript")
	d.c.Delivery = engine.Delivery{Outcome: "typed-not-submitted", Why: "the box still holds it"}
	d.keys("more")
	d.fire(typePause)
	d.keys("enter")
	d.has("typed-not-submitted: the box still holds it", "more")
	d.keys("esc", "j", "j", "s", "hello")
	d.fire(typePause)
	d.keys("enter")
	if sent, _, _ := d.c.Did(); len(sent) != 2 || !strings.Contains(d.m.toast.text, "never typed over") {
		t.Errorf("over a draft: sent %v, says %q", sent, d.m.toast.text)
	}
	d.keys("esc")
	d.send(typePaste("x\ny"))
	if sent, _, _ := d.c.Did(); len(sent) != 2 {
		t.Error("a paste without a field sent something")
	}
}

func TestCopyGivesWhatIsUnderTheCursor(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("j", "y", "g", "y", "2", "y", "8", "y", "esc", "esc", "D", "enter", "y")
	want := []string{"dev-qa@shop", "shop", "rig attach dev-qa@shop", "op-old0", "rig down shop"}
	if strings.Join(d.copied, "|") != strings.Join(want, "|") {
		t.Errorf("copied %q", d.copied)
	}
}

func TestMarksAndRanges(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("v", "G", "v")
	if len(d.m.marks) != 7 {
		t.Errorf("%d marked by a range", len(d.m.marks))
	}
	d.keys("esc")
	if len(d.m.marks) != 0 {
		t.Error("Esc keeps the marks")
	}
	d.keys("g", "space")
	if len(d.m.marks) != 7 {
		t.Errorf("%d marked by the rig", len(d.m.marks))
	}
	d.keys("g", "space")
	if len(d.m.marks) != 0 {
		t.Error("marking twice does not unmark")
	}
	f := tuitest.Fleet(2)
	f.Revision = 2
	d.keys("g", "space")
	d.send(fleetMsg{f})
	if len(d.m.marks) != 2 {
		t.Errorf("%d marks after seats went", len(d.m.marks))
	}
}

func TestFilterNarrowsAndKeepsTheSelection(t *testing.T) {
	d := drive(t, tuitest.Fleet(13), options())
	d.keys("/", "codex", "enter")
	d.hasNot("     architect", "     impl")
	var seen []string
	for range 5 {
		seen = append(seen, d.m.here().seat.Member)
		d.keys("n")
	}
	if got := strings.Join(seen, " "); got != "review scout night gone review" {
		t.Errorf("n goes %s", got)
	}
	d.keys("N", "esc")
	if d.m.filters[screenFleet] != "" || d.m.here().seat.Member != "review" {
		t.Errorf("after Esc the filter is %q on %s", d.m.filters[screenFleet], d.m.here().seat.Member)
	}
	d.keys("/", "zzz")
	d.has(`Nothing matches "zzz"`, "clears the filter")
}

func TestCursorStaysOnItsSeat(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("G", "k")
	at := d.m.here().seat.ID
	f := tuitest.Fleet(7)
	f.Revision = 2
	f.Rigs[0].Seats = append([]engine.SeatView{{ID: "new", Address: "dev-new@shop", Pod: "dev", Member: "new", RigID: "rig01"}}, f.Rigs[0].Seats...)
	d.send(fleetMsg{f})
	if got := d.m.here().seat.ID; got != at {
		t.Errorf("the cursor went from %s to %s", at, got)
	}
	old := tuitest.Fleet(3)
	old.Revision = 1
	d.send(fleetMsg{old})
	if d.m.Revision() != 2 {
		t.Error("an older picture took the place of a newer one")
	}
}

func TestMouseSelectsScrollsAndCanBeOff(t *testing.T) {
	d := drive(t, tuitest.Fleet(13), options())
	rows := strings.Split(d.text(), "\n")
	y := -1
	for i, r := range rows {
		if strings.Contains(r, "     architect") {
			y = i
		}
	}
	d.send(tea.MouseClickMsg{Button: tea.MouseLeft, X: 8, Y: y})
	if got := d.m.here().seat.Member; got != "architect" {
		t.Errorf("a click selects %s", got)
	}
	d.c.JumpAnswer = engine.Jump{Inside: true, Client: "/dev/pts/3"}
	d.send(tea.MouseClickMsg{Button: tea.MouseLeft, X: 8, Y: y})
	if d.c.Called("Jump") != 1 {
		t.Error("a second click does not jump")
	}
	d.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	if got := d.m.here().seat; got != nil && got.Member == "architect" {
		t.Error("the wheel does not move")
	}
	if d.m.View().MouseMode != tea.MouseModeCellMotion {
		t.Error("the mouse is not asked for")
	}
	d.keys(":", "mouse", "enter")
	if d.m.View().MouseMode != tea.MouseModeNone {
		t.Error("the mouse cannot be switched off")
	}
	opt := options()
	opt.NoMouse = true
	if drive(t, tuitest.Fleet(7), opt).m.View().MouseMode != tea.MouseModeNone {
		t.Error("NoMouse asks for the mouse")
	}
	for _, s := range screenList() {
		d.m.cur = s.id
		d.run(d.m.renew(s.id))
		for y := range 40 {
			d.send(tea.MouseClickMsg{Button: tea.MouseLeft, X: (y * 7) % 120, Y: y})
			d.frame()
		}
	}
}

// One Focus call at a time: a late one never wins over a newer one.
func TestFocusIsToldOneAtATime(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	never := make(chan *engine.Fleet)
	d.m.streams.fleets = never
	d.hold = true
	d.keys("j", "k", "j", "j")
	if n := len(d.held); n != 1 {
		t.Fatalf("%d calls under way", n)
	}
	d.hold = false
	first := d.held[0]
	d.held = nil
	d.run(first)
	if got := d.c.Focused(); len(got) != 1 || got[0] != d.m.here().seat.ID {
		t.Errorf("in focus is %v, selected %s", got, d.m.here().seat.ID)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	broken := engine.Errorf(engine.CodeUnavailable, "the record is locked").WithHint("rig doctor")
	for _, method := range []string{"Events", "Operations", "Explain", "Send", "Ack", "SeatHistory"} {
		d.c.Fail[method] = broken
	}
	d.keys("9")
	d.has("The audit log cannot be read", "the record is locked", "r tries again")
	d.keys("8")
	d.has("The operations cannot be read", "rig doctor")
	d.keys("1", "5")
	d.has("the record is locked")
	d.keys("e")
	d.has("the record is locked", "rig doctor")
	d.keys("esc", "2", "a")
	d.has("the record is locked")
	delete(d.c.Fail, "Events")
	d.keys("9", "r")
	d.has("seat.activity_changed")
	if errorText(errors.New("plain")) != "plain" {
		t.Error("a plain error is not shown as it is")
	}
}

func TestEngineThatStopsIsSaid(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.send(streamEndMsg{})
	d.has("the engine has stopped", "q quits")
}

func TestLateAnswersAreDropped(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("e")
	d.hold = true
	d.keys("esc", "j", "e")
	d.send(explainedMsg{id: 1, explanation: engine.Explanation{Facts: []engine.ExplainedFact{{Name: "late", Value: "late"}}}})
	d.send(plannedMsg{id: 1})
	d.send(eventsMsg{id: 1, err: errors.New("late")})
	d.send(opsMsg{id: 1, err: errors.New("late")})
	d.send(historyMsg{id: 1, err: errors.New("late")})
	d.hasNot("late")
}

func TestLaunchOverRigsSaysWhatIsLeftOut(t *testing.T) {
	d := drive(t, tuitest.Fleet(26), options())
	for _, s := range d.m.fleet.Seats() {
		if s.Member == "night" {
			d.m.marks[s.ID] = true
		}
	}
	d.keys("L")
	d.has("1 marked seat of other rigs left out")
}

// TestOperationsStayOnTheNewest: who looks at the newest operation looks at the next one when it comes; who has gone to an older one, or
// reads a journal, stays there.
func TestOperationsStayOnTheNewest(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	s := d.m.screens[screenOps].(*opsScreen)
	come := func(id string) {
		s.all = append([]engine.Operation{{ID: id, Verb: engine.VerbUp, Target: id}}, s.all...)
		s.filter(d.m)
	}
	s.all = nil
	come("one")
	come("two")
	if op := s.op(); op == nil || op.ID != "two" {
		t.Errorf("not on the newest: %+v", op)
	}
	s.list.move(move{by: 1})
	come("three")
	if op := s.op(); op == nil || op.ID != "one" {
		t.Errorf("moved away from what was chosen: %+v", op)
	}
	s.list.to("three")
	s.inside = true
	come("four")
	if op := s.op(); op == nil || op.ID != "three" {
		t.Errorf("the journal that is read is taken away: %+v", op)
	}
}

// TestNewsDoesNotCoverTheKeysOfADialog: what was said before a dialog, or comes a moment after it opened, leaves the footer to its keys.
func TestNewsDoesNotCoverTheKeysOfADialog(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.run(d.m.say(toneText, false, "good news"))
	d.has("good news")
	d.keys("2", "z")
	d.hasNot("good news")
	d.send(sayMsg{toneText, "late news"})
	d.hasNot("late news")
	d.send(sayMsg{toneBad, "bad news"})
	d.has("bad news")
}
