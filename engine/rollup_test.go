package engine

import "testing"

// A restore is called partial only if something has come back.
func TestRollUp(t *testing.T) {
	for _, c := range []struct {
		want  RestoreResult
		seats []Continuity // m0, m1, …; a shell where it is fresh-primed
	}{
		{RestoreFull, []Continuity{ContinuityResumed, ContinuityFreshPrimed}},
		{RestoreFull, []Continuity{ContinuityFreshPrimed}},
		{RestoreFailed, []Continuity{ContinuityFailed, ContinuityFailed}},
		{RestoreFailed, []Continuity{ContinuityFailed, ContinuityAwaiting}},
		{RestorePartial, []Continuity{ContinuityFailed, ContinuityAwaiting, ContinuityFreshPrimed}},
		{RestorePartial, []Continuity{ContinuityFailed, ContinuityResumed}},
		{RestorePartial, []Continuity{ContinuityAwaiting, ContinuityResumed}},
		{RestorePartial, []Continuity{ContinuityFresh}},
		{RestorePartial, []Continuity{ContinuityAttention, ContinuityFailed}},
	} {
		var intended []string
		seats, terminal := map[string]SeatReceipt{}, map[string]bool{}
		for i, outcome := range c.seats {
			address := Address("dev", "m"+itoa(int64(i)), "team")
			intended = append(intended, address)
			seats[address] = SeatReceipt{Seat: address, Outcome: outcome}
			terminal[address] = outcome == ContinuityFreshPrimed
		}
		if got, counts := rollUp(intended, seats, terminal); got != c.want {
			t.Errorf("%v: %s (%v), want %s", c.seats, got, counts, c.want)
		}
	}
}
