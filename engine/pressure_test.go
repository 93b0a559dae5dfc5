package engine_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"rig/engine"
)

var planNow = time.Date(2026, 3, 3, 10, 31, 0, 0, time.UTC)

// planSeat is a seat that runs, is ready and idle, in one rig.
func planSeat(address string, runtime engine.RuntimeName, u engine.Usage) engine.SeatView {
	member, rig, _ := strings.Cut(address, "@")
	u.Generation = 1
	return engine.SeatView{
		ID: address, Address: address, Logical: strings.Replace(member, "-", ".", 1), Rig: rig, Runtime: runtime, Generation: 1,
		Life: engine.LifeRunning, Startup: engine.StartupReady, SessionName: address, Usage: u,
		Activity: engine.Activity{Reading: engine.Reading{State: engine.ActivityIdle}},
	}
}

func planFleet(seats ...engine.SeatView) *engine.Fleet {
	f := &engine.Fleet{At: planNow}
	at := map[string]int{}
	for _, s := range seats {
		i, ok := at[s.Rig]
		if !ok {
			i = len(f.Rigs)
			at[s.Rig] = i
			f.Rigs = append(f.Rigs, engine.RigView{Name: s.Rig})
		}
		f.Rigs[i].Seats = append(f.Rigs[i].Seats, s)
	}
	return f
}

func known(tokens, window int64) engine.Usage {
	u := engine.Usage{Known: true, Tokens: tokens, Window: window, SampledAt: planNow.Add(-time.Minute), Source: "statusline", Confidence: engine.ConfidenceHigh}
	if window > 0 {
		u.Percent = float64(tokens) * 100 / float64(window)
	}
	return u
}

func addresses(list []engine.CompactEntry) []string {
	out := []string{}
	for _, e := range list {
		out = append(out, e.Seat)
	}
	return out
}

// B33: a full seat of a small window comes before a half full one of a big window.
func TestPlanOfMixedWindows(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "testdata", "cases", "B33-mixed-windows.json"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Seat    string             `json:"seat"`
		Runtime engine.RuntimeName `json:"runtime"`
		Window  int64              `json:"window"`
		Percent float64            `json:"used_percentage"`
		Sampled time.Time          `json:"sampled"`
	}
	if err := json.Unmarshal(b, &rows); err != nil {
		t.Fatal(err)
	}
	var seats []engine.SeatView
	for _, r := range rows {
		u := engine.Usage{Known: true, Window: r.Window, Percent: r.Percent, Tokens: int64(float64(r.Window) * r.Percent / 100), SampledAt: r.Sampled}
		seats = append(seats, planSeat(r.Seat, r.Runtime, u))
	}
	p := engine.PlanCompaction(planFleet(seats...), nil, engine.CompactPlanOptions{})
	if want := []string{"dev-impl@shop", "dev-doc@shop", "dev-arch@shop"}; !reflect.DeepEqual(p.RecommendedOrder, want) {
		t.Errorf("order %v", p.RecommendedOrder)
	}
	reasons := map[string]string{"dev-impl@shop": engine.ReasonPercent, "dev-doc@shop": engine.ReasonPercentNoSize, "dev-arch@shop": engine.ReasonTokens}
	for _, c := range p.Candidates {
		if c.Threshold != reasons[c.Seat] || c.Freshness != "fresh" || c.Age == "" || c.Notify == nil || len(c.Required) != 5 {
			t.Errorf("%+v", c)
		}
		if lacks := strings.Contains(strings.Join(c.Missing, " "), "context_window_size"); lacks != (c.Seat == "dev-doc@shop") {
			t.Errorf("%s misses %v", c.Seat, c.Missing)
		}
	}
	if len(p.Skipped) != 1 || p.Skipped[0].Seat != "dev-qa@shop" || p.Skipped[0].Reason != engine.ReasonCodex {
		t.Errorf("skipped %+v", p.Skipped)
	}
	if len(p.Schedule) != 3 { // one seat of a rig at a time
		t.Errorf("schedule %+v", p.Schedule)
	}
}

// B27: numbers from before a compaction are no numbers. B29: tokens are judged
// where the window cannot be right.
func TestPlanOfDoubtfulNumbers(t *testing.T) {
	void := engine.Usage{Note: engine.NoteAwaitingReply + " at 10:29"}
	wrong := engine.Usage{Known: true, Tokens: 360_236, SampledAt: planNow, Confidence: engine.ConfidenceLow, Note: "360236 tokens in use exceed the reported window of 200000: the window is wrong"}
	f := planFleet(planSeat("dev-impl@shop", engine.RuntimeClaude, void), planSeat("dev-big@shop", engine.RuntimeClaude, wrong))
	p := engine.PlanCompaction(f, nil, engine.CompactPlanOptions{})
	if len(p.Candidates) != 0 || len(p.Blocked) != 1 || p.Blocked[0].Seat != "dev-impl@shop" || p.Blocked[0].Percent != nil {
		t.Fatalf("%+v", p)
	}
	if b := p.Blocked[0]; !strings.Contains(strings.Join(b.Reasons, " "), engine.ReasonAwaiting) || !strings.Contains(b.Note, "10:29") || b.Freshness != "unknown" {
		t.Errorf("%+v", b)
	}
	if s := p.Skipped; len(s) != 1 || s[0].Reason != engine.ReasonBelow || s[0].Percent != nil || *s[0].Tokens != 360_236 || !strings.Contains(s[0].Note, "200000") {
		t.Errorf("%+v", s)
	}
	p = engine.PlanCompaction(f, nil, engine.CompactPlanOptions{Tokens: 300_000})
	if len(p.Candidates) != 1 || p.Candidates[0].Threshold != engine.ReasonTokens {
		t.Errorf("with 300,000: %+v", p.Candidates)
	}
}

