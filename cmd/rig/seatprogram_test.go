package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rig/engine"
)

// TestSeatProgram brings seats up with the programs as they are shipped: what runs beside an agent is rig-seat, its hooks and
// its status line report, and the one event that needs rig itself gets it. Without rig-seat, rig does the same.
func TestSeatProgram(t *testing.T) {
	w := newWorld(t)
	w.ships(buildRig(t))
	small := filepath.Join(filepath.Dir(w.program), "rig-seat")
	w.must("up", w.spec("small", "a:claude-code", "b:codex", "sh:terminal"))
	for _, ref := range []string{"dev.a", "dev.b", "dev.sh"} {
		if got := w.programOf(ref); got != small {
			t.Errorf("%s is supervised by %s", ref, got)
		}
	}
	w.know("dev.a", "HERON")
	w.know("dev.b", "OTTER")
	var st struct {
		Context engine.Usage `json:"context"`
	}
	w.eventually("the status line reports", func() (bool, string) {
		r := w.into(&st, "seat", "status", "dev.a")
		return st.Context.Known && st.Context.Source == "statusline", r.out
	})
	w.must("send", "dev.a", "/compact", "--verify")
	w.eventually("the PreCompact hook wrote its packet", func() (bool, string) {
		found := ""
		err := filepath.WalkDir(w.dir, func(path string, _ fs.DirEntry, _ error) error {
			if filepath.Base(path) == "restore-summary.json" {
				found = path
			}
			return nil
		})
		return found != "", fmt.Sprint(err)
	})
	w.must("wait", "dev.a", "--until", "idle")
	if err := os.Remove(small); err != nil {
		t.Fatal(err)
	}
	w.must("seat", "launch", "dev.sh", "--fresh", "--stop", "--reason", "without")
	if got := w.programOf("dev.sh"); got != w.program {
		t.Errorf("without rig-seat it is supervised by %s", got)
	}
}

// TestSeatsOutliveAnUpgrade: a package manager shows the program by a link and takes its own folder away with the next version.
// What seats call is the link, so that hooks and status lines of seats that run go on working.
func TestSeatsOutliveAnUpgrade(t *testing.T) {
	w := newWorld(t)
	kept := filepath.Join(w.dir, "bin", "rig")
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(w.self(), kept); err != nil {
		t.Fatal(err)
	}
	w.setenv("PATH", filepath.Dir(kept)+":"+os.Getenv("PATH"))
	w.program = kept
	w.must("up", w.spec("up", "a:claude-code"))
	if got := w.programOf("dev.a"); got != kept {
		t.Errorf("it is supervised by %s, which an upgrade removes", got)
	}
	settings := w.clientArgs("dev.a")
	if !strings.Contains(settings, kept+" hook SessionStart") || strings.Contains(settings, w.self()+" hook") {
		t.Errorf("its hooks are %s", settings)
	}
}

// clientArgs gives the command line of the client in a seat's pane.
func (w *world) clientArgs(ref string) string {
	w.t.Helper()
	out, err := exec.CommandContext(w.t.Context(), "ps", "-o", "args=", "--ppid", fmt.Sprint(w.seat(ref).PanePID)).Output()
	if err != nil {
		w.t.Fatal(err)
	}
	return string(out)
}

// ships lets the world run a program that buildRig made, stand-ins included.
func (w *world) ships(program string) {
	w.program = program
	for kind, name := range map[string]string{"claude": "RIG_CLAUDE_COMMAND", "codex": "RIG_CODEX_COMMAND"} {
		w.setenv(name, fmt.Sprintf(`[%q,%q]`, filepath.Join(filepath.Dir(program), "agentsim"), kind))
	}
}

// programOf gives the program of the process in a seat's pane.
func (w *world) programOf(ref string) string {
	w.t.Helper()
	out, err := exec.CommandContext(w.t.Context(), "ps", "-o", "args=", "-p", fmt.Sprint(w.seat(ref).PanePID)).Output()
	if err != nil {
		w.t.Fatal(err)
	}
	program, _, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	return program
}
