package tmuxctl

import (
	"context"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rig/engine"
	"rig/tmuxctl/tmuxtest"
)

// watch starts a watcher and gives its events; ending it is checked for leaks.
func (f *fixture) watch() <-chan engine.MuxEvent {
	f.t.Helper()
	before := goleak.IgnoreCurrent()
	ctx, cancel := context.WithCancel(context.Background())
	events := f.Watch(ctx)
	f.t.Cleanup(func() {
		cancel()
		for range events { // closed when all is gone
		}
		if _, parallel := f.t.(*testing.T); parallel && f.alone {
			if err := goleak.Find(before); err != nil {
				f.t.Error(err)
			}
		}
	})
	return events
}

// await reads events until one of the kind comes.
func await(t testing.TB, events <-chan engine.MuxEvent, kind string) engine.MuxEvent {
	t.Helper()
	timeout := time.NewTimer(20 * time.Second)
	defer timeout.Stop()
	for {
		select {
		case ev, ok := <-events:
			if !ok {
				t.Fatalf("the events ended before %q", kind)
			}
			if ev.Kind == kind {
				return ev
			}
		case <-timeout.C:
			t.Fatalf("no %q within 20 s", kind)
		}
	}
}

// Watching again after the last watcher left works.
func TestWatchAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for range 3 {
		ctx, cancel := context.WithCancel(context.Background())
		events := f.Watch(ctx)
		await(t, events, kindConnected)
		cancel()
		for range events {
		}
	}
}

// Every change of interest becomes a hint, in any session.
func TestWatchSeesChanges(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.settle = 100 * time.Millisecond
	ref, g := f.create("a")
	events := f.watch()
	await(t, events, kindConnected)
	quiet(t, events)
	changes := map[string]func(){
		"output":      func() { f.tmux("send-keys", "-t", string(ref.Pane), "x", "Enter") },
		"tag":         func() { _ = f.Tag(f.ctx, g, g.Seat, "1", "x"); f.tmux("set-option", "-p", "-t", "%0", "@rig_gen", "7") },
		"new session": func() { f.create("b") },
		"rename":      func() { f.tmux("rename-session", "-t", "=b:", "c") },
		"new pane":    func() { f.tmux("split-window", "-d", "-t", string(ref.Pane), "cat", "-") },
		"death":       func() { _ = syscall.Kill(ref.PID, syscall.SIGKILL) },
		"client":      func() { f.attachClient("a") },
	}
	for _, name := range []string{"output", "tag", "new session", "rename", "new pane", "death", "client"} {
		changes[name]()
		if ev := await(t, events, kindChanged); ev.Path != PathControl {
			t.Errorf("%s: %+v", name, ev)
		}
		quiet(t, events)
	}
}

// quiet waits until no hint comes for longer than the server takes to send one.
func quiet(t testing.TB, events <-chan engine.MuxEvent) {
	t.Helper()
	limit := time.NewTimer(30 * time.Second)
	defer limit.Stop()
	for {
		gap := time.NewTimer(1300 * time.Millisecond)
		select {
		case <-events:
			gap.Stop()
		case <-gap.C:
			return
		case <-limit.C:
			t.Fatal("it never gets quiet")
		}
	}
}

// The server is killed under the control client, then another one comes: lost,
// absent, connected again, and every id of before is void.
func TestServerRestartUnderControl(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, g := f.create("a")
	events := f.watch()
	await(t, events, kindConnected)
	pid := tmuxtest.PID(f.socket)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if ev := await(t, events, kindLost); ev.Path != PathBatch {
		t.Errorf("%+v", ev)
	}
	if inv := f.Inventory(f.ctx); inv.Server != engine.Absent || inv.Path != PathBatch {
		t.Errorf("inventory: %s by %s, %v", inv.Server, inv.Path, inv.Err)
	}
	tmuxtest.Start(t, f.socket)
	_, now := f.create("a")
	if ev := await(t, events, kindConnected); ev.Path != PathControl {
		t.Errorf("%+v", ev)
	}
	inv := f.Inventory(f.ctx)
	if inv.Server != engine.Present || inv.Path != PathControl || inv.Epoch == g.Epoch || inv.Epoch != now.Epoch {
		t.Errorf("inventory: %+v", inv)
	}
	g.Pane, g.PID = now.Pane, 0 // same pane id, same seat, same generation: the epoch alone tells
	wantCode(t, f.KillSession(f.ctx, g), engine.CodePaneMismatch)
	if p := f.pane(now.Pane); p.Dead {
		t.Error("a pane of the new server was hit")
	}
}

// A watcher may be there before the first server.
func TestWatchBeforeServer(t *testing.T) {
	t.Parallel()
	f := fixtureOn(t, tmuxtest.Socket(t))
	events := f.watch()
	f.create("first")
	await(t, events, kindConnected)
	if inv := f.Inventory(f.ctx); inv.Path != PathControl || len(inv.Panes) != 1 {
		t.Errorf("%+v", inv)
	}
}

// TestOneShotWatch: no control session is made; the hints come by the clock.
func TestOneShotWatch(t *testing.T) {
	t.Parallel()
	socket := tmuxtest.Server(t)
	m, err := New(Options{Socket: socket, OneShot: true, Poll: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	events := m.Watch(ctx)
	for range 3 {
		if ev := await(t, events, kindChanged); ev.Path != PathBatch {
			t.Errorf("%+v", ev)
		}
	}
	if s := controlSessions(t, socket); len(s) != 0 {
		t.Errorf("control sessions %q", s)
	}
	cancel()
	for range events {
	}
}

// When no control client can be started the fallback hints, and reading works.
func TestFallbackWhenControlCannotStart(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	real, err := exec.LookPath("tmux")
	if err != nil {
		t.Fatal(err)
	}
	m := fakeTmux(t, `for w; do [ "$w" = -C ] && { echo "no control here" >&2; exit 1; }; done; exec `+real+` "$@"`)
	m.run.socket, m.poll = f.socket, 50*time.Millisecond
	ctx, cancel := context.WithCancel(context.Background())
	events := m.Watch(ctx)
	if ev := await(t, events, kindChanged); ev.Path != PathBatch {
		t.Errorf("%+v", ev)
	}
	if inv := m.Inventory(f.ctx); inv.Path != PathBatch || inv.Server != engine.Present {
		t.Errorf("%+v", inv)
	}
	cancel()
	for range events {
	}
}
