package engine_test

import (
	"testing"

	"rig/engine"
)

// A pane that goes because an operation at work ends its occupant needs nobody; once that is
// cut off, or another operation is at work, it does.
func TestASeatThatIsBeingEndedNeedsNobody(t *testing.T) {
	for _, c := range []struct {
		verb   engine.Verb
		cutOff bool
		lost   int
	}{
		{engine.VerbSeatStop, false, 0},
		{engine.VerbDown, false, 0},
		{engine.VerbRemove, false, 0},
		{engine.VerbShrink, false, 0},
		{engine.VerbSeatLaunch, false, 0},
		{engine.VerbSeatStop, true, 1},
		{engine.VerbHandover, false, 1},
		{"", false, 1},
	} {
		in := bigRecord(1)
		in.Inv.Panes = nil
		address := engine.BuildFleet(in).Seats()[0].Address
		if c.verb != "" {
			in.Record.Open = []engine.Operation{{ID: "op1", Verb: c.verb, State: engine.OpRunning}}
			in.Record.Leases = []engine.Lease{{Key: "seat:seat0000", OpID: "op1"}}
			in.Dead = map[string]bool{"op1": c.cutOff}
			in.Steps = map[string][]engine.OperationStep{"op1": {{Seat: address, Kind: engine.StepStop, Effect: engine.EffectOneWay, State: engine.StepStarted}}}
		}
		lost := 0
		for _, it := range engine.BuildFleet(in).Attention {
			if it.Class == engine.AttnLost {
				lost++
			}
		}
		if lost != c.lost {
			t.Errorf("%s, cut off %v: %d, want %d", c.verb, c.cutOff, lost, c.lost)
		}
	}
}
