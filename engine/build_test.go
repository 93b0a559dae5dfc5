package engine_test

import (
	"strings"
	"testing"

	"rig/engine"
)

func TestOlderBuildIsProven(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"0.1.0", "0.2.0", true},
		{"v0.9.0 (abc)", "v0.10.0 (def)", true},
		{"v1.0.0", "v1.0.0-3-gabcdef0 (abcdef0)", true},
		{"v1.0.0-3-gabcdef0", "v1.0.0-12-gabcdef1-dirty (abcdef1)", true},
		{"v1.0.0-12-gabcdef1", "v1.0.0", false},
		{"v1.0.0", "v1.0.0", false},
		{"v2.0.0", "v1.9.9", false},
		{"dc71692 (dc716925cec0)", "v1.0.0", false},
		{"v1.0.0", "", false},
		{"v1.0.0", "99999999999999999999.0.0", false},
		{"0.0.0-dev (unknown)", "v1.0.0", false},
		{"v1.0.0-rc.1", "v1.0.0", false},
	} {
		if got := engine.OlderBuild(c.a, c.b); got != c.want {
			t.Errorf("%q older than %q: %v", c.a, c.b, got)
		}
	}
}

// TestOlderBuildIsNamedBeforeItActs: a plan of an older build says which newer one
// has acted on the record; the newer one stays on record whoever acts next.
func TestOlderBuildIsNamedBeforeItActs(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	warned := func(build string) bool {
		t.Helper()
		b.rebuild(build)
		p, err := b.e.Plan(t.Context(), stopRequest("dev.m0"))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(p.Warnings, "\n")
		return strings.Contains(text, "build "+build) && strings.Contains(text, "the newer build v0.2.0 (b)")
	}
	b.rebuild("v0.2.0 (b)")
	rec := b.run(t, stopRequest("dev.m0"))
	if rec.Operation.Build != "v0.2.0 (b)" {
		t.Errorf("the receipt names build %q", rec.Operation.Build)
	}
	if op, _, err := b.e.Operation(t.Context(), rec.Operation.ID); err != nil || op.Build != "v0.2.0 (b)" {
		t.Errorf("the operation names build %q, %v", op.Build, err)
	}
	if !warned("v0.1.0 (a)") {
		t.Error("the older build was not named")
	}
	b.run(t, freshRequest("dev.m0", false)) // it may act all the same
	if !warned("v0.1.0 (a)") {
		t.Error("the older build took the newer one's place on record")
	}
	for _, build := range []string{"v0.2.0 (b)", "v0.3.0 (c)", "1234567 (1234567)"} {
		if warned(build) {
			t.Errorf("%s was warned of", build)
		}
	}
}
