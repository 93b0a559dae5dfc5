package tmuxctl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
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

// controlSessions lists the private sessions on a server.
func controlSessions(t testing.TB, socket string) (out []string) {
	t.Helper()
	for _, s := range strings.Split(tmuxtest.Tmux(t, socket, "list-sessions", "-F", "#{session_name}"), "\n") {
		if strings.HasPrefix(s, controlPrefix) {
			out = append(out, s)
		}
	}
	return out
}

// The control client answers as the processes do, and leaves no trace when it ends.
func TestControlReadsTheSame(t *testing.T) {
	inLocales(t, func(t *testing.T) {
		f := newFixture(t)
		f.alone = true
		ref, _ := f.create("a", "sh", "-c", `printf '%%end 1 2 3\n%%exit\n%%begin 1 2 1\n\033[31müred\033[0m\n'; exec cat`)
		f.create("b")
		f.tmux("select-pane", "-t", string(ref.Pane), "-T", "設計 -:- ' \" ; #{pid}")
		f.shows(ref.Pane, "üred")
		tmuxtest.Eventually(t, 20*time.Second, "the programs run", func() bool {
			for _, p := range f.Inventory(f.ctx).Panes {
				if p.Command != "cat" || p.Path == "" {
					return false
				}
			}
			return true
		})
		reqs := []engine.CaptureRequest{
			{Pane: ref.Pane, Colours: true}, {Pane: "%77"}, {Pane: ref.Pane, History: 5}, {Pane: "bad"}, {Pane: "%0"},
		}
		read := func() (engine.Inventory, []engine.CaptureResult) {
			inv := f.Inventory(f.ctx)
			res, err := f.Capture(f.ctx, reqs)
			if err != nil {
				t.Fatal(err)
			}
			return inv, res
		}
		inv, res := read()
		if inv.Path != PathBatch || f.Path() != PathBatch || len(controlSessions(t, f.socket)) != 0 {
			t.Fatalf("reading alone made a control client: %s", inv.Path)
		}
		events := f.watch()
		if ev := await(t, events, kindConnected); ev.Path != PathControl || f.Path() != PathControl {
			t.Fatalf("%+v", ev)
		}
		cinv, cres := read()
		if cinv.Path != PathControl || len(controlSessions(t, f.socket)) != 1 {
			t.Fatalf("path %s, sessions %q", cinv.Path, controlSessions(t, f.socket))
		}
		if fmt.Sprint(inv.Panes) != fmt.Sprint(cinv.Panes) || inv.Epoch != cinv.Epoch || len(cinv.Faults) != 0 {
			t.Errorf("inventories differ:\n%+v\n%+v", inv, cinv)
		}
		for i := range res {
			a, b := res[i], cres[i]
			if strings.Join(a.Lines, "\n") != strings.Join(b.Lines, "\n") || engine.CodeOf(a.Err) != engine.CodeOf(b.Err) {
				t.Errorf("capture %d differs:\n%q %v\n%q %v", i, a.Lines, a.Err, b.Lines, b.Err)
			}
		}
		wantCode(t, cres[1].Err, engine.CodeNotFound)
		wantCode(t, cres[3].Err, engine.CodeInvalid)
		if len(cres[0].Lines) != 24 || cres[0].Lines[0] != "%end 1 2 3" || !strings.Contains(cres[0].Lines[3], "\x1b[31müred") {
			t.Errorf("screen %q", cres[0].Lines)
		}
		if clients, err := f.Clients(f.ctx); err != nil || len(clients) != 0 {
			t.Errorf("the control client shows itself: %+v, %v", clients, err)
		}
	})
}

