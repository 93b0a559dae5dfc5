// Package enginetest holds stand-ins for what the engine needs from outside: a
// tmux server in memory, a runtime, a clock that steps, ids that count. They
// keep real state, so that a test can compare the world before and after, and
// every call can be made to fail.
package enginetest

import (
	"context"
	"fmt"
	"path"
	"slices"
	"sync"
	"time"

	"rig/engine"
)

// Clock is a clock that moves a millisecond with every look.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock starts at a fixed moment.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 3, 3, 10, 0, 0, 0, time.UTC)} }

// Now gives the time and moves it on by a millisecond.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Millisecond)
	return c.now
}

// IDs counts.
type IDs struct {
	mu     sync.Mutex
	n      int
	Prefix string
}

// New gives the next id; a later one sorts after.
func (i *IDs) New() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.n++
	return fmt.Sprintf("01%s%022d", i.Prefix, i.n)
}

// UUID gives a countable UUID.
func (i *IDs) UUID() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.n++
	return fmt.Sprintf("00000000-0000-4000-8000-%012d", i.n)
}

// Faults decides which calls fail. A nil Faults never does.
type Faults struct {
	mu    sync.Mutex
	calls map[string]int
	// Fail is asked before every call with its name ("create", "kill", …) and how
	// often that name was called before. Half makes the call do its work and then
	// report the failure.
	Fail func(name string, nth int) (fail, half bool)
}

// Ask counts a call and says whether it fails.
func (f *Faults) Ask(name string) (fail, half bool) {
	if f == nil || f.Fail == nil {
		return false, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls == nil {
		f.calls = map[string]int{}
	}
	n := f.calls[name]
	f.calls[name]++
	return f.Fail(name, n)
}

// ErrInjected is the cause of every injected failure.
var ErrInjected = engine.Errorf("injected", "an injected failure").WithHint("this is a test")

// Mux is a tmux server in memory.
type Mux struct {
	Faults *Faults
	mu     sync.Mutex
	next   int
	State  engine.Presence
	Epoch  engine.Epoch
	panes  []engine.Pane
	Others map[string]engine.Inventory // other servers, by socket
	Calls  []string                    // names of the calls that change the server
}

// NewMux makes a server that runs and holds no pane.
func NewMux() *Mux { return &Mux{State: engine.Present, Epoch: "100:1"} }

var _ engine.Mux = (*Mux)(nil)

// Panes gives a copy of what the server holds.
func (m *Mux) Panes() []engine.Pane {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]engine.Pane(nil), m.panes...)
}

// SetOther changes what another server says, also while somebody asks.
func (m *Mux) SetOther(socket string, inv engine.Inventory) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Others[socket] = inv
}

// Put adds or replaces a pane.
func (m *Mux) Put(p engine.Pane) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.panes {
		if m.panes[i].ID == p.ID {
			m.panes[i] = p
			return
		}
	}
	m.panes = append(m.panes, p)
}

// Drop removes a pane, as when somebody ends it behind our back.
func (m *Mux) Drop(id engine.PaneID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(id)
}

func (m *Mux) drop(id engine.PaneID) {
	for i := range m.panes {
		if m.panes[i].ID == id {
			m.panes = append(m.panes[:i], m.panes[i+1:]...)
			return
		}
	}
}

