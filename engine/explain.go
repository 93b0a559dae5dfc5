package engine

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// Explain says where the facts about a seat come from: topic status, context or
// identity; "" gives all three.
func (e *Engine) Explain(ctx context.Context, ref, topic string) (Explanation, error) {
	switch topic {
	case "", "status", "context", "identity":
	default:
		return Explanation{}, Errorf(CodeInvalid, "no topic %q", topic).WithHint("status, context or identity")
	}
	s, f, err := e.seatAmongAll(ctx, ref)
	if err != nil {
		return Explanation{}, err
	}
	x := explainSeat(s, topic, f.At)
	err = e.addPressure(ctx, &x, f, s, topic, false)
	return x, err
}

func explainSeat(s *SeatView, topic string, now time.Time) Explanation {
	x := Explanation{Seat: s.Address, Topic: topic, Facts: []ExplainedFact{}}
	if topic == "" || topic == "status" {
		x.Facts = append(x.Facts, explainStatus(s, now)...)
	}
	if topic == "" || topic == "context" {
		x.Facts = append(x.Facts, explainContext(s, now))
	}
	if topic == "" || topic == "identity" {
		x.Facts = append(x.Facts, explainIdentity(s, now)...)
	}
	return x
}

func explainStatus(s *SeatView, now time.Time) []ExplainedFact {
	a := s.Activity
	var agreeing, competing []string
	for _, c := range a.Competing {
		says := fmt.Sprintf("%s says %s: %s (%s)", c.Source, c.State, c.Why, c.Rule)
		if c.State == a.State {
			agreeing = append(agreeing, says)
		} else {
			competing = append(competing, says)
		}
	}
	return []ExplainedFact{
		{Name: "lifecycle", Value: string(s.Life), Source: "record and tmux", Rule: s.LifeWhy, Age: "now", Confidence: ConfidenceHigh},
		{
			Name: "activity", Value: string(a.State) + reasonWord(a.Why), Source: a.Source, Rule: a.Rule, Age: Age(orNow(a.At, now), now),
			Confidence: a.Confidence, Agreeing: agreeing, Competing: competing,
		},
		{
			Name: "continuity", Value: cmp.Or(string(s.Continuity), "unverified"), Source: "record", Rule: "written by the last change of occupant",
			Age: Age(s.OutcomeAt, now), Confidence: ConfidenceHigh,
		},
	}
}

func reasonWord(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

func orNow(t, now time.Time) time.Time {
	if t.IsZero() {
		return now
	}
	return t
}

func explainContext(s *SeatView, now time.Time) ExplainedFact {
	u := s.Usage
	f := ExplainedFact{Name: "context", Value: "unknown", Source: cmp.Or(u.Source, "none"), Rule: u.Note, Age: Age(u.SampledAt, now), Confidence: u.Confidence}
	if u.Known {
		f.Value = fmt.Sprintf("%d tokens", u.Tokens)
		if u.Window > 0 {
			f.Value += fmt.Sprintf(" of %d (%s)", u.Window, u.Share())
		}
		f.Rule = cmp.Or(u.Note, "the newest sample of this occupant")
	}
	return f
}

func explainIdentity(s *SeatView, now time.Time) []ExplainedFact {
	token := "none on record"
	if s.TokenPresent {
		token = "on record"
	}
	return []ExplainedFact{
		{
			Name: "pane identity", Value: cmp.Or(s.Identity, "cannot be told"), Source: "process table", Rule: cmp.Or(s.IdentityWhy, "not looked at"),
			Age: "now", Confidence: ConfidenceHigh,
		},
		{
			Name: "binding", Value: cmp.Or(string(s.Pane), "none"), Source: "record", Rule: "pane id, valid in one server epoch, with the seat's tag",
			Age: Age(s.StartedAt, now), Confidence: ConfidenceHigh,
		},
		{
			Name: "generation", Value: itoa(s.Generation), Source: "record", Rule: "ordinal of the occupant", Age: Age(s.StartedAt, now), Confidence: ConfidenceHigh,
		},
		{
			Name: "resume token", Value: token, Source: cmp.Or(string(s.TokenRank), "none"), Rule: "learned from the client's own record; never printed",
			Age: Age(s.StartedAt, now), Confidence: ConfidenceHigh,
		},
	}
}
