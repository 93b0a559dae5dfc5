package tui

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"rig/engine"
	"rig/tui/tuitest"
)

// restoreConfirmed brings the rig back to the end.
func restoreConfirmed(d *driver) {
	restoreAsked(d)
	d.keys("enter")
}

// restoreAsked goes as far as the name that starts it.
func restoreAsked(d *driver) {
	d.keys("6", "R", "enter", "a")
	d.fire(guardTime)
	d.keys("shop")
	d.fire(typePause)
}

// restoreRun stops in the middle of the seats.
func restoreRun(d *driver) {
	restoreAsked(d)
	d.hold = true
	d.keys("enter")
	w := d.m.wizard()
	var steps []engine.OperationStep
	at := tuitest.Start()
	for i, s := range w.run.plan().Steps() {
		st := engine.OperationStep{StepID: s.ID, Kind: s.Kind, Title: s.Title, Seat: s.Seat, Effect: s.Effect, State: engine.StepPending}
		switch {
		case i < 7:
			st.State, st.StartedAt, st.EndedAt = engine.StepDone, at, at.Add(1300*time.Millisecond)
		case i == 8:
			st.State, st.StartedAt, st.EndedAt, st.Error = engine.StepFailed, at, at.Add(2*time.Second), "it was not ready within 30 s"
		case i == 11:
			st.State, st.StartedAt = engine.StepStarted, at
		}
		steps = append(steps, st)
	}
	d.send(nowMsg{at: at.Add(7 * time.Second)})
	d.send(progressMsg{w.run, engine.OpProgress{Op: engine.Operation{StartedAt: at}, Steps: steps}})
}

// The check reads files of every seat: it is made while the screen is shown, at
// a calm pace and soon after a change, and never otherwise.
func TestRestoreCheckCostsNothingWhenNobodyLooks(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	asked := func() int { return d.c.Called("RestoreCheck") }
	picture := func(rev uint64, life engine.SeatLife) {
		f := tuitest.Fleet(7)
		f.Revision, f.Rigs[0].Seats[0].Life = rev, life
		d.send(fleetMsg{f})
	}
	picture(2, engine.LifeDead)
	d.fire(time.Hour)
	if n := asked(); n != 0 {
		t.Fatalf("%d checks before anybody looked", n)
	}
	d.keys("6")
	if n := asked(); n != 1 {
		t.Fatalf("%d checks when the screen is opened, want 1", n)
	}
	for rev := uint64(3); rev < 30; rev++ { // a storm of changes
		picture(rev, map[bool]engine.SeatLife{true: engine.LifeDead, false: engine.LifeRunning}[rev%2 == 0])
	}
	if n := asked(); n != 1 {
		t.Fatalf("%d checks during a storm of changes, want none at once", n)
	}
	d.fire(restoreSoon)
	if n := asked(); n != 2 {
		t.Fatalf("%d checks after the storm, want 2", n)
	}
	d.fire(restoreSoon)
	if n := asked(); n != 2 {
		t.Fatalf("%d checks although nothing changed, want 2", n)
	}
	d.fire(restoreCalm)
	if n := asked(); n != 3 {
		t.Fatalf("%d checks after the calm time, want 3", n)
	}
	d.keys("1")
	picture(40, engine.LifeRunning)
	for range 3 {
		d.fire(time.Hour)
	}
	if n := asked(); n != 3 {
		t.Fatalf("%d checks after the screen was left, want 3", n)
	}
	d.keys("6")
	if n := asked(); n != 4 {
		t.Fatalf("%d checks when it is opened again, want 4", n)
	}
}

// A snapshot that was made while one looks at them comes into the list soon.
func TestANewSnapshotComesIntoTheList(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("6", "tab")
	asked := d.c.Called("AllSnapshots")
	f := tuitest.Fleet(7)
	f.Revision = d.m.fleet.Revision + 1
	d.send(fleetMsg{f})
	d.fire(restoreSoon)
	if n := d.c.Called("AllSnapshots"); n != asked {
		t.Errorf("asked %d times although nothing changed", n-asked)
	}
	f = tuitest.Fleet(7)
	f.Revision = d.m.fleet.Revision + 1
	f.Recent = append([]engine.Event{{Seq: 9000, Type: "snapshot.created"}}, f.Recent...)
	d.send(fleetMsg{f})
	d.fire(restoreSoon)
	if n := d.c.Called("AllSnapshots"); n != asked+1 || asked == 0 {
		t.Errorf("asked %d times after one was made, %d before", n-asked, asked)
	}
}

