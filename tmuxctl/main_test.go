package tmuxctl

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"rig/engine"
	"rig/tmuxctl/tmuxtest"
)

// TestMain lets the test binary play the programs that tests need: an agent that
// records what it is sent, a second process that delivers, and a console that is
// killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case "play-agent":
			playAgent(os.Args[2])
			return
		case "play-deliverer":
			playDeliverer(os.Args[2], os.Args[3], os.Args[4:])
			return
		case "play-console":
			playConsole(os.Args[2])
			return
		}
	}
	os.Exit(m.Run())
}

// heard is one thing an agent received: a whole paste, or a submitted message.
type heard struct {
	Paste  string `json:"paste,omitempty"`
	Submit string `json:"submit,omitempty"`
}

// burst is the time within which an Enter counts as a line break, as real clients
// have it.
const burst = 120 * time.Millisecond

// playAgent is a program with an input box and bracketed paste. An Enter within
// burst of other input is a line break, a later one submits. Everything goes into
// the log as JSON lines.
func playAgent(log string) {
	raw := exec.Command("stty", "raw", "-echo")
	raw.Stdin = os.Stdin
	if err := raw.Run(); err != nil {
		fmt.Println("stty:", err)
		os.Exit(9)
	}
	f, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Println(err)
		os.Exit(9)
	}
	enc := json.NewEncoder(f)
	fmt.Print("\x1b[?2004hagent ready\r\n")
	var pending, box []byte
	var last time.Time
	buf := make([]byte, 64<<10)
	open, shut := []byte("\x1b[200~"), []byte("\x1b[201~")
	for {
		n, err := os.Stdin.Read(buf)
		if err != nil {
			return
		}
		now := time.Now()
		pending = append(pending, buf[:n]...)
		for len(pending) > 0 {
			if bytes.HasPrefix(pending, open) {
				end := bytes.Index(pending, shut)
				if end < 0 {
					break // the rest of the paste is on its way
				}
				text := pending[len(open):end]
				_ = enc.Encode(heard{Paste: string(text)})
				box = append(box, text...)
				pending = pending[end+len(shut):]
				last = now
				continue
			}
			c := pending[0]
			pending = pending[1:]
			switch {
			case c == '\r' && now.Sub(last) > burst:
				_ = enc.Encode(heard{Submit: string(box)})
				box = nil
			case c == 4: // C-d
				return
			default:
				box = append(box, c)
				last = now
			}
		}
	}
}

// playDeliverer pastes numbered texts into panes, in parallel, round after round.
func playDeliverer(socket, label string, panes []string) {
	m, err := New(Options{Socket: socket})
	if err == nil {
		err = deliverRounds(m, label, panes)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(9)
	}
}

// playConsole watches until it is killed and says how it reads.
func playConsole(socket string) {
	m, err := New(Options{Socket: socket})
	if err != nil {
		fmt.Println(err)
		os.Exit(9)
	}
	for ev := range m.Watch(context.Background()) {
		fmt.Println(ev.Kind, ev.Path)
	}
}

// fixture is a Mux on a server of its own.
type fixture struct {
	*Mux
	t      testing.TB
	socket string
	dir    string
	ctx    context.Context
	alone  bool // no other test runs, so leaked goroutines can be told
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	socket := tmuxtest.Server(t)
	return fixtureOn(t, socket)
}

func fixtureOn(t testing.TB, socket string) *fixture {
	t.Helper()
	m, err := New(Options{Socket: socket, Config: "/dev/null"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return &fixture{Mux: m, t: t, socket: socket, dir: t.TempDir(), ctx: ctx}
}

// tmux runs tmux directly, as an operator would.
func (f *fixture) tmux(args ...string) string {
	f.t.Helper()
	return tmuxtest.Tmux(f.t, f.socket, args...)
}

// create makes a session of a seat that runs argv.
func (f *fixture) create(name string, argv ...string) (engine.PaneRef, engine.Guard) {
	f.t.Helper()
	if len(argv) == 0 {
		argv = []string{"cat", "-"}
	}
	ref, err := f.Create(f.ctx, engine.SessionSpec{
		Name: name, Dir: f.dir, Width: 80, Height: 24, Argv: argv, Seat: "seat-" + name, Gen: "1", Op: "op-1",
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return ref, engine.Guard{Pane: ref.Pane, Epoch: ref.Epoch, Seat: "seat-" + name, Gen: "1", PID: ref.PID}
}

// agent makes a session with a recording agent and waits until it listens.
func (f *fixture) agent(name string) (engine.Guard, string) {
	f.t.Helper()
	log := filepath.Join(f.dir, name+".log")
	_, g := f.create(name, self(f.t), "play-agent", log)
	f.shows(g.Pane, "agent ready")
	return g, log
}

// shows waits until a pane shows a text.
func (f *fixture) shows(pane engine.PaneID, text string) {
	f.t.Helper()
	tmuxtest.Eventually(f.t, 20*time.Second, fmt.Sprintf("%s shows %q", pane, text), func() bool {
		return bytes.Contains([]byte(f.screen(pane)), []byte(text))
	})
}

// screen captures one pane as text.
func (f *fixture) screen(pane engine.PaneID) string {
	f.t.Helper()
	res, err := f.Capture(f.ctx, []engine.CaptureRequest{{Pane: pane, History: 200}})
	if err != nil {
		f.t.Fatal(err)
	}
	if res[0].Err != nil {
		f.t.Fatal(res[0].Err)
	}
	var b bytes.Buffer
	for _, l := range res[0].Lines {
		b.WriteString(l + "\n")
	}
	return b.String()
}

// pane reads one row of the inventory.
func (f *fixture) pane(id engine.PaneID) engine.Pane {
	f.t.Helper()
	inv := f.Inventory(f.ctx)
	p, ok := inv.Pane(id)
	if !ok {
		f.t.Fatalf("pane %s is not in the inventory: %+v", id, inv)
	}
	return p
}

// active reports whether a pane is its window's active one.
func (f *fixture) active(id engine.PaneID) bool {
	f.t.Helper()
	return f.tmux("display-message", "-p", "-t", string(id), "#{pane_active}") == "1"
}

// dead waits until a pane's process has ended with this code.
func (f *fixture) dead(id engine.PaneID, code int) {
	f.t.Helper()
	tmuxtest.Eventually(f.t, 20*time.Second, fmt.Sprintf("the process of %s has ended with %d", id, code), func() bool {
		p := f.pane(id)
		return p.Dead && p.DeadCode == code
	})
}

// self is the test binary.
func self(t testing.TB) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// listen reads an agent's log.
func listen(t testing.TB, log string) []heard {
	t.Helper()
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var out []heard
	dec := json.NewDecoder(bytes.NewReader(b))
	for {
		var h heard
		err := dec.Decode(&h)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, h)
	}
}

// submits picks the submitted messages.
func submits(hs []heard) (out []string) {
	for _, h := range hs {
		if h.Paste == "" {
			out = append(out, h.Submit)
		}
	}
	return out
}

// pastes picks the pastes.
func pastes(hs []heard) (out []string) {
	for _, h := range hs {
		if h.Paste != "" {
			out = append(out, h.Paste)
		}
	}
	return out
}

// wantCode fails unless err carries the code and a hint.
func wantCode(t testing.TB, err error, code engine.Code) {
	t.Helper()
	if engine.CodeOf(err) != code {
		t.Fatalf("got %v (%s), want code %s", err, engine.CodeOf(err), code)
	}
	var e *engine.Error
	if !asError(err, &e) || e.Hint == "" || e.Op == "" {
		t.Fatalf("a refusal needs hint and operation: %+v", err)
	}
}
