package tmuxctl

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rig/engine"
	"rig/tmuxctl/tmuxtest"
)

// tmux exits 0 when it cannot make its socket.
func TestCreateWithoutRoomForSocket(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := New(Options{Socket: filepath.Join(file, "s"), Config: "/dev/null"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Create(context.Background(), engine.SessionSpec{Name: "n", Dir: dir, Argv: []string{"cat", "-"}})
	wantCode(t, err, engine.CodeUnavailable)
}

func TestCreateStartsServer(t *testing.T) {
	socket := tmuxtest.Socket(t)
	f := fixtureOn(t, socket)
	inv := f.Inventory(f.ctx)
	if inv.Server != engine.Absent || inv.Err != nil {
		t.Fatalf("before: %+v", inv)
	}
	if p, err := f.HasSession(f.ctx, "x"); p != engine.Absent || err != nil {
		t.Fatalf("before: %s, %v", p, err)
	}
	if tmuxtest.PID(socket) != 0 {
		t.Fatal("asking started a server")
	}
	t.Setenv("TMUX", "/nowhere,1,0")
	t.Setenv("TMUX_PANE", "%99")
	t.Setenv("CLAUDECODE", "1")
	ref, _ := f.create("x")
	if p := f.pane(ref.Pane); p.Session != "x" {
		t.Errorf("wrong pane: %+v", p)
	}
	if env := f.tmux("show-environment", "-g"); strings.Contains(env, "CLAUDECODE") || strings.Contains(env, "TMUX_PANE") || strings.Contains(env, "TMUX=") {
		t.Errorf("the server keeps the launcher's variables:\n%s", env)
	}
}

// A server may run without any session.
func TestServerWithoutSessions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.tmux("set-option", "-s", "exit-empty", "off")
	f.tmux("kill-session", "-t", "="+tmuxtest.Holder+":")
	if inv := f.Inventory(f.ctx); inv.Server != engine.Present || len(inv.Panes) != 0 || inv.Epoch == "" {
		t.Errorf("%+v", inv)
	}
	f.create("a")
}

// A stopped server is unknown, not absent, and the caller gets its answer in time.
func TestHungServer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, g := f.create("a")
	resume := tmuxtest.Hang(t, f.socket)
	ctx, cancel := context.WithTimeout(f.ctx, 300*time.Millisecond)
	defer cancel()
	if inv := f.Inventory(ctx); inv.Server != engine.Unknown || engine.CodeOf(inv.Err) != engine.CodeTmuxProbeFailed {
		t.Errorf("inventory: %s, %v", inv.Server, inv.Err)
	}
	p, err := f.HasSession(ctx, "a")
	if p != engine.Unknown {
		t.Errorf("HasSession: %s", p)
	}
	wantCode(t, err, engine.CodeTmuxProbeFailed)
	wantCode(t, f.KillSession(ctx, g), engine.CodeTmuxProbeFailed)
	resume()
	if inv := f.Inventory(f.ctx); inv.Server != engine.Present {
		t.Errorf("afterwards: %s, %v", inv.Server, inv.Err)
	}
}

// A socket file whose server died is absence; a file that is no socket is not.
func TestStaleSocket(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	pid := tmuxtest.PID(f.socket)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	tmuxtest.Eventually(t, 20*time.Second, "the server is gone", func() bool { return !tmuxtest.Alive(pid) })
	if _, err := os.Stat(f.socket); err != nil {
		t.Fatalf("the stale socket is not there: %v", err)
	}
	if inv := f.Inventory(f.ctx); inv.Server != engine.Absent || inv.Err != nil {
		t.Errorf("inventory: %s, %v", inv.Server, inv.Err)
	}
	if _, err := f.Epoch(f.ctx); engine.CodeOf(err) != engine.CodeNotFound {
		t.Errorf("epoch: %v", err)
	}
	f.create("again")
}

