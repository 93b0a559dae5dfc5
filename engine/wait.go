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
// CodeWaitTimeout, or with CodeUnavailable when nobody can tell what the seat does.
func (e *Engine) Wait(ctx context.Context, ref string, until []string) (*SeatView, error) {
	for _, u := range until {
		if !slices.Contains(WaitStates, u) {
			return nil, Errorf(CodeInvalid, "no state %q", u).WithHint("one of %s", strings.Join(WaitStates, ", "))
		}
	}
	var s *SeatView
	for {
		now, _, err := e.SeatView(ctx, ref)
		switch {
		case err != nil && ctx.Err() == nil:
			return nil, err
		case err == nil && inState(now, until):
			return now, nil
		case s == nil || err == nil && ctx.Err() == nil: // a look that was cut off has seen less than the one before
			s = now
		}
		if pause(ctx, 120*time.Millisecond) != nil {
			return s, notInTime(s, ref, until)
		}
	}
}

// notInTime tells a seat that does something else from one of which nobody knows what
// it does.
func notInTime(s *SeatView, ref string, until []string) error {
	e := Errorf(CodeUnavailable, "nobody can tell whether it became %s", strings.Join(until, " or ")).On("wait", ref).WithHint("`rig doctor` looks into it")
	if s != nil && s.Activity.State != ActivityUnknown {
		e = Errorf(CodeWaitTimeout, "it did not become %s in time", strings.Join(until, " or ")).On("wait", ref).WithHint("`rig seat status %s` shows what it does", ref)
	}
	if s != nil {
		e = e.With("activity", s.Activity.State).With("why", s.Activity.Why)
	}
	return e
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