// A seat that is stuck is never offered, however full it is; one that is not full
// is skipped whatever it does.
func TestPlanNeverOffersAStuckSeat(t *testing.T) {
	full, low := known(190_000, 200_000), known(10_000, 200_000)
	for state, want := range map[engine.ActivityState]string{
		engine.ActivityWaiting: "target_needs_input", engine.ActivityLimit: "usage_limit", engine.ActivityUnknown: "target_activity_unknown",
		engine.ActivityExited: "session_missing", engine.ActivityIdle: "", engine.ActivityBusy: "",
	} {
		a, b := planSeat("dev-a@r", engine.RuntimeClaude, full), planSeat("dev-b@r", engine.RuntimeClaude, low)
		a.Activity.State, b.Activity.State = state, state
		p := engine.PlanCompaction(planFleet(a, b), nil, engine.CompactPlanOptions{})
		if len(p.Skipped) != 1 || p.Skipped[0].Seat != "dev-b@r" {
			t.Errorf("%s: skipped %v", state, addresses(p.Skipped))
		}
		switch {
		case want == "" && len(p.Candidates) != 1:
			t.Errorf("%s: not a candidate: %+v", state, p.Blocked)
		case want != "" && (len(p.Blocked) != 1 || !strings.Contains(strings.Join(p.Blocked[0].Reasons, " "), want)):
			t.Errorf("%s: %+v", state, p.Blocked)
		}
	}
	gone := planSeat("dev-a@r", engine.RuntimeClaude, engine.Usage{Note: "nothing"})
	gone.Life, gone.SessionName = engine.LifeLost, ""
	p := engine.PlanCompaction(planFleet(gone), nil, engine.CompactPlanOptions{})
	if got := strings.Join(p.Blocked[0].Reasons, " "); got != "missing_canonical_session seat_not_running_or_ready context_unknown" {
		t.Errorf("all blockers: %s", got)
	}
}

// Freshness follows what was read, not the clock; a reading that could not be
// renewed is stale.
func TestPlanFreshness(t *testing.T) {
	old := known(190_000, 200_000)
	old.SampledAt = planNow.Add(-5 * time.Hour)
	stale := known(190_000, 200_000)
	stale.Stale = true
	p := engine.PlanCompaction(planFleet(planSeat("dev-old@r", engine.RuntimeClaude, old), planSeat("dev-stale@r", engine.RuntimeClaude, stale)), nil, engine.CompactPlanOptions{})
	for _, c := range p.Candidates {
		isStale := c.Seat == "dev-stale@r"
		if (c.Freshness == "stale") != isStale || strings.Contains(strings.Join(c.Reasons, " "), "context_stale") != isStale {
			t.Errorf("%s: %s %v", c.Seat, c.Freshness, c.Reasons)
		}
		if !isStale && c.Age == "now" {
			t.Errorf("the age of five hours is shown as %q", c.Age)
		}
	}
}

// samplesOf makes stored samples, newest first, one a step before the last.
func samplesOf(end time.Time, step time.Duration, tokens ...int64) []engine.StoredUsage {
	var out []engine.StoredUsage
	for i := len(tokens) - 1; i >= 0; i-- {
		u := known(tokens[i], 1_000_000)
		u.Generation, u.SampledAt = 1, end.Add(-time.Duration(len(tokens)-1-i)*step)
		out = append(out, engine.StoredUsage{SeatID: "dev-a@r", Usage: u})
	}
	return out
}

