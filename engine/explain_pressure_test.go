package engine

import (
	"strings"
	"testing"
	"time"
)

func TestNearWallIsTheNearerOfTwoThresholds(t *testing.T) {
	t.Parallel()
	for window, want := range map[int64]float64{0: 80, 200_000: 80, 500_000: 80, 1_000_000: 40, 2_000_000: 20} {
		if got := NearWall(window); got != want {
			t.Errorf("of %d: %g %%, want %g", window, got, want)
		}
	}
}

// A trend shows a compaction; the forecast beside it stands on what came after.
func TestTrendShowsWhatAForecastLeavesOut(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 14, 10, 30, 0, 0, time.UTC)
	sample := func(ago time.Duration, tokens, generation int64) StoredUsage {
		return StoredUsage{SeatID: "s", Usage: Usage{Known: true, Tokens: tokens, Window: 200_000, SampledAt: now.Add(-ago), Generation: generation}}
	}
	s := &SeatView{ID: "s", Address: "dev-a@r", Runtime: RuntimeClaude, Generation: 2, Usage: sample(time.Minute, 40_000, 2).Usage}
	history := []StoredUsage{
		sample(time.Minute, 40_000, 2),
		sample(11*time.Minute, 30_000, 2),
		sample(21*time.Minute, 20_000, 2),
		sample(31*time.Minute, 150_000, 2), // before its compaction
		sample(41*time.Minute, 140_000, 2),
		sample(51*time.Minute, 90_000, 1), // another occupant
		sample(3*time.Hour, 10_000, 2),    // too long ago
	}
	got := trendPoints(s, history, now)
	var tokens []string
	for _, p := range got {
		tokens = append(tokens, itoa(p.Tokens))
	}
	if strings.Join(tokens, " ") != "140000 150000 20000 30000 40000" {
		t.Errorf("%v", tokens)
	}
	if f := forecastOf(s, history, now); !f.Known || f.Samples != 3 {
		t.Errorf("%+v", f)
	}
}

// Every number beside a gauge has an explanation with a source and a rule.
func TestEveryPressureNumberIsExplained(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 14, 10, 30, 0, 0, time.UTC)
	seat := SeatView{
		ID: "s", Address: "dev-a@r", Rig: "r", Runtime: RuntimeClaude, Generation: 2, SessionName: "x", Life: LifeRunning, Startup: StartupReady,
		Activity: Activity{Reading: Reading{State: ActivityIdle}},
		Usage:    Usage{Known: true, Tokens: 180_000, Window: 200_000, Percent: 90, SampledAt: now.Add(-time.Minute), Generation: 2, Source: "statusline"},
	}
	var history []StoredUsage
	for i := range int64(5) {
		u := seat.Usage
		u.Tokens, u.SampledAt = u.Tokens-i*10_000, u.SampledAt.Add(-time.Duration(i)*10*time.Minute)
		history = append(history, StoredUsage{SeatID: "s", Usage: u})
	}
	f := &Fleet{At: now, Rigs: []RigView{{Name: "r", Seats: []SeatView{seat}}}}
	p := PlanCompaction(f, map[string][]StoredUsage{"s": history}, CompactPlanOptions{})
	facts := map[string]ExplainedFact{}
	for _, x := range explainPressure(p.Entry("s"), p.place("dev-a@r"), now) {
		if x.Source == "" || x.Rule == "" || x.Age == "" {
			t.Errorf("%+v", x)
		}
		facts[x.Name] = x
	}
	for name, want := range map[string]string{
		"threshold": "80 % of its window", "rate": "60000 to 60000 tokens an hour", "wall": "wall in", "plan": "candidate_with_caveats, number 1 of 1, round 1",
	} {
		if !strings.Contains(facts[name].Value, want) {
			t.Errorf("%s is %q", name, facts[name].Value)
		}
	}
	if p.Entry("nobody") != nil || p.place("nobody") != "" {
		t.Error("something is told of nobody")
	}
}
