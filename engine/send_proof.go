package engine

import (
	"context"
	"strings"
	"time"
)

// sendEvidence is what would prove a delivery, as it stands before and after.
type sendEvidence struct {
	prompt time.Time     // when the client reported its newest prompt; zero = none is known
	blind  bool          // its reports could not be read
	at     time.Time     // of the look
	turn   time.Time     // when the latest turn that it wrote came to its state
	speaks bool          // it reports, or writes, what it is told: its own word can be waited for
	state  ActivityState // what it does
}

func (e *Engine) evidence(ctx context.Context, t target, screen Screen) sendEvidence {
	p := t.probe(e, screen)
	sig, err := e.d.Occupants.Signals(t.session.ID)
	p.Signals = sig
	ev := sendEvidence{state: t.rt.Activity(ctx, p).State, at: p.Now, blind: err != nil}
	for _, h := range p.Signals.Hooks {
		if h.Event == "UserPromptSubmit" {
			ev.prompt = h.At // the newest is last
		}
	}
	if r, ok := t.rt.(turnReader); ok {
		ev.turn, _ = r.LatestTurn(ctx, t.session, t.seat.Cwd)
		ev.speaks = t.session.Origin != OriginClaimed || len(p.Signals.Hooks) > 0 || !ev.turn.IsZero()
	}
	return ev
}

// confirm waits for proof that the message was taken: the client's own
// UserPromptSubmit hook, a turn that began, or an input box that is empty again.
// A text that still stands in the box gets one more Enter; what somebody else has
// begun to type there does not. A client at rest that speaks for itself is given a
// moment to: until then everything else about it still says that it is at rest, and
// whoever waits for the end of the turn would be told that it has come.
func (e *Engine) confirm(ctx context.Context, t target, before sendEvidence, text string) Delivery {
	sender := ctx
	ctx, cancel := context.WithTimeout(ctx, e.d.Config.VerifyTimeout)
	defer cancel()
	began, again := e.d.Clock.Now(), false
	var shown time.Time // when the pane first proved it
	for {
		if d, done := e.confirmed(ctx, t, before, text); done {
			if shown.IsZero() {
				shown = e.d.Clock.Now()
			}
			if d.Source != "pane" || !before.speaks || before.state != ActivityIdle || isCommand(text) ||
				Passed(shown, e.d.Clock.Now(), ownWord) || pause(ctx, confirmEvery) != nil {
				return e.orQueued(ctx, t, before, d)
			}
			continue
		}
		if !again && Passed(began, e.d.Clock.Now(), enterAgain) {
			again = true
			if r, ok := t.rt.(draftReader); ok {
				if draft, shown := r.InputBox(e.screen(ctx, t.pane.ID)); shown && standsFor(draft, text) {
					if err := e.d.Mux.Keys(ctx, t.guard, "Enter"); err != nil {
						return Delivery{Outcome: OutcomeNotSubmitted, Why: "the text stands in its input box, and Enter was not confirmed: " + AsError(err).Msg}
					}
				}
			}
		}
		if pause(ctx, confirmEvery) != nil {
			if sender.Err() != nil {
				return Delivery{Outcome: OutcomeUnconfirmed, Why: "it was given up before there was any proof"}
			}
			return Delivery{Outcome: OutcomeUnconfirmed, Why: "no proof within " + e.d.Config.VerifyTimeout.String()}
		}
	}
}

// orQueued says of a proven delivery to a client in mid-turn when the client only keeps
// the message: it reports and shows it like one that it reads.
func (e *Engine) orQueued(ctx context.Context, t target, before sendEvidence, d Delivery) Delivery {
	if before.state != ActivityBusy {
		return d
	}
	for n := range queuedLooks {
		if n > 0 && pause(ctx, confirmEvery) != nil {
			return d
		}
		act := t.rt.Activity(ctx, t.probe(e, e.screen(ctx, t.pane.ID)))
		if act.Queued {
			d.Queued, d.Why = true, "its client has the message behind the turn under way, and has not taken it yet"
		}
		if d.Queued || act.State != ActivityBusy {
			break
		}
	}
	return d
}

// queuedLooks is how often is looked for the mark of a queued message, which a client
// may draw after it has reported the message.
const queuedLooks = 3

// confirmEvery is the time between looks for the proof of a delivery.
const confirmEvery = 80 * time.Millisecond

// ownWord is how long a client is given to report a prompt that its pane shows.
const ownWord = 3 * time.Second

// isCommand reports whether a text is one of the client's own commands, which are no
// prompts.
func isCommand(text string) bool { return strings.HasPrefix(text, "/") }

// enterAgain is how long a delivery may take before Enter is pressed once more.
const enterAgain = time.Second

func (e *Engine) confirmed(ctx context.Context, t target, before sendEvidence, text string) (Delivery, bool) {
	now := e.evidence(ctx, t, Screen{})
	// Only the newest reports are handed out, so their number says nothing. A clock that
	// was set back dates a newer prompt earlier: another one is a new one.
	if !before.blind && !now.prompt.IsZero() && !now.prompt.Equal(before.prompt) {
		return Delivery{Outcome: OutcomeDelivered, Why: "the client reported the prompt", Source: "hook UserPromptSubmit"}, true
	}
	if now.turn.After(before.at) && before.state == ActivityIdle {
		return Delivery{Outcome: OutcomeDelivered, Why: "the client has written the prompt", Source: "transcript"}, true
	}
	if now.state == ActivityBusy && before.state == ActivityIdle {
		return Delivery{Outcome: OutcomeDelivered, Why: "a turn began", Source: "activity"}, true
	}
	screen := e.screen(ctx, t.pane.ID)
	if r, ok := t.rt.(draftReader); ok {
		if draft, shown := r.InputBox(screen); shown && draft == "" && echoed(screen.Lines, text) {
			return Delivery{Outcome: OutcomeDelivered, Why: "the input box is empty and the text stands above it", Source: "pane"}, true
		}
		return Delivery{}, false
	}
	if echoed(screen.Lines, text) {
		return Delivery{Outcome: OutcomeDelivered, Why: "the terminal shows the text", Source: "pane"}, true
	}
	return Delivery{}, false
}

// echoed looks for the beginning of a text's first line on a screen.
func echoed(screen []string, text string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(first); len(r) > 30 {
		first = string(r[:30])
	}
	for _, line := range screen {
		if strings.Contains(line, first) {
			return true
		}
	}
	return false
}

// pause waits, or gives the context's error.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
