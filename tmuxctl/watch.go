package tmuxctl

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"rig/engine"
)

// probe is asked every probeEvery over the control client, and a different answer is
// a change. It holds what a change of interest always touches, over every pane of
// every session, and nothing that an agent writes. Output of any kind moves
// window_activity. When a process ended tmux may learn only later than that it did. (For why this is no subscription see control.)
const probe = "list-panes -a -F '#{pane_id} #{pane_pid} #{pane_dead}#{pane_dead_time} #{window_activity} #{session_attached} #{@rig_gen}'"

const (
	eventGap     = 250 * time.Millisecond // at most four hints a second
	settleAfter  = 1300 * time.Millisecond
	probeEvery   = time.Second
	dialEvery    = time.Second // a connect costs no process
	firstBackoff = time.Second
	lastBackoff  = 30 * time.Second
)

// hub keeps the control client while anybody watches.
type hub struct {
	mu   sync.Mutex
	subs map[*subscriber]bool
	stop context.CancelFunc
	ctl  *control
	done chan struct{}
}

// subscriber is one watcher. Its channel holds one event: hints of the same kind
// merge, the newest wins.
type subscriber struct {
	mu     sync.Mutex
	ch     chan engine.MuxEvent
	closed bool
}

// put delivers without waiting for the reader.
func (s *subscriber) put(ev engine.MuxEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	for {
		select {
		case s.ch <- ev:
			return
		default:
		}
		select {
		case old := <-s.ch:
			if ev.Kind == kindChanged && old.Kind != kindChanged {
				ev.Kind = old.Kind // a lost or new connection implies a change
			}
		default:
		}
	}
}

func (s *subscriber) close() {
	s.mu.Lock()
	s.closed = true
	close(s.ch)
	s.mu.Unlock()
}

// Kinds of engine.MuxEvent.
const (
	kindChanged   = "changed"
	kindConnected = "connected"
	kindLost      = "lost"
)

// client gives the control client, nil when there is none.
func (h *hub) client() *control {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ctl
}

func (h *hub) set(c *control) {
	h.mu.Lock()
	h.ctl = c
	h.mu.Unlock()
}

func (h *hub) publish(ev engine.MuxEvent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.subs {
		s.put(ev)
	}
}

// Watch hints when something may have changed, until ctx ends; then the channel is
// closed. The first watcher starts the control client, the last one to leave ends it
// and its session. Nothing is sent while nothing changes, with one exception: on the
// fallback, where a change cannot be seen, a hint comes every Options.Poll.
//
// tmux tells activity in whole seconds, so output later in the second of a hint would
// go unseen: another hint follows 1.3 s after the last one.
func (m *Mux) Watch(ctx context.Context) <-chan engine.MuxEvent {
	s := &subscriber{ch: make(chan engine.MuxEvent, 1)}
	h := &m.hub
	h.mu.Lock()
	if h.subs == nil {
		h.subs = map[*subscriber]bool{}
	}
	h.subs[s] = true
	if len(h.subs) == 1 {
		previous := h.done
		run, stop := context.WithCancel(context.WithoutCancel(ctx))
		h.stop, h.done = stop, make(chan struct{})
		go m.keepWatch(run, previous, h.done)
	}
	h.mu.Unlock()
	go func() {
		<-ctx.Done()
		h.mu.Lock()
		delete(h.subs, s)
		stop, done := h.stop, h.done
		last := len(h.subs) == 0
		if last {
			stop()
		}
		h.mu.Unlock()
		if last {
			<-done // the private session is gone before the channel says so
		}
		s.close()
	}()
	return s.ch
}

// keepWatch keeps a control client running, with the fallback in between.
func (m *Mux) keepWatch(ctx context.Context, previous <-chan struct{}, done chan<- struct{}) {
	defer close(done)
	if previous != nil {
		<-previous
	}
	f := &feed{
		m: m, wake: make(chan struct{}, 1),
		dial: time.NewTicker(dialEvery), poll: time.NewTicker(m.poll),
	}
	defer f.dial.Stop()
	defer f.poll.Stop()
	f.up = m.serverUp(ctx)
	if m.oneShot {
		f.fallback(ctx, nil)
		return
	}
	backoff := firstBackoff
	for ctx.Err() == nil {
		began := time.Now()
		if f.look(ctx) {
			f.connected(ctx)
		}
		if !f.look(ctx) || time.Since(began) > lastBackoff {
			backoff = firstBackoff
		}
		retry := time.NewTimer(backoff)
		f.fallback(ctx, retry.C)
		retry.Stop()
		backoff = min(backoff*2, lastBackoff)
	}
}

