package tmuxctl

import (
	"testing"

	"rig/engine"
)

// Every fact of a guard is checked by the server, and a difference leaves the pane
// as it was.
func TestGuardFacts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ref, good := f.create("a")
	good.Op, good.Session = "op-1", "a"
	if err := f.Tag(f.ctx, good, good.Seat, "1", "op-1"); err != nil {
		t.Fatalf("the true guard is refused: %v", err)
	}
	tests := map[string]struct {
		change func(*engine.Guard)
		code   engine.Code
	}{
		"epoch":      {func(g *engine.Guard) { g.Epoch = "1-1" }, engine.CodePaneMismatch},
		"seat":       {func(g *engine.Guard) { g.Seat = "seat-b" }, engine.CodePaneMismatch},
		"seat part":  {func(g *engine.Guard) { g.Seat = "seat-" }, engine.CodePaneMismatch},
		"generation": {func(g *engine.Guard) { g.Gen = "2" }, engine.CodePaneMismatch},
		"operation":  {func(g *engine.Guard) { g.Op = "op-2" }, engine.CodePaneMismatch},
		"pid":        {func(g *engine.Guard) { g.PID++ }, engine.CodePaneMismatch},
		"session":    {func(g *engine.Guard) { g.Session = "b" }, engine.CodePaneMismatch},
		"pane":       {func(g *engine.Guard) { g.Pane = "%77" }, engine.CodeNotFound},
		"other pane": {func(g *engine.Guard) { g.Pane = "%0" }, engine.CodePaneMismatch},
		"no owner":   {func(g *engine.Guard) { g.Seat, g.Op = "", "" }, engine.CodeInvalid},
		"bad pane":   {func(g *engine.Guard) { g.Pane = "a" }, engine.CodeInvalid},
		"bad epoch":  {func(g *engine.Guard) { g.Epoch = "1-1,1" }, engine.CodeInvalid},
		"injection":  {func(g *engine.Guard) { g.Seat = "},#{==:1,1" }, engine.CodeInvalid},
		"quote":      {func(g *engine.Guard) { g.Op = "' ; kill-server ; '" }, engine.CodeInvalid},
	}
	before := f.tmux("list-panes", "-a", "-F", "#{pane_id} #{pane_pid} #{@rig_seat} #{@rig_gen} #{session_name}")
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			g := good
			tt.change(&g)
			wantCode(t, f.Tag(f.ctx, g, "stolen", "9", ""), tt.code)
			wantCode(t, f.KillSession(f.ctx, g), tt.code)
			wantCode(t, f.Paste(f.ctx, g, "x"), tt.code)
			wantCode(t, f.Keys(f.ctx, g, "Enter"), tt.code)
			wantCode(t, f.Rename(f.ctx, g, "stolen"), tt.code)
		})
	}
	if after := f.tmux("list-panes", "-a", "-F", "#{pane_id} #{pane_pid} #{@rig_seat} #{@rig_gen} #{session_name}"); after != before {
		t.Errorf("before %q\nafter %q", before, after)
	}
	if got := f.tmux("list-buffers"); got != "" {
		t.Errorf("buffers left: %q", got)
	}
	if p := f.pane(ref.Pane); p.Dead {
		t.Error("the pane is dead")
	}
}

func TestTagAndAdopt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, g := f.create("a")
	if err := f.Tag(f.ctx, g, "seat-z", "2", ""); err != nil {
		t.Fatal(err)
	}
	p := f.pane(g.Pane)
	if p.Seat != "seat-z" || p.Gen != "2" || p.Op != "" {
		t.Errorf("tags: %+v", p)
	}
	wantCode(t, f.Tag(f.ctx, g, "x", "", ""), engine.CodePaneMismatch) // the old tags are gone
	owned := engine.Guard{Pane: g.Pane, Epoch: g.Epoch, PID: g.PID}
	wantCode(t, f.Adopt(f.ctx, owned, "thief", "1", ""), engine.CodePaneMismatch)

	free := f.pane("%0")
	a := engine.Guard{Pane: "%0", Epoch: g.Epoch, PID: free.PID}
	wantCode(t, f.Adopt(f.ctx, engine.Guard{Pane: "%0"}, "s", "1", ""), engine.CodeInvalid)
	wantCode(t, f.Adopt(f.ctx, a, "", "1", ""), engine.CodeInvalid)
	wrong := a
	wrong.PID++
	wantCode(t, f.Adopt(f.ctx, wrong, "s", "1", ""), engine.CodePaneMismatch)
	if err := f.Adopt(f.ctx, a, "adopted", "1", "op"); err != nil {
		t.Fatal(err)
	}
	if p := f.pane("%0"); p.Seat != "adopted" || p.Gen != "1" || p.Op != "op" {
		t.Errorf("tags: %+v", p)
	}
	wantCode(t, f.Adopt(f.ctx, a, "second", "1", "op"), engine.CodePaneMismatch)
	release := engine.Guard{Pane: "%0", Seat: "adopted"}
	if err := f.Tag(f.ctx, release, "", "", ""); err != nil {
		t.Fatal(err)
	}
	if p := f.pane("%0"); p.Seat != "" || p.Gen != "" || p.Op != "" {
		t.Errorf("tags after release: %+v", p)
	}
}

