package engine_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"rig/engine"
)

// newMail is a ward to whose seat messages are sent; what a test has changed of its
// parts counts.
func newMail(t *testing.T, change func(w *ward)) *ward {
	t.Helper()
	w := newWard(t)
	t.Cleanup(func() { w.close(t) })
	w.deps.Config.VerifyTimeout = 20 * time.Second
	change(w)
	w.e = engine.New(w.deps)
	return w
}

// A client that retries holds a message like one that works: its sender is told so.
func TestAMessageIsQueuedWhileTheClientRetries(t *testing.T) {
	w := newMail(t, func(w *ward) {
		w.deps.Mux = typing{w.mux, func(string) { w.set(func(p *patient) { p.queued = true }) }}
	})
	w.set(func(p *patient) { p.state, p.code = engine.ActivityBusy, "retrying" })
	d, err := w.e.Send(t.Context(), "dev.m0", "$", true) // as every pane of the bench shows
	if err != nil || d.Outcome != "delivered" || !d.Queued || d.Word() != "queued" {
		t.Errorf("%v %+v", err, d)
	}
}

// spool is what a client has reported, as the newest few events of it are handed out.
type spool struct {
	*keeper
	mu    sync.Mutex
	hooks []engine.HookSignal
	fails int // how many more looks fail
}

func (s *spool) Signals(string) (engine.Signals, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails > 0 {
		s.fails--
		return engine.Signals{}, errGag
	}
	return engine.Signals{Hooks: slices.Clone(s.hooks)}, nil
}

// report adds an event, and drops the oldest of a window that is full.
func (s *spool) report(event string, at time.Time) {
	const window = 24
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooks = append(s.hooks, engine.HookSignal{Event: event, At: at, Payload: []byte("{}")})
	s.hooks = s.hooks[max(0, len(s.hooks)-window):]
}

// The reports of a client are a window of the newest ones: in a long conversation a new
// prompt pushes an old one out, and there are never more of them.
func TestAPromptIsSeenInALongConversation(t *testing.T) {
	for name, c := range map[string]struct {
		before []string      // the events of a turn, of which there were many
		step   time.Duration // of the clock, for each event
	}{
		"turns":                {[]string{"UserPromptSubmit", "Stop"}, time.Second},
		"prompts behind tools": {[]string{"Notification"}, time.Second},
		"a clock set back":     {[]string{"UserPromptSubmit", "Stop"}, -time.Second},
	} {
		s := &spool{}
		at := time.Unix(1_700_000_000, 0)
		w := newMail(t, func(w *ward) {
			s.keeper = w.keeper
			w.deps.Occupants, w.deps.Config.VerifyTimeout = s, 2*time.Second
			w.deps.Mux = typing{w.mux, func(string) { s.report("UserPromptSubmit", at) }}
		})
		for range 30 {
			for _, event := range c.before {
				s.report(event, at)
				at = at.Add(c.step)
			}
		}
		w.set(func(p *patient) { p.state = engine.ActivityBusy })
		d, err := w.e.Send(t.Context(), "dev.m0", "hello", true)
		if err != nil || d.Outcome != "delivered" || d.Source != "hook UserPromptSubmit" {
			t.Errorf("%s: %v %+v", name, err, d)
		}
	}
}

// A prompt from before the message proves nothing of it, however the window moves on.
func TestAnOldPromptProvesNothing(t *testing.T) {
	s := &spool{}
	at := time.Unix(1_700_000_000, 0)
	w := newMail(t, func(w *ward) {
		s.keeper = w.keeper
		w.deps.Occupants, w.deps.Config.VerifyTimeout = s, 200*time.Millisecond
		w.deps.Mux = typing{w.mux, func(string) {
			for range 23 {
				s.report("Notification", at)
			}
		}}
	})
	w.set(func(p *patient) { p.state = engine.ActivityBusy })
	s.report("UserPromptSubmit", at)
	s.fails = 3 // what stood there before the message is not known
	if d, err := w.e.Send(t.Context(), "dev.m0", "hello", true); err != nil || d.Outcome != "submitted-unconfirmed" {
		t.Errorf("%v %+v", err, d)
	}
	s.report("UserPromptSubmit", at)
	s.report("UserPromptSubmit", at.Add(time.Second))
	if d, err := w.e.Send(t.Context(), "dev.m0", "hello", true); err != nil || d.Outcome != "submitted-unconfirmed" {
		t.Errorf("%v %+v", err, d)
	}
}
