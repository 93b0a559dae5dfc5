package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// TestDemoEndsWithItsTerminal: a window that is closed over the demo takes the
// demo's own tmux server and its agents along.
func TestDemoEndsWithItsTerminal(t *testing.T) {
	w := newWorld(t)
	before := demoFolders(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w.tmux("new-session", "-d", "-s", "holder", "cat")
	w.tmux("new-session", "-d", "-s", "demo", "-x", "120", "-y", "40", "env", "-u", "TMUX", "LANG=C.UTF-8", self, "demo")
	w.eventually("the console is on the demo", func() (bool, string) {
		out := w.tmux("capture-pane", "-p", "-t", "=demo:")
		return strings.Contains(out, "7 running"), out
	})
	var folder string
	for f := range demoFolders(t) {
		if !before[f] {
			folder = f
		}
	}
	if folder == "" {
		t.Fatal("the demo has no folder")
	}
	w.tmux("kill-session", "-t", "=demo:")
	w.eventually("nothing of the demo is left", func() (bool, string) {
		out, err := exec.Command("pgrep", "-f", folder+"/").Output()
		return !demoFolders(t)[folder] && err != nil, folder + ": " + string(out)
	})
}

// demoFolders are the demos that are there, also those of other people.
func demoFolders(t *testing.T) map[string]bool {
	t.Helper()
	paths, err := filepath.Glob("/tmp/rig-demo-*")
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]bool{}
	for _, p := range paths {
		set[p] = true
	}
	return set
}
