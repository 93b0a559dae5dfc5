package engine_test

import (
	"testing"

	"rig/engine"
)

func TestCounted(t *testing.T) {
	for want, got := range map[string]string{
		"1 seat": engine.Counted(1, "seat"), "0 seats": engine.Counted(0, "seat"), "2 blockers": engine.Counted(2, "blocker"),
		"2 entries": engine.Counted(2, "entry"), "3 days": engine.Counted(3, "day"), "1 entry": engine.Counted(1, "entry"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