func TestSwap(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a, ga := f.create("dev-impl@shop")
	b, gb := f.create("_rig-op1")
	client := f.attachClient("dev-impl@shop")
	wrong := gb
	wrong.Gen = "7"
	wantCode(t, f.Swap(f.ctx, ga, wrong), engine.CodePaneMismatch)
	wantCode(t, f.Swap(f.ctx, wrong, ga), engine.CodePaneMismatch)
	wantCode(t, f.Swap(f.ctx, ga, ga), engine.CodeInvalid)
	gone := gb
	gone.Pane = "%88"
	wantCode(t, f.Swap(f.ctx, ga, gone), engine.CodeNotFound)
	if p := f.pane(a.Pane); p.Session != "dev-impl@shop" {
		t.Fatalf("a refused swap moved the pane to %s", p.Session)
	}
	if err := f.Swap(f.ctx, ga, gb); err != nil {
		t.Fatal(err)
	}
	pa, pb := f.pane(a.Pane), f.pane(b.Pane)
	if pa.Session != "_rig-op1" || pb.Session != "dev-impl@shop" || pa.PID != a.PID || pb.PID != b.PID || pa.Seat != ga.Seat || !f.active(b.Pane) {
		t.Errorf("after the swap: %+v\n%+v", pa, pb)
	}
	clients, err := f.Clients(f.ctx)
	if err != nil || len(clients) != 1 || clients[0].Name != client || clients[0].Session != "dev-impl@shop" {
		t.Errorf("the client moved: %+v, %v", clients, err)
	}
	if err := f.Swap(f.ctx, ga, gb); err != nil {
		t.Fatal(err)
	}
	if p := f.pane(a.Pane); p.Session != "dev-impl@shop" {
		t.Errorf("swapped back into %s", p.Session)
	}
}

// A pane is in every session that shows its window: somebody looks at a seat with a
// session of the same group, or has linked its window elsewhere.
func TestGuardInAGroupOfSessions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, g := f.create("dev-impl@shop")
	_, other := f.create("dev-impl@shop2")
	f.tmux("new-session", "-d", "-t", "=dev-impl@shop", "-s", "mine")
	f.tmux("link-window", "-d", "-s", "=dev-impl@shop:0", "-t", "=dev-impl@shop2:5")
	f.attachClient("mine") // used last
	if got := f.tmux("display-message", "-p", "-t", string(g.Pane), "#{session_name}"); got != "mine" {
		t.Fatalf("tmux takes the pane to be in %s", got)
	}
	g.Session = "dev-impl@shop"
	if err := f.Keys(f.ctx, g, "Enter"); err != nil {
		t.Error(err)
	}
	if err := f.Rename(f.ctx, g, "renamed"); err != nil {
		t.Error(err)
	}
	if got := f.tmux("list-sessions", "-F", "#{session_name}", "-f", "#{session_grouped}"); got != "mine\nrenamed" {
		t.Errorf("the group is %q", got)
	}
	other.Session = "renamed"
	wantCode(t, f.Keys(f.ctx, other, "Enter"), engine.CodePaneMismatch)
	for _, near := range []string{"rename", "named", "min", "ine"} {
		other.Session = near
		wantCode(t, f.Keys(f.ctx, other, "Enter"), engine.CodePaneMismatch)
	}
}

// A person may give a seat's session any name: the seat can be written to and ended all
// the same, and the name does nothing.
func TestGuardUnderAnyName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"my agent", `q"a $(x) 'y'`, "a,b}", "##[bold]", "日本", "-t", "a;", "}#,#{pid}"} {
		f := newFixture(t)
		_, g := f.create("dev-impl@shop")
		f.tmux("rename-session", "-t", "=dev-impl@shop:", "--", name)
		inv := f.Inventory(f.ctx)
		p, ok := inv.Pane(g.Pane)
		if !ok {
			t.Fatalf("%q: no pane: %+v", name, inv)
		}
		g.Session = p.Session
		if err := f.Keys(f.ctx, g, "Enter"); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		wrong := g
		wrong.Gen = "2"
		wantCode(t, f.KillSession(f.ctx, wrong), engine.CodePaneMismatch)
		if err := f.KillSession(f.ctx, g); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if inv := f.Inventory(f.ctx); len(inv.Panes) > 1 { // the holder's
			t.Errorf("%q: left %+v", name, inv.Panes)
		}
	}
}
