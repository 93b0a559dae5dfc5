package tui

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"rig/engine"
	"rig/tui/tuitest"
)

func applied(d *driver) []string {
	_, _, done := d.c.Did()
	return done
}

// No key, paste, burst or held key may apply a plan, but the one answer.
func TestNothingButTheAnswerApplies(t *testing.T) {
	type step func(d *driver)
	press := func(keys ...string) step { return func(d *driver) { d.keys(keys...) } }
	paste := func(text string) step { return func(d *driver) { d.send(tea.PasteMsg{Content: text}) } }
	fire := func(w time.Duration) step { return func(d *driver) { d.fire(w) } }
	hold := func(name string) step {
		return func(d *driver) {
			for range 60 {
				k := keyPresses(name)[0]
				k.IsRepeat = true
				d.send(k)
				d.fire(100 * time.Millisecond)
			}
		}
	}
	cases := []struct {
		name  string
		open  []string
		steps []step
		want  int
	}{
		{"Enter", []string{"D", "enter", "a"}, []step{fire(guardTime), press("enter", "enter", "enter")}, 0},
		{"the opening key", []string{"D", "enter", "a"}, []step{fire(guardTime), press("D", "D", "a", "a")}, 0},
		{"the opening key held", nil, []step{hold("D"), hold("enter"), hold("a"), hold("y")}, 0},
		{"a pasted name with a line break", []string{"D", "enter", "a"}, []step{fire(guardTime), paste("shop\n"), paste("shop\r\n")}, 0},
		{"a burst of the name and Enter", []string{"D", "enter", "a"}, []step{fire(guardTime), press("shop", "enter")}, 0},
		{"the name at once and Enter", []string{"D", "enter", "a"}, []step{press("shop", "enter"), fire(typePause)}, 0},
		{"the name at once, a pause, Enter", []string{"D", "enter", "a"}, []step{press("shop"), fire(guardTime), fire(typePause), press("enter")}, 1},
		{"the opening key held before the name", []string{"D", "enter", "a"}, []step{press("a", "a", "shop"), fire(guardTime), fire(typePause), press("enter")}, 0},
		{"another name that holds this one, at once", []string{"D", "enter", "a"}, []step{press("dev-impl@shop"), fire(guardTime), fire(typePause), press("enter")}, 0},
		{"another name that holds its letters, at once", []string{"D", "enter", "a"}, []step{press("sxhop"), fire(guardTime), fire(typePause), press("enter")}, 0},
		{"a wrong name", []string{"D", "enter", "a"}, []step{fire(guardTime), press("shopp"), fire(typePause), press("enter")}, 0},
		{"the name, a pause, Enter", []string{"D", "enter", "a"}, []step{fire(guardTime), press("shop"), fire(typePause), press("enter")}, 1},
		{"the pasted name, a pause, Enter", []string{"D", "enter", "a"}, []step{fire(guardTime), paste("shop\n"), fire(typePause), press("enter")}, 1},
		{"yes at once", []string{"j", "j", "X", "a"}, []step{press("y", "y", "y")}, 0},
		{"yes after a moment", []string{"j", "j", "X", "a"}, []step{fire(guardTime), press("y")}, 1},
		{"yes held since before", []string{"j", "j", "X", "a"}, []step{hold("y"), fire(guardTime), hold("y")}, 0},
		{"yes pasted", []string{"j", "j", "X", "a"}, []step{fire(guardTime), paste("y\n")}, 0},
		{"Enter on a single seat", []string{"j", "j", "X", "a"}, []step{fire(guardTime), press("enter", "enter")}, 0},
		{"release key again", []string{"j", "j", "X", "a"}, []step{fire(guardTime), press("X", "X")}, 0},
		{"everything in the preview", []string{"j", "j", "X"}, []step{press("y", "enter", "X", "space", "Y", "L", "D")}, 0},
	}
	for _, c := range cases {
		d := drive(t, tuitest.Fleet(7), options())
		d.keys(c.open...)
		for _, s := range c.steps {
			s(d)
			d.frame()
		}
		if got := len(applied(d)); got != c.want {
			t.Errorf("%s: applied %d times, want %d", c.name, got, c.want)
		}
	}
}

