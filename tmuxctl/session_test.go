package tmuxctl

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rig/engine"
	"rig/tmuxctl/tmuxtest"
)

// inLocales runs a test in the tester's locale and in C, where tmux without -u
// turns tabs and everything beyond ASCII into '_'.
func inLocales(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	for _, l := range []string{"", "C"} {
		t.Run("locale="+l, func(t *testing.T) {
			if l != "" {
				t.Setenv("LC_ALL", l)
				t.Setenv("LANG", l)
			}
			test(t)
		})
	}
}

func TestCreateAndInventory(t *testing.T) {
	inLocales(t, func(t *testing.T) {
		f := newFixture(t)
		f.dir = filepath.Join(f.dir, "a #{pid} ü\tb'\"\nsecond;")
		if err := os.MkdirAll(f.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		ref, _ := f.create("dev-impl@shop")
		f.tmux("select-pane", "-t", string(ref.Pane), "-T", "✳ build -:- ok | 設計 $x")
		f.tmux("rename-window", "-t", string(ref.Pane), "a-:-b")
		tmuxtest.Eventually(t, 20*time.Second, "the program runs", func() bool { return f.pane(ref.Pane).Command == "cat" })
		p := f.pane(ref.Pane)
		if p.Path != "" || p.Title != "✳ build -:- ok | 設計 $x" || p.Session != "dev-impl@shop" || p.Command != "cat" {
			t.Errorf("path %q title %q session %q command %q", p.Path, p.Title, p.Session, p.Command)
		}
		if p.Seat != "seat-dev-impl@shop" || p.Gen != "1" || p.Op != "op-1" || p.PID != ref.PID || p.Width != 80 || p.Height != 24 || p.Dead || !f.active(p.ID) {
			t.Errorf("wrong pane: %+v", p)
		}
		f.tmux("set-option", "-pu", "-t", string(ref.Pane), "@rig_seat")
		if p := f.pane(ref.Pane); p.Path != f.dir || p.Seat != "" {
			t.Errorf("without a seat's tag: path %q seat %q", p.Path, p.Seat)
		}
		f.tmux("set-option", "-p", "-t", string(ref.Pane), "@rig_seat", "seat-dev-impl@shop")
		inv := f.Inventory(f.ctx)
		if inv.Server != engine.Present || inv.Epoch != ref.Epoch || inv.Path != PathBatch || inv.Err != nil || len(inv.Faults) != 0 || len(inv.Panes) != 2 {
			t.Errorf("wrong inventory: %+v", inv)
		}
		for option, want := range map[string]string{"remain-on-exit": "on", "@rig_seat": "seat-dev-impl@shop"} {
			if got := f.tmux("show-options", "-pv", "-t", string(ref.Pane), option); got != want {
				t.Errorf("%s is %q, want %q", option, got, want)
			}
		}
		if got := f.tmux("show-options", "-v", "-t", "=dev-impl@shop:", "destroy-unattached"); got != "off" {
			t.Errorf("destroy-unattached is %q", got)
		}
	})
}

// With destroy-unattached on for the whole server a detached session of ours lives.
func TestCreateSurvivesDestroyUnattached(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.tmux("set-option", "-t", "="+tmuxtest.Holder+":", "destroy-unattached", "off")
	f.tmux("set-option", "-g", "destroy-unattached", "on")
	ref, _ := f.create("a")
	f.tmux("list-sessions")
	if p := f.pane(ref.Pane); p.Dead {
		t.Error("the pane is dead")
	}
}

func TestCreateKeepsWords(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	words := []string{"a;", ";", `echo done \;`, "--- notes ---", "-l", `ends \`, `it's "q" $HOME ` + "`id`", "#{pid}", "", "ü", "a\nb", "%5", "~"}
	out := filepath.Join(f.dir, "words")
	argv := append([]string{"sh", "-c", `f=$1; shift; for w; do printf '%s\0' "$w"; done >"$f.tmp"; mv "$f.tmp" "$f"; exec cat`, "sh", out}, words...)
	f.create("w", argv...)
	tmuxtest.Eventually(t, 20*time.Second, "the words are written", func() bool {
		_, err := os.Stat(out)
		return err == nil
	})
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Join(words, "\x00") + "\x00"; string(got) != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestCreateOneWordRunsWithoutShell(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	name := filepath.Join(f.dir, "two words; exit 7")
	if err := os.WriteFile(name, []byte("#!/bin/sh\necho started here\nexec cat\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ref, _ := f.create("w", name)
	f.shows(ref.Pane, "started here")
}

func TestCreateRefusals(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, g := f.create("taken")
	file := filepath.Join(f.dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ok := engine.SessionSpec{Name: "n", Dir: f.dir, Argv: []string{"cat", "-"}}
	tests := map[string]struct {
		change func(*engine.SessionSpec)
		code   engine.Code
	}{
		"name taken":      {func(s *engine.SessionSpec) { s.Name = "taken" }, engine.CodeSessionExists},
		"name with dot":   {func(s *engine.SessionSpec) { s.Name = "a.b" }, engine.CodeInvalid},
		"format in name":  {func(s *engine.SessionSpec) { s.Name = "#{pid}" }, engine.CodeInvalid},
		"no command":      {func(s *engine.SessionSpec) { s.Argv = nil }, engine.CodeInvalid},
		"empty program":   {func(s *engine.SessionSpec) { s.Argv = []string{""} }, engine.CodeInvalid},
		"NUL":             {func(s *engine.SessionSpec) { s.Argv = []string{"a", "\x00"} }, engine.CodeInvalid},
		"too long":        {func(s *engine.SessionSpec) { s.Argv = []string{"a", strings.Repeat("x", 20<<10)} }, engine.CodeInvalid},
		"no directory":    {func(s *engine.SessionSpec) { s.Dir = filepath.Join(f.dir, "none") }, engine.CodeInvalid},
		"file as dir":     {func(s *engine.SessionSpec) { s.Dir = file }, engine.CodeInvalid},
		"relative dir":    {func(s *engine.SessionSpec) { s.Dir = "." }, engine.CodeInvalid},
		"tag with dollar": {func(s *engine.SessionSpec) { s.Seat = "a$b" }, engine.CodeInvalid},
		"tag with brace":  {func(s *engine.SessionSpec) { s.Op = "a}b" }, engine.CodeInvalid},
	}
	for name, tt := range tests {
		s := ok
		tt.change(&s)
		_, err := f.Create(f.ctx, s)
		t.Run(name, func(t *testing.T) { wantCode(t, err, tt.code) })
	}
	if got := f.tmux("list-sessions", "-F", "#{session_name}"); got != tmuxtest.Holder+"\ntaken" {
		t.Errorf("sessions afterwards: %q", got)
	}
	if p := f.pane(g.Pane); p.PID != g.PID || p.Dead {
		t.Errorf("the existing session was touched: %+v", p)
	}
}

// B74: only dev-impl@shop2 lives; nothing that is meant for dev-impl@shop may reach it.
func TestPrefixNames(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ref, g := f.create("dev-impl@shop2")
	if p, err := f.HasSession(f.ctx, "dev-impl@shop"); p != engine.Absent || err != nil {
		t.Errorf("HasSession: %s, %v", p, err)
	}
	if p, err := f.HasSession(f.ctx, "dev-impl@shop2"); p != engine.Present || err != nil {
		t.Errorf("HasSession of the other: %s, %v", p, err)
	}
	wrong := engine.Guard{Pane: ref.Pane, Epoch: ref.Epoch, Seat: "seat-dev-impl@shop"}
	wantCode(t, f.KillSession(f.ctx, wrong), engine.CodePaneMismatch)
	named := g
	named.Session = "dev-impl@shop"
	wantCode(t, f.KillSession(f.ctx, named), engine.CodePaneMismatch)
	client := f.attachClient(tmuxtest.Holder)
	wantCode(t, f.SwitchClient(f.ctx, client, engine.SessionPlace("dev-impl@shop")), engine.CodeNotFound)
	if p := f.pane(ref.Pane); p.Dead || p.PID != ref.PID {
		t.Errorf("touched: %+v", p)
	}
}

func TestKillSession(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ref, g := f.create("a")
	other, _ := f.create("b")
	f.tmux("split-window", "-d", "-t", string(ref.Pane), "cat", "-")
	if err := f.KillSession(f.ctx, g); err != nil {
		t.Fatal(err)
	}
	inv := f.Inventory(f.ctx)
	if len(inv.Panes) != 2 {
		t.Errorf("panes left: %+v", inv.Panes)
	}
	if _, ok := inv.Pane(other.Pane); !ok {
		t.Error("the other session is gone too")
	}
	wantCode(t, f.KillSession(f.ctx, g), engine.CodeNotFound)
}

// An operator groups a session with the seat's: the seat is one pane, and its end is
// its end.
func TestGroupedSession(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ref, g := f.create("seat")
	f.tmux("new-session", "-d", "-t", "=seat:", "-s", "aaa")
	inv := f.Inventory(f.ctx)
	if len(inv.Panes) != 2 || len(inv.Find(g.Seat)) != 1 {
		t.Fatalf("panes: %+v", inv.Panes)
	}
	if p := f.pane(ref.Pane); p.Session != "seat" {
		t.Errorf("session %q", p.Session)
	}
	f.attachClient("aaa")
	if p := f.pane(ref.Pane); p.Session != "seat" {
		t.Errorf("session %q with a client in the other one", p.Session)
	}
	if err := f.KillSession(f.ctx, g); err != nil {
		t.Fatal(err)
	}
	if inv := f.Inventory(f.ctx); len(inv.Find(g.Seat)) != 0 {
		t.Errorf("the seat lives on: %+v", inv.Panes)
	}
}

// With the last session the server ends; that is success.
func TestKillLastSession(t *testing.T) {
	t.Parallel()
	socket := tmuxtest.Socket(t)
	f := fixtureOn(t, socket)
	for i := range 5 {
		_, g := f.create(fmt.Sprintf("only%d", i))
		pid := tmuxtest.PID(socket)
		if err := f.KillSession(f.ctx, g); err != nil {
			t.Fatal(err)
		}
		tmuxtest.Eventually(t, 20*time.Second, "the server is gone", func() bool { return !tmuxtest.Alive(pid) })
		wantCode(t, f.KillSession(f.ctx, g), engine.CodeNotFound)
	}
}

// B77: a pane kept by remain-on-exit is dead, with its status, and nothing but
// clean-up works on it.
func TestDeadPane(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	// It ends when told: of a program that ends at once tmux may lose the output.
	ref, g := f.create("d", "sh", "-c", "echo last words; read x; exit 3")
	f.shows(ref.Pane, "last words")
	if err := f.Keys(f.ctx, g, "Enter"); err != nil {
		t.Fatal(err)
	}
	f.dead(ref.Pane, 3)
	if s := f.screen(ref.Pane); !strings.Contains(s, "last words") {
		t.Errorf("its last output is lost: %q", s)
	}
	epoch := f.Inventory(f.ctx).Epoch
	wantCode(t, f.Paste(f.ctx, g, "text"), engine.CodePaneDead)
	dead := g
	dead.DeadOK = true
	wantCode(t, f.Paste(f.ctx, dead, "text"), engine.CodePaneDead) // would end a 3.3a server
	wantCode(t, f.Keys(f.ctx, dead, "Enter"), engine.CodePaneDead)
	wantCode(t, f.KillSession(f.ctx, g), engine.CodePaneDead)
	if now := f.Inventory(f.ctx).Epoch; now != epoch {
		t.Fatalf("the server died: epoch %s became %s", epoch, now)
	}
	if got := f.tmux("list-buffers"); got != "" {
		t.Errorf("buffers left: %q", got)
	}
	if err := f.Respawn(f.ctx, g, f.dir, []string{"sh", "-c", "echo second life; exec cat"}); err != nil {
		t.Fatal(err)
	}
	f.shows(ref.Pane, "second life")
	alive := g
	alive.PID = 0
	wantCode(t, f.Respawn(f.ctx, alive, f.dir, []string{"cat", "-"}), engine.CodePaneMismatch)
	if err := f.KillSession(f.ctx, alive); err != nil {
		t.Error(err)
	}
}

func TestKilledPane(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ref, g := f.create("d")
	if err := syscall.Kill(ref.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	caps, err := f.Caps(f.ctx)
	if err != nil {
		t.Fatal(err)
	}
	want := 128 + 9
	if !caps.DeadTime {
		want = -1
	}
	f.dead(ref.Pane, want)
	g.DeadOK = true
	if err := f.KillSession(f.ctx, g); err != nil {
		t.Error(err)
	}
}

func TestFailedLaunchStaysReadable(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ref, _ := f.create("d", "/nonexistent/agent", "x")
	f.dead(ref.Pane, 1)
}

// B76: the operator splits the window and leaves the other pane active.
func TestOperatorSplits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	g, log := f.agent("dev-impl@shop")
	f.tmux("split-window", "-t", string(g.Pane), "cat", "-")
	p := f.pane(g.Pane)
	if f.active(p.ID) || p.Dead || p.Seat != g.Seat {
		t.Fatalf("wrong pane: %+v", p)
	}
	if err := f.Deliver(f.ctx, g, "for the agent", 0); err != nil {
		t.Fatal(err)
	}
	tmuxtest.Eventually(t, 20*time.Second, "the agent heard it", func() bool { return len(submits(listen(t, log))) == 1 })
	if got := submits(listen(t, log))[0]; got != "for the agent" {
		t.Errorf("the agent heard %q", got)
	}
	if s := f.screen(g.Pane); !strings.Contains(s, "agent ready") {
		t.Errorf("capture shows the other pane: %q", s)
	}
	for _, q := range f.Inventory(f.ctx).Panes {
		if q.Session == p.Session && q.ID != p.ID && (q.Seat != "" || strings.Contains(f.screen(q.ID), "for the agent")) {
			t.Errorf("the operator's pane was taken for the seat: %+v", q)
		}
	}
}

func TestRename(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, g := f.create("a")
	f.create("b")
	wantCode(t, f.Rename(f.ctx, g, "b"), engine.CodeSessionExists)
	wantCode(t, f.Rename(f.ctx, g, "x.y"), engine.CodeInvalid)
	if err := f.Rename(f.ctx, g, "_rig-01J"); err != nil {
		t.Fatal(err)
	}
	if p := f.pane(g.Pane); p.Session != "_rig-01J" {
		t.Errorf("session %q", p.Session)
	}
}

func TestResize(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, g := f.create("a")
	if err := f.Resize(f.ctx, g, 133, 47); err != nil {
		t.Fatal(err)
	}
	if p := f.pane(g.Pane); p.Width != 133 || p.Height != 47 {
		t.Errorf("%dx%d", p.Width, p.Height)
	}
	wantCode(t, f.Resize(f.ctx, g, 0, 10), engine.CodeInvalid)
}

func TestCosmeticCalls(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ref, _ := f.create("a")
	window := f.tmux("display-message", "-p", "-t", string(ref.Pane), "#{window_id}")
	for _, name := range []string{"work;", "-x", "a-:-b", "設計"} {
		if err := f.RenameWindow(f.ctx, window, name); err != nil {
			t.Fatal(err)
		}
		if got := f.tmux("display-message", "-p", "-t", string(ref.Pane), "#{window_name}"); got != name {
			t.Errorf("window name %q, want %q", got, name)
		}
	}
	f.tmux("split-window", "-h", "-t", string(ref.Pane), "cat", "-")
	if err := f.SelectLayout(f.ctx, window, LayoutEvenVertical); err != nil {
		t.Fatal(err)
	}
	if got := f.pane(ref.Pane); got.Width != 80 {
		t.Errorf("width %d after even-vertical", got.Width)
	}
	wantCode(t, f.RenameWindow(f.ctx, "dev", "x"), engine.CodeInvalid)
	wantCode(t, f.RenameWindow(f.ctx, window, "\x1b"), engine.CodeInvalid)
	wantCode(t, f.RenameWindow(f.ctx, "@999", "x"), engine.CodeTmuxProbeFailed)
	wantCode(t, f.SelectLayout(f.ctx, window, "diagonal"), engine.CodeInvalid)
	gone, cancel := context.WithCancel(f.ctx)
	cancel()
	wantCode(t, f.RenameWindow(gone, window, "x"), engine.CodeCancelled)
}
