package engine_test

import (
	"testing"

	"rig/engine"
)

// A little of a window is not nothing of it.
func TestUsageShare(t *testing.T) {
	for want, u := range map[string]engine.Usage{
		"0%":  {Known: true, Window: 1_000_000},
		"<1%": {Known: true, Window: 1_000_000, Tokens: 1200, Percent: 0.12},
		"1%":  {Known: true, Window: 1_000_000, Tokens: 5000, Percent: 0.5},
		"42%": {Known: true, Window: 100, Tokens: 42, Percent: 42.4},
	} {
		if got := u.Share(); got != want {
			t.Errorf("%+v reads %q", u, got)
		}
	}
}

// That the server is silent is said once.
func TestServerSilence(t *testing.T) {
	for why, want := range map[string]string{
		"":                              "tmux does not answer",
		"tmux did not answer within 4s": "tmux does not answer (nothing within 4s)",
		"permission denied":             "tmux does not answer: permission denied",
	} {
		if got := (engine.ServerView{Why: why}).Silence(); got != want {
			t.Errorf("%q reads %q", why, got)
		}
	}
}