// A fact that moves while the last question is open takes the question back.
func TestFactsThatMoveDisarm(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("j", "j", "X", "a")
	d.fire(guardTime)
	d.has("y applies the plan")
	d.c.Move()
	f := *tuitest.Fleet(7)
	f.Revision = 2
	d.send(fleetMsg{&f})
	d.fire(replanTime)
	d.has("the facts moved", "seat/dev-impl@shop/generation")
	d.keys("y")
	if len(applied(d)) != 0 {
		t.Fatal("the plan was applied although a fact moved")
	}
	d.keys("a")
	d.fire(guardTime)
	d.keys("y")
	if got := applied(d); len(got) != 1 || d.m.wizard().phase != phaseReceipt {
		t.Errorf("applied %v, phase %d", got, d.m.wizard().phase)
	}
}

// A fact that moves after the answer makes the plan stale: back to the preview.
func TestStalePlanGoesBackToThePreview(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("j", "j", "X", "a")
	d.fire(guardTime)
	d.c.Move()
	d.keys("y")
	if d.m.wizard().phase != phasePreview {
		t.Fatalf("phase %d, want the preview", d.m.wizard().phase)
	}
	d.has("the facts moved")
	if len(d.m.runs) != 0 {
		t.Error("the stale run is still on the books")
	}
}

// What did not move leaves the shown plan as it is: the very pointer is applied.
func TestShownPlanIsTheOneApplied(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("j", "j", "X")
	shown := d.m.wizard().plans[0]
	f := *tuitest.Fleet(7)
	f.Revision = 2
	d.send(fleetMsg{&f})
	d.fire(replanTime)
	if d.m.wizard().plans[0] != shown {
		t.Error("another plan took the place of the same one")
	}
}

func TestClosingTheViewDoesNotStopTheRun(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("j", "j", "X", "a")
	d.fire(guardTime)
	d.hold = true
	d.keys("y")
	if d.m.wizard().phase != phaseRun {
		t.Fatalf("phase %d, want the run", d.m.wizard().phase)
	}
	d.keys("esc")
	if d.m.top() != nil || len(d.m.runs) != 1 {
		t.Fatalf("after Esc: %v on top, %d runs", d.m.top(), len(d.m.runs))
	}
	d.hold = false
	for _, c := range d.held {
		d.run(c)
	}
	if len(applied(d)) != 1 || len(d.m.runs) != 0 || !strings.Contains(d.m.toast.text, "release dev-review@shop: done") {
		t.Errorf("applied %v, %d runs, says %q", applied(d), len(d.m.runs), d.m.toast.text)
	}
}

func TestQuittingOverARunInThisProcessAsksTwice(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("j", "j", "X")
	d.m.wizard().plans[0].Detached = false
	d.keys("a")
	d.fire(guardTime)
	d.hold = true
	d.keys("y", "esc", "q")
	d.hold = false
	if d.m.toast.tone != toneNeed || !strings.Contains(d.m.toast.text, "cuts it off") {
		t.Errorf("says %q", d.m.toast.text)
	}
	d.keys("q")
	if !d.quit {
		t.Error("the second q does not quit")
	}
}