// An answer that is late does not replace a newer one, and an error is said with
// the way out of it.
func TestRestoreScreenSaysWhatCannotBeRead(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.c.Fail["AllSnapshots"] = engine.Errorf(engine.CodeRecordDamaged, "the record cannot be read").WithHint("rig doctor")
	d.keys("6", "tab")
	d.has("cannot be read", "rig doctor")
	delete(d.c.Fail, "AllSnapshots")
	d.keys("r")
	d.has("would choose it", "could use it")
	d.send(snapshotsMsg{id: 1, list: nil})
	d.has("would choose it")
}

func lastRequest(t *testing.T, d *driver) (engine.Request, engine.RestoreArgs) {
	t.Helper()
	w := d.m.wizard()
	if w == nil || len(w.plans) != 1 {
		t.Fatalf("no plan is shown:\n%s", d.text())
	}
	var a engine.RestoreArgs
	if err := json.Unmarshal(w.plans[0].Request.Args, &a); err != nil {
		t.Fatal(err)
	}
	return w.plans[0].Request, a
}

func TestRestoreWizardMakesTheRequestThatWasChosen(t *testing.T) {
	t.Run("as it stands it is rig up of the rig", func(t *testing.T) {
		d := drive(t, tuitest.Fleet(7), options())
		d.keys("6", "R", "enter")
		if r, a := lastRequest(t, d); r.Verb != engine.VerbUp || r.Target != "shop" || a.Snapshot != "" || len(a.Fresh) != 0 {
			t.Errorf("got %s of %s, %+v", r.Verb, r.Target, a)
		}
	})
	t.Run("a snapshot under the cursor is the one it stands on", func(t *testing.T) {
		d := drive(t, tuitest.Fleet(7), options())
		d.keys("6", "tab", "j", "R")
		d.fire(0)
		d.keys("enter")
		if r, a := lastRequest(t, d); r.Verb != engine.VerbRestore || a.Snapshot != "snap-0041" {
			t.Errorf("got %s from %q", r.Verb, a.Snapshot)
		}
	})
	t.Run("a snapshot that is not usable says why and is not taken", func(t *testing.T) {
		d := drive(t, tuitest.Fleet(7), options())
		d.keys("6", "R", "tab", "down", "down", "down", "enter")
		d.has("cannot: it was made without sight of tmux")
		if w := d.m.wizard(); w == nil || w.phase != phaseAsk {
			t.Errorf("a plan was made for it:\n%s", d.text())
		}
	})
	t.Run("a decision is taken seat by seat", func(t *testing.T) {
		d := drive(t, tuitest.Fleet(7), options())
		d.keys("6", "R", "tab", "tab", "space")
		d.has("starts fresh, on purpose", "needs a decision: its conversation is not on disk", "it runs and is left alone")
		d.keys("enter")
		if _, a := lastRequest(t, d); strings.Join(a.Fresh, ",") != "dev.qa" {
			t.Errorf("fresh is %v, want dev.qa", a.Fresh)
		}
		d.hasNot("needs a decision: no resume token")
	})
	t.Run("another rig has other seats", func(t *testing.T) {
		d := drive(t, tuitest.Fleet(14), options())
		d.keys("6", "R", "tab", "tab", "space", "shift+tab", "shift+tab", "team", "tab", "tab")
		w := d.m.wizard()
		if got := w.answers().list("fresh"); len(got) != 0 {
			t.Errorf("what was picked for another rig is still picked: %v", got)
		}
	})
}

func TestUpWizardBringsBackWhatIsOnRecord(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("U", "shop", "tab", "tab", "tab", "space", "enter")
	if r, a := lastRequest(t, d); r.Verb != engine.VerbUp || strings.Join(a.Fresh, ",") != "dev.qa" {
		t.Errorf("got %s with fresh %v", r.Verb, a.Fresh)
	}
	d = drive(t, tuitest.Fleet(7), options())
	d.keys("U", "every", "enter")
	r, _ := lastRequest(t, d)
	var a engine.UpArgs
	if err := json.Unmarshal(r.Args, &a); err != nil || !a.All || a.Spec != "" {
		t.Errorf("every rig: %s, %v", r.Args, err)
	}
}

