package tui

import (
	"strings"
	"testing"

	"rig/engine"
	"rig/tui/tuitest"
)

// The record has the model of the next launch; which one runs is not known.
func TestAModelIsThatOfTheNextLaunch(t *testing.T) {
	f := tuitest.Fleet(7)
	f.Rigs[0].Seats[0].Model = "opus-9"
	d := drive(t, f, options())
	d.keys("5")
	d.has("claude-code (next launch: opus-9)")
	d.hasNot("(opus-9)")
	if out := plainly(t, tuitest.New(f), options(), "seat dev-impl"); !strings.Contains(out, "(next launch: opus-9)") || strings.Contains(out, "(opus-9)") {
		t.Errorf("plain mode says\n%s", out)
	}
}

func TestPressureSaysWhoseWordItNeeds(t *testing.T) {
	managed := func(who ...string) *engine.Fleet {
		f := tuitest.Near(7)
		for i := range f.Rigs[0].Seats {
			s := &f.Rigs[0].Seats[i]
			for _, w := range who {
				if s.Member == w {
					s.Compaction.Managed = true
				}
			}
		}
		return f
	}
	says := func(f *engine.Fleet) string {
		d := drive(t, f, options())
		d.size(200, 50)
		d.keys("3")
		s := d.m.screens[screenPressure].(*pressureScreen)
		return strings.Join(strings.Fields(strings.NewReplacer("│", " ", "\n", " ").Replace(ansiText(s.schedule(d.m, 70, 12))+ansiText(s.detail(d.m, 200, 24)))), " ")
	}
	if got := says(managed()); !strings.Contains(got, "each needs your word") || strings.Contains(got, "policy") {
		t.Errorf("without a policy: %s", got)
	}
	if got := says(managed("impl")); !strings.Contains(got, "1 seat of these the rig's policy compacts without you") || !strings.Contains(got, "the others need your word") || strings.Contains(got, "each needs") {
		t.Errorf("with a policy on one: %s", got)
	}
	if got := says(managed("impl", "qa", "architect", "deploy")); strings.Contains(got, "your word") || !strings.Contains(got, "the rig's policy compacts it without you, at its own threshold") {
		t.Errorf("with a policy on all: %s", got)
	}
	for want, c := range map[string]engine.SeatCompaction{
		"at its own threshold": {}, "at 80%": {AtPercent: 80}, "at 400k tokens": {AtTokens: 400_000}, "at 80% or 400k tokens": {AtPercent: 80, AtTokens: 400_000},
	} {
		if got := policyAt(c); got != want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// One key has one meaning on one screen: where it applies the plan it copies nothing.
func TestTheLastQuestionDoesNotOfferTheCopy(t *testing.T) {
	for _, keys := range [][]string{{"j", "j", "X"}, {"D", "enter"}} {
		d := drive(t, tuitest.Fleet(7), options())
		d.size(200, 50)
		d.keys(keys...)
		d.has("the same in a shell, y copies it")
		d.keys("a")
		d.fire(guardTime)
		d.has("the same in a shell")
		d.hasNot("copies it")
	}
}

// What is copied of a remedy can be run as it is.
func TestCopyOfARemedyIsACommand(t *testing.T) {
	for remedy, want := range map[string]string{
		"rig attach dev-qa@shop and answer it there":                                                   "rig attach dev-qa@shop",
		"rig seat clean dev-qa@shop --reason …":                                                        "rig seat clean dev-qa@shop",
		"rig seat clean dev-qa@shop --reason …, or rig up shop":                                        "rig seat clean dev-qa@shop",
		"rig attach dev-qa@shop, then rig seat clear-attention dev-qa@shop":                            "rig attach dev-qa@shop",
		"stop all but one: rig seat stop dev-qa@shop --reason …":                                       "rig seat stop dev-qa@shop",
		"end the other one, or stop this: rig seat stop dev-qa@shop --reason …":                        "rig seat stop dev-qa@shop",
		"look at it; then `rig up shop`":                                                               "rig up shop",
		"fork it: `rig handover dev-qa@shop --source fork:01HZ --reason …`":                            "rig handover dev-qa@shop --source fork:01HZ",
		"`rig handover dev-qa@shop --source discovered:… --reason …`":                                  "",
		"rig attach dev-qa@shop to see who is there; rig seat clear-attention dev-qa@shop verifies it": "rig attach dev-qa@shop",

		"rig op rollback op-77":                     "rig op rollback op-77",
		"rig compact dev-qa@shop --audit":           "rig compact dev-qa@shop --audit",
		"rig doctor":                                "rig doctor",
		"wait for the reset, or hand the seat over": "",
		"`kill -CONT 7` in a shell lets it go on; so does `fg` in its pane": "kill -CONT 7",
		"": "",
	} {
		if got := commandIn(remedy); got != want {
			t.Errorf("%q gives %q", remedy, got)
		}
	}
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("2", "G", "y") // a limit: no command resolves it
	if got := strings.Join(d.copied, "|"); got != "plan-architect@shop" {
		t.Errorf("copied %q", got)
	}
}

// Fleet is the first screen: nothing lies before it, however one came there.
func TestEscapeEndsOnFleet(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	var went []string
	d.keys("8", "9", "5")
	for range 4 {
		d.keys("esc")
		went = append(went, d.m.Screen())
	}
	if got := strings.Join(went, " "); got != "events operations fleet fleet" || !strings.Contains(d.m.toast.text, "this is the first screen") {
		t.Errorf("Esc goes %s and says %q", got, d.m.toast.text)
	}
	d.keys("2", "8", "w", "esc")
	if d.m.cur != screenFleet || !strings.Contains(d.m.toast.text, "this is the first screen") {
		t.Errorf("Esc on Fleet goes to %s and says %q", d.m.Screen(), d.m.toast.text)
	}
	d.keys("-")
	if d.m.cur != screenFleet || !strings.Contains(d.m.toast.text, "no screen before") {
		t.Errorf("the trail is kept: %s, says %q", d.m.Screen(), d.m.toast.text)
	}
}
