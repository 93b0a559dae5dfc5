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
	args := append([]string{"new-session", "-d", "-x", "90", "-y", "30", "--"}, f.AttachArgv(session)...)
	tmuxtest.Tmux(f.t, outer, args...)
	name := ""
	tmuxtest.Eventually(f.t, 20*time.Second, "a client is attached", func() bool {
		for _, c := range list() {
			if !before[c.Name] && c.Session == session {
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
		err := f.SwitchClient(f.ctx, name, "dev-impl@shop", -1)
		wantCode(t, err, engine.CodeNotFound)
		var e *engine.Error
		if asError(err, &e); !strings.Contains(e.Hint, "attach-session -t '=dev-impl@shop:'") || !strings.Contains(e.Hint, f.socket) {
			t.Errorf("the hint does not say how to attach: %q", e.Hint)
		}
	}
	one := f.attachClient("dev-impl@shop")
	two := f.attachClient("dev-impl@shop")
	f.tmux("new-window", "-d", "-t", "=dev-qa@shop:5", "cat", "-")
	if err := f.SwitchClient(f.ctx, two, "dev-qa@shop", 5); err != nil {
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
	wantCode(t, f.SwitchClient(f.ctx, one, "dev-qa@shop", 9), engine.CodeNotFound)
	wantCode(t, f.SwitchClient(f.ctx, one, "none", -1), engine.CodeNotFound)
	wantCode(t, f.SwitchClient(f.ctx, one, "a.b", -1), engine.CodeInvalid)
}

func TestClientsWithoutServer(t *testing.T) {
	t.Parallel()
	f := fixtureOn(t, tmuxtest.Socket(t))
	clients, err := f.Clients(f.ctx)
	if err != nil || len(clients) != 0 {
		t.Errorf("clients: %+v, %v", clients, err)
	}
	wantCode(t, f.SwitchClient(f.ctx, "/dev/pts/1", "a", -1), engine.CodeNotFound)
}

func TestPopup(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.create("dev-impl@shop")
	client := f.attachClient(tmuxtest.Holder)
	argv := f.PopupArgv(f.Socket(), client, "", "dev-impl@shop")
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
	if f.PopupArgv(f.Socket(), client, "", "a.b") != nil || f.AttachArgv("a.b") != nil {
		t.Error("an argv for a name that cannot be a session")
	}
}
