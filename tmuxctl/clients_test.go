package tmuxctl

import (
	"strings"
	"testing"
	"time"

	"rig/engine"
	"rig/tmuxctl/tmuxtest"
)

// attachClient attaches a real terminal: a pane of a second tmux server runs the
// attach command line. It gives the client's name.
func (f *fixture) attachClient(session string) string {
	f.t.Helper()
	return f.attachClientTo(engine.SessionPlace(session))
}

func (f *fixture) attachClientTo(to engine.Place) string {
	f.t.Helper()
	outer := tmuxtest.Socket(f.t)
	before := map[string]bool{}
	list := func() []engine.Client {
		clients, err := f.Clients(f.ctx)
		if err != nil {
			f.t.Fatal(err)
		}
		return clients
	}
	for _, c := range list() {
		before[c.Name] = true
	}
	args := append([]string{"new-session", "-d", "-x", "90", "-y", "30", "--"}, f.AttachArgv(to)...)
	tmuxtest.Tmux(f.t, outer, args...)
	name := ""
	tmuxtest.Eventually(f.t, 20*time.Second, "a client is attached", func() bool {
		for _, c := range list() {
			if !before[c.Name] && c.Session == to.Session {
				name = c.Name
			}
		}
		return name != ""
	})
	return name
}

// B82: without a client, and with a client that is not this server's, the switch is
// refused and says how to attach.
func TestSwitchClient(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.create("dev-impl@shop")
	f.create("dev-qa@shop")
	clients, err := f.Clients(f.ctx)
	if err != nil || len(clients) != 0 {
		t.Fatalf("clients: %+v, %v", clients, err)
	}
	for _, name := range []string{"", "/dev/pts/999", "/dev/pts/999;"} {
		err := f.SwitchClient(f.ctx, name, engine.SessionPlace("dev-impl@shop"))
		wantCode(t, err, engine.CodeNotFound)
		var e *engine.Error
		if asError(err, &e); !strings.Contains(e.Hint, "attach-session -t '=dev-impl@shop:'") || !strings.Contains(e.Hint, f.socket) {
			t.Errorf("the hint does not say how to attach: %q", e.Hint)
		}
	}
	one := f.attachClient("dev-impl@shop")
	two := f.attachClient("dev-impl@shop")
	f.tmux("new-window", "-d", "-t", "=dev-qa@shop:5", "cat", "-")
	if err := f.SwitchClient(f.ctx, two, engine.Place{Session: "dev-qa@shop", Window: 5}); err != nil {
		t.Fatal(err)
	}
	clients, err = f.Clients(f.ctx)
	if err != nil || len(clients) != 2 {
		t.Fatalf("clients: %+v, %v", clients, err)
	}
	for _, c := range clients {
		if want := map[string]string{one: "dev-impl@shop", two: "dev-qa@shop"}[c.Name]; c.Session != want {
			t.Errorf("client %s is at %s, want %s", c.Name, c.Session, want)
		}
		if c.Width != 90 || c.PID == 0 || c.Control {
			t.Errorf("wrong client: %+v", c)
		}
	}
	if got := f.tmux("display-message", "-p", "-t", "=dev-qa@shop:", "#{window_index}"); got != "5" {
		t.Errorf("window %s is shown", got)
	}
	wantCode(t, f.SwitchClient(f.ctx, one, engine.Place{Session: "dev-qa@shop", Window: 9}), engine.CodeNotFound)
	wantCode(t, f.SwitchClient(f.ctx, one, engine.SessionPlace("none")), engine.CodeNotFound)
	wantCode(t, f.SwitchClient(f.ctx, one, engine.SessionPlace("a.b")), engine.CodeInvalid)
}

// A terminal goes to the pane that is meant, whatever window and pane its session was
// left at, and whatever name somebody gave the session. An id of another server, which
// is not where it is said to be, leads nowhere.
func TestPlaces(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.create("dev-impl@shop")
	pane := engine.PaneID(f.tmux("display-message", "-p", "-t", "=dev-impl@shop:", "#{pane_id}"))
	elsewhere := func() {
		t.Helper()
		f.tmux("select-window", "-t", "=dev-impl@shop:7")
	}
	f.tmux("split-window", "-t", string(pane), "cat", "-")
	f.tmux("new-window", "-t", "=dev-impl@shop:7", "cat", "-")
	shows := func(client string) string {
		return f.tmux("display-message", "-p", "-c", client, "#{pane_id}")
	}
	place := engine.Place{Session: "dev-impl@shop", Pane: pane}
	client := f.attachClientTo(place)
	if got := shows(client); got != string(pane) {
		t.Errorf("attached to %s, want %s", got, pane)
	}
	elsewhere()
	if err := f.SwitchClient(f.ctx, client, place); err != nil || shows(client) != string(pane) {
		t.Errorf("switched to %s, want %s: %v", shows(client), pane, err)
	}
	elsewhere()
	f.tmux("rename-session", "-t", "=dev-impl@shop:", "my agent")
	place.Session = "my agent"
	if err := f.SwitchClient(f.ctx, client, place); err != nil || shows(client) != string(pane) {
		t.Errorf("switched to %s, want %s: %v", shows(client), pane, err)
	}
	f.create("dev-qa@shop")
	wantCode(t, f.SwitchClient(f.ctx, client, engine.Place{Session: "dev-qa@shop", Pane: pane}), engine.CodeNotFound)
	wantCode(t, f.SwitchClient(f.ctx, client, engine.Place{Session: "dev-qa@shop", Pane: "0"}), engine.CodeInvalid)
}

func TestClientsWithoutServer(t *testing.T) {
	t.Parallel()
	f := fixtureOn(t, tmuxtest.Socket(t))
	clients, err := f.Clients(f.ctx)
	if err != nil || len(clients) != 0 {
		t.Errorf("clients: %+v, %v", clients, err)
	}
	wantCode(t, f.SwitchClient(f.ctx, "/dev/pts/1", engine.SessionPlace("a")), engine.CodeNotFound)
}

func TestPopup(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.create("dev-impl@shop")
	client := f.attachClient(tmuxtest.Holder)
	argv := f.PopupArgv(f.Socket(), client, "", engine.SessionPlace("dev-impl@shop"))
	outer := tmuxtest.Socket(t)
	tmuxtest.Tmux(t, outer, append([]string{"new-session", "-d", "--"}, argv...)...)
	tmuxtest.Eventually(t, 20*time.Second, "the popup attaches a client to the seat", func() bool {
		clients, err := f.Clients(f.ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range clients {
			if c.Session == "dev-impl@shop" {
				return true
			}
		}
		return false
	})
	if f.PopupArgv(f.Socket(), client, "", engine.SessionPlace("a.b")) != nil || f.AttachArgv(engine.SessionPlace("a.b")) != nil {
		t.Error("an argv for a name that cannot be a session")
	}
}
