package packet

import (
	"slices"
	"strings"
	"testing"
)

func TestRedactLinesAcrossTheEdge(t *testing.T) {
	secret := "gh" + "p_" + ex[:36]
	for at := 1; at < len(secret); at++ {
		first := strings.Repeat("x", 60-at-1) + " " + secret[:at]
		lines := []string{"short", first, secret[at:] + " and more", "", "end"}
		got, counts := RedactLines(lines, 0)
		want := []string{"short", strings.Repeat("x", 60-at-1) + " " + Marker, " and more", "", "end"}
		if !slices.Equal(got, want) || counts["github_token"] != 1 {
			t.Fatalf("broken at %d: %q (%v)", at, got, counts)
		}
	}
}

func TestRedactLinesOverThreeLines(t *testing.T) {
	secret := "sk-" + "ant-api03-" + ex[:30]
	lines := []string{"k " + secret[:18], secret[18:38], secret[38:], "tail"}
	got, counts := RedactLines(lines, 0)
	if !slices.Equal(got, []string{"k " + Marker, "", "", "tail"}) || counts.Total() != 1 {
		t.Errorf("%q %v", got, counts)
	}
}

func TestRedactLinesLeavesTheRest(t *testing.T) {
	lines := []string{"❯ git log", "3f2c9a7b5e1d4c8f6a0b9d8e7c6f5a4b3c2d1e0f", "/home/op/project/packages/daemon/planner.go", ""}
	if got, counts := RedactLines(lines, 0); counts != nil || &got[0] != &lines[0] {
		t.Errorf("%q %v", got, counts)
	}
	two := []string{"a token gh" + "p_" + ex[:36] + " b sk-" + ex[:20], "next line"}
	if got, counts := RedactLines(two, 120); got[0] != "a token "+Marker+" b "+Marker || got[1] != "next line" || counts.Total() != 2 {
		t.Errorf("%q %v", got, counts)
	}
	if got, _ := RedactLines([]string{"last gh" + "p_EXAM"}, 80); got[0] != "last "+Marker {
		t.Errorf("a screen ends anywhere: %q", got)
	}
	if got, counts := RedactLines(nil, 0); got != nil || counts != nil {
		t.Errorf("%q %v", got, counts)
	}
}

// A client breaks a long word at the margin of its own box and indents what follows.
func TestRedactLinesWithAHangingIndent(t *testing.T) {
	secret := "gh" + "p_" + ex[:36]
	for at := 4; at < len(secret); at++ {
		first := "  " + strings.Repeat("x", 55-at) + " " + secret[:at]
		lines := []string{strings.Repeat("─", 60), first, "  " + secret[at:] + " and more", "end"}
		got, counts := RedactLines(lines, 0)
		want := []string{lines[0], "  " + strings.Repeat("x", 55-at) + " " + Marker, " and more", "end"}
		if !slices.Equal(got, want) || counts["github_token"] != 1 {
			t.Fatalf("broken at %d: %q (%v)", at, got, counts)
		}
	}
}

// A word at the edge must not hide what begins in the next line.
func TestRedactLinesReadsEveryLineAlone(t *testing.T) {
	secret := "gh" + "p_" + ex[:36]
	for _, indent := range []string{"", "  "} {
		lines := []string{strings.Repeat("x", 60), indent + secret, "end"}
		got, counts := RedactLines(lines, 0)
		if want := []string{lines[0], indent + Marker, "end"}; !slices.Equal(got, want) || counts.Total() != 1 {
			t.Errorf("%q (%v)", got, counts)
		}
	}
}