func TestControlSessionGoesWithWatch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx, cancel := context.WithCancel(context.Background())
	one, two := f.Watch(ctx), f.watch()
	await(t, one, kindConnected)
	await(t, two, kindConnected)
	cancel()
	for range one {
	}
	if n := len(controlSessions(t, f.socket)); n != 1 {
		t.Errorf("%d control sessions while one watcher is left", n)
	}
	f2 := fixtureOn(t, f.socket)
	ctx, cancel = context.WithCancel(context.Background())
	third := f2.Watch(ctx)
	await(t, third, kindConnected)
	if n := len(controlSessions(t, f.socket)); n != 2 {
		t.Errorf("%d control sessions of two consoles", n)
	}
	cancel()
	for range third {
	}
	tmuxtest.Eventually(t, 20*time.Second, "its session is gone", func() bool { return len(controlSessions(t, f.socket)) == 1 })
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

// kill -9 of a console: its private session goes by itself, nothing else does.
func TestKilledConsoleLeavesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ref, _ := f.create("a")
	temp := t.TempDir()
	cmd := exec.Command(self(t), "play-console", f.socket)
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "connected control" {
	}
	if n := len(controlSessions(t, f.socket)); n != 1 {
		t.Errorf("%d control sessions", n)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	tmuxtest.Eventually(t, 20*time.Second, "the private session is gone", func() bool { return len(controlSessions(t, f.socket)) == 0 })
	// The server must outlive the console by more than its own timers of a second.
	after := time.NewTimer(1500 * time.Millisecond)
	defer after.Stop()
	<-after.C
	if inv := f.Inventory(f.ctx); inv.Epoch != ref.Epoch {
		t.Fatalf("the server died with the console: %+v", inv)
	}
	if p := f.pane(ref.Pane); p.Dead {
		t.Error("a seat died with the console")
	}
	if left, err := filepath.Glob(filepath.Join(temp, "*")); err != nil || len(left) != 0 {
		t.Errorf("files left: %q, %v", left, err)
	}
}

// A control session that was left behind is removed by the next console; one that
// is in use is not.
func TestSweepOfLeftSessions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.tmux("new-session", "-d", "-s", controlPrefix+"left", "--", "cat", "-")
	f.tmux("new-session", "-d", "-s", "operators", "--", "cat", "-")
	await(t, f.watch(), kindConnected)
	await(t, fixtureOn(t, f.socket).watch(), kindConnected)
	if s := controlSessions(t, f.socket); len(s) != 2 || strings.Contains(strings.Join(s, " "), "left") {
		t.Errorf("control sessions %q", s)
	}
	f.tmux("has-session", "-t", "=operators:")
}

