package engine

import (
	"context"
	"slices"
	"strings"
	"time"
)

// WaitStates are what `rig wait --until` takes.
var WaitStates = []string{"idle", "busy", "waiting", "attention", "limit", "exited"}

// Wait looks until a seat is in one of the states, and gives the picture of it
// at that moment. When ctx ends first the last picture comes with
// CodeUnavailable.
func (e *Engine) Wait(ctx context.Context, ref string, until []string) (*SeatView, error) {
	for _, u := range until {
		if !slices.Contains(WaitStates, u) {
			return nil, Errorf(CodeInvalid, "no state %q", u).WithHint("one of %s", strings.Join(WaitStates, ", "))
		}
	}
	for {
		s, _, err := e.SeatView(ctx, ref)
		if err != nil && ctx.Err() == nil {
			return nil, err
		}
		if err == nil && inState(s, until) {
			return s, nil
		}
		if pause(ctx, 120*time.Millisecond) != nil {
			e := Errorf(CodeUnavailable, "it did not become %s in time", strings.Join(until, " or ")).On("wait", ref).WithHint("`rig seat status %s` shows what it does", ref)
			if s != nil {
				e = e.With("activity", s.Activity.State).With("why", s.Activity.Why)
			}
			return s, e
		}
	}
}

func inState(s *SeatView, until []string) bool {
	for _, u := range until {
		switch {
		case u == "attention" && len(s.Attention) > 0, u == string(s.Activity.State):
			return true
		}
	}
	return false
}
