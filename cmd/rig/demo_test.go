package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestDemoComesUpAndLeavesNothing is the main job on a fresh machine: seven seats
// up, all proven ready, all gone afterwards.
func TestDemoComesUpAndLeavesNothing(t *testing.T) {
	w := newWorld(t)
	before, err := filepath.Glob("/tmp/rig-demo-*")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		OK    bool `json:"ok"`
		Ready int  `json:"ready"`
		Gone  bool `json:"gone"`
		Seats []struct {
			Seat    string `json:"seat"`
			Outcome string `json:"outcome"`
			Source  string `json:"source"`
		} `json:"seats"`
	}
	if r := w.into(&doc, "demo", "--headless"); r.code != 0 {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	if !doc.OK || doc.Ready != 7 || !doc.Gone || len(doc.Seats) != 7 {
		t.Errorf("%+v", doc)
	}
	for _, s := range doc.Seats {
		if s.Outcome != "fresh" || s.Source == "" {
			t.Errorf("%+v", s)
		}
	}
	after, err := filepath.Glob("/tmp/rig-demo-*")
	if err != nil {
		t.Fatal(err)
	}
	if len(after) > len(before) {
		t.Errorf("left behind: %v", after)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "rig")); err == nil {
		t.Error("the demo touched RIG_HOME")
	}
}
