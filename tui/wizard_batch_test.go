package tui

import (
	"strings"
	"testing"

	"rig/engine"
	"rig/tui/tuitest"
)

// changed is the picture after f with something else in it.
func changed(f *engine.Fleet, change func(f *engine.Fleet)) fleetMsg {
	next := *tuitest.Fleet(7)
	next.Revision = f.Revision + 1
	change(&next)
	return fleetMsg{&next}
}

// A batch whose order would be another one now is the same batch: no fact that its plans
// stand on has moved.
func TestAnotherOrderIsNoFactThatMoved(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("space", "space", "C", "enter", "a")
	w := d.m.wizard()
	if w == nil || w.phase != phaseConfirm || len(w.plans) != 2 {
		t.Fatalf("no question of two\n%s", d.text())
	}
	shown := w.plans[0].Target
	d.send(changed(d.m.fleet, func(f *engine.Fleet) {
		for i := range f.Rigs[0].Seats[:2] {
			s := &f.Rigs[0].Seats[i]
			if s.Usage.Percent = 10; s.Address != shown {
				s.Usage.Percent = 90
			}
		}
	}))
	d.fire(replanTime)
	if w.phase != phaseConfirm || len(w.moved) != 0 || w.plans[0].Target != shown {
		t.Errorf("moved: %+v, first %s", w.moved, w.plans[0].Target)
	}
}

// A seat of the batch that is gone is a fact that moved, and is named before anything is
// applied to the others, also when it went before there was a plan.
func TestASeatOfTheBatchThatIsGoneIsNamed(t *testing.T) {
	without := func(f *engine.Fleet) { f.Rigs[0].Seats = append(f.Rigs[0].Seats[:1:1], f.Rigs[0].Seats[2:]...) }
	for name, early := range map[string]bool{"while asking": true, "while the plan is shown": false} {
		d := drive(t, tuitest.Fleet(7), options())
		d.keys("space", "space", "space", "S", "why")
		if early {
			d.send(changed(d.m.fleet, without))
			d.keys("enter")
		} else {
			d.keys("enter", "a")
			d.send(changed(d.m.fleet, without))
			d.fire(replanTime)
			d.has("the facts moved while this was open", "no longer there")
		}
		w := d.m.wizard()
		if w.phase != phasePreview || len(w.plans) != 2 {
			t.Errorf("%s: phase %d, %d plans", name, w.phase, len(w.plans))
		}
		d.has("2 of 3 seats", "dev-qa@shop is no longer there: nothing is done to it")
		d.keys("a")
		if got := w.nameNeeded(); got != "2 seats" {
			t.Errorf("%s: asks for %q", name, got)
		}
	}
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("S", "why")
	d.send(changed(d.m.fleet, func(f *engine.Fleet) { f.Rigs[0].Seats = f.Rigs[0].Seats[1:] }))
	d.keys("enter", "a")
	d.has("dev-impl@shop is no longer there: nothing is done to it")
	if !strings.Contains(d.m.toast.text, "there is no plan") {
		t.Errorf("says %q", d.m.toast.text)
	}
}

// What a batch came to is told of all of it where nobody looked on.
func TestNewsOfABatchAreOfAllOfIt(t *testing.T) {
	for outcome, want := range map[engine.Continuity]string{
		"":                      "seat stop of 2 seats: done; 8 shows it",
		engine.ContinuityFailed: "seat stop of 2 seats: 2 of them ended, not clean; 8 shows it",
	} {
		d := drive(t, tuitest.Fleet(7), options())
		d.c.Outcome = outcome
		d.keys("space", "space", "S", "why", "enter", "a")
		d.fire(guardTime)
		d.keys("2 seats")
		d.fire(typePause)
		d.hold = true
		d.keys("enter", "esc")
		d.hold = false
		for len(d.held) > 0 {
			next := d.held
			d.held = nil
			for _, cmd := range next {
				d.run(cmd)
			}
		}
		if d.m.toast.text != want {
			t.Errorf("says %q, want %q", d.m.toast.text, want)
		}
	}
}

// The key that resolves an item is about that item, whatever is marked elsewhere.
func TestResolveIsOfTheItemAndNotOfTheMarks(t *testing.T) {
	f := tuitest.Fleet(7)
	seat := f.Seats()[4]
	f.Attention = []engine.AttentionItem{{Key: "s", Class: engine.AttnDead, Seat: seat.Address, SeatID: seat.ID, Reason: "ended"}}
	d := drive(t, f, options())
	d.keys("space", "space", "2", "r", "why", "enter")
	w := d.m.wizard()
	if w == nil || len(w.plans) != 1 || w.plans[0].Target != seat.Address {
		t.Errorf("resolves\n%s", d.text())
	}
	if len(d.m.marks) != 2 {
		t.Errorf("%d marks are left", len(d.m.marks))
	}
	d.keys("a")
	d.fire(guardTime)
	d.keys("y")
	if len(d.m.marks) != 2 {
		t.Errorf("the marks were used up by what was not done to them: %d left", len(d.m.marks))
	}
}

