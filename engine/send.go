package engine

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"
)

// draftReader is what a runtime offers when it can read the input box of its
// client from a screen: the text that stands in it, and whether a box is shown.
type draftReader interface {
	InputBox(screen []string) (text string, shown bool)
}

// maxMessage is the longest message that is typed into a pane, in bytes.
const maxMessage = 200 << 10

// Send types a message into a seat's pane and submits it. It refuses a pane that
// is not proven to be the seat's, that waits for a person, or that holds a draft:
// nothing is ever typed over. With verify it waits for proof that the message
// was taken.
func (e *Engine) Send(ctx context.Context, ref, text string, verify bool) (Delivery, error) {
	return e.sendAs(ctx, sender{operator: e.Operator().String()}, ref, text, verify)
}

// sender is who a message is by, for the audit log: a person or a seat, or an operation
// with its operator.
type sender struct{ operator, opID string }

// sender is who the messages of an operation are by.
func (r *run) sender() sender { return sender{r.plan.Operator.String(), r.plan.ID} }

// sendAs is Send by somebody.
func (e *Engine) sendAs(ctx context.Context, by sender, ref, text string, verify bool) (Delivery, error) {
	if strings.TrimSpace(text) == "" {
		return Delivery{}, Errorf(CodeInvalid, "the message is empty").WithHint("rig send <seat> <text>")
	}
	if len(text) > maxMessage || !utf8.ValidString(text) {
		return Delivery{}, Errorf(CodeInvalid, "the message is longer than %d bytes or not UTF-8", maxMessage).
			WithHint("put it in a file that the agent can read, and send the path")
	}
	t, screen, err := e.targetScreen(ctx, ref)
	if err != nil {
		return Delivery{}, err
	}
	if err := e.mayType(ctx, t, screen); err != nil {
		return Delivery{}, err
	}
	before := e.evidence(ctx, t, screen)
	if err := e.d.Mux.Paste(ctx, t.guard, text); err != nil {
		return Delivery{}, err
	}
	if err := e.settled(ctx, t); err != nil {
		return Delivery{Outcome: "typed-not-submitted", Why: "interrupted before Enter"}, err
	}
	if err := e.d.Mux.Keys(ctx, t.guard, "Enter"); err != nil {
		return Delivery{Outcome: "typed-not-submitted", Why: err.Error()}, err
	}
	d := Delivery{Outcome: "submitted-unconfirmed", Why: "nobody asked for proof"}
	if verify {
		d = e.confirm(ctx, t, before, text)
	}
	return d, e.noteSend(ctx, by, t, d, len(text))
}

// settled waits until a pasted text stands in the client's input box: from then on
// Enter submits it. Behind text that the client has not taken in yet Enter would
// be part of it, so a box that cannot be read gets the whole pause.
func (e *Engine) settled(ctx context.Context, t target) error {
	limit := e.d.Config.SubmitPause
	if _, ok := t.rt.(draftReader); !ok {
		return pause(ctx, limit)
	}
	rest, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for rest.Err() == nil {
		if draftIn(t.rt, e.screen(rest, t.pane.ID)) != "" {
			return nil
		}
		_ = pause(rest, submitLook) // its end is the loop's
	}
	return ctx.Err()
}

// submitLook is the time between looks for a pasted text.
const submitLook = 10 * time.Millisecond

// target is one seat as send, capture and wait need it.
type target struct {
	seat    Seat
	session Session
	address string
	guard   Guard
	pane    Pane
	rt      Runtime
	held    Operation // what acts on the seat or was cut off while it did; no id = nothing
}

// target resolves a reference to a live, bound pane.
func (e *Engine) target(ctx context.Context, ref string) (target, error) {
	t, _, err := e.resolve(ctx, ref, func(*world) []CaptureRequest { return nil })
	return t, err
}

