package tui

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"rig/engine"
	"rig/tui/tuitest"
)

// pressured shows a picture with seats near their wall.
func pressured(d *driver) { d.send(fleetMsg{tuitest.Near(7)}) }

// compactConfirmed compacts the first seat of the order to the end.
func compactConfirmed(d *driver) {
	d.keys("3", "C", "enter", "a")
	d.fire(guardTime)
	d.keys("dev-impl@shop")
	d.fire(typePause)
	d.keys("enter")
}

// compactRun stops in the nth step, from 1.
func compactRun(d *driver, n int) {
	pressured(d)
	d.keys("3", "C", "enter", "a")
	d.fire(guardTime)
	d.keys("dev-impl@shop")
	d.fire(typePause)
	d.hold = true
	d.keys("enter")
	w := d.m.wizard()
	at := tuitest.Start()
	d.send(nowMsg{at: at.Add(21 * time.Second)})
	d.send(progressMsg{w.run, engine.OpProgress{Op: engine.Operation{StartedAt: at}, Steps: journalAt(d, w.run.plan(), n)}})
}

// journalAt makes the journal of a plan in its nth step.
func journalAt(d *driver, p *engine.Plan, n int) []engine.OperationStep {
	d.t.Helper()
	at := tuitest.Start()
	deadline, err := json.Marshal(map[string]any{"deadline": at.Add(time.Minute), "delivery": "delivered"})
	if err != nil {
		d.t.Fatal(err)
	}
	var steps []engine.OperationStep
	for i, s := range p.Steps() {
		st := engine.OperationStep{StepID: s.ID, Kind: s.Kind, Title: s.Title, Effect: s.Effect, State: engine.StepPending}
		switch {
		case i < n-1:
			st.State, st.StartedAt, st.EndedAt = engine.StepDone, at, at.Add(1300*time.Millisecond)
		case i == n-1:
			st.State, st.StartedAt, st.Evidence = engine.StepStarted, at, deadline
		}
		steps = append(steps, st)
	}
	return steps
}

// The screen shows the plan's own words: who is to be compacted first, in which
// round, who cannot be and why, and who is not looked at.
func TestPressureIsTheCompactPlan(t *testing.T) {
	t.Parallel()
	d := drive(t, tuitest.Near(7), options())
	d.size(200, 50)
	d.keys("3")
	d.has("2 to compact", "1 blocked", "near the wall is 80% of the window or 400k tokens",
		"compact, round 1", "compact, round 2", "blocked: usage limit", "codex keeps its own context", "below the threshold",
		"round 1  dev-impl@shop", "round 2  dev-qa@shop")
	lines := strings.Split(d.text(), "\n")
	for i, want := range []string{"dev-impl@shop", "dev-qa@shop", "plan-architect@shop"} {
		if !strings.Contains(lines[4+i], want) {
			t.Errorf("line %d is not of %s: %s", 4+i, want, lines[4+i])
		}
	}
	p, err := d.c.Pressure(t.Context(), d.m.fleet)
	if err != nil {
		t.Fatal(err)
	}
	if f := p.Candidates[0].Forecast; !f.Known || !strings.Contains(lines[4], rangeWord(f)) {
		t.Errorf("the forecast %+v is not a range in %s", f, lines[4])
	}
}

// One value: the share of a seat is the same on every screen, and the wall and
// the facts say how old it is.
func TestOneShareOnEveryScreen(t *testing.T) {
	t.Parallel()
	d := drive(t, tuitest.Near(7), options())
	d.size(200, 50)
	for _, keys := range [][]string{{"1"}, {"3"}, {"4"}, {"5"}} {
		d.keys(keys...)
		d.has("88%")
	}
	d.keys("4")
	d.has("88% ████████│░ 2m")
	d.keys("1", "tab")
	d.has("88%", "statusline, 2m ago")
}

// Pictures that come thick and fast make one request a second, and none is lost.
func TestPressurePlansAtMostOnceASecond(t *testing.T) {
	t.Parallel()
	d := drive(t, tuitest.Near(7), options())
	if d.c.Called("Pressure") != 0 {
		t.Error("a plan was made for a screen that is not shown")
	}
	d.keys("3")
	for i := range 20 {
		f := tuitest.Near(7)
		f.Revision, f.At = uint64(3+i), f.At.Add(time.Duration(i+1)*time.Second)
		d.send(fleetMsg{f})
	}
	if n := d.c.Called("Pressure"); n != 1 {
		t.Errorf("%d plans within a second", n)
	}
	d.fire(pressureEvery)
	if n := d.c.Called("Pressure"); n != 2 {
		t.Errorf("%d plans after a second", n)
	}
	d.fire(pressureEvery)
	d.fire(pressureEvery)
	if n := d.c.Called("Pressure"); n != 2 {
		t.Errorf("%d plans although nothing changed", n)
	}
}

func TestSparkShowsShape(t *testing.T) {
	t.Parallel()
	b := brush{g: unicodeGlyphs()}
	at := tuitest.Start()
	points := func(tokens ...int64) (out []engine.TrendPoint) {
		for i, n := range tokens {
			out = append(out, engine.TrendPoint{At: at.Add(time.Duration(i) * time.Minute), Tokens: n})
		}
		return out
	}
	for _, c := range []struct {
		tokens []int64
		least  int64
		want   string
	}{
		{nil, 0, ""},
		{[]int64{5}, 0, ""},
		{[]int64{7, 7, 7, 7}, 0, "▁▁▁▁"},
		{[]int64{0, 7, 0, 7}, 0, "▁█▁█"},
		{[]int64{0, 2, 5, 7}, 7, "▁▃▆█"},
		{[]int64{0, 2, 5, 7}, 14, "▁▂▃▄"},
		{[]int64{100, 101, 102, 103}, 70, "▁▁▁▁"}, // hardly any growth is not a climb
	} {
		if got := b.spark(points(c.tokens...), c.least, 4); got != c.want {
			t.Errorf("%v is %q, want %q", c.tokens, got, c.want)
		}
	}
}

