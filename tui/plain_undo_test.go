package tui

import (
	"strings"
	"testing"

	"rig/engine"
	"rig/tui/tuitest"
)

func TestPlainUndoes(t *testing.T) {
	for name, c := range map[string]struct {
		handed []string
		lines  []string
		undone string
		says   []string
	}{
		"the only one":     {[]string{"dev-qa@shop"}, []string{"undo", "op-dev-qa@shop"}, "op-dev-qa@shop", []string{"Undo handover of dev-qa@shop, operation op-dev-qa@shop.", "to apply this; anything else leaves it"}},
		"left":             {[]string{"dev-qa@shop"}, []string{"undo", "no"}, "", []string{"Nothing was changed"}},
		"a seat":           {[]string{"dev-qa@shop", "dev-impl@shop"}, []string{"undo qa", "op-dev-qa@shop"}, "op-dev-qa@shop", nil},
		"an operation":     {[]string{"dev-qa@shop", "dev-impl@shop"}, []string{"undo op-dev-impl@shop", "op-dev-impl@shop"}, "op-dev-impl@shop", nil},
		"which one":        {[]string{"dev-qa@shop", "dev-impl@shop"}, []string{"undo"}, "", []string{"  op-dev-qa@shop handover of dev-qa@shop, until 11:30:00", "  op-dev-impl@shop handover of"}},
		"nothing":          {nil, []string{"undo"}, "", []string{"No operation can be undone now."}},
		"nothing of it":    {[]string{"dev-qa@shop"}, []string{"undo dev-impl", "yes"}, "", []string{"Nothing of dev-impl@shop can be undone. undo SEAT", "op-dev-qa@shop"}},
		"another op":       {[]string{"dev-qa@shop"}, []string{"undo op-old0", "yes"}, "", []string{"up of shop cannot be undone. undo SEAT"}},
		"ruled out":        {[]string{"ops-nobody@shop"}, []string{"undo op-ops-nobody@shop", "yes"}, "", []string{"handover of ops-nobody@shop cannot be undone: its seat is not there any more."}},
		"no seat":          {nil, []string{"undo nobody"}, "", []string{`There is no seat "nobody"`}},
		"no count of none": {[]string{"dev-qa@shop"}, nil, "", []string{"operation handover dev-qa@shop: done\n"}},
	} {
		con := tuitest.New(handedOver(c.handed...))
		out := plainly(t, con, options(), c.lines...)
		_, _, done := con.Did()
		if got := strings.TrimPrefix(strings.Join(done, "|"), string(engine.VerbUndo)+" "); got != c.undone {
			t.Errorf("%s: undone %q\n%s", name, got, out)
		}
		for _, want := range c.says {
			if !strings.Contains(out, want) {
				t.Errorf("%s: %q is not said:\n%s", name, want, out)
			}
		}
	}
	opt := options()
	opt.ReadOnly = true
	if out := plainly(t, tuitest.New(handedOver("dev-qa@shop")), opt, "undo"); !strings.Contains(out, "Read-only mode") {
		t.Errorf("read-only: %s", out)
	}
}
