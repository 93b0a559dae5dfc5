package runtimes

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rig/engine"
)

const (
	fixtures = "../../testdata/fixtures"
	cases    = "../../testdata/cases"
)

// TestMain lets the test binary stand in for the product's: the hidden verbs run
// their real bodies.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case SupervisorVerb:
			os.Exit(Supervise(os.Args[2:], os.Environ()))
		case OperationVerb:
			child := exec.Command("sleep", "600")
			if err := child.Start(); err != nil {
				panic(err)
			}
			_ = child.Wait()
			os.Exit(0)
		case HookVerb:
			if os.Getenv("TEST_DIE_CLAIMED") != "" {
				claimed = func() {
					_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
					select {} // the signal is on its way
				}
			}
			os.Exit(Hook(os.Stdin, os.Stdout, os.Environ(), os.Args[2:], nil))
		case StatusLineVerb:
			os.Exit(StatusLine(os.Stdin, os.Stdout, os.Environ()))
		}
	}
	os.Exit(m.Run())
}

func self(t testing.TB) string {
	t.Helper()
	p, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// pane reads a captured screen as tmux gives it: lines.
func pane(t testing.TB, dir, name string) []string {
	t.Helper()
	return strings.Split(strings.TrimRight(readFile(t, filepath.Join(dir, name)), "\n"), "\n")
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// until waits for a condition, looking every few milliseconds.
func until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-ctx.Done():
			t.Fatalf("this did not come to be: %s", what)
		case <-tick.C:
		}
	}
}

// process starts a program that lives until the test ends.
func process(t testing.TB, argv ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); close(done) }()
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-done
	})
	return cmd
}

// started gives the start time of a live process.
func started(t testing.TB, pid int) string {
	t.Helper()
	s, ok, err := NewProcesses().Start(pid)
	if err != nil || !ok {
		t.Fatalf("start of %d: %v %v", pid, ok, err)
	}
	return s
}

// registryFile writes the registry entry of a process, made from a fixture.
func registryFile(t testing.TB, dir, fixture string, pid int, start, id string) string {
	t.Helper()
	s := readFile(t, filepath.Join(fixtures, fixture))
	s = strings.ReplaceAll(s, "4242", itoa(pid))
	s = strings.ReplaceAll(s, "123456", start)
	s = strings.ReplaceAll(s, "22222222-2222-4222-8222-222222222222", id)
	path := filepath.Join(dir, "sessions", itoa(pid)+".json")
	write(t, path, s)
	old := time.Now().Add(-time.Minute)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	return path
}

// claudeProbe is a probe of a live process in a home of its own.
func claudeProbe(t testing.TB, home string) engine.Probe {
	t.Helper()
	pid := process(t, "sleep", "600").Process.Pid
	now := time.Now().UTC()
	return engine.Probe{
		Seat:     engine.Seat{Runtime: engine.RuntimeClaude, Cwd: "/home/op/project"},
		Session:  engine.Session{ID: "S1", Generation: 3, Startup: engine.StartupReady, Homes: engine.Homes{Home: home, ClaudeDir: filepath.Join(home, ".claude"), CodexDir: filepath.Join(home, ".codex")}},
		Run:      engine.RunState{PID: pid, PIDStart: started(t, pid), StartedAt: now},
		RunKnown: true,
		Started:  now.Add(-time.Hour),
		Now:      now,
	}
}

func testConfig(t testing.TB) Config {
	t.Helper()
	home := t.TempDir()
	return Config{Homes: HomesOf([]string{"HOME=" + home})}
}

// treeSum lists a folder's files with sizes and times, to see that nothing was
// written.
func treeSum(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b.WriteString(path + " " + info.Mode().String() + " " + info.ModTime().String() + "\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const (
	id1 = "11111111-1111-4111-8111-111111111111"
	id2 = "22222222-2222-4222-8222-222222222222"
)
