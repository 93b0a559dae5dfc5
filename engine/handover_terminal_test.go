package engine_test

import (
	"context"
	"strings"
	"testing"

	"rig/engine"
)

// The plan of a handover does not promise a packet to a terminal: no step delivers one.
func TestHandoverOfATerminalPromisesNoPacket(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude, engine.RuntimeTerminal)
	defer b.close(t)
	b.run(t, upRequest())
	for seat, want := range map[string]string{"dev.m0": "a restore packet, as its opening prompt", "dev.m1": "a restart: a terminal is told nothing"} {
		p, err := b.e.Plan(context.Background(), handoverRequest(seat, "fresh"))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range p.Changes {
			if c.Field == "occupant" && !strings.HasSuffix(c.After, ", "+want) {
				t.Errorf("%s becomes %q", seat, c.After)
			}
		}
	}
}
