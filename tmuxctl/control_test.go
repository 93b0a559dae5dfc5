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
	"testing"
	"time"

	"rig/engine"
	"rig/tmuxctl/tmuxtest"
)

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
				if p.Command != "cat" || (p.Path == "") != (p.Seat != "") {
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
// session with destroy-unattached. For sessions that change while one connects see
// TestConsolesBesideSomebodysTmux.)
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

// A hung server: the question over the control client ends with its context.
func TestControlHungServer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	events := f.watch()
	await(t, events, kindConnected)
	resume := tmuxtest.Hang(t, f.socket)
	ctx, cancel := context.WithTimeout(f.ctx, 300*time.Millisecond)
	defer cancel()
	if inv := f.Inventory(ctx); inv.Server != engine.Unknown || inv.Err == nil {
		t.Errorf("%s, %v", inv.Server, inv.Err)
	}
	resume()
	// The late answer must not be taken for the next one.
	for range 3 {
		if inv := f.Inventory(f.ctx); inv.Server != engine.Present || len(inv.Panes) != 1 {
			t.Errorf("%+v", inv)
		}
	}
}

// A server that stops while it is watched is told as lost, is asked for moments only
// and never given another session while it hangs, and is found again afterwards.
func TestWatchedServerHangs(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.create("a")
	events := f.watch()
	await(t, events, kindConnected)
	resume := tmuxtest.Hang(t, f.socket)
	await(t, events, kindLost)
	began := time.Now()
	if inv := f.Inventory(f.ctx); inv.Server != engine.Unknown || inv.Err == nil || inv.Path != PathBatch {
		t.Errorf("%s by %s, %v", inv.Server, inv.Path, inv.Err)
	}
	if took := time.Since(began); took > defaultTimeout/2 {
		t.Errorf("a server that is known to hang was waited for, %s", took)
	}
	for range 3 { // at each try to connect again
		await(t, events, kindChanged)
	}
	resume()
	await(t, events, kindConnected)
	inv := f.Inventory(f.ctx)
	if inv.Server != engine.Present || inv.Path != PathControl || len(inv.Panes) == 0 {
		t.Errorf("%+v", inv)
	}
	if left := controlSessions(t, f.socket); len(left) != 1 {
		t.Errorf("control sessions: %q", left)
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
