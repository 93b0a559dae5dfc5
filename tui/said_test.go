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
	d.has("opus-9, at its next launch")
	d.hasNot("(opus-9)")
	if out := plainly(t, tuitest.New(f), options(), "seat dev-impl"); !strings.Contains(out, "model: opus-9, at its next launch") || strings.Contains(out, "(opus-9)") {
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