func TestForecast(t *testing.T) {
	at := planNow.Add(-time.Minute)
	now := func(tokens int64) engine.Usage {
		u := known(tokens, 1_000_000)
		u.SampledAt = at
		return u
	}
	for name, c := range map[string]struct {
		usage   engine.Usage
		history []engine.StoredUsage
		known   bool
		why     string
		samples int
	}{
		"two samples":        {now(400_000), samplesOf(at, 10*time.Minute, 300_000, 400_000), false, "2 of 3 samples", 2},
		"steady":             {now(600_000), samplesOf(at, 10*time.Minute, 300_000, 400_000, 500_000, 600_000), true, "", 4},
		"after a compaction": {now(60_000), samplesOf(at, 10*time.Minute, 700_000, 800_000, 40_000, 60_000), false, "2 of 3 samples", 2},
		"awaiting":           {engine.Usage{Note: engine.NoteAwaitingReply}, samplesOf(at, 10*time.Minute, 1, 2, 3), false, "no present sample", 0},
		"not growing":        {now(400_000), samplesOf(at, 10*time.Minute, 400_000, 400_000, 400_000), false, "does not grow", 3},
		"all at once":        {now(400_000), samplesOf(at, time.Second, 300_000, 350_000, 400_000), false, "too close together", 3},
		"too long ago":       {now(400_000), samplesOf(at, 3*time.Hour, 200_000, 300_000, 400_000), false, "1 of 3 samples", 1},
	} {
		s := planSeat("dev-a@r", engine.RuntimeClaude, c.usage)
		p := engine.PlanCompaction(planFleet(s), map[string][]engine.StoredUsage{s.ID: c.history}, engine.CompactPlanOptions{})
		got := append(append(p.Candidates, p.Blocked...), p.Skipped...)[0].Forecast
		if got.Known != c.known || !strings.Contains(got.Why, c.why) || got.Samples != c.samples {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A forecast is a range, and a rate that slows down leaves its end open.
func TestForecastRange(t *testing.T) {
	at := planNow
	forecast := func(tokens ...int64) engine.Forecast {
		s := planSeat("dev-a@r", engine.RuntimeClaude, known(tokens[len(tokens)-1], 1_000_000))
		s.Usage.SampledAt = at
		p := engine.PlanCompaction(planFleet(s), map[string][]engine.StoredUsage{s.ID: samplesOf(at, 10*time.Minute, tokens...)}, engine.CompactPlanOptions{})
		return append(append(p.Candidates, p.Blocked...), p.Skipped...)[0].Forecast
	}
	// 600,000 an hour all along: 400,000 are left, 40 minutes.
	if f := forecast(300_000, 400_000, 500_000, 600_000); f.WallEarly != 40 || f.WallLate != 40 || f.RateLow != 600_000 {
		t.Errorf("steady: %+v", f)
	}
	if f := forecast(200_000, 240_000, 400_000, 600_000); !(f.WallEarly < f.WallLate) || f.RateLow >= f.RateHigh || !strings.Contains(f.Text(), " to ") {
		t.Errorf("uneven: %+v %s", f, f.Text())
	}
	if f := forecast(400_000, 600_000, 600_000, 600_000); !f.Open || f.WallLate != 0 || !strings.Contains(f.Text(), "or later") {
		t.Errorf("slowing down: %+v %s", f, f.Text())
	}
}

// The same number, of the same age, stands in a plan and in the picture.
func TestPlanAndPictureAgree(t *testing.T) {
	f := planFleet(planSeat("dev-a@r", engine.RuntimeClaude, known(450_000, 1_000_000)))
	p := engine.PlanCompaction(f, nil, engine.CompactPlanOptions{})
	s, c := f.Seats()[0], p.Candidates[0]
	if *c.Tokens != s.Usage.Tokens || *c.Percent != s.Usage.Percent || *c.Window != s.Usage.Window || !c.SampledAt.Equal(s.Usage.SampledAt) {
		t.Errorf("%+v is not %+v", c, s.Usage)
	}
}

func BenchmarkPlanCompaction500(b *testing.B) {
	var seats []engine.SeatView
	history := map[string][]engine.StoredUsage{}
	for i := range 500 {
		s := planSeat(fmt.Sprintf("dev-m%03d@rig%02d", i, i/10), engine.RuntimeClaude, known(int64(i)*2000, 1_000_000))
		seats = append(seats, s)
		for j := range 60 {
			u := known(int64(i)*2000-int64(j)*100, 1_000_000)
			u.Generation, u.SampledAt = 1, planNow.Add(-time.Duration(j+1)*time.Minute)
			history[s.ID] = append(history[s.ID], engine.StoredUsage{SeatID: s.ID, Usage: u})
		}
	}
	f := planFleet(seats...)
	b.ResetTimer()
	for b.Loop() {
		engine.PlanCompaction(f, history, engine.CompactPlanOptions{})
	}
}

// A refresh that fails gives no plan; without one the plan says what is known.
func TestPlanNeedsItsRefresh(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	b.faults.Fail = func(call string, _ int) (bool, bool) { return call == "inventory", false }
	if p, err := b.e.CompactPlan(t.Context(), engine.CompactPlanOptions{Refresh: true}); engine.CodeOf(err) != engine.CodeRefreshFailed || p != nil {
		t.Errorf("%+v %v", p, err)
	}
	if p, err := b.e.CompactPlan(t.Context(), engine.CompactPlanOptions{}); err != nil || len(p.Blocked) != 1 {
		t.Errorf("%+v %v", p, err)
	}
	if _, err := b.e.CompactPlan(t.Context(), engine.CompactPlanOptions{Rig: "nope", Refresh: true}); engine.CodeOf(err) != engine.CodeNotFound {
		t.Errorf("%v", err)
	}
}
