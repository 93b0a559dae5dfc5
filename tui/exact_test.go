package tui

import (
	"strings"
	"testing"

	"rig/engine"
	"rig/tui/tuitest"
)

// twoRigs is a picture of two rigs, the name of the second inside that of the first.
func twoRigs() *engine.Fleet {
	f := tuitest.Fleet(7)
	old := f.Rigs[0]
	old.ID, old.Name, old.Seats = "rig-old", "old-shop", append([]engine.SeatView(nil), old.Seats...)
	for i := range old.Seats {
		s := &old.Seats[i]
		s.ID, s.RigID, s.Rig, s.Address = "old-"+s.ID, "rig-old", "old-shop", strings.Replace(s.Address, "@shop", "@old-shop", 1)
	}
	f.Rigs = append([]engine.RigView{old}, f.Rigs...)
	return f
}

// A name that is typed whole means what has that name, not the first whose name holds it.
func TestAWholeNameIsTheOneOfThatName(t *testing.T) {
	d := drive(t, twoRigs(), options())
	d.keys("D", "shop")
	if got := d.m.wizard().field().value(); got != "shop" {
		t.Errorf("shop means %q\n%s", got, d.text())
	}
	for name, lines := range map[string][]string{
		"named":    {"down shop", "", "", "why", "shop"},
		"typed":    {"down", "shop", "", "", "why", "shop"},
		"numbered": {"down", "2", "", "", "why", "shop"},
	} {
		c := tuitest.New(twoRigs())
		out := plainly(t, c, options(), lines...)
		if _, _, done := c.Did(); len(done) != 1 || done[0] != "down shop" {
			t.Errorf("%s: applied %q\n%s", name, done, out)
		}
	}
}

// What several choices hold means none of them; it is asked again.
func TestPlainAsksAgainWhatIsNotClear(t *testing.T) {
	c := tuitest.New(twoRigs())
	out := plainly(t, c, options(), "down", "running", "shop", "", "", "why", "shop")
	if _, _, done := c.Did(); len(done) != 1 || !strings.Contains(out, `Rig: "running" is in 2 of them: old-shop, shop`) {
		t.Errorf("applied %q\n%s", done, out)
	}
	for line, says := range map[string]string{
		"dev.nobody":   `Seats: there is no "dev.nobody" among them`,
		"dev.impl":     "Seats: dev.impl: it runs",
		"9":            `Seats: there is no "9" among them`,
		"plan.scout x": `Seats: there is no "x" among them`,
	} {
		c := tuitest.New(tuitest.Fleet(7))
		out := plainly(t, c, options(), "launch shop", line, "plan.scout", "why", "shop")
		_, _, done := c.Did()
		if len(done) != 1 || !strings.Contains(out, says) || strings.Count(out, "Seats:") != 1 {
			t.Errorf("%s: applied %q\n%s", line, done, out)
		}
	}
}

// A plan without a step is not offered: there is nothing to apply.
func TestPlainOffersNoPlanWithoutSteps(t *testing.T) {
	c := tuitest.New(tuitest.Fleet(7))
	c.NoSteps = true
	out := plainly(t, c, options(), "down shop", "", "", "why", "list")
	if !strings.Contains(out, "There is nothing to do: the plan has no steps.") || strings.Contains(out, "to apply this") || !strings.Contains(out, "rig shop:") {
		t.Errorf("said\n%s", out)
	}
}