// Inventory implements engine.Mux.
func (m *Mux) Inventory(context.Context) engine.Inventory {
	if fail, _ := m.Faults.Ask("inventory"); fail {
		return engine.Inventory{Server: engine.Unknown, Err: ErrInjected, Path: "batch"}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return engine.Inventory{Socket: m.Socket(), Server: m.State, Epoch: m.Epoch, Panes: append([]engine.Pane(nil), m.panes...), Path: "batch"}
}

// InventoryOf implements engine.Mux.
func (m *Mux) InventoryOf(ctx context.Context, sessions string) engine.Inventory {
	inv := m.Inventory(ctx)
	inv.Panes = slices.DeleteFunc(inv.Panes, func(p engine.Pane) bool {
		match, err := path.Match(sessions, p.Session)
		return err != nil || !match
	})
	return inv
}

// InventoryAt implements engine.Mux: a socket that the test did not set up has
// provably no server.
func (m *Mux) InventoryAt(_ context.Context, socket string) engine.Inventory {
	m.mu.Lock()
	defer m.mu.Unlock()
	if inv, ok := m.Others[socket]; ok {
		return inv
	}
	return engine.Inventory{Socket: socket, Server: engine.Absent}
}

// Capture implements engine.Mux: every screen is empty.
func (m *Mux) Capture(_ context.Context, reqs []engine.CaptureRequest) ([]engine.CaptureResult, error) {
	out := make([]engine.CaptureResult, len(reqs))
	for i, r := range reqs {
		out[i] = engine.CaptureResult{Pane: r.Pane, Screen: engine.Screen{Lines: []string{"$ "}}}
	}
	return out, nil
}

// Look implements engine.Mux.
func (m *Mux) Look(ctx context.Context, reqs []engine.CaptureRequest) (engine.Inventory, []engine.CaptureResult) {
	inv := m.Inventory(ctx)
	if inv.Server != engine.Present {
		return inv, nil
	}
	shots, _ := m.Capture(ctx, reqs) // never fails here
	return inv, shots
}

// HasSession implements engine.Mux.
func (m *Mux) HasSession(_ context.Context, name string) (engine.Presence, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.panes {
		if p.Session == name {
			return engine.Present, nil
		}
	}
	return engine.Absent, nil
}

// do runs a change under the fault injection.
func (m *Mux) do(name string, fn func() error) error {
	fail, half := m.Faults.Ask(name)
	if fail && !half {
		return ErrInjected
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.State != engine.Present {
		return engine.Errorf(engine.CodeTmuxProbeFailed, "no answer").WithHint("test")
	}
	m.Calls = append(m.Calls, name)
	if err := fn(); err != nil {
		return err
	}
	if fail {
		return ErrInjected
	}
	return nil
}

// Create implements engine.Mux.
func (m *Mux) Create(_ context.Context, s engine.SessionSpec) (ref engine.PaneRef, err error) {
	err = m.do("create", func() error {
		for _, p := range m.panes {
			if p.Session == s.Name {
				return engine.Errorf(engine.CodeSessionExists, "session %s exists", s.Name).WithHint("test")
			}
		}
		m.next++
		p := engine.Pane{
			ID: engine.PaneID(fmt.Sprintf("%%%d", m.next)), PID: 1000 + m.next, Session: s.Name, Width: s.Width, Height: s.Height,
			Seat: s.Seat, Gen: s.Gen, Op: s.Op,
		}
		m.panes = append(m.panes, p)
		ref = engine.PaneRef{Epoch: m.Epoch, Pane: p.ID, PID: p.PID}
		return nil
	})
	return ref, err
}

// guarded finds the pane that a guard means.
func (m *Mux) guarded(g engine.Guard) (*engine.Pane, error) {
	for i := range m.panes {
		p := &m.panes[i]
		if p.ID != g.Pane {
			continue
		}
		switch {
		case g.Epoch != "" && g.Epoch != m.Epoch, g.Seat != "" && p.Seat != g.Seat, g.Gen != "" && p.Gen != g.Gen,
			g.Op != "" && p.Op != g.Op, g.PID != 0 && p.PID != g.PID:
			return nil, engine.Errorf(engine.CodePaneMismatch, "not that pane").WithHint("test")
		case p.Dead && !g.DeadOK:
			return nil, engine.Errorf(engine.CodePaneDead, "dead").WithHint("test")
		}
		return p, nil
	}
	return nil, engine.Errorf(engine.CodeNotFound, "no pane").WithHint("test")
}

// KillSession implements engine.Mux.
func (m *Mux) KillSession(_ context.Context, g engine.Guard) error {
	return m.do("kill", func() error {
		p, err := m.guarded(g)
		if err == nil {
			m.drop(p.ID)
		}
		return err
	})
}

// KillPane implements engine.Mux.
func (m *Mux) KillPane(ctx context.Context, g engine.Guard) error { return m.KillSession(ctx, g) }

// Paste implements engine.Mux.
func (m *Mux) Paste(_ context.Context, g engine.Guard, _ string) error {
	return m.do("paste", func() error { _, err := m.guarded(g); return err })
}

// Keys implements engine.Mux.
func (m *Mux) Keys(_ context.Context, g engine.Guard, _ ...string) error {
	return m.do("keys", func() error { _, err := m.guarded(g); return err })
}

// Tag implements engine.Mux.
func (m *Mux) Tag(_ context.Context, g engine.Guard, seat, gen, op string) error {
	return m.do("tag", func() error {
		p, err := m.guarded(g)
		if err == nil {
			p.Seat, p.Gen, p.Op = seat, gen, op
		}
		return err
	})
}

// Adopt implements engine.Mux.
func (m *Mux) Adopt(_ context.Context, g engine.Guard, seat, gen, op string) error {
	return m.do("adopt", func() error {
		p, err := m.guarded(g)
		if err == nil && p.Seat != "" {
			return engine.Errorf(engine.CodePaneMismatch, "it carries a tag").WithHint("test")
		}
		if err == nil {
			p.Seat, p.Gen, p.Op = seat, gen, op
		}
		return err
	})
}

// Swap implements engine.Mux.
func (m *Mux) Swap(_ context.Context, a, b engine.Guard) error {
	return m.do("swap", func() error {
		x, err := m.guarded(a)
		if err != nil {
			return err
		}
		y, err := m.guarded(b)
		if err == nil {
			x.Session, y.Session = y.Session, x.Session
		}
		return err
	})
}

// Rename implements engine.Mux.
func (m *Mux) Rename(_ context.Context, g engine.Guard, name string) error {
	return m.do("rename", func() error {
		p, err := m.guarded(g)
		if err == nil {
			p.Session = name
		}
		return err
	})
}

// Clients implements engine.Mux: nobody is attached.
func (m *Mux) Clients(context.Context) ([]engine.Client, error) { return nil, nil }

// SwitchClient implements engine.Mux.
func (m *Mux) SwitchClient(context.Context, string, engine.Place) error { return nil }

// AttachArgv implements engine.Mux.
func (m *Mux) AttachArgv(to engine.Place) []string {
	return []string{"tmux", "attach", "-t", "=" + to.Session + ":"}
}

// PopupArgv implements engine.Mux.
func (m *Mux) PopupArgv(string, string, string, engine.Place) []string { return nil }

// Watch implements engine.Mux: it never says anything and ends with ctx.
func (m *Mux) Watch(ctx context.Context) <-chan engine.MuxEvent {
	ch := make(chan engine.MuxEvent)
	go func() { <-ctx.Done(); close(ch) }()
	return ch
}

// Socket implements engine.Mux.
func (m *Mux) Socket() string { return "/tmp/fake.sock" }
