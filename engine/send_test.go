package engine_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rig/engine/enginetest"

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

// sent lists the messages on record, oldest first, by what became of them.
func (w *ward) sent(t *testing.T) (outcomes []string) {
	t.Helper()
	list, err := w.e.Events(t.Context(), engine.EventFilter{Types: []string{"message.sent"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		var p struct {
			Outcome string `json:"outcome"`
		}
		if err := json.Unmarshal(e.Payload, &p); err != nil {
			t.Fatal(err)
		}
		outcomes = append(outcomes, p.Outcome)
	}
	return outcomes
}

// A message that was typed is delivered whatever the record says of it: who is told that it
// failed types it again.
func TestADeliveredMessageThatIsNotOnRecord(t *testing.T) {
	var g *gag
	w := newMail(t, func(w *ward) {
		g = &gag{DB: w.db, types: map[string]bool{"message.sent": true}}
		w.deps.Store = g
	})
	d, err := w.e.Send(t.Context(), "dev.m0", "$", true)
	if err != nil || d.Outcome != engine.OutcomeDelivered || len(d.Warnings) != 1 || !strings.HasPrefix(d.Warnings[0], "not on record: ") {
		t.Errorf("%v %+v", err, d)
	}
	w.deps.Config.VerifyTimeout = 100 * time.Millisecond
	w.e = engine.New(w.deps)
	w.typed()
	rec, err := w.attempt(t, engine.CompactArgs{})
	if err != nil || !rec.OK || w.typed() != 4 || !strings.Contains(strings.Join(rec.Warnings, "\n"), "not on record: ") {
		t.Errorf("%v %+v", err, rec)
	}
}

// Whoever gives up while the proof is waited for has sent the message all the same.
func TestAMessageWhoseSenderGivesUpIsOnRecord(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := newMail(t, func(w *ward) {
		w.deps.Mux = pressing{w.mux, func() error { cancel(); return nil }}
	})
	w.set(func(p *patient) { p.state = engine.ActivityBusy })
	d, err := w.e.Send(ctx, "dev.m0", "hello", true)
	if err != nil || d.Outcome != engine.OutcomeUnconfirmed || len(d.Warnings) != 0 || strings.Contains(d.Why, "within") {
		t.Errorf("%v %+v", err, d)
	}
	if got := w.sent(t); !slices.Equal(got, []string{engine.OutcomeUnconfirmed}) {
		t.Errorf("%q", got)
	}
}

// pressing is a terminal that tells of a key before it is pressed.
type pressing struct {
	*enginetest.Mux
	key func() error
}

// Keys implements engine.Mux.
func (m pressing) Keys(ctx context.Context, g engine.Guard, keys ...string) error {
	if err := m.key(); err != nil {
		return err
	}
	return m.Mux.Keys(ctx, g, keys...)
}

// A message that was typed and not submitted is on record, and its sender is told what
// stands in the box: to send it again would append it to itself.
func TestAMessageThatIsNotSubmitted(t *testing.T) {
	for name, c := range map[string]struct {
		stands  string // in the box after the paste
		unread  int
		paste   bool // it is the paste that was not confirmed
		cancel  bool // the sender gives up before Enter
		outcome string
		code    engine.Code
		says    string
	}{
		"Enter failed":           {stands: "hello you", outcome: engine.OutcomeNotSubmitted, code: engine.CodeNotSubmitted, says: "the text stands in its input box"},
		"Enter may have worked":  {outcome: engine.OutcomeUncertain, code: engine.CodeUncertain, says: "is empty"},
		"the box cannot be read": {unread: 1 << 20, outcome: engine.OutcomeUncertain, code: engine.CodeUncertain, says: "nobody can tell"},
		"given up before Enter":  {stands: "hello you", cancel: true, outcome: engine.OutcomeNotSubmitted, code: engine.CodeNotSubmitted, says: "the text stands in its input box"},
		"the paste went through": {stands: "hello you", paste: true, outcome: engine.OutcomeNotSubmitted, code: engine.CodeNotSubmitted, says: "the text stands in its input box"},
		"the paste did not":      {paste: true, code: "injected"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		w := newMail(t, func(w *ward) {
			w.deps.Mux = typing{w.mux, func(string) {
				w.set(func(p *patient) { p.draft, p.unread = c.stands, c.unread })
				if c.cancel {
					cancel()
				}
			}}
		})
		w.faults.Fail = func(call string, _ int) (bool, bool) { return call == "paste" && c.paste || call == "keys", true }
		d, err := w.e.Send(ctx, "dev.m0", "hello you", true)
		if engine.CodeOf(err) != c.code || d.Outcome != c.outcome || !strings.Contains(d.Why, c.says) {
			t.Errorf("%s: %v %+v", name, err, d)
		}
		if c.outcome != "" && (strings.Contains(engine.AsError(err).Hint, "again: rig send") || !strings.Contains(engine.AsError(err).Hint, "rig attach")) {
			t.Errorf("%s: hint %q", name, engine.AsError(err).Hint)
		}
		if got := w.sent(t); (len(got) == 1 && got[0] == c.outcome) != (c.outcome != "") {
			t.Errorf("%s: on record %q", name, got)
		}
		cancel()
	}
}
