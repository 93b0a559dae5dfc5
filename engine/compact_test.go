package engine_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rig/engine"
	"rig/engine/enginetest"
)

func TestCompactRunsItsStages(t *testing.T) {
	w := newWard(t)
	defer w.close(t)
	w.typed()
	rec, err := w.attempt(t, engine.CompactArgs{})
	if err != nil || !rec.OK {
		t.Fatalf("%v %+v", err, rec)
	}
	if n := w.typed(); n != 4 { // prep, /compact, restore, audit
		t.Errorf("%d lines were typed", n)
	}
	if s := w.seat(t, "dev.m0"); s.Compaction.Verdict != "" {
		t.Errorf("%+v", s.Compaction)
	}
	st, err := w.e.CompactState(t.Context(), "dev.m0")
	if err != nil || st.Stage != engine.StageDone || st.Map == "" || st.Packet == "" {
		t.Errorf("%v %+v", err, st)
	}
}

// Whatever prevents a compaction is a blocker with its code, and nothing is typed.
func TestCompactBlockers(t *testing.T) {
	for code, change := range map[engine.Code]func(p *patient){
		engine.CodeNeedsInput:      func(p *patient) { p.state = engine.ActivityWaiting },
		engine.CodeUsageLimited:    func(p *patient) { p.state = engine.ActivityLimit },
		engine.CodeActivityUnknown: func(p *patient) { p.state = engine.ActivityUnknown },
		engine.CodeSessionMissing:  func(p *patient) { p.state = engine.ActivityExited },
		engine.CodeMidWork:         func(p *patient) { p.state = engine.ActivityBusy },
		"draft_present":            func(p *patient) { p.draft = "half a sentence" },
		engine.CodeDraftUnknown:    func(p *patient) { p.unread = 1 << 20 },
		engine.CodeNoUsage:         func(p *patient) { p.usage = engine.Usage{Note: engine.NoteAwaitingReply} },
		engine.CodePrepIncomplete:  func(p *patient) { p.written = "" }, // a fork that nobody prompted
	} {
		w := newWard(t)
		w.set(change)
		w.typed()
		p, err := w.e.Plan(t.Context(), compactRequest(engine.CompactArgs{}))
		if err != nil || len(p.Blockers) != 1 || p.Blockers[0].Code != code || p.Blockers[0].Hint == "" {
			t.Errorf("%s: %v %+v", code, err, p.Blockers)
		}
		_, err = w.attempt(t, engine.CompactArgs{})
		if engine.CodeOf(err) != code || w.typed() != 0 {
			t.Errorf("%s: %v", code, err)
		}
		w.close(t)
	}
}

// A gate that was in the way of the start blocks a compaction for as long as it may still be
// there: what the client does now says whether it was answered, not the record of its start.
func TestAnAnsweredGateBlocksNoCompaction(t *testing.T) {
	w := newWard(t)
	defer w.close(t)
	w.edit(t, "dev.m0", func(_ *engine.Seat, s *engine.Session) {
		s.Startup, s.StartupNote = engine.StartupAttention, "trust_gate: asks whether this folder is trusted"
	})
	p, err := w.e.Plan(t.Context(), compactRequest(engine.CompactArgs{}))
	if err != nil || len(p.Blockers) != 0 {
		t.Errorf("answered: %v %+v", err, p.Blockers)
	}
	w.set(func(p *patient) { p.state = engine.ActivityUnknown })
	p, err = w.e.Plan(t.Context(), compactRequest(engine.CompactArgs{}))
	if err != nil || len(p.Blockers) != 2 || !strings.Contains(p.Blockers[1].Message, "trust_gate") {
		t.Errorf("not known: %v %+v", err, p.Blockers)
	}
}

// A start that waited for a person put no conversation on record: the way on is to have it
// recorded, for prompting alone does not do that.
func TestACompactionNamesWhatRecordsTheConversation(t *testing.T) {
	w := newWard(t)
	defer w.close(t)
	w.set(func(p *patient) { p.written = "" })
	w.edit(t, "dev.m0", func(_ *engine.Seat, s *engine.Session) {
		s.Startup, s.StartupNote, s.Token = engine.StartupAttention, "trust_gate: a gate", engine.ResumeToken{}
	})
	p, err := w.e.Plan(t.Context(), compactRequest(engine.CompactArgs{}))
	if err != nil || len(p.Blockers) != 1 || !strings.Contains(p.Blockers[0].Hint, "`rig seat clear-attention dev-m0@team`") {
		t.Errorf("%v %+v", err, p.Blockers)
	}
}

