package tui

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"rig/engine"
	"rig/tui/tuitest"
)

// A refused plan leaves what was typed where it is, with the keys on it: it is
// changed and tried again without a way back first.
func TestARefusedPlanKeepsTheAnswers(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.c.Fail["Plan"] = engine.Errorf(engine.CodeNotFound, "/tmp/a.yaml is not there").WithHint("name a file")
	d.keys("U", "/tmp/a.yaml", "enter")
	d.has("there is no plan", "/tmp/a.yaml is not there", "name a file", "Nothing was changed")
	d.keys("x")
	d.has("/tmp/a.yamlx")
	d.hasNot("there is no plan")
	d.keys("enter")
	d.has("there is no plan")
	d.keys("esc")
	d.has("/tmp/a.yamlx")
	d.hasNot("there is no plan")
	d.keys("enter")
	delete(d.c.Fail, "Plan")
	d.keys("enter", "a")
	d.has("apply this?")
}

// A refusal that is longer than the dialog is paged through below the answers.
func TestALongRefusalIsRead(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.size(80, 24)
	d.c.Fail["Plan"] = engine.Errorf(engine.CodeValidationFailed, "%s the end", strings.Repeat("a fault in the file\n", 40))
	d.keys("U", "/tmp/a.yaml", "enter")
	d.hasNot("the end")
	for range 8 {
		d.keys("pgdown")
	}
	d.has("the end", "Nothing was changed")
	d.keys("x")
	d.has("/tmp/a.yamlx")
}

// The sessions that can be adopted are looked for again on a key.
func TestAdoptLooksAgain(t *testing.T) {
	opt, looks := options(), 0
	opt.Discovered = func(context.Context) ([]Choice, error) {
		if looks++; looks == 1 {
			return nil, nil
		}
		return []Choice{{Value: "id2", Label: "mine %9", Note: "claude-code"}}, nil
	}
	d := drive(t, tuitest.Fleet(7), opt)
	d.keys("A")
	d.has("none was found", "^r looks again")
	d.keys("ctrl+r")
	d.has("mine %9")
	d.keys("tab", "tab") // round to the first question
	d.has("mine %9")
	d.keys("D")
	d = drive(t, tuitest.Fleet(7), opt)
	d.keys("B", "ctrl+r")
	d.has("nothing to look for again")
}

// A pod is taken away, forked into and expanded where the cursor is, not where
// the rig begins, and the dialog says of which rig. The last question names the
// pod, and has its name typed: the rig stays.
func TestThePodUnderTheCursorIsMeant(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	for range 20 {
		if d.m.here().pod == "ops" {
			break
		}
		d.keys("j")
	}
	d.run(d.m.openWizard(shrinkDef()))
	d.has("Shrink a rig  shop")
	reqs := d.m.wizard().requests(d.m)
	var got engine.ShrinkArgs
	if err := json.Unmarshal(reqs[0].Args, &got); err != nil || got.Pod != "ops" || reqs[0].Target != "shop" {
		t.Errorf("%+v %s %v", got, reqs[0].Target, err)
	}
	d.keys("space", "backspace", "left") // a choice is changed by what is looked for, and by nothing else
	d.keys("enter", "a")
	d.has("shrink shop: pod ops with all its seats")
	if got := d.m.wizard().nameNeeded(); got != "ops" {
		t.Errorf("it asks for %q", got)
	}
}

// Launch means the rig whose seats it lists, also where no rig is under the
// cursor.
func TestLaunchFromAScreenWithoutARig(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("7", "L")
	d.has("seats of shop")
	if reqs := d.m.wizard().requests(d.m); reqs[0].Target != "shop" {
		t.Errorf("the target is %q", reqs[0].Target)
	}
}

// When every seat has an occupant, the adopt wizard says what frees one.
func TestAdoptSaysWhatFreesASeat(t *testing.T) {
	f := *tuitest.Fleet(7)
	f.Rigs = append([]engine.RigView(nil), f.Rigs...)
	for i := range f.Rigs {
		f.Rigs[i].Seats = append([]engine.SeatView(nil), f.Rigs[i].Seats...)
		for j := range f.Rigs[i].Seats {
			f.Rigs[i].Seats[j].Life = engine.LifeRunning
		}
	}
	d := drive(t, &f, options())
	d.keys("A", "tab")
	d.has("no seat is free: S stops one first")
}

// The faults of a file stand on lines of their own, each at its place, and the
// file is named once.
func TestTheFaultsOfAFileStandApart(t *testing.T) {
	file := "/w/bad.yaml"
	e := engine.Errorf(engine.CodeValidationFailed, "the spec has 2 errors").On("read_spec", file).
		Wrap(errors.New(file + ":4:5: pods[0].label: needed\n" + file + ":6:9: pods[0].members: needed"))
	want := []string{"read_spec: /w/bad.yaml: the spec has 2 errors:", "4:5: pods[0].label: needed", "6:9: pods[0].members: needed"}
	if got := faultLines(e); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	e = engine.Errorf(engine.CodeNotFound, "it is not there").On("read_spec", file)
	if got := faultLines(e); !slices.Equal(got, []string{"read_spec: /w/bad.yaml: it is not there"}) {
		t.Errorf("%q", got)
	}
}