// targetScreen is target with what the pane shows, in one exchange with tmux.
func (e *Engine) targetScreen(ctx context.Context, ref string) (target, []string, error) {
	t, shots, err := e.resolve(ctx, ref, func(w *world) []CaptureRequest {
		if seat, err := w.seat(ref); err == nil && w.bindings[seat.ID].Pane != "" {
			return []CaptureRequest{{Pane: w.bindings[seat.ID].Pane}}
		}
		return nil
	})
	if len(shots) != 1 || shots[0].Err != nil {
		return t, nil, err
	}
	return t, shots[0].Lines, err
}

func (e *Engine) resolve(ctx context.Context, ref string, screens func(*world) []CaptureRequest) (target, []CaptureResult, error) {
	w, shots, err := e.lookAt(ctx, screens)
	if err != nil {
		return target{}, nil, err
	}
	seat, err := w.seat(ref)
	if err != nil {
		return target{}, nil, err
	}
	t := target{seat: seat, session: w.latest[seat.ID], address: w.address(seat)}
	at := w.locate(seat.ID)
	switch {
	case at.presence == Unknown:
		return t, nil, Errorf(CodeTmuxProbeFailed, "%s", at.why).On("", t.address).WithHint("`rig doctor` says what is wrong with tmux")
	case at.presence == Absent:
		return t, nil, Errorf(CodeSessionMissing, "the seat has no live pane: %s", at.why).On("", t.address).
			WithHint("`rig launch %s %s` starts it", w.rigs[seat.RigID].Name, seat.Logical())
	}
	t.guard, t.pane, t.held = w.guard(seat), at.pane, w.holder(seat.ID)
	t.rt, err = e.runtime(seat.Runtime)
	return t, shots, err
}

func (t target) probe(e *Engine, screen []string) Probe {
	p := Probe{Seat: t.seat, Address: t.address, Session: t.session, Pane: t.pane, Screen: screen, Started: t.session.CreatedAt, Now: e.d.Clock.Now()}
	var err error
	if p.Run, p.RunKnown, err = e.d.Occupants.RunState(t.session.ID); err != nil {
		p.RunKnown = false
	}
	p.Run, p.RunKnown = currentRun(t.session, p.Run, p.RunKnown)
	if p.Signals, err = e.d.Occupants.Signals(t.session.ID); err != nil {
		e.d.Log.Debug("signals", "seat", t.address, "err", err)
	}
	return p
}

func (e *Engine) screen(ctx context.Context, pane PaneID) []string {
	got, err := e.d.Mux.Capture(ctx, []CaptureRequest{{Pane: pane}})
	if err != nil || len(got) == 0 || got[0].Err != nil {
		return nil
	}
	return got[0].Lines
}

// mayType refuses to type where a message could answer a prompt, land in a dead
// pane, or be appended to somebody's draft.
func (e *Engine) mayType(ctx context.Context, t target, screen []string) error {
	if t.pane.Dead {
		return Errorf(CodePaneDead, "its process has ended").On("send", t.address).WithHint("`rig seat clean %s --reason …`, then launch it again", t.address)
	}
	act := t.rt.Activity(ctx, t.probe(e, screen))
	switch act.State {
	case ActivityWaiting:
		if act.Code == CodeSuspended && t.held.ID != "" {
			return e.heldBack(t)
		}
		return Errorf(CodeNeedsInput, "it waits for a person: %s", act.Why).On("send", t.address).
			WithHint("answer it first: rig attach %s", t.address)
	case ActivityExited:
		return Errorf(CodeSessionMissing, "its client has ended: %s", act.Why).On("send", t.address).WithHint("launch it again")
	case ActivityIdle, ActivityBusy, ActivityLimit, ActivityUnknown:
	}
	if draft := draftIn(t.rt, screen); draft != "" {
		return Errorf(CodeDraftPresent, "somebody's draft stands in its input box").On("send", t.address).
			WithHint("send or clear the draft in the pane first: rig attach %s", t.address).With("draft_characters", utf8.RuneCountInString(draft))
	}
	return nil
}

