package engine

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// explainPressure says where the numbers beside a gauge come from: threshold,
// rate, time to the wall, and what the compact plan makes of them. place is the
// seat's turn in the plan, "" when that is not known here.
func explainPressure(e *CompactEntry, place string, now time.Time) []ExplainedFact {
	if e.Runtime == RuntimeTerminal {
		return nil
	}
	rate, wall := "unknown", e.Forecast.Text()
	if e.Forecast.Known {
		rate = fmt.Sprintf("%d to %d tokens an hour", int64(e.Forecast.RateLow), int64(e.Forecast.RateHigh))
	}
	span, sure := "no sample", ConfidenceLow
	if n := len(e.Trend); n > 0 {
		span = fmt.Sprintf("%d of the samples on record and the present one, since %s", e.Forecast.Samples, Age(e.Trend[0].At, now))
	}
	near := NearWall(0)
	if e.Window != nil {
		near = NearWall(*e.Window)
	}
	out := []ExplainedFact{
		{
			Name: "threshold", Value: fmt.Sprintf("%g %% of its window", near), Source: "compact-plan's defaults", Age: "now", Confidence: ConfidenceHigh,
			Rule: fmt.Sprintf("%g %% of the real window or %d tokens, whichever comes first", PlanThresholdPercent, PlanThresholdTokens),
		},
		{
			Name: "rate", Value: rate, Source: span, Age: Age(e.SampledAt, now), Confidence: sure,
			Rule: "slowest and fastest of three readings: the whole line, its older and its newer half; only since the start or the last compaction",
		},
		{
			Name: "wall", Value: wall, Source: "rate, tokens and window", Age: Age(e.SampledAt, now), Confidence: sure,
			Rule: "what is left of the window at the fastest and at the slowest rate; their spread is the uncertainty",
		},
	}
	plan := ExplainedFact{Name: "plan", Value: e.Status, Source: "compact-plan", Age: "now", Confidence: ConfidenceHigh, Rule: strings.Join(e.Reasons, ", ")}
	if e.Reason != "" {
		plan.Rule = e.Reason
	}
	if place != "" {
		plan.Value += ", " + place
	}
	for _, m := range e.Missing {
		plan.Competing = append(plan.Competing, "missing: "+m)
	}
	return append(out, plan)
}

// place says when a seat's turn is in the plan, "" when it is no candidate.
func (p *CompactPlan) place(seat string) string {
	for i, s := range p.RecommendedOrder {
		if s != seat {
			continue
		}
		for _, slot := range p.Schedule {
			for _, other := range slot.Seats {
				if other == seat {
					return fmt.Sprintf("number %d of %d, round %d", i+1, len(p.RecommendedOrder), slot.Slot)
				}
			}
		}
	}
	return ""
}

// Entry gives a seat's entry in the plan; nil when the plan has none.
func (p *CompactPlan) Entry(seatID string) *CompactEntry {
	for _, list := range [][]CompactEntry{p.Candidates, p.Blocked, p.Skipped} {
		for i := range list {
			if list[i].SeatID == seatID {
				return &list[i]
			}
		}
	}
	return nil
}

// addPressure adds to an explanation what stands beside the gauge. f is a picture
// that holds the seat; whole says that it has readings of the others too.
func (e *Engine) addPressure(ctx context.Context, x *Explanation, f *Fleet, s *SeatView, topic string, whole bool) error {
	if topic != "" && topic != "context" {
		return nil
	}
	o := CompactPlanOptions{Rig: s.Rig}
	if whole {
		o.Rig = ""
	}
	p, err := e.PlanFrom(ctx, f, o)
	if err != nil {
		return err
	}
	place := ""
	if whole {
		place = p.place(s.Address)
	}
	if entry := p.Entry(s.ID); entry != nil {
		at := 0
		for i := range x.Facts {
			if x.Facts[i].Name == "context" {
				at = i + 1
			}
		}
		tail := append([]ExplainedFact{}, x.Facts[at:]...)
		x.Facts = append(append(x.Facts[:at:at], explainPressure(entry, place, f.At)...), tail...)
	}
	return nil
}
