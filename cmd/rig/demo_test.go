package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rig/engine/runtimes"
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

// demoCompacts takes a seat of the demo through a whole compaction, which passes
// its audit.
func demoCompacts(w *world) {
	w.t.Helper()
	for _, step := range []struct {
		keys []string
		then string
	}{
		{nil, "76%"},
		{[]string{"C"}, "Compact a seat  dev-lead@demo"},
		{[]string{"Enter"}, "a apply"},
		{[]string{"a"}, "type dev-lead@demo to apply:"},
		{[]string{"-l", "dev-lead@demo"}, "Enter applies the plan"},
		{[]string{"Enter"}, "compacted and audited"},
	} {
		if step.keys != nil {
			w.tmux(append([]string{"send-keys", "-t", "=demo:"}, step.keys...)...)
		}
		w.eventually("the demo shows "+step.then, func() (bool, string) {
			out := w.tmux("capture-pane", "-p", "-t", "=demo:")
			return strings.Contains(out, step.then), out
		})
	}
}

// TestDemoEndsWithItsTerminal: whatever ends the demo takes its own tmux server, its agents and its folder along. make gets
// the signal of a terminal that is gone, keeps it to itself, and waits for the demo; and nothing at all tells who is killed.
func TestDemoEndsWithItsTerminal(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		make bool
		end  func(w *world, demo string)
	}{
		"its window is closed":                   {false, func(w *world, _ string) { demoCompacts(w); w.tmux("kill-session", "-t", "=demo:") }},
		"through make, its tmux server is ended": {true, func(w *world, _ string) { w.tmux("kill-server") }},
		"it is killed":                           {false, func(w *world, demo string) { w.shell("kill", "-9", demo) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			line := []string{self, "demo"}
			if c.make {
				line = demoByMake(w, self)
			}
			w.tmux("new-session", "-d", "-s", "holder", "cat")
			w.tmux(append([]string{"new-session", "-d", "-s", "demo", "-x", "120", "-y", "40", "-c", w.dir, "env", "-u", "TMUX", "LANG=C.UTF-8"}, line...)...)
			w.eventually("the console is on the demo", func() (bool, string) {
				out := w.tmux("capture-pane", "-p", "-t", "=demo:")
				return strings.Contains(out, "7 running"), out
			})
			demo := w.tmux("display-message", "-p", "-t", "=demo:", "#{pane_pid}")
			if c.make {
				demo = w.shell("pgrep", "-P", demo)
			}
			_, folder, ok := strings.Cut(w.shell("pgrep", "-a", "-P", demo, "-f", "demo-guard"), "demo-guard ")
			if info, err := os.Stat(folder); !ok || err != nil || !info.IsDir() {
				t.Fatalf("the demo has no folder: %q", folder)
			}
			c.end(w, demo)
			w.eventually("nothing of the demo is left", func() (bool, string) {
				out, err := exec.Command("pgrep", "-f", folder).Output()
				_, there := os.Lstat(folder)
				return os.IsNotExist(there) && err != nil, folder + ": " + string(out)
			})
		})
	}
}

// demoByMake is `make demo` with the repository's own Makefile, over a folder in which the program is built already.
func demoByMake(w *world, self string) []string {
	w.t.Helper()
	for _, name := range []string{"Makefile", ".ci/need", "go.mod"} {
		b, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			w.t.Fatal(err)
		}
		if err := os.Chmod(w.write(name, string(b)), 0o700); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(w.dir, "bin"), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(w.dir, "bin", "rig")); err != nil {
		w.t.Fatal(err)
	}
	return []string{"make", "demo", "MAKE=:"}
}

// shell runs a program and gives the line that it printed.
func (w *world) shell(name string, args ...string) string {
	w.t.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		w.t.Fatalf("%s %v: %v", name, args, err)
	}
	return strings.TrimSpace(string(out))
}

// TestCleanUpSparesStrangers: the clean-up waits for processes, and kills those that do not go. The number of one that has
// gone may be another's before its turn comes; that one is not killed, nor waited for.
func TestCleanUpSparesStrangers(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
	ps := runtimes.NewProcesses()
	now := identify(ps, fmt.Sprintf("%d %d x 0", cmd.Process.Pid, cmd.Process.Pid))
	if len(now) != 1 || now[0].PID != cmd.Process.Pid || now[0].Start == "" {
		t.Fatalf("%+v", now)
	}
	former := now[0]
	former.Start += "0"
	began := time.Now()
	if !waitGone(t.Context(), ps, former) || time.Since(began) > 2*time.Second {
		t.Error("a stranger with the number of a process that has gone is waited for")
	}
	if alive, err := ps.Alive(now[0].PID, now[0].Start); !alive || err != nil {
		t.Errorf("the stranger was killed: %v", err)
	}
	if !waitGone(t.Context(), ps, now[0]) {
		t.Error("a process that stays is not killed")
	}
}