// heldBack refuses to write to an occupant that an operation has stopped: to let it go
// on by hand would be a second agent beside its successor.
func (e *Engine) heldBack(t target) error {
	verb := string(t.held.Verb)
	if e.ownerDead(t.held.Owner) {
		return Errorf(CodeOperationUnfinished, "it stands still: %s of it was cut off half-way", Articled(verb)).On("send", t.address).
			WithHint("`%s` closes that", closes(t.held.ID, t.held.Committed))
	}
	return Errorf(CodeInProgress, "it stands still: %s of it is under way", Articled(verb)).On("send", t.address).
		WithHint("`rig op show %s` follows it", t.held.ID)
}

// sendEvidence is what would prove a delivery, as it stands before and after.
type sendEvidence struct {
	prompt time.Time     // when the client reported its newest prompt; zero = none is known
	blind  bool          // its reports could not be read
	at     time.Time     // of the look
	turn   time.Time     // when the latest turn that it wrote came to its state
	speaks bool          // it reports, or writes, what it is told: its own word can be waited for
	state  ActivityState // what it does
}

func (e *Engine) evidence(ctx context.Context, t target, screen []string) sendEvidence {
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
						return Delivery{Outcome: "typed-not-submitted", Why: err.Error()}
					}
				}
			}
		}
		if pause(ctx, confirmEvery) != nil {
			return Delivery{Outcome: "submitted-unconfirmed", Why: "no proof within " + e.d.Config.VerifyTimeout.String()}
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

// standsFor reports whether what an input box shows is a text that was pasted, or a
// part of it: the client breaks lines, scrolls, or draws a mark in place of a long one.
func standsFor(draft, text string) bool {
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
	shown := squeeze(draft)
	return shown != "" && (strings.Contains(squeeze(text), shown) || strings.HasPrefix(shown, "[Pasted"))
}

func (e *Engine) confirmed(ctx context.Context, t target, before sendEvidence, text string) (Delivery, bool) {
	now := e.evidence(ctx, t, nil)
	// Only the newest reports are handed out, so their number says nothing. A clock that
	// was set back dates a newer prompt earlier: another one is a new one.
	if !before.blind && !now.prompt.IsZero() && !now.prompt.Equal(before.prompt) {
		return Delivery{Outcome: "delivered", Why: "the client reported the prompt", Source: "hook UserPromptSubmit"}, true
	}
	if now.turn.After(before.at) && before.state == ActivityIdle {
		return Delivery{Outcome: "delivered", Why: "the client has written the prompt", Source: "transcript"}, true
	}
	if now.state == ActivityBusy && before.state == ActivityIdle {
		return Delivery{Outcome: "delivered", Why: "a turn began", Source: "activity"}, true
	}
	screen := e.screen(ctx, t.pane.ID)
	if r, ok := t.rt.(draftReader); ok {
		if draft, shown := r.InputBox(screen); shown && draft == "" && echoed(screen, text) {
			return Delivery{Outcome: "delivered", Why: "the input box is empty and the text stands above it", Source: "pane"}, true
		}
		return Delivery{}, false
	}
	if echoed(screen, text) {
		return Delivery{Outcome: "delivered", Why: "the terminal shows the text", Source: "pane"}, true
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

func (e *Engine) noteSend(ctx context.Context, by sender, t target, d Delivery, size int) error {
	payload := map[string]any{"outcome": d.Outcome, "why": d.Why, "source": d.Source, "bytes": size, "generation": t.seat.Generation}
	if d.Queued {
		payload["queued"] = true
	}
	return e.d.Store.Write(ctx, func(tx Tx) error {
		_, err := tx.AppendEvent(Event{
			At: e.d.Clock.Now(), Type: "message.sent", RigID: t.seat.RigID, SeatID: t.seat.ID, Seat: t.address,
			Rig: rigOfAddress(t.address, t.seat), OpID: by.opID, Operator: by.operator, Payload: mustJSON(payload),
		})
		return err
	})
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
