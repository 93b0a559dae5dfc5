package runtimes

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rig/engine"
)

func TestParseStat(t *testing.T) {
	row := "42 (a) b) (c\n) S 7 42 42 34816 99 4194304 1 2 3 4 5 6 7 8 20 0 1 0 123456 1000 10 0\n"
	p, ok := parseStat([]byte(row))
	if !ok || p.PID != 42 || p.PPID != 7 || p.Group != 42 || p.Front != 99 || p.State != 'S' || p.Start != "123456" || p.Comm != "a) b) (c\n" {
		t.Errorf("got %+v %v", p, ok)
	}
	for _, bad := range []string{"", "42", "42 (a) S 1 2", ") (", "x (a) S 7 42 42 34816 99 4194304 1 2 3 4 5 6 7 8 20 0 1 0 123456 1"} {
		if _, ok := parseStat([]byte(bad)); ok {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("42 (sh) S 7 42 42 34816 99 4194304 1 2 3 4 5 6 7 8 20 0 1 0 123456 1000 10 0\n"))
	f.Add([]byte("1 ()) R"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, ok := parseStat(b); ok && p.Start == "" {
			t.Errorf("no start: %+v", p)
		}
	})
}

func TestStartAndSelf(t *testing.T) {
	ps := NewProcesses()
	cmd := process(t, "sleep", "600")
	start := started(t, cmd.Process.Pid)
	if alive, err := ps.Alive(cmd.Process.Pid, start); err != nil || !alive {
		t.Errorf("alive: %v %v", alive, err)
	}
	if alive, err := ps.Alive(cmd.Process.Pid, start+"1"); err != nil || alive {
		t.Errorf("another life of that pid: %v %v", alive, err)
	}
	if _, ok, err := ps.Start(1 << 22); ok || err != nil {
		t.Errorf("no such process: %v %v", ok, err)
	}
	me := ps.Self("test")
	if me.PID != os.Getpid() || me.PIDStart == "" || me.Boot == "" || me.Label != "test" || me.Boot != ps.Boot() {
		t.Errorf("self %+v", me)
	}
}

// counterTree starts a shell with a child that put itself into a session of its
// own and counts into a file, as the tool children of the clients do.
func counterTree(t *testing.T) (root *exec.Cmd, count func() int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "count")
	loop := "i=0; while :; do i=$((i+1)); echo $i >" + file + "; done"
	root = process(t, "sh", "-c", "setsid sh -c '"+loop+"' & wait")
	t.Cleanup(func() {
		tree, _ := NewProcesses().Tree(root.Process.Pid)
		for _, p := range tree {
			_ = syscall.Kill(p.PID, syscall.SIGKILL)
		}
	})
	count = func() int {
		b, err := os.ReadFile(file)
		if err != nil {
			return 0
		}
		n, _ := strconv.Atoi(strings.TrimSpace(string(b)))
		return n
	}
	until(t, "the child counts", func() bool { return count() > 0 })
	return root, count
}

func TestStopAndContinueATree(t *testing.T) {
	root, count := counterTree(t)
	ps := NewProcesses()
	stopped, refused, err := ps.Stop(t.Context(), root.Process.Pid)
	if err != nil || len(refused) != 0 || len(stopped) < 2 || stopped[0] != root.Process.Pid {
		t.Fatalf("stop: %v %v %v", stopped, refused, err)
	}
	for _, pid := range stopped {
		if p, ok, err := readProcess(pid); err != nil || !ok || !p.frozen() {
			t.Errorf("%d is not stopped: %+v", pid, p)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	before := count()
	<-ctx.Done()
	if after := count(); after != before {
		t.Errorf("it counted on while stopped: %d, then %d", before, after)
	}
	again, _, err := ps.Stop(t.Context(), root.Process.Pid)
	if err != nil || !slices.Equal(again, stopped) {
		t.Errorf("stopping twice: %v %v", again, err)
	}
	if err := ps.Continue(t.Context(), stopped); err != nil {
		t.Fatal(err)
	}
	until(t, "it counts on", func() bool { return count() > before })
	if err := ps.Continue(t.Context(), append(stopped, 1<<22)); err != nil {
		t.Errorf("continuing what runs: %v", err)
	}
}

func TestKillATree(t *testing.T) {
	root, _ := counterTree(t)
	ps := NewProcesses()
	tree, err := ps.Tree(root.Process.Pid)
	if err != nil || len(tree) < 2 {
		t.Fatalf("tree %v %v", tree, err)
	}
	if err := ps.Kill(t.Context(), root.Process.Pid); err != nil {
		t.Fatal(err)
	}
	for _, p := range tree {
		if alive, err := ps.Alive(p.PID, p.Start); err != nil || alive {
			t.Errorf("%d lives: %v", p.PID, err)
		}
	}
	if err := ps.Kill(t.Context(), root.Process.Pid); err != nil {
		t.Errorf("killing what is gone: %v", err)
	}
}

// A frozen tree can be killed without being thawed.
func TestKillAFrozenTree(t *testing.T) {
	root, count := counterTree(t)
	ps := NewProcesses()
	if _, _, err := ps.Stop(t.Context(), root.Process.Pid); err != nil {
		t.Fatal(err)
	}
	before := count()
	if err := ps.Kill(t.Context(), root.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if after := count(); after != before {
		t.Errorf("it went on before it died: %d, %d", before, after)
	}
}

// An operation that was started from inside the occupant goes on while the
// occupant is stopped, and outlives it.
func TestOperationInsideTheTreeGoesOn(t *testing.T) {
	root := process(t, "sh", "-c", "'"+self(t)+"' op-exec ticket & wait")
	ps := NewProcesses()
	var op, child Process
	until(t, "the operation and its child run", func() bool {
		tree, err := ps.Tree(root.Process.Pid)
		if err != nil || len(tree) != 3 || tree[2].Comm != "sleep" {
			return false
		}
		op, child = tree[1], tree[2]
		return true
	})
	stopped, refused, err := ps.Stop(t.Context(), root.Process.Pid)
	if err != nil || len(refused) != 0 || !slices.Equal(stopped, []int{root.Process.Pid}) {
		t.Errorf("stop: %v %v %v", stopped, refused, err)
	}
	if err := ps.Kill(t.Context(), root.Process.Pid); err != nil {
		t.Fatal(err)
	}
	for _, p := range []Process{op, child} {
		if now, ok, err := readProcess(p.PID); err != nil || !ok || now.frozen() || now.gone() {
			t.Errorf("%s: %+v %v %v", p.Comm, now, ok, err)
		}
	}
}

func TestRootsThatAreRefused(t *testing.T) {
	ps := NewProcesses()
	for _, pid := range []int{0, 1, -1, os.Getpid()} {
		if _, _, err := ps.Stop(t.Context(), pid); engine.CodeOf(err) != engine.CodeInvalid {
			t.Errorf("stop %d: %v", pid, err)
		}
		if err := ps.Kill(t.Context(), pid); engine.CodeOf(err) != engine.CodeInvalid {
			t.Errorf("kill %d: %v", pid, err)
		}
	}
}