// An uncertain send is never repeated, a map that does not come stops before
// /compact, a failed compaction types nothing more.
func TestCompactFailures(t *testing.T) {
	for name, c := range map[string]struct {
		change func(w *ward)
		code   engine.Code
		typed  int
	}{
		"no map": {func(w *ward) { w.keeper.whole = false }, engine.CodePrepIncomplete, 1},
		"failed": {func(w *ward) {
			w.set(func(p *patient) {
				p.proof = engine.CompactionProof{State: engine.CompactionFailed, Why: "Conversation too long", Tail: []string{"Conversation too long"}}
			})
		}, engine.CodeCompactionFailed, 2},
		"unproven": {func(w *ward) { w.set(func(p *patient) { p.proof.State = engine.CompactionPending }) }, engine.CodeNotCompacted, 2},
		"uncertain keys": {func(w *ward) {
			w.set(func(p *patient) { p.proof.State = engine.CompactionPending })
			w.faults.Fail = func(call string, n int) (bool, bool) { return call == "keys" && n > 0, true }
		}, engine.CodeUncertain, 2},
	} {
		w := newWard(t)
		if c.code == engine.CodeCompactionFailed { // the proof ends this one, however slow the machine is
			w.deps.Config.CompactWait = 20 * time.Second
			w.e = engine.New(w.deps)
		}
		c.change(w)
		w.typed()
		rec, err := w.attempt(t, engine.CompactArgs{})
		if err != nil || rec.OK || rec.Error == nil || rec.Error.Code != c.code || rec.Operation.State != engine.OpFailed {
			t.Errorf("%s: %v %+v", name, err, rec)
			w.close(t)
			continue
		}
		if n := w.typed(); n != c.typed {
			t.Errorf("%s: %d lines were typed", name, n)
		}
		if w.keeper.left() != 0 {
			t.Errorf("%s: the directive is left armed: %v", name, rec.Warnings)
		}
		if s := w.seat(t, "dev.m0"); s.Compaction.Verdict != "" {
			t.Errorf("%s: %+v", name, s.Compaction)
		}
		w.close(t)
	}
}

func TestCompactAudit(t *testing.T) {
	for answer, lacks := range map[string]string{
		"Current work: x\nNext owner: dev-qa@team":        "",
		"**Current work:** the rates. Next owner: dev-qa": "",
		"Current work: x":                                  "no next owner",
		"Current work: unknown\nNext owner: me":            "no current work",
		"I restored everything":                            "neither",
		"Current work: -\nNext owner: ?":                   "neither",
		"current WORK: läuft weiter\nNEXT owner: dev-qa.x": "",
	} {
		w := newWard(t)
		w.set(func(p *patient) { p.answer = func(string) string { return answer } })
		rec, err := w.attempt(t, engine.CompactArgs{SkipMap: true})
		if err != nil {
			t.Fatal(err)
		}
		s := w.seat(t, "dev.m0")
		if passed := lacks == ""; rec.OK != passed || (s.Compaction.Verdict == "") != passed {
			t.Errorf("%q: %+v %+v", answer, rec.Seats, s.Compaction)
		}
		if lacks != "" && !strings.Contains(rec.Seats[0].Error.Msg, lacks) {
			t.Errorf("%q: %v", answer, rec.Seats[0].Error)
		}
		w.close(t)
	}
}

// A cancel before /compact stops the attempt; after it, it is too late.
func TestCompactCancel(t *testing.T) {
	w := newWard(t)
	defer w.close(t)
	w.deps.Config.CompactWait = 20 * time.Second
	w.e = engine.New(w.deps)
	w.keeper.whole = false
	done := make(chan *engine.Receipt, 1)
	go func() {
		rec, err := w.attempt(t, engine.CompactArgs{})
		if err != nil {
			t.Error(err)
		}
		done <- rec
	}()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		st, err := w.e.CompactState(t.Context(), "dev.m0")
		if err != nil {
			t.Fatal(err)
		}
		if st.Delivery != "" {
			break
		}
	}
	if st, err := w.e.CancelCompact(t.Context(), "dev.m0", engine.Operator{Name: "ann"}); err != nil || st.Cancelled != "ann" {
		t.Fatalf("%v %+v", err, st)
	}
	if rec := <-done; rec.Error == nil || rec.Error.Code != engine.CodePrepCancelled || !strings.Contains(rec.Error.Msg, "ann") {
		t.Errorf("%+v", rec)
	}
	if _, err := w.e.CancelCompact(t.Context(), "dev.m0", engine.Operator{}); engine.CodeOf(err) != engine.CodeNoCompaction {
		t.Errorf("%v", err)
	}
}

