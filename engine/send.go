package engine

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"
)

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
	t, err := e.target(ctx, ref)
	if err != nil {
		return Delivery{}, err
	}
	release, err := e.turn(ctx, t, "send")
	if err != nil {
		return Delivery{}, err
	}
	defer release()
	screen := e.screen(ctx, t.pane.ID)
	if err := e.mayType(ctx, t, screen); err != nil {
		return Delivery{}, err
	}
	before := e.evidence(ctx, t, screen)
	if err := e.paste(ctx, t, text); err != nil {
		if nothingTyped(err) {
			return Delivery{}, err
		}
		return e.notSubmitted(ctx, by, t, text, pasteFailed, err)
	}
	if err := e.settled(ctx, t); err != nil {
		return e.notSubmitted(ctx, by, t, text, "it was given up before Enter", err)
	}
	if err := e.d.Mux.Keys(ctx, t.guard, "Enter"); err != nil {
		return e.notSubmitted(ctx, by, t, text, enterFailed, err)
	}
	d := Delivery{Outcome: OutcomeUnconfirmed, Why: "nobody asked for proof"}
	if verify {
		d = e.confirm(ctx, t, before, text)
	} else {
		e.boxTaken(ctx, t, text)
	}
	return e.noted(ctx, by, t, d, len(text)), nil
}

// nothingTyped reports whether a failed paste has typed nothing: the pane was not the
// one that was meant, or did not take it.
func nothingTyped(err error) bool {
	switch CodeOf(err) {
	case CodePaneMismatch, CodePaneDead, CodeNotFound, CodeInvalid:
		return true
	}
	return false
}

// notSubmitted says what became of a text whose typing or Enter failed. It may stand in
// the input box, where a second sending would be appended to it.
func (e *Engine) notSubmitted(ctx context.Context, by sender, t target, text, what string, cause error) (Delivery, error) {
	d := e.stranded(ctx, t, text, what)
	if d.Outcome == OutcomeNotSent {
		return Delivery{}, cause
	}
	d = e.noted(ctx, by, t, d, len(text))
	err := Errorf(CodeUncertain, "%s", d.Why).WithHint("look at the pane before anything is sent to it: rig attach %s", t.address)
	if d.Outcome == OutcomeNotSubmitted {
		err = Errorf(CodeNotSubmitted, "%s", d.Why).WithHint("submit or clear it in the pane, and do not send it again: rig attach %s", t.address)
	}
	err = err.On("send", t.address).Wrap(cause).With("outcome", d.Outcome)
	if len(d.Warnings) > 0 {
		err = err.With("warnings", d.Warnings)
	}
	return d, err
}

// stranded says what became of a text of which what is known: by what stands in the input
// box now.
func (e *Engine) stranded(ctx context.Context, t target, text, what string) Delivery {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer cancel()
	_ = e.settled(ctx, t) // the client may be drawing it; the look below decides
	switch draft, known := e.leftInBox(ctx, t, text); {
	case !known:
		return Delivery{Outcome: OutcomeUncertain, Why: what + ", and nobody can tell what stands in its input box"}
	case draft == "" && what == pasteFailed:
		return Delivery{Outcome: OutcomeNotSent, Why: what + ", and its input box is empty"}
	case draft == "":
		return Delivery{Outcome: OutcomeUncertain, Why: what + ", and its input box is empty: it may have been submitted"}
	case standsFor(draft, text):
		return Delivery{Outcome: OutcomeNotSubmitted, Why: what + ": the text stands in its input box"}
	}
	return Delivery{Outcome: OutcomeUncertain, Why: what + ", and something else stands in its input box"}
}

// pasteFailed is said of a paste of which nobody knows whether it arrived.
const pasteFailed = "the paste was not confirmed"

// enterFailed is said of an Enter of which nobody knows whether it arrived.
const enterFailed = "Enter was not confirmed"

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
	w, err := e.look(ctx)
	if err != nil {
		return target{}, err
	}
	seat, err := w.seat(ref)
	if err != nil {
		return target{}, err
	}
	t := target{seat: seat, session: w.latest[seat.ID], address: w.address(seat)}
	at := w.locate(seat.ID)
	switch {
	case at.presence == Unknown:
		return t, Errorf(CodeTmuxProbeFailed, "%s", at.why).On("", t.address).WithHint("`rig doctor` says what is wrong with tmux")
	case at.presence == Absent:
		return t, Errorf(CodeSessionMissing, "the seat has no live pane: %s", at.why).On("", t.address).
			WithHint("`rig launch %s %s` starts it", w.rigs[seat.RigID].Name, seat.Logical())
	}
	t.guard, t.pane, t.held = w.guard(seat), at.pane, w.holder(seat.ID)
	t.rt, err = e.runtime(seat.Runtime)
	return t, err
}

func (t target) probe(e *Engine, screen Screen) Probe {
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

// screen captures one pane, with what is drawn faint in it; without lines when it cannot be
// read.
func (e *Engine) screen(ctx context.Context, pane PaneID) Screen {
	got, err := e.d.Mux.Capture(ctx, []CaptureRequest{{Pane: pane, Faint: true}})
	if err != nil || len(got) == 0 || got[0].Err != nil {
		return Screen{}
	}
	return got[0].Screen
}

// mayType refuses to type where a message could answer a prompt, land in a dead
// pane, or be appended to somebody's draft.
func (e *Engine) mayType(ctx context.Context, t target, screen Screen) error {
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
	return t.mayAppend("send", e.boxScreen(ctx, t, screen))
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

// noteTime is how long is tried to put a message on record that was typed, also when its
// sender has given up.
const noteTime = 15 * time.Second

// noted puts a message on record. It was typed, whatever the record says of it: who is
// told that it failed would type it again.
func (e *Engine) noted(ctx context.Context, by sender, t target, d Delivery, size int) Delivery {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer cancel()
	if err := e.noteSend(ctx, by, t, d, size); err != nil {
		d.Warnings = append(d.Warnings, "not on record: "+AsError(err).Msg)
	}
	return d
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