// A use that does not move is called steady: drawn, it would look like no samples at all.
func TestASteadyTrendIsSaid(t *testing.T) {
	t.Parallel()
	d := drive(t, tuitest.Near(7), options())
	seat := d.m.fleet.Seats()[0]
	e := &engine.CompactEntry{}
	for i := range 6 {
		e.Trend = append(e.Trend, engine.TrendPoint{At: tuitest.Start().Add(time.Duration(i) * time.Minute), Tokens: 150_000})
	}
	if got := d.m.trendCell(e, seat, 8); got != "steady" {
		t.Errorf("drawn as %q", got)
	}
	e.Trend[5].Tokens += seat.Usage.Window / trendLeast
	if got := d.m.trendCell(e, seat, 8); got != "▁▁▁▁▁▁▁█" {
		t.Errorf("drawn as %q", got)
	}
	if got := d.m.trendCell(&engine.CompactEntry{}, seat, 8); got != "" {
		t.Errorf("without samples %q", got)
	}
}

// The words of the plan say what is to be done, and who acts; only a seat that no policy
// compacts waits for a person's word.
func TestPressureSaysWhoseWordItTakes(t *testing.T) {
	t.Parallel()
	for managed, want := range map[bool]string{
		false: "above percent threshold, needs your word",
		true:  "the rig's policy compacts it without you",
	} {
		f := tuitest.Near(7)
		for _, s := range f.Seats() {
			s.Compaction = engine.SeatCompaction{Managed: managed, AtPercent: 85}
		}
		d := drive(t, f, options())
		d.size(200, 50)
		d.keys("3")
		d.has(want, "a checked restore packet: a compaction writes one first")
		if text := d.text(); strings.Contains(text, "authorization") || managed && strings.Contains(text, "threshold, needs your word") {
			t.Errorf("managed %v:\n%s", managed, text)
		}
	}
}

// A wizard on marked seats compacts them one after the other, the fullest first.
func TestMarkedSeatsAreCompactedOneAfterTheOther(t *testing.T) {
	t.Parallel()
	d := drive(t, tuitest.Near(7), options())
	d.keys("3", "j", "space", "space", "C", "enter", "a")
	d.fire(guardTime)
	d.has("compact of 2 seats, one after the other")
	d.keys("2 seats")
	d.fire(typePause)
	d.keys("enter")
	if _, _, did := d.c.Did(); strings.Join(did, "; ") != "compact plan-architect@shop; compact dev-qa@shop" {
		t.Errorf("%v", did)
	}
	d.has("compact plan-architect@shop", "compact dev-qa@shop")
}

// A cancel reaches the seat under way, and the seats after it are left alone.
func TestCancelLeavesTheRestAlone(t *testing.T) {
	t.Parallel()
	d := drive(t, tuitest.Near(7), options())
	d.keys("3", "space", "space", "C", "enter", "a")
	d.fire(guardTime)
	d.keys("2 seats")
	d.fire(typePause)
	d.hold = true
	d.keys("enter")
	w := d.m.wizard()
	d.send(progressMsg{w.run, engine.OpProgress{Op: engine.Operation{StartedAt: tuitest.Start()}, Steps: journalAt(d, w.run.plan(), 2)}})
	d.has("prep", "/compact", "restore", "audit", "x cancels it, until /compact is typed")
	d.hold = false
	d.keys("x")
	if got := d.c.Cancelled(); len(got) != 1 || got[0] != "dev-impl@shop" {
		t.Errorf("cancelled %v", got)
	}
	d.send(appliedMsg{run: w.run, err: engine.Errorf(engine.CodePrepCancelled, "cancelled by ana")})
	if _, _, did := d.c.Did(); len(did) != 0 || !w.run.done {
		t.Errorf("applied %v", did)
	}
	d.has("cancelled by ana", "its turn did not come")
}

// Once /compact is typed the key says so and asks nobody.
func TestNoCancelAfterCompactWasTyped(t *testing.T) {
	t.Parallel()
	d := drive(t, tuitest.Near(7), options())
	compactRun(d, 4)
	d.has("/compact was typed: it goes on to its audit", "deadline of /compact: 10:31:00, in 39s")
	d.hold = false
	d.keys("x")
	if d.c.Called("CancelCompact") != 0 {
		t.Error("it was cancelled")
	}
}

func TestCompactIsRefusedWhereItCannotHelp(t *testing.T) {
	t.Parallel()
	d := drive(t, tuitest.Near(13), options())
	d.size(200, 50)
	for seat, want := range map[string]string{
		"review": "codex seat is not compacted in place", "spare": "nobody to compact", "shell": "shell seat is not compacted in place",
	} {
		for _, s := range d.m.fleet.Seats() {
			if s.Member == seat {
				d.run(d.m.goTo(s.ID))
			}
		}
		d.keys("C")
		d.has(want)
		if d.m.wizard() != nil {
			t.Errorf("a wizard opened on %s", seat)
		}
	}
}
