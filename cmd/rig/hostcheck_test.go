package main

import (
	"testing"

	"rig/engine"
)

// TestWhatCannotBeWrittenIsNotGreen: the permission bits of a folder say nothing of a disk that is mounted read-only or full, nor of whose
// it is.
func TestWhatCannotBeWrittenIsNotGreen(t *testing.T) {
	t.Parallel()
	for free, want := range map[int64]string{0: "red", noSpace - 1: "red", noSpace: "yellow", lowSpace - 1: "yellow", lowSpace: "green"} {
		if k := roomCheck(free); k.Status != want || (k.Hint == "") != (want == "green") {
			t.Errorf("%d bytes free: %+v", free, k)
		}
	}
	for _, it := range hostChecks(paths{home: t.TempDir()}) {
		if it.Status == engine.CheckUnknown || it.Evidence == "" {
			t.Errorf("%+v", it)
		}
	}
	it := hostChecks(paths{home: "/usr"})[0]
	if red := it.Status == engine.CheckRed; red == mayWrite("/usr") || red && it.Remedy == "" {
		t.Errorf("%+v", it)
	}
}
