package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"rig/engine"
)

// TestExplainTellsWhatAgreesFromWhatDoesNot: "but" is said of evidence against a fact alone.
func TestExplainTellsWhatAgreesFromWhatDoesNot(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	act := reading(engine.ActivityIdle, engine.ConfidenceHigh)
	act.Competing = []engine.Reading{
		{State: engine.ActivityIdle, Source: "hooks", Why: "it said so", Rule: "Stop"},
		{State: engine.ActivityBusy, Source: "title", Why: "a spinner", Rule: "spinner"},
	}
	b.claude.activity = act
	x, err := b.e.Explain(context.Background(), "dev.m0", "status")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(x.Facts, func(f engine.ExplainedFact) bool { return f.Name == "activity" })
	if i < 0 {
		t.Fatalf("%+v", x)
	}
	f := x.Facts[i]
	if len(f.Agreeing) != 1 || !strings.HasPrefix(f.Agreeing[0], "hooks says idle") || len(f.Competing) != 1 || !strings.HasPrefix(f.Competing[0], "title says busy") {
		t.Errorf("%+v", f)
	}
}