// A compaction by hand or by the client itself is an event, stands on the seat,
// and is told once, whoever watches. An audit alone clears it.
func TestCompactionOfAnyOrigin(t *testing.T) {
	w := newWard(t)
	defer w.close(t)
	if _, err := w.attempt(t, engine.CompactArgs{AuditOnly: true}); engine.CodeOf(err) != engine.CodeNoCompaction {
		t.Errorf("an audit of nothing: %v", err)
	}
	at := w.clock.Now().Add(time.Minute)
	w.set(func(p *patient) {
		p.latest = engine.CompactionProof{State: engine.CompactionDone, Source: "hook", Trigger: "auto", At: at}
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 2 { // two consoles
		watcher := w.e.Watcher()
		feed := watcher.Subscribe()
		go watcher.Run(ctx)
		for f := range feed {
			if len(f.Rigs) > 0 && f.Rigs[0].Seats[0].Compaction.Verdict == engine.NotAudited {
				break
			}
		}
	}
	var events []engine.Event
	err := w.db.Read(t.Context(), func(r engine.Reader) error {
		var err error
		events, err = r.Events(engine.EventFilter{Types: []string{engine.EventCompacted}})
		return err
	})
	if err != nil || len(events) != 1 || !strings.Contains(string(events[0].Payload), `"auto"`) {
		t.Errorf("%v %+v", err, events)
	}
	if since := w.seat(t, "dev.m0").Compaction.Since; !since.Equal(at) {
		t.Errorf("it was compacted at %s, and the seat says %s", at, since)
	}
	w.typed()
	rec, err := w.attempt(t, engine.CompactArgs{AuditOnly: true})
	if err != nil || !rec.OK || w.typed() != 1 || w.seat(t, "dev.m0").Compaction.Verdict != "" {
		t.Errorf("%v %+v", err, rec)
	}
}

// typing is a tmux that lets a test act while something is typed.
type typing struct {
	*enginetest.Mux
	typed func(text string)
}

// Paste implements engine.Mux.
func (m typing) Paste(ctx context.Context, g engine.Guard, text string) error {
	m.typed(text)
	return m.Mux.Paste(ctx, g, text)
}

// TestACancelThatComesWithTheCommandIsTooLate: nobody is told that /compact was not typed while it is being typed.
func TestACancelThatComesWithTheCommandIsTooLate(t *testing.T) {
	w := newWard(t)
	defer w.close(t)
	var cancelled error
	other := w.e
	w.deps.Mux = typing{w.mux, func(text string) {
		if strings.HasPrefix(text, "/compact ") {
			_, cancelled = other.CancelCompact(t.Context(), "dev.m0", engine.Operator{Name: "ann"})
		}
	}}
	w.e = engine.New(w.deps)
	rec, err := w.attempt(t, engine.CompactArgs{})
	if err != nil || !rec.OK {
		t.Fatalf("%+v, %v", rec, err)
	}
	if engine.CodeOf(cancelled) != "too_late" {
		t.Errorf("the cancel was told: %v", cancelled)
	}
}

// hasty is a clock that moves two seconds with every look.
type hasty struct {
	*enginetest.Clock
	n *atomic.Int64
}

// Now implements engine.Clock.
func (h hasty) Now() time.Time { return h.Clock.Now().Add(time.Duration(h.n.Add(2)) * time.Second) }

// TestASecondEnterSubmitsOnlyWhatWasTyped: a text that still stands in the box gets one more Enter; the draft of somebody who has begun to
// type behind it does not.
func TestASecondEnterSubmitsOnlyWhatWasTyped(t *testing.T) {
	const text = "please look at the tax rates, and tell the reviewer"
	for draft, enters := range map[string]int{"please look at the tax rates,\nand tell the reviewer": 2, "[Pasted text #1 +3 lines]": 2, "my own words": 1, text + " and mine": 1} {
		w := newWard(t)
		var n atomic.Int64
		w.deps.Clock, w.deps.Config.VerifyTimeout = hasty{w.clock, &n}, 400*time.Millisecond
		w.deps.Mux = typing{w.mux, func(string) { w.set(func(p *patient) { p.draft = draft }) }}
		w.e = engine.New(w.deps)
		before := len(w.mux.Calls)
		if d, err := w.e.Send(t.Context(), "dev.m0", text, true); err != nil || d.Outcome != "submitted-unconfirmed" {
			t.Errorf("%q: %+v, %v", draft, d, err)
		}
		pressed := 0
		for _, c := range w.mux.Calls[before:] {
			if c == "keys" {
				pressed++
			}
		}
		if pressed != enters {
			t.Errorf("with %q in the box Enter was pressed %d times, want %d", draft, pressed, enters)
		}
		w.close(t)
	}
}

// TestALineWhoseProcessDiedIsLookedFor: the process dies between the record of a typed line and the line itself, or between the line and
// its Enter. Whoever finishes the operation submits what stands in the box, gives up on what stands nowhere, and types nothing twice.
func TestALineWhoseProcessDiedIsLookedFor(t *testing.T) {
	for name, c := range map[string]struct {
		draft  string // what stands in the box after the death: LINE is the line
		asked  bool   // the conversation holds the line
		enters int
		said   string // by the finish, "" = it is answered
	}{
		"before the paste":   {"", false, 0, "did not arrive"},
		"before Enter":       {"LINE", false, 1, ""},
		"a draft of another": {"half a sentence", false, 0, "has not answered"},
		"after Enter":        {"", true, 0, "has not answered"}, // it may still come
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWard(t)
			defer w.close(t)
			line, dead := "", make(chan struct{})
			w.deps.Mux = typing{w.mux, func(text string) {
				if strings.Contains(text, " restore: restore now") {
					line = text
					close(dead)
					select {} // the process is gone
				}
			}}
			p, err := w.e.Plan(t.Context(), compactRequest(engine.CompactArgs{SkipMap: true}))
			if err != nil {
				t.Fatal(err)
			}
			go func() { _, _ = engine.New(w.deps).Apply(context.WithoutCancel(t.Context()), p, nil) }()
			<-dead
			w.procs.Die(1)
			w.procs.Alive[2], w.procs.Me = "s2", 2
			w.set(func(p *patient) {
				answer := p.answer
				p.draft, p.asked = strings.ReplaceAll(c.draft, "LINE", line), c.asked
				p.answer = func(marker string) string {
					if strings.HasSuffix(marker, " restore") && !p.entered {
						return ""
					}
					return answer(marker)
				}
			})
			w.typed()
			w.deps.Mux = entering{w.mux, func() { w.set(func(p *patient) { p.draft, p.entered = "", true }) }}
			w.deps.Config.CompactWait, w.deps.Config.VerifyTimeout = 1500*time.Millisecond, 300*time.Millisecond
			rec, err := engine.New(w.deps).Finish(t.Context(), p.ID, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(rec.Warnings, "\n")
			if rec.Error != nil {
				got += rec.Error.Error()
			}
			if c.said == "" && got != "" || !strings.Contains(got, c.said) {
				t.Errorf("said: %s; want %q", got, c.said)
			}
			enters := 0
			for _, call := range w.mux.Calls {
				if call == "keys" {
					enters++
				}
				if strings.HasPrefix(call, "paste") {
					enters-- // the audit is pasted and submitted
				}
			}
			if enters != c.enters {
				t.Errorf("Enter was pressed %d times, want %d: %q", enters, c.enters, w.mux.Calls)
			}
		})
	}
}

// TestAFinishIsNotBetterThanTheVerb: what finishes a cut-off compaction whose audit says nothing ends like the compaction would have.
func TestAFinishIsNotBetterThanTheVerb(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	defer w.close(t)
	w.set(func(p *patient) { p.answer = func(string) string { return "all is well" } })
	id := w.crash(t, compactRequest(engine.CompactArgs{SkipMap: true}), "dev-m0@team/audit")
	rec, err := w.e.Finish(t.Context(), id, nil)
	if err != nil || rec.OK || rec.Operation.State != engine.OpPartial || len(rec.Seats) != 1 || rec.Seats[0].Error == nil {
		t.Errorf("%v %+v", err, rec)
	}
}

// entering is a tmux that lets a test act when keys are pressed.
type entering struct {
	*enginetest.Mux
	pressed func()
}

// Keys implements engine.Mux.
func (m entering) Keys(ctx context.Context, g engine.Guard, keys ...string) error {
	m.pressed()
	return m.Mux.Keys(ctx, g, keys...)
}
