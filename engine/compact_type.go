package engine

import (
	"context"
	"strings"
	"time"
)

// compaction is one attempt at work: what each of its steps needs.
type compaction struct {
	r    *run
	s    Step
	text ClaudeCompaction
	tag  string
}

// compaction makes it from the plan, or, in a run that was taken up from its
// journal, from the rig's policy as it is now.
func (r *run) compaction(ctx context.Context, s Step) compaction {
	v, _ := r.plan.Input("compaction")
	policy, ok := v.(ClaudeCompaction)
	if !ok {
		err := r.e.d.Store.Read(ctx, func(rd Reader) error {
			seat, err := rd.Seat(s.Args["seat_id"])
			if err != nil {
				return err
			}
			rig, err := rd.Rig(seat.RigID)
			if p, _, _ := RigCompaction(rig); p != nil {
				policy = *p
			}
			return err
		})
		if err != nil {
			r.warn("the texts of the rig's policy cannot be read: " + err.Error())
		}
	}
	return compaction{r: r, s: s, text: policy, tag: compactTag(r.plan.ID)}
}

// deadline is until when a waiting step of this attempt waits.
func (c compaction) deadline() string {
	return c.r.e.d.Clock.Now().Add(c.r.e.d.Config.CompactWait).UTC().Format(time.RFC3339)
}

// cancelKey is where a cancel of an attempt is left.
func cancelKey(opID string) string { return "compact/cancel/" + opID }

// target resolves the seat anew and refuses when another occupant sits there.
func (c compaction) target(ctx context.Context) (target, error) {
	t, err := c.r.e.target(ctx, c.s.Seat)
	if err != nil {
		return t, err
	}
	if genTag(t.seat.Generation) != c.s.Args["generation"] {
		return t, Errorf(CodeStaleGeneration, "another occupant sits in the seat now").On("compact", c.s.Seat).
			WithHint("`rig seat status %s`", c.s.Seat)
	}
	return t, nil
}

// cancelled refuses to go on when somebody has cancelled the attempt.
func (c compaction) cancelled(ctx context.Context) error {
	by := ""
	err := c.r.e.d.Store.Read(ctx, func(r Reader) error {
		var err error
		by, err = r.Meta(cancelKey(c.r.plan.ID))
		return err
	})
	if err != nil || by == "" {
		return err
	}
	return Errorf(CodePrepCancelled, "cancelled by %s; /compact was not typed", by).On("compact", c.s.Seat).
		WithHint("the restore packet stays; run it again when you want")
}

// compactPoll is how often a waiting step looks.
const compactPoll = 150 * time.Millisecond

// until looks again and again until done says so, the time is up, or the seat
// changed its occupant. It gives timeout's error when time is up.
func (c compaction) until(ctx context.Context, limit time.Duration, done func(ctx context.Context, t target, p Probe) (bool, error), timeout func() error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		t, err := c.target(ctx)
		if err == nil {
			var ok bool
			if ok, err = done(ctx, t, t.probe(c.r.e, c.r.e.screen(ctx, t.pane.ID))); ok && err == nil {
				return nil
			}
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
		if pause(ctx, compactPoll) != nil {
			return timeout()
		}
	}
}

// passing are refusals that may go by themselves while a step waits.
func passing(err error) bool {
	switch CodeOf(err) {
	case CodeMidWork, CodeActivityUnknown, CodeDraftPresent, CodeDraftUnknown:
		return true
	}
	return false
}

// idle waits until the seat may be typed into.
func (c compaction) idle(ctx context.Context, limit time.Duration, cancellable bool) error {
	var last error
	return c.until(ctx, limit, func(ctx context.Context, t target, p Probe) (bool, error) {
		if cancellable {
			if err := c.cancelled(ctx); err != nil {
				return false, err
			}
		}
		last = mayCompact(t, t.rt.Activity(ctx, p), p.Screen)
		if last == nil || passing(last) {
			return last == nil, nil
		}
		return false, last
	}, func() error {
		switch CodeOf(last) {
		case CodeDraftPresent, CodeDraftUnknown:
			return last
		}
		why := "nothing was seen of it"
		if last != nil {
			why = last.Error()
		}
		return Errorf(CodeIdleTimeout, "it did not become idle: %s", why).On("compact", c.s.Seat).
			WithHint("nothing was typed; try again when it is idle: rig wait %s", c.s.Seat)
	})
}

// line types one line into the idle seat, once. A line that may or may not have
// arrived is never typed again.
func (c compaction) line(ctx context.Context, text string, verify bool) (Delivery, error) {
	t, err := c.target(ctx)
	if err != nil {
		return Delivery{}, err
	}
	release, err := c.r.e.turn(ctx, t, "compact")
	if err != nil {
		return Delivery{}, err
	}
	defer release()
	screen := c.r.e.boxScreen(ctx, t, c.r.e.screen(ctx, t.pane.ID))
	if err := mayCompact(t, t.rt.Activity(ctx, t.probe(c.r.e, screen)), screen); err != nil {
		return Delivery{}, err
	}
	before := c.r.e.evidence(ctx, t, screen)
	typed := func(d Delivery) Delivery {
		d = c.r.e.noted(ctx, c.r.sender(), t, d, len(text))
		for _, w := range d.Warnings {
			c.r.warn("what was typed to " + t.address + " is " + w)
		}
		return d
	}
	uncertain := func(what string, cause error) (Delivery, error) {
		d := typed(c.r.e.stranded(ctx, t, text, what))
		return d, Errorf(CodeUncertain, "what was typed may or may not have arrived: %s", d.Why).On("compact", c.s.Seat).Wrap(cause).
			WithHint("it is not typed again; look at the pane: rig attach %s", c.s.Seat)
	}
	if err := c.r.e.paste(ctx, t, text); err != nil {
		if nothingTyped(err) {
			return Delivery{Outcome: OutcomeNotSent, Why: err.Error()}, err
		}
		return uncertain(pasteFailed, err)
	}
	if err := pause(ctx, c.r.e.d.Config.SubmitPause); err != nil {
		return uncertain("it was given up before Enter", err)
	}
	if err := c.r.e.d.Mux.Keys(ctx, t.guard, "Enter"); err != nil {
		return uncertain(enterFailed, err)
	}
	d := Delivery{Outcome: OutcomeSubmitted, Why: "the outcome is proven by the next step"}
	if verify {
		d = c.r.e.confirm(ctx, t, before, text)
	}
	return typed(d), nil
}

