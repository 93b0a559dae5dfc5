package tmuxctl

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"rig/engine"
)

// The two ways of reading, as engine.Inventory.Path names them.
const (
	PathControl = "control"
	PathBatch   = "batch"
)

// Options configure a Mux.
type Options struct {
	// Socket is the absolute path of the server's socket. Required; there is no
	// default, so that the user's own server is never touched by accident.
	Socket string
	// Config is the configuration file of a server that Create starts. Empty
	// means what tmux reads by itself: the operator's own keys.
	Config string
	// Program is the tmux to run, "tmux" by default.
	Program string
	// OneShot never starts a control client, not even for Watch: planning and the
	// verbs leave no trace on the server.
	OneShot bool
	// Poll is how often Watch hints when it has no control client; 2.5 s by
	// default, which keeps the fallback under half a process a second.
	Poll time.Duration
	// Trust says why the server on another socket must not be asked; nil asks all.
	Trust func(socket string) error
}

// Mux is tmux on one socket. It is safe for concurrent use. Make it with New.
type Mux struct {
	run     runner
	trust   func(string) error
	oneShot bool
	poll    time.Duration
	settle  time.Duration
	hub     hub
	locks   keyedMutex
	hung    atomic.Bool // the last question was not answered in time

	mu     sync.Mutex
	caps   Caps               // zero until a server or the program was asked
	reaped map[string]reapTry // dead panes whose status was asked for once more
}

var _ engine.Mux = (*Mux)(nil)

// New checks the options and touches nothing: no process, no file, no server. It
// refuses a socket path that the system cannot bind.
func New(o Options) (*Mux, error) {
	if !filepath.IsAbs(o.Socket) {
		return nil, engine.Errorf(engine.CodeInvalid, "the tmux socket %q is not an absolute path", o.Socket).
			WithHint("set RIG_TMUX_SOCKET to an absolute path")
	}
	if limit := maxSocketPath(); len(o.Socket) > limit {
		return nil, engine.Errorf(engine.CodeInvalid, "the tmux socket path has %d bytes; this system takes %d", len(o.Socket), limit).
			WithHint("set RIG_TMUX_SOCKET to a shorter path, such as one under /tmp").On("tmux", o.Socket)
	}
	if o.Program == "" {
		o.Program = "tmux"
	}
	if o.Poll <= 0 {
		o.Poll = 2500 * time.Millisecond
	}
	return &Mux{
		run:     runner{bin: o.Program, socket: o.Socket, config: o.Config},
		trust:   o.Trust,
		oneShot: o.OneShot,
		poll:    o.Poll,
		settle:  settleAfter,
	}, nil
}

// maxSocketPath is the longest path of a Unix socket without its final NUL.
func maxSocketPath() int {
	if runtime.GOOS == "linux" {
		return 107
	}
	return 103
}

// Socket is the path of the server's socket.
func (m *Mux) Socket() string { return m.run.socket }

// Path tells how reading works at this moment: PathControl or PathBatch.
func (m *Mux) Path() string {
	if m.hub.client() != nil {
		return PathControl
	}
	return PathBatch
}

// Caps tells what the tmux program can do. It runs `tmux -V` once and keeps the
// answer. It fails with CodeTmuxTooOld under the version floor and with
// CodeUnavailable when there is no tmux.
func (m *Mux) Caps(ctx context.Context) (Caps, error) {
	m.mu.Lock()
	caps := m.caps
	m.mu.Unlock()
	if caps.Version != "" {
		return caps, nil
	}
	caps, err := m.run.version(ctx)
	if err != nil {
		return Caps{}, err
	}
	m.keepCaps(caps)
	return caps, nil
}

// keepCaps remembers what was learned of the version in use.
func (m *Mux) keepCaps(c Caps) {
	m.mu.Lock()
	m.caps = c
	m.mu.Unlock()
}

// newNonce makes a word that nothing on the server can hold already. It starts with
// a letter and holds no '_', so that it survives every escaping of tmux.
func newNonce() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // documented never to fail
	return "z" + hex.EncodeToString(b[:])
}

// keyedMutex is one mutex per pane, so that two deliveries to the same pane never
// mix while others go on.
type keyedMutex struct {
	mu sync.Mutex
	m  map[string]*countedMutex
}

type countedMutex struct {
	sync.Mutex
	users int
}

// lock waits for the key and returns its release.
func (k *keyedMutex) lock(key string) func() {
	k.mu.Lock()
	if k.m == nil {
		k.m = map[string]*countedMutex{}
	}
	c := k.m[key]
	if c == nil {
		c = &countedMutex{}
		k.m[key] = c
	}
	c.users++
	k.mu.Unlock()
	c.Lock()
	return func() {
		c.Unlock()
		k.mu.Lock()
		if c.users--; c.users == 0 {
			delete(k.m, key)
		}
		k.mu.Unlock()
	}
}