// What moved stands in the preview until it is read and answered: looks that find nothing
// new do not take it away, and what moves on is told from where it was when it was shown.
func TestWhatMovedStandsUntilItIsAnswered(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("D", "tab", "tab", "tab", "why", "enter", "a")
	look := func() {
		t.Helper()
		d.send(changed(d.m.fleet, func(*engine.Fleet) {}))
		d.fire(replanTime)
	}
	d.c.Move()
	look()
	d.has("the facts moved while this was open")
	look()
	d.has("the facts moved while this was open")
	d.c.Move()
	look()
	w := d.m.wizard()
	if len(w.moved) != 1 || w.moved[0].Before != "2" || w.moved[0].After != "4" {
		t.Errorf("moved: %+v", w.moved)
	}
	d.keys("a")
	if len(w.moved) != 0 || w.phase != phaseConfirm {
		t.Errorf("phase %d, moved %+v", w.phase, w.moved)
	}
}

// On a narrow screen it is still said that something cannot be undone.
func TestTheLastQuestionSaysWhatIsForGood(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.size(40, 12)
	d.keys("D", "enter", "a")
	d.has("cannot be undone")
}

// No key leaves a batch half done without saying so, from wherever it is pressed.
func TestLeavingABatchIsAskedTwice(t *testing.T) {
	for _, keys := range [][]string{{"ctrl+c"}, {"esc", "ctrl+c"}, {"esc", "q"}} {
		d := drive(t, tuitest.Fleet(7), options())
		d.keys("space", "space", "space", "S", "why", "enter", "a")
		d.fire(guardTime)
		d.keys("3 seats")
		d.fire(typePause)
		d.hold = true
		d.keys("enter")
		d.keys(keys...)
		if !strings.Contains(d.m.toast.text, "seat stop of 3 seats is under way; quitting leaves out the 2 seats whose turn has not come") {
			t.Errorf("%v: says %q", keys, d.m.toast.text)
		}
		d.hold = false
		if d.keys(keys[len(keys)-1]); !d.quit {
			t.Errorf("%v: not even the second time", keys)
		}
	}
}

// A compaction that can no longer be cancelled is not called cancelled, and of several the
// others are left alone all the same.
func TestACancelThatFailedIsNoCancel(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("space", "space", "C", "enter", "a")
	d.fire(guardTime)
	d.keys("2 seats")
	d.fire(typePause)
	d.hold = true
	d.keys("enter")
	w := d.m.wizard()
	d.keys("x")
	d.has("cancelled: it ends at its next step")
	d.send(cancelledMsg{w.run, engine.Errorf(engine.CodeUnavailable, "it was typed already").WithHint("wait")})
	d.hasNot("cancelled: it ends")
	if !w.run.halt {
		t.Error("the next seat has its turn")
	}
}

// Steps that were taken back are no progress of a seat.
func TestUndoneStepsAreNoProgress(t *testing.T) {
	runs := seatRuns([]engine.OperationStep{
		{Seat: "a", State: engine.StepUndone, Title: "create"},
		{Seat: "a", State: engine.StepUndone, Title: "wait"},
		{Seat: "a", State: engine.StepPending},
		{Seat: "b", State: engine.StepDone},
		{Seat: "b", State: engine.StepSkipped},
	})
	if r := runs[0]; r.done != 0 || r.state != engine.StepUndone || runs[1].done != 2 {
		t.Errorf("%+v, %+v", runs[0], runs[1])
	}
}

// What was asked for before another dialog was opened does not take the keys from it.
func TestALateListDoesNotTakeTheKeys(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("5")
	d.hold = true
	d.keys("p")
	late := d.held
	d.hold = false
	d.keys("s", "hello")
	for _, cmd := range late {
		d.run(cmd)
	}
	if _, ok := d.m.top().(*sender); !ok {
		t.Errorf("%T has the keys", d.m.top())
	}
}

// Where no newer plan can be made, the one that is shown says how old it is.
func TestPressureSaysThatItsPlanIsOld(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("3")
	d.c.Fail["Pressure"] = engine.Errorf(engine.CodeUnavailable, "the record is held").WithHint("wait")
	d.fire(pressureEvery)
	d.send(changed(d.m.fleet, func(f *engine.Fleet) { f.At = f.At.Add(pressureEvery) }))
	d.fire(pressureEvery)
	d.has("no newer plan than that of just now: the record is held", "blocked: usage limit")
}
