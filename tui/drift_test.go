package tui

import (
	"slices"
	"testing"

	"rig/engine"
)

// TestDriftIsToldWhereThereIsOne: a seat that is as its spec has it needs no row; the fields that differ have one each.
func TestDriftIsToldWhereThereIsOne(t *testing.T) {
	t.Parallel()
	for _, d := range []engine.SpecDrift{{}, {State: engine.DriftSame}, {State: engine.DriftUnknown, Why: "no file is on record"}} {
		if rows := driftFacts(d); len(rows) > 0 {
			t.Errorf("%+v: %+v", d, rows)
		}
	}
	rows := driftFacts(engine.SpecDrift{
		Spec: "/p/team.yaml", State: engine.DriftDiffers, Why: "1 field of the spec differs",
		Fields: []engine.DriftField{{Field: "model", Seat: "opus\x1b[2J"}},
	})
	i := slices.IndexFunc(rows, func(f fact) bool { return f.label == "model" })
	if i < 0 || rows[i].value != clean("opus\x1b[2J") || rows[i].note != "the spec says nothing" {
		t.Errorf("%+v", rows)
	}
	if rows := driftFacts(engine.SpecDrift{State: engine.DriftUnknown, Code: engine.CodeValidationFailed, Why: "it has errors"}); len(rows) == 0 {
		t.Error("a spec that cannot be read is not told")
	}
}