// When something new stands in the way while a plan is shown, what moved is that.
func TestWhatMovedNamesANewBlocker(t *testing.T) {
	was := &engine.Plan{Target: "dev-impl@shop", Blockers: []engine.Blocker{{Code: "a", Message: "old"}}}
	is := &engine.Plan{Target: "dev-impl@shop", Blockers: []engine.Blocker{{Code: "a", Message: "old"}, {Code: "b", Message: "the session is not there any more"}}}
	got := moved([]*engine.Plan{was}, []*engine.Plan{is})
	if len(got) != 1 || got[0].After != "the session is not there any more" {
		t.Errorf("%+v", got)
	}
}

// A session goes into a seat of its own runtime: the others say why not, and the
// choice follows the session.
func TestAdoptOffersSeatsOfTheSessionsRuntime(t *testing.T) {
	opt := options()
	opt.Discovered = func(context.Context) ([]Choice, error) {
		return []Choice{
			{Value: "d-01", Label: "one", Runtime: engine.RuntimeClaude}, {Value: "d-02", Label: "two", Runtime: engine.RuntimeCodex}, {Value: "d-03", Label: "who"},
		}, nil
	}
	d := drive(t, tuitest.Fleet(13), opt)
	target := func() string { return d.m.wizard().requests(d.m)[0].Target }
	d.keys("A", "tab")
	d.has("cannot: the session looks like claude-code")
	if target() != "lab-spare@lab" && !strings.HasPrefix(target(), "lab-spare@") {
		t.Errorf("a claude-code session goes to %s", target())
	}
	d.keys("plan-scout", "enter")
	if d.m.wizard().phase != phaseAsk || !strings.Contains(d.m.toast.text, "the session looks like claude-code, the seat is codex") {
		t.Errorf("phase %d, says %q", d.m.wizard().phase, d.m.toast.text)
	}
	d.keys("ctrl+u", "shift+tab", "down")
	if !strings.HasPrefix(target(), "plan-scout@") {
		t.Errorf("a codex session goes to %s", target())
	}
	d.keys("tab", "down")
	second := target()
	d.keys("shift+tab", "down") // of this one nobody knows
	if target() != second || second == "" {
		t.Errorf("a choice that stands moved from %s to %s", second, target())
	}
	c := tuitest.New(tuitest.Fleet(13))
	if out := plainly(t, c, opt, "adopt", "d-02", "cancel"); !strings.Contains(out, "cannot: the session looks like codex, the seat is claude-code") {
		t.Errorf("the plain console says\n%s", out)
	}
}

// Shrink asks for the rig only where nothing says which.
func TestShrinkAsksForTheRigThatNobodyNamed(t *testing.T) {
	c := tuitest.New(tuitest.Fleet(7))
	out := plainly(t, c, options(), "shrink", "shop", "ops", "", "", "no")
	if !strings.Contains(out, "Rig?") || !strings.Contains(out, "in a shell: rig shrink shop") {
		t.Errorf("nothing named:\n%s", out)
	}
	out = plainly(t, tuitest.New(tuitest.Fleet(7)), options(), "shrink ops-shell", "", "", "", "no")
	if strings.Contains(out, "Rig?") || !strings.Contains(out, "Pod?  Offered: ops") || !strings.Contains(out, "in a shell: rig shrink shop") {
		t.Errorf("a seat named:\n%s", out)
	}
}

// TestARigOnRecordHidesTheStarterOfItsName: the name means the rig, so the list does not describe the starter.
func TestARigOnRecordHidesTheStarterOfItsName(t *testing.T) {
	opt := options()
	opt.Starters = func(context.Context) ([]Choice, error) {
		return []Choice{{Value: "shop", Note: "a starter of that name"}, {Value: "shells", Note: "three shells"}}, nil
	}
	d := drive(t, tuitest.Fleet(7), opt)
	d.keys("U")
	d.has("three shells")
	d.hasNot("a starter of that name")
}

// Whoever launches one seat types that seat's name, not its rig's.
func TestWhatIsTypedNamesTheSeatThatIsLaunched(t *testing.T) {
	plan := func(seats ...string) *engine.Plan {
		p := &engine.Plan{
			Verb: engine.VerbLaunch, Target: "shop", Request: engine.Request{Args: args(engine.LaunchArgs{Seats: seats})},
			Phases: []engine.Phase{{}},
		}
		for _, s := range []string{"dev-qa@shop", "dev-impl@shop"}[:max(len(seats), 1)] {
			p.Phases[0].Steps = append(p.Phases[0].Steps, engine.Step{Seat: s, Kind: engine.StepReap, Effect: engine.EffectOneWay})
		}
		return p
	}
	for want, p := range map[string]*engine.Plan{"dev-qa@shop": plan("dev.qa"), "shop": plan(), "shop ": plan("dev.qa", "dev.impl")} {
		if got := (&wizard{plans: []*engine.Plan{p}}).nameNeeded(); got != strings.TrimSpace(want) {
			t.Errorf("it asks for %q, not %q", got, want)
		}
	}
}
