package main

import (
	"testing"

	"rig/engine"
)

// TestAShellHasNoContext: that a shell has no context window is known; of an agent that
// has not reported one it is not.
func TestAShellHasNoContext(t *testing.T) {
	t.Parallel()
	for runtime, want := range map[engine.RuntimeName]string{engine.RuntimeTerminal: "—", engine.RuntimeClaude: "?", engine.RuntimeCodex: "?"} {
		if got := contextCell(engine.SeatView{Runtime: runtime}); got != want {
			t.Errorf("%s: %q, want %q", runtime, got, want)
		}
	}
}