// Consoles that come and go while sessions do must not take the server with them,
// whatever its defaults are. (A 3.3a server crashes when a control client leaves a
// session with destroy-unattached, and when a session changes while one connects.)
func TestControlClientsDoNotHurtServer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.tmux("set-option", "-t", "="+tmuxtest.Holder+":", "destroy-unattached", "off")
	f.tmux("set-option", "-g", "destroy-unattached", "on")
	f.tmux("set-option", "-g", "detach-on-destroy", "off")
	f.tmux("set-option", "-g", "remain-on-exit", "on")
	epoch := f.Inventory(f.ctx).Epoch
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() { // sessions come and go meanwhile
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			name := fmt.Sprintf("s%d", i)
			ref, err := f.Create(f.ctx, engine.SessionSpec{Name: name, Dir: f.dir, Argv: []string{"cat", "-"}, Seat: name})
			g := engine.Guard{Pane: ref.Pane, Epoch: epoch, Seat: name}
			if err == nil {
				err = errors.Join(f.Rename(f.ctx, g, name+"-r"), f.KillSession(f.ctx, g))
			}
			if err != nil {
				stopped <- err
				return
			}
		}
	}()
	for range 25 {
		ctx, cancel := context.WithCancel(context.Background())
		events := f.Watch(ctx)
		await(t, events, kindConnected)
		cancel()
		for range events {
		}
		if s := controlSessions(t, f.socket); len(s) > 1 {
			t.Fatalf("control sessions %q", s)
		}
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if now := f.Inventory(f.ctx).Epoch; now != epoch {
		t.Fatalf("the server died: epoch %s became %s", epoch, now)
	}
	tmuxtest.Eventually(t, 20*time.Second, "all private sessions are gone", func() bool { return len(controlSessions(t, f.socket)) == 0 })
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
	if now.Pane != g.Pane {
		t.Fatalf("the test needs the pane id to come again: %s and %s", now.Pane, g.Pane)
	}
	g.PID = 0 // same pane id, same seat, same generation: the epoch alone tells
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

// An operator ends our session: reading goes on, and the client comes back.
func TestControlSessionKilledByOperator(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	events := f.watch()
	await(t, events, kindConnected)
	f.tmux("kill-session", "-t", "="+controlSessions(t, f.socket)[0]+":")
	await(t, events, kindLost)
	if inv := f.Inventory(f.ctx); inv.Server != engine.Present || len(inv.Panes) != 1 {
		t.Errorf("%+v", inv)
	}
	await(t, events, kindConnected)
}

// Questions that are in flight when the client dies are asked again by a process.
func TestReadsSurviveControlDeath(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ref, _ := f.create("a")
	events := f.watch()
	await(t, events, kindConnected)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	errs := make(chan error, 4)
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				select {
				case <-stop:
					return
				default:
				}
				res, err := f.Capture(f.ctx, []engine.CaptureRequest{{Pane: ref.Pane}})
				if inv := f.Inventory(f.ctx); err == nil && (res[0].Err != nil || inv.Server != engine.Present || len(inv.Panes) != 2) {
					err = errors.Join(res[0].Err, inv.Err, fmt.Errorf("%d panes, %s", len(inv.Panes), inv.Server))
				}
				if err != nil {
					errs <- err
					return
				}
			}
		}()
	}
	for range 3 {
		f.tmux("kill-session", "-t", "="+controlSessions(t, f.socket)[0]+":")
		await(t, events, kindLost)
		await(t, events, kindConnected)
	}
	close(stop)
	wg.Wait()
	select {
	case err := <-errs:
		t.Error(err)
	default:
	}
}

// OneShot never makes a control session; the hints come by the clock.
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

// A hung server: the question over the control client ends with its context.
func TestControlHungServer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	events := f.watch()
	await(t, events, kindConnected)
	pid := tmuxtest.PID(f.socket)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGCONT) }()
	ctx, cancel := context.WithTimeout(f.ctx, 300*time.Millisecond)
	defer cancel()
	if inv := f.Inventory(ctx); inv.Server != engine.Unknown || inv.Err == nil {
		t.Errorf("%s, %v", inv.Server, inv.Err)
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	// The late answer must not be taken for the next one.
	for range 3 {
		if inv := f.Inventory(f.ctx); inv.Server != engine.Present || len(inv.Panes) != 1 {
			t.Errorf("%+v", inv)
		}
	}
}

func BenchmarkCapture(b *testing.B) {
	f := newFixture(b)
	var reqs []engine.CaptureRequest
	for i := range 30 {
		ref, _ := f.create(fmt.Sprintf("s%d", i), "sh", "-c", `seq 1 60; printf '\033[32mprompt\033[0m'; exec cat`)
		reqs = append(reqs, engine.CaptureRequest{Pane: ref.Pane, Colours: true})
	}
	run := func(b *testing.B) {
		for b.Loop() {
			res, err := f.Capture(f.ctx, reqs)
			if err != nil || len(res[29].Lines) != 24 {
				b.Fatal(err, len(res))
			}
		}
	}
	b.Run("batch/30", run)
	b.Run("batch/inventory", func(b *testing.B) {
		for b.Loop() {
			f.Inventory(f.ctx)
		}
	})
	await(b, f.watch(), kindConnected)
	b.Run("control/30", run)
	b.Run("control/inventory", func(b *testing.B) {
		for b.Loop() {
			f.Inventory(f.ctx)
		}
	})
}