// serverUp connects to the socket and hangs up at once: whether a server listens is
// known without a process.
func (m *Mux) serverUp(ctx context.Context) bool {
	d := net.Dialer{Timeout: time.Second}
	conn, err := d.DialContext(ctx, "unix", m.run.socket)
	if err != nil {
		// One that hangs takes connections only until its queue is full.
		var timeout net.Error
		return errors.Is(err, syscall.EAGAIN) || errors.As(err, &timeout) && timeout.Timeout()
	}
	conn.Close()
	return true
}

// feed turns what is seen into hints, not more often than eventGap.
type feed struct {
	m    *Mux
	wake chan struct{}
	dial *time.Ticker
	poll *time.Ticker
	up   bool // a server listened when last looked
}

// look dials, hints when a server came or went, and tells whether there is one.
func (f *feed) look(ctx context.Context) bool {
	up := f.m.serverUp(ctx)
	if up != f.up && ctx.Err() == nil {
		f.up = up
		f.send(kindChanged, PathBatch)
	}
	return up
}

// notice is called by the control client's reader.
func (f *feed) notice(ev event) {
	if !moves(ev) {
		return
	}
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// moves tells whether a notification means that the picture changed. Window names are
// in no picture, and tmux renames windows after every foreground command. Unknown
// notifications do not count: newer versions add some about things that are not shown.
func moves(ev event) bool {
	switch ev.name {
	case "subscription-changed", "sessions-changed", "session-renamed", "session-window-changed",
		"window-add", "window-close", "unlinked-window-add", "unlinked-window-close",
		"window-pane-changed", "layout-change", "client-session-changed", "client-detached":
		return true
	}
	return false
}

// connected runs a control client until it ends. When it cannot be started, which
// leaves the fallback in use, nothing is said: nothing changed.
func (f *feed) connected(ctx context.Context) {
	if f.m.hung.Load() {
		// A session asked of a server that hangs would be made when it goes on, for
		// a client that has long left: ask for nothing until it answers.
		if _, err := f.m.Epoch(ctx); err != nil {
			return
		}
	}
	c, err := startControl(ctx, &f.m.run, f.notice)
	if err != nil {
		return
	}
	defer c.close()
	if _, err := c.do(ctx, []string{probe}); err != nil {
		return
	}
	c.sweep(ctx)
	f.m.hub.set(c)
	f.send(kindConnected, PathControl)
	f.follow(ctx, c)
	f.m.hub.set(nil)
	if ctx.Err() == nil {
		f.send(kindLost, PathBatch)
	}
}

// follow passes hints on until the client is gone.
func (f *feed) follow(ctx context.Context, c *control) {
	settle := time.NewTimer(f.m.settle)
	settle.Stop()
	defer settle.Stop()
	ask := time.NewTicker(probeEvery)
	defer ask.Stop()
	last := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.done:
			return
		case <-settle.C:
			f.send(kindChanged, PathControl)
			continue
		case <-f.wake:
		case <-ask.C:
			answers, err := c.do(ctx, []string{probe})
			if err != nil {
				// It ended, or the server hangs: then the client would wait for it.
				f.m.heard(err)
				return
			}
			if answers[0].out == last {
				continue
			}
			first := last == ""
			if last = answers[0].out; first {
				continue
			}
		}
		f.send(kindChanged, PathControl)
		settle.Reset(f.m.settle)
		if !pause(ctx, eventGap) {
			return
		}
	}
}

// fallback hints without a control client until retry fires. While no server listens
// it only dials, and hints when that changes.
func (f *feed) fallback(ctx context.Context, retry <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-retry:
			return
		case <-f.dial.C:
			was := f.up
			if f.look(ctx) && !was && retry != nil {
				return // a new server: connect at once
			}
		case <-f.poll.C:
			if f.up {
				f.send(kindChanged, PathBatch)
			}
		}
	}
}

func (f *feed) send(kind, path string) {
	f.m.hub.publish(engine.MuxEvent{Kind: kind, Path: path})
}

// pause waits for d and tells whether ctx is still alive.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