// What a restore left open is in Attention, and one key opens the wizard that
// resolves it, on the seat.
func TestAttentionOpensWhatResolvesIt(t *testing.T) {
	f := tuitest.Fleet(7)
	s := &f.Rigs[0].Seats[2]
	s.Life, s.Continuity, s.Pane = engine.LifeStopped, engine.ContinuityAwaiting, ""
	f.Attention = []engine.AttentionItem{{Key: "k", Class: engine.AttnOutcome, Seat: s.Address, SeatID: s.ID, Rig: s.Rig, Reason: "awaits a decision: its conversation is not on disk", Remedy: "rig up shop --fresh dev.review"}}
	d := drive(t, f, options())
	d.keys("2", "r")
	w := d.m.wizard()
	if w == nil || w.def.verb != engine.VerbRestore || w.field().id != "fresh" {
		t.Fatalf("r opened something else:\n%s", d.text())
	}
	if c := w.field().choices[w.field().at]; c.Value != "dev.review" {
		t.Errorf("the cursor is on %s", c.Value)
	}
	d.keys("space", "enter")
	if _, a := lastRequest(t, d); strings.Join(a.Fresh, ",") != "dev.review" {
		t.Errorf("fresh is %v", a.Fresh)
	}
	opt := options()
	opt.ReadOnly = true
	d = drive(t, f, opt)
	d.keys("2", "r")
	d.has("read-only")
	if d.m.wizard() != nil {
		t.Error("a wizard opens in read-only mode")
	}
}

func TestPlainConsoleTellsOfRestores(t *testing.T) {
	out := plainly(t, tuitest.New(tuitest.Fleet(7)), options(), "reboot", "snapshots", "restores", "quit")
	for _, want := range []string{
		"rig shop: not all of it comes back", "dev-review@shop: lost, its conversation is not on disk", "what to do: bring its file back",
		"snap-0042: shop", "a restore would choose it", "op-up7: shop", "then partially restored, now partially restored", "unresolved: dev-qa@shop",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not said:\n%s", want, out)
		}
	}
}

// Rigs with something to decide stand first, however large the others are: on the
// screen and in the wizard. Those of one kind keep their order.
func TestRigsWithADecisionStandFirst(t *testing.T) {
	d := drive(t, tuitest.Fleet(40), options())
	d.keys("6")
	s := d.m.restoreScreen()
	for i := range s.report.Rigs {
		r := &s.report.Rigs[i]
		r.Verdict = engine.VerdictRestorable
		for j := range r.Seats {
			r.Seats[j].Action, r.Seats[j].Status, r.Seats[j].Code = "resume-original", engine.CheckGreen, ""
		}
	}
	n := len(s.report.Rigs)
	if n < 4 {
		t.Fatalf("%d rigs", n)
	}
	last, lost := &s.report.Rigs[n-1], &s.report.Rigs[n-2]
	last.Seats[0].Action = string(engine.ContinuityAwaiting)
	lost.Verdict, lost.Seats[0].Status = engine.VerdictUnknownState, engine.CheckUnknown
	s.filter(d.m)
	var rigs []string
	for _, r := range s.rows {
		if r.seat == nil {
			rigs = append(rigs, r.rig.Rig)
		}
	}
	want := []string{last.Rig, lost.Rig}
	for _, r := range s.report.Rigs[:n-2] {
		want = append(want, r.Rig)
	}
	if strings.Join(rigs, " ") != strings.Join(want, " ") {
		t.Errorf("the screen has %v, want %v", rigs, want)
	}
	d.keys("R")
	f := d.m.wizard().fields[0]
	if f.choices[0].Value != last.Rig || f.choices[1].Value != lost.Rig || !strings.Contains(f.choices[0].Note, "1 to decide") {
		t.Errorf("the wizard has %+v", f.choices)
	}
	if here := d.m.here().rig.Name; f.value() != here {
		t.Errorf("the wizard stands on %s, the cursor on %s", f.value(), here)
	}
}

// Before anybody looked, rigs that run whole stand last in the wizard.
func TestWholeRigsStandLastInTheRestoreWizard(t *testing.T) {
	f := tuitest.Fleet(40)
	first, n := &f.Rigs[0], len(f.Rigs)
	first.Running = len(first.Seats)
	d := drive(t, f, options())
	d.keys("R")
	ask := d.m.wizard().fields[0]
	if last := f.Rigs[n-1]; last.Running != len(last.Seats) || ask.choices[n-1].Value != last.Name {
		t.Errorf("the last of %+v", ask.choices)
	}
	if ask.choices[n-2].Value != first.Name || ask.value() != first.Name || ask.choices[0].Value != f.Rigs[1].Name {
		t.Errorf("%s of %+v", ask.value(), ask.choices)
	}
}
