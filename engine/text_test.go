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

func TestReasonsAreSaidInWords(t *testing.T) {
	for in, want := range map[string]string{
		"no_conversation_by_nature": "no conversation by nature", "awaiting-decision": "awaiting-decision", "its file_x is gone": "its file_x is gone",
		"/home/a_b/c": "/home/a_b/c", "A_B": "A_B", "": "",
	} {
		if got := engine.InWords(in); got != want {
			t.Errorf("%q is said as %q", in, got)
		}
	}
}
