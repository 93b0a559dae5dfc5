package engine_test

import (
	"context"
	"strings"
	"testing"

	"rig/engine"
)

// TestALookTakesNothingForLostThatCameMeanwhile has a pane appear between the look
// at the panes, which runs beside the reading of the record, and the record.
func TestALookTakesNothingForLostThatCameMeanwhile(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude, engine.RuntimeTerminal)
	defer b.close(t)
	b.run(t, upRequest())
	pane := b.mux.Panes()[1]
	looks := 0
	b.faults.Fail = func(name string, _ int) (bool, bool) {
		if name == "inventory" {
			if looks++; looks == 1 {
				b.mux.Drop(pane.ID)
			} else {
				b.mux.Put(pane)
			}
		}
		return false, false
	}
	f, err := b.e.Fleet(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range f.Seats() {
		if s.Life != engine.LifeRunning {
			t.Errorf("%s: %s (%s)", s.Address, s.Life, s.LifeWhy)
		}
	}
	if looks != 2 {
		t.Errorf("%d looks at the panes", looks)
	}
	if _, err := b.e.Fleet(context.Background()); err != nil || looks != 3 {
		t.Errorf("where every pane is in its place one look is enough: %d %v", looks-2, err)
	}
	b.mux.Drop(pane.ID)
	b.faults.Fail = nil
	if f, err = b.e.Fleet(context.Background()); err != nil || f.Seats()[1].Life != engine.LifeLost {
		t.Errorf("a pane that is gone: %+v %v", f.Seats()[1].Life, err)
	}
}

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "Z9": true, "0": true, "a-b_c": true, "": false, "-a": false, "_a": false, "a.b": false, "a@b": false, "a b": false,
		"é": false, "a\n": false, "a\x00": false, "a[": false, "a`": false, "a{": false, strings.Repeat("x", 64): true, strings.Repeat("x", 65): false,
	} {
		if engine.ValidName(name) != want {
			t.Errorf("%q: want %v", name, want)
		}
	}
}