// The requests hold what was answered.
func TestRequestsHoldTheAnswers(t *testing.T) {
	cases := []struct {
		name   string
		keys   []string
		verb   engine.Verb
		target string
		args   string
		reason string
	}{
		{"up a path", []string{"U", "./a.yaml", "tab", "/srv", "tab", "A=1 B=2", "enter"}, "up", "./a.yaml", `{"spec":"./a.yaml","cwd":"/srv","env":{"A":"1","B":"2"}}`, ""},
		{"up a starter", []string{"U", "termi", "enter"}, "up", "terminals", `{"spec":"terminals"}`, ""},
		{"up by name", []string{"U", "enter"}, "up", "shop", `{"spec":"shop"}`, ""},
		{"down", []string{"D", "tab", "space", "tab", "space", "tab", "tab", "enough", "enter"}, "down", "shop", `{"delete":true}`, "enough"},
		{"down, no delete after all", []string{"D", "tab", "tab", "space", "tab", "space", "up", "up", "down", "space", "enter"}, "down", "shop", `{"snapshot":true}`, ""},
		{"down, with the work", []string{"D", "tab", "space", "tab", "space", "tab", "space", "tab", "enough", "enter"}, "down", "shop", `{"delete":true,"drop_work":true}`, "enough"},
		{"launch all", []string{"L", "tab", "morning", "enter"}, "launch", "shop", `{}`, "morning"},
		{"launch one", []string{"L", "space", "tab", "morning", "enter"}, "launch", "shop", `{"seats":["plan.scout"]}`, "morning"},
		{"adopt", []string{"A", "enter"}, "adopt", "plan-scout@shop", `{"discovered":"d-01"}`, ""},
		{"release", []string{"j", "j", "X"}, "release", "dev-review@shop", `{}`, ""},
		{"handover", []string{"H", "tab", "full", "enter"}, "handover", "dev-impl@shop", `{"source":"fresh"}`, "full"},
		{"handover from a former conversation", []string{"H", "former", "tab", "back", "enter"}, "handover", "dev-impl@shop", `{"source":"fork:01HZY1"}`, "back"},
		{"handover to an own session", []string{"H", "work %3", "tab", "mine", "enter"}, "handover", "dev-impl@shop", `{"source":"discovered:d-01"}`, "mine"},
	}
	for _, c := range cases {
		d := drive(t, tuitest.Fleet(7), options())
		d.keys(c.keys...)
		w := d.m.wizard()
		if w == nil || len(w.plans) != 1 {
			t.Errorf("%s: no plan:\n%s", c.name, d.text())
			continue
		}
		r := w.plans[0].Request
		var got, want any
		if json.Unmarshal(r.Args, &got) != nil || json.Unmarshal([]byte(c.args), &want) != nil || toJSON(t, got) != toJSON(t, want) {
			t.Errorf("%s: args %s, want %s", c.name, r.Args, c.args)
		}
		if r.Verb != c.verb || r.Target != c.target || r.Reason != c.reason || r.Operator.Name != "ana" {
			t.Errorf("%s: request %+v", c.name, r)
		}
	}
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestMarkedSeatsArePlannedTogetherAndRunOneByOne(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("space", "space", "H", "tab", "full", "enter")
	w := d.m.wizard()
	if len(w.plans) != 2 || w.nameNeeded() != "2 seats" {
		t.Fatalf("%d plans, asks for %q", len(w.plans), w.nameNeeded())
	}
	d.keys("a")
	d.fire(guardTime)
	d.keys("2 seats")
	d.fire(typePause)
	d.keys("enter")
	if got := strings.Join(applied(d), " "); got != "handover dev-impl@shop handover dev-qa@shop" {
		t.Errorf("applied %q", got)
	}
	if len(d.m.marks) != 0 {
		t.Error("the marks are still there")
	}
}

func batchBlocked(d *driver) {
	d.c.RefuseOne = "dev-qa@shop"
	d.keys("space", "space", "space", "H", "tab", "full", "enter")
}

// One seat of a batch that cannot be planned does not hold up the others, and is named
// to the end.
func TestWhatIsBlockedCanBeLeftOutOfABatch(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	batchBlocked(d)
	w := d.m.wizard()
	d.keys("a")
	d.has("something is in the way of 1 of 3: dev-qa@shop; x leaves out what is blocked")
	if w.phase != phasePreview || !strings.Contains(d.m.toast.text, "x leaves out 1 seat of 3") {
		t.Fatalf("phase %v, says %q", w.phase, d.m.toast.text)
	}
	d.keys("x")
	if len(w.plans) != 2 || w.nameNeeded() != "2 seats" || d.m.whyNoLeaveOut() == "" {
		t.Fatalf("%d plans, asks for %q", len(w.plans), w.nameNeeded())
	}
	d.has("left out, nothing is done to it: dev-qa@shop: launch holds this seat", "2 of 3 seats")
	d.hasNot("the facts moved", "in the way")
	d.keys("r")
	if len(w.plans) != 3 {
		t.Fatalf("a plan made anew has %d seats", len(w.plans))
	}
	d.keys("x", "a")
	d.fire(guardTime)
	d.keys("2 seats")
	d.fire(typePause)
	d.keys("enter")
	if got := strings.Join(applied(d), " "); strings.Contains(got, "dev-qa@shop") || strings.Count(got, "handover") != 2 {
		t.Errorf("applied %q", got)
	}
	d.has("left out, nothing is done to it: dev-qa@shop")

	one := drive(t, tuitest.Fleet(7), options())
	one.c.RefuseOne = "dev-impl@shop"
	one.keys("H", "tab", "full", "enter")
	if one.m.whyNoLeaveOut() == "" {
		t.Error("a plan of one seat has nothing to leave out")
	}
}

func TestAnswersThatAreMissingAreShown(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("L", "enter")
	if w := d.m.wizard(); w.phase != phaseAsk || w.at != 1 || !strings.Contains(d.m.toast.text, "needed") {
		t.Errorf("phase %d, field %d, says %q", w.phase, w.at, d.m.toast.text)
	}
	if d.c.Called("Plan") != 0 {
		t.Error("a plan was made without the answer")
	}
}

func TestFailedReceiptIsNotMadeToLookWell(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.c.Outcome = engine.ContinuityFailed
	downConfirmed(d)
	d.has("✗ failed", "it was not ready within 30 s", "rig attach dev-impl@shop")
	d.hasNot("✓ done")
}

func TestUndoGoesThroughTheSameFrame(t *testing.T) {
	f := tuitest.Fleet(7)
	f.Ops = []engine.OpView{{ID: "op-7", Verb: engine.VerbHandover, Target: "dev-impl@shop", State: engine.OpDone, StartedAt: tuitest.Start(), UndoUntil: tuitest.Start().Add(time.Minute)}}
	d := drive(t, f, options())
	d.keys("u")
	w := d.m.wizard()
	if w == nil || w.phase != phasePreview || w.plans[0].Request.Target != "op-7" || w.plans[0].Verb != engine.VerbUndo {
		t.Fatalf("u opens %+v", w)
	}
}

// Every verb can be asked for, planned and seen on every size, and its plan names
// the verb and the target.
func TestEveryVerbReachesItsPreview(t *testing.T) {
	answers := map[string]string{"reason": "because", "member": "impl2", "fragment": "./more.yaml", "model": "opus", "spec": "./a.yaml", "discovered": "d-01", "snapshot": "snap-0041", "name": "kept", "token": "5e550041-0000-4000-8000-00000000a041"}
	for _, def := range wizardDefs() {
		for _, s := range sizes {
			d := drive(t, withCutOff(tuitest.Fleet(13), true), options())
			d.size(s.w, s.h)
			d.run(d.m.openWizard(def))
			w := d.m.wizard()
			for i, f := range w.fields {
				d.frame()
				w.at = i
				if text := answers[f.id]; text != "" && f.takesText() {
					d.keys(text)
				}
				d.frame()
			}
			if w.phase == phaseAsk {
				d.keys("enter")
			}
			if w.phase != phasePreview || len(w.plans) == 0 || w.plans[0].Verb != def.verb || w.plans[0].Target == "" {
				t.Errorf("%s at %dx%d: phase %d\n%s", def.verb, s.w, s.h, w.phase, d.text())
				continue
			}
			d.keys("a")
			d.frame()
		}
	}
}