// compactor gives the runtime's own word on compactions.
func (t target) compactor() (compactor, error) {
	if r, ok := t.rt.(compactor); ok {
		return r, nil
	}
	return nil, Errorf(CodeNotSupported, "this runtime cannot prove a compaction").On("compact", t.address).WithHint("only claude-code seats are compacted in place")
}

// ask types one line, unless this step has typed it before: a process that died
// after typing has left that on record, and nothing is typed twice. It gives the
// moment from which an answer counts.
func (c compaction) ask(ctx context.Context, text string, limit time.Duration) (CompactionMark, Delivery, error) {
	if was := c.r.saw(c.s.ID); was["typed"] == true {
		mark, err := c.recall(ctx, was)
		return mark, Delivery{Outcome: typedBefore, Why: "on record"}, err
	}
	if err := c.idle(ctx, limit, false); err != nil {
		return CompactionMark{}, Delivery{}, err
	}
	t, err := c.target(ctx)
	if err != nil {
		return CompactionMark{}, Delivery{}, err
	}
	witness, err := t.compactor()
	if err != nil {
		return CompactionMark{}, Delivery{}, err
	}
	mark, err := witness.CompactionMark(ctx, t.probe(c.r.e, Screen{}))
	if err != nil {
		return mark, Delivery{}, err
	}
	if err := c.r.note(ctx, c.s, StepStarted, Evidence{"typed": true, "file": ConversationDigest(mark.Path), "offset": mark.Offset, "deadline": c.deadline()}, nil); err != nil {
		return mark, Delivery{}, err
	}
	d, err := c.line(ctx, text, true)
	return mark, d, err
}

// answer asks the seat one line and waits until it has answered and is idle again.
func (c compaction) answer(ctx context.Context, text, marker string, limit time.Duration) (string, Delivery, error) {
	mark, d, err := c.ask(ctx, text, limit)
	if err != nil {
		return "", d, err
	}
	got, left := "", leftLine{c: c, text: text}
	err = c.until(ctx, limit, func(ctx context.Context, t target, p Probe) (bool, error) {
		act := t.rt.Activity(ctx, p)
		switch act.State {
		case ActivityWaiting, ActivityLimit, ActivityExited:
			return false, mayCompact(t, act, p.Screen)
		case ActivityIdle:
			witness, err := t.compactor()
			if err != nil {
				return false, err
			}
			var asked bool
			if asked, got = witness.AnswerTo(ctx, p, mark, marker); got == "" && !asked && d.Outcome == typedBefore {
				return false, left.look(ctx, t, p)
			}
			return got != "", nil
		case ActivityBusy, ActivityUnknown:
		}
		left.missing = 0
		return false, nil
	}, func() error {
		return Errorf(CodeUnanswered, "it has not answered within %s (%s)", limit, d.Outcome).On("compact", c.s.Seat).
			WithHint("look at the pane: rig attach %s; nothing is typed again", c.s.Seat)
	})
	return got, d, err
}

// typedBefore is the outcome of a line that is on record as typed by a process that
// has died since.
const typedBefore = "typed before"

// leftLine is a line that a process typed which has died since: it may have died
// before the paste or before Enter.
type leftLine struct {
	c       compaction
	text    string
	entered bool
	missing int // looks in a row at which it stood nowhere
}

// look finds the line in an idle seat whose conversation does not hold it. One that
// stands in the input box is submitted, once. One that stands nowhere for as long as
// a delivery may take has not arrived, and will not.
func (l *leftLine) look(ctx context.Context, t target, p Probe) error {
	r, ok := t.rt.(draftReader)
	if !ok {
		return nil
	}
	draft, shown := r.InputBox(p.Screen)
	switch {
	case !shown:
		l.missing = 0
	case strings.TrimSpace(draft) == "":
		if l.missing++; time.Duration(l.missing)*compactPoll > l.c.r.e.d.Config.VerifyTimeout {
			return Errorf(CodeUnanswered, "what the dead process typed stands neither in its conversation nor in its input box: it did not arrive").On("compact", l.c.s.Seat).
				WithHint("it is not typed again; once the operation is closed: rig compact %s --audit", l.c.s.Seat)
		}
	case !l.entered && standsFor(draft, l.text):
		l.entered, l.missing = true, 0
		return l.c.r.e.d.Mux.Keys(ctx, t.guard, "Enter")
	}
	return nil
}

// CodeUnanswered says that a seat took a line and did not answer in time.
const CodeUnanswered Code = "unanswered"
