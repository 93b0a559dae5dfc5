package engine

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestADiffTurnsOneTextIntoTheOther: what stays and goes is the old text in order, what stays and comes the new one, for texts of
// few words, so that they have much in common.
func TestADiffTurnsOneTextIntoTheOther(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	some := func() []string {
		out := make([]string, r.IntN(12))
		for i := range out {
			out[i] = []string{"a", "b", "c", "", "## d"}[r.IntN(5)]
		}
		return out
	}
	for range 3000 {
		a, b := some(), some()
		var old, now []string
		walkDiff(a, b, func(i, j int) {
			if i >= 0 {
				old = append(old, a[i])
			}
			if j >= 0 {
				now = append(now, b[j])
			}
			if i >= 0 && j >= 0 && a[i] != b[j] {
				t.Errorf("%q and %q are called the same", a[i], b[j])
			}
		})
		if !slices.Equal(old, a) && len(a) > 0 || !slices.Equal(now, b) && len(b) > 0 {
			t.Fatalf("%q to %q: %q, %q", a, b, old, now)
		}
	}
}

// TestALongDiffIsBounded: texts that are too long to be matched are still laid side by side, and what is shown has an end.
func TestALongDiffIsBounded(t *testing.T) {
	e := New(Deps{})
	lines := e.textDiff(strings.Repeat("x\n", 4000), strings.Repeat("y\n", 4000))
	if len(lines) != diffShown+1 || lines[diffShown].Text != "7600 more lines" || lines[diffShown].Kind != LineTextGap {
		t.Errorf("%d lines, the last %+v", len(lines), lines[len(lines)-1])
	}
	if (TextChange{Lines: e.textDiff("a", "a\n")}).lines() != nil {
		t.Error("a text without a changed line is shown")
	}
}