// fakeTmux is a program that answers as a tmux would that this machine does not have.
func fakeTmux(t *testing.T, script string) *Mux {
	t.Helper()
	dir := t.TempDir()
	prog := filepath.Join(dir, "tmux")
	if err := os.WriteFile(prog, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	m, err := New(Options{Socket: filepath.Join(dir, "s"), Program: prog})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestUnknownIsNeverAbsent(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, script := range map[string]string{
		"permission": `echo "error connecting to /tmp/s (Permission denied)" >&2; exit 1`,
		"version":    `echo "protocol version mismatch (client 8, server 7)" >&2; exit 1`,
		"silence":    `exit 1`,
		"killed":     `kill -9 $$`,
		"empty":      `exit 0`,
	} {
		t.Run(name, func(t *testing.T) {
			m := fakeTmux(t, script)
			if inv := m.Inventory(ctx); inv.Server != engine.Unknown || inv.Err == nil {
				t.Errorf("inventory: %s, %v", inv.Server, inv.Err)
			}
			if name != "empty" {
				p, err := m.HasSession(ctx, "a")
				if p != engine.Unknown {
					t.Errorf("HasSession: %s", p)
				}
				wantCode(t, err, engine.CodeTmuxProbeFailed)
			}
			g := engine.Guard{Pane: "%1", Seat: "s"}
			wantCode(t, m.KillSession(ctx, g), engine.CodeTmuxProbeFailed)
		})
	}
}

func TestTooOldTmux(t *testing.T) {
	t.Parallel()
	m := fakeTmux(t, `echo "tmux 3.1c"`)
	_, err := m.Create(context.Background(), engine.SessionSpec{Name: "n", Dir: t.TempDir(), Argv: []string{"cat"}})
	wantCode(t, err, engine.CodeTmuxTooOld)
	if !strings.Contains(err.Error(), "3.1c") || !strings.Contains(err.Error(), Floor) {
		t.Errorf("the message names neither version: %v", err)
	}
}

func TestNoTmux(t *testing.T) {
	t.Parallel()
	m, err := New(Options{Socket: filepath.Join(t.TempDir(), "s"), Program: "/nonexistent/tmux"})
	if err != nil {
		t.Fatal(err)
	}
	if inv := m.Inventory(context.Background()); inv.Server != engine.Unknown || engine.CodeOf(inv.Err) != engine.CodeUnavailable {
		t.Errorf("inventory: %s, %v", inv.Server, inv.Err)
	}
	if _, err := m.Caps(context.Background()); engine.CodeOf(err) != engine.CodeUnavailable {
		t.Errorf("caps: %v", err)
	}
}

// A read starts no process where the server can be asked directly, and one where not.
func TestProcessesPerRead(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ref, _ := f.create("a")
	dir := t.TempDir()
	real, err := exec.LookPath("tmux")
	if err != nil {
		t.Fatal(err)
	}
	counter := filepath.Join(dir, "count")
	prog := filepath.Join(dir, "tmux")
	if err := os.WriteFile(prog, []byte("#!/bin/sh\necho x >>"+counter+"\nexec "+real+` "$@"`+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, indirect := range []bool{false, true} {
		if err := os.WriteFile(counter, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := New(Options{Socket: f.socket, Program: prog})
		if err != nil {
			t.Fatal(err)
		}
		m.run.indirect = indirect
		if inv := m.Inventory(f.ctx); len(inv.Panes) != 2 {
			t.Fatalf("%+v", inv)
		}
		if _, err := m.Capture(f.ctx, []engine.CaptureRequest{{Pane: ref.Pane}, {Pane: "%0"}, {Pane: "%77"}}); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(counter)
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		if indirect {
			want = 2
		}
		if n := strings.Count(string(b), "x"); n != want {
			t.Errorf("%d processes for an inventory and three captures, want %d", n, want)
		}
	}
}

// Another server is asked in one process, and never one that is not to be trusted.
func TestInventoryOfAnotherServer(t *testing.T) {
	t.Parallel()
	ours, other := tmuxtest.Socket(t), tmuxtest.Server(t)
	m, err := New(Options{Socket: ours, OneShot: true, Trust: func(socket string) error {
		if socket == "/foreign" {
			return engine.Errorf(engine.CodeInvalid, "not ours").WithHint("test")
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	inv := m.InventoryAt(ctx, other)
	if inv.Server != engine.Present || inv.Socket != other || inv.Epoch == "" || len(inv.Panes) == 0 {
		t.Errorf("a server that runs: %+v", inv)
	}
	if inv := m.InventoryAt(ctx, "/foreign"); inv.Server != engine.Unknown || engine.CodeOf(inv.Err) != engine.CodeInvalid {
		t.Errorf("a socket of somebody else: %+v", inv)
	}
	if inv := m.InventoryAt(ctx, "no-path"); inv.Server != engine.Unknown || inv.Err == nil {
		t.Errorf("no path: %+v", inv)
	}
	tmuxtest.Kill(t, other)
	if inv := m.InventoryAt(ctx, other); inv.Server != engine.Absent || inv.Err != nil {
		t.Errorf("a server that is gone: %+v", inv)
	}
}

// Some sessions' panes are read without the others', and a pattern that tmux could
// take for a format gives them all.
func TestInventoryOfSomeSessions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.create("dev-a@one")
	f.create("dev-a@two")
	f.create("dev-ab@one")
	for pattern, want := range map[string]string{
		"dev-a@one": "dev-a@one", "dev-a@*": "dev-a@one dev-a@two", "nobody@*": "",
		"#{pane_id}@*": "dev-a@one dev-a@two dev-ab@one", "dev,a@*": "dev-a@one dev-a@two dev-ab@one", "dev-?@one": "dev-a@one dev-a@two dev-ab@one",
	} {
		inv := f.InventoryOf(f.ctx, pattern)
		var got []string
		for _, p := range inv.Panes {
			if p.Session != tmuxtest.Holder {
				got = append(got, p.Session)
			}
		}
		slices.Sort(got)
		if inv.Server != engine.Present || inv.Epoch == "" || len(inv.Faults) != 0 || strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q; %+v", pattern, got, want, inv)
		}
	}
	other, err := New(Options{Socket: tmuxtest.Socket(t), OneShot: true})
	if err != nil {
		t.Fatal(err)
	}
	if inv := other.InventoryOf(f.ctx, "dev-a@*"); inv.Server != engine.Absent || inv.Err != nil {
		t.Errorf("no server: %+v", inv)
	}
}
