package main

import (
	"strings"
	"testing"
)

// A program gets a document on one line, whoever reads at a terminal an indented one.
func TestJSONIsIndentedAtATerminal(t *testing.T) {
	w := newWorld(t)
	if out := w.must("ps", "--json"); strings.Index(out, "\n") != len(out)-1 || !strings.Contains(out, `"rigs":[]`) {
		t.Errorf("in a pipe:\n%s", out)
	}
	w.terminal(80, 24, "ps", "--json").shows("  \"totals\": {", `"seats": []`)
}
