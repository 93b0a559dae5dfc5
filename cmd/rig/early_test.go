package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What a terminal can show is not worth a process, let alone a wait: in a pane of
// tmux neither a verb nor the console starts `tmux info`, which the libraries for
// colours do by themselves; and TMUX is there for the verbs all the same.
func TestNothingAsksTmuxForColours(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	real, err := exec.LookPath("tmux")
	if err != nil {
		t.Fatal(err)
	}
	bin, log := filepath.Join(w.dir, "bin"), filepath.Join(w.dir, "asked")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\necho \"$*\" >> '" + log + "'\nexec '" + real + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "tmux"), []byte(script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	w.must("up", w.spec("calm", "sh:terminal"))
	w.setenv("PATH", bin+":"+os.Getenv("PATH"))
	w.setenv("COLORTERM", "")
	s := w.terminal(100, 30, "--version")
	s.shows("rig 0.0.0", "ended 0")
	s = w.terminal(100, 30, "doctor")
	s.shows("ended")
	s = w.outside(100, 30)
	s.shows("1 running", "live", "idle")
	s.keys("q")
	s.left(0)
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	asked := string(text)
	if !strings.Contains(asked, "client_termfeatures") {
		t.Errorf("the console did not find the tmux around it:\n%s", asked)
	}
	for line := range strings.Lines(asked) {
		if strings.TrimSpace(line) == "info" {
			t.Errorf("tmux was asked for its terminals:\n%s", asked)
		}
	}
}
