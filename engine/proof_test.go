package engine_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"rig/engine"
)

// The tests of this file and TestRandomHistories are what notices when an
// invariant is broken; testdata/mutants breaks each on purpose.

// TestAHeldLeaseIsNeverTaken: while one operation holds a seat, whatever else wants
// it is refused with the holder's name and changes nothing, whether it was planned
// before or after; and the first one is not disturbed. TestRandomHistories has a
// rival at a random moment of every operation.
func TestAHeldLeaseIsNeverTaken(t *testing.T) {
	verbs := map[string]engine.Request{
		"fresh": handoverRequest("dev.m0", "fresh"), "fork": handoverRequest("dev.m0", "fork:dev.m0"),
		"down": request(engine.VerbDown, "team", engine.DownArgs{}), "stop": seatRequest(engine.VerbSeatStop, "dev.m0", struct{}{}),
	}
	for one, holder := range verbs {
		for two, other := range verbs {
			b := newBench(t, t.TempDir(), engine.RuntimeClaude)
			b.run(t, upRequest())
			ctx, world := context.Background(), ""
			first, err := b.e.Plan(ctx, holder)
			before, err2 := b.e.Plan(ctx, other)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			reports := 0
			rec, err := b.e.Apply(ctx, first, func(engine.OpProgress) {
				if reports++; reports != 3 {
					return
				}
				world = b.world(t)
				if _, err := b.e.Apply(ctx, before, nil); engine.CodeOf(err) != engine.CodeInProgress {
					t.Errorf("%s during %s: %v", two, one, err)
				}
				after, err := b.e.Plan(ctx, other)
				if err != nil || !slices.ContainsFunc(after.Blockers, func(b engine.Blocker) bool { return b.Code == engine.CodeInProgress }) {
					t.Errorf("%s planned during %s: %v %+v", two, one, err, after)
				}
				if now := b.world(t); now != world {
					t.Errorf("a refused %s changed the world:\n%s", two, moved(world, now))
				}
			})
			if err != nil || !rec.OK || world == "" || b.leases() != 0 {
				t.Errorf("%s was disturbed by %s: %+v %v", one, two, rec, err)
			}
			b.close(t)
		}
	}
}

// TestTheDeadDoNotWalk: an operation whose owner was taken for dead, and whose
// leases went to somebody who closed it, writes nothing and undoes nothing when it
// wakes up: the fencing number is void.
func TestTheDeadDoNotWalk(t *testing.T) {
	for _, c := range []struct {
		at     string
		state  engine.StepState
		finish bool
	}{
		{"ready", engine.StepStarted, false},
		{"swap", engine.StepStarted, false},
		{"rebind", engine.StepStarted, false},
		{"rebind", engine.StepDone, true},
		{"retire", engine.StepStarted, true},
	} {
		t.Run(c.at, func(t *testing.T) {
			b := newBench(t, t.TempDir(), engine.RuntimeClaude)
			defer b.close(t)
			b.run(t, upRequest())
			p, err := b.e.Plan(context.Background(), handoverRequest("dev.m0", "fresh"))
			if err != nil {
				t.Fatal(err)
			}
			stopped, on, done := make(chan struct{}), make(chan struct{}), make(chan *engine.Receipt, 1)
			go func() {
				var seen bool
				rec, _ := b.e.Apply(context.Background(), p, func(pr engine.OpProgress) {
					for _, s := range pr.Steps {
						if s.StepID == c.at && s.State == c.state && !seen {
							seen = true
							close(stopped)
							<-on
						}
					}
				})
				done <- rec
			}()
			<-stopped
			b.procs.Die(1)
			b.procs.Become(2, "s2")
			closeIt := b.e.Rollback
			if c.finish {
				closeIt = b.e.Finish
			}
			if _, err := closeIt(context.Background(), p.ID, nil); err != nil {
				t.Fatal(err)
			}
			// The next operation has the seat; it must not be disturbed either.
			if rec := b.run(t, handoverRequest("dev.m0", "fresh")); !rec.OK {
				t.Fatalf("%+v", rec)
			}
			b.wakeTheDead(t, on, done)
		})
	}
}

// TestNothingIsUndoneAfterTheCommit: what fails after a handover's commit is told;
// the successor keeps the seat and the incumbent stays away.
func TestNothingIsUndoneAfterTheCommit(t *testing.T) {
	for _, call := range []string{"paste", "keys"} {
		b := newBench(t, t.TempDir(), engine.RuntimeClaude)
		b.run(t, upRequest())
		before := b.seat(t, "dev.m0")
		p, err := b.e.Plan(context.Background(), handoverRequest("dev.m0", "fresh"))
		if err != nil {
			t.Fatal(err)
		}
		b.faults.Fail = func(name string, _ int) (bool, bool) { return name == call, false }
		rec, err := b.e.Apply(context.Background(), p, nil)
		b.faults.Fail = nil
		if err != nil || rec.OK || rec.Operation.State != engine.OpPartial {
			t.Fatalf("%s: %+v %v", call, rec, err)
		}
		now := b.seat(t, "dev.m0")
		if now.Generation != before.Generation+1 || now.Pane == before.Pane || now.Life != engine.LifeRunning {
			t.Errorf("%s: the seat was given back: %+v", call, now)
		}
		for _, pane := range b.mux.Panes() {
			if (pane.ID == now.Pane) != (pane.Session == now.SessionName) {
				t.Errorf("%s: pane %s is in session %s", call, pane.ID, pane.Session)
			}
		}
		_, steps, err := b.e.Operation(context.Background(), p.ID)
		if err != nil || slices.ContainsFunc(steps, func(s engine.OperationStep) bool { return s.State == engine.StepUndone }) {
			t.Errorf("%s: something was undone: %+v %v", call, steps, err)
		}
		b.close(t)
	}
}

// TestAForkProvesAnIDOfItsOwn: whatever a client says of a fork, the seat changes
// hands only to a conversation that is proven and not the parent's, however its id
// is spelt; and the parent's id is nowhere on the new occupant.
func TestAForkProvesAnIDOfItsOwn(t *testing.T) {
	const parent = "AbCdEf01-0000-4000-8000-00000000beef"
	says := func(id string, proven bool) func(engine.Probe) engine.Identity {
		return func(p engine.Probe) engine.Identity {
			if p.Session.Generation == 1 { // the source itself
				return engine.Identity{Token: engine.NewResumeToken(parent), Proven: true, Provenance: engine.ProvenanceHook}
			}
			return engine.Identity{Token: engine.NewResumeToken(id), Proven: proven, Provenance: engine.ProvenanceHook}
		}
	}
	for _, id := range []string{parent, strings.ToLower(parent), strings.ToUpper(parent), "00000000-1111-4000-8000-00000000cafe", ""} {
		for _, proven := range []bool{true, false} {
			b := newBench(t, t.TempDir(), engine.RuntimeClaude)
			b.rt[engine.RuntimeClaude].Named = says(parent, true)
			b.run(t, upRequest())
			before := b.world(t)
			b.rt[engine.RuntimeClaude].Named = says(id, proven)
			rec := b.run(t, handoverRequest("dev.m0", "fork:dev.m0"))
			good := proven && id != "" && !strings.EqualFold(id, parent)
			if rec.OK != good || good != (b.seat(t, "dev.m0").Continuity == engine.ContinuityForked) {
				t.Errorf("%q, proven %v: %+v", id, proven, rec)
			}
			if now := b.world(t); !good && now != before {
				t.Errorf("%q, proven %v: the incumbent is not as before:\n%s", id, proven, moved(before, now))
			}
			if tok := b.token(t, "dev.m0"); good == strings.EqualFold(tok, parent) {
				t.Errorf("%q, proven %v: the seat holds %q", id, proven, tok)
			}
			if text := dump(t, b.db) + string(mustMarshal(t, rec)); strings.Contains(strings.ToLower(text), strings.ToLower(parent)) {
				t.Errorf("%q, proven %v: the parent's id stands in the record or the receipt", id, proven)
			}
			b.close(t)
		}
	}
}

// TestResumedOnlyWithProof: a start that was meant to resume is called resumed only
// when the client's own record names the recorded conversation.
func TestResumedOnlyWithProof(t *testing.T) {
	for name, c := range map[string]struct {
		say  func(recorded string) engine.Identity
		want bool
	}{
		"proven": {func(id string) engine.Identity {
			return engine.Identity{Token: engine.NewResumeToken(id), Proven: true, Provenance: engine.ProvenanceHook}
		}, true},
		"not proven": {func(id string) engine.Identity {
			return engine.Identity{Token: engine.NewResumeToken(id), Provenance: engine.ProvenanceHook}
		}, false},
		"another one": {func(string) engine.Identity {
			return engine.Identity{Token: engine.NewResumeToken(someID), Proven: true, Provenance: engine.ProvenanceHook}
		}, false},
		"nothing": {func(string) engine.Identity { return engine.Identity{Why: "no record"} }, false},
	} {
		b := newBench(t, t.TempDir(), engine.RuntimeClaude)
		b.run(t, upRequest())
		id := b.token(t, "dev.m0")
		b.run(t, request(engine.VerbDown, "team", engine.DownArgs{}))
		b.rt[engine.RuntimeClaude].Named = func(engine.Probe) engine.Identity { return c.say(id) }
		rec := b.run(t, request(engine.VerbUp, "team", engine.UpArgs{Spec: "team"}))
		got := rec.Seats[0].Outcome == engine.ContinuityResumed
		if got != c.want || rec.OK != c.want || (b.seat(t, "dev.m0").Continuity == engine.ContinuityResumed) != c.want {
			t.Errorf("%s: %s, %+v", name, b.seat(t, "dev.m0").Continuity, rec.Seats)
		}
		b.close(t)
	}
}

// TestACommitStandsWithItsEventOrNotAtAll, for each event of a handover in turn.
func TestACommitStandsWithItsEventOrNotAtAll(t *testing.T) {
	for nth := range 4 {
		b := newBench(t, t.TempDir(), engine.RuntimeClaude)
		b.run(t, upRequest())
		before := b.seat(t, "dev.m0")
		p, err := b.e.Plan(context.Background(), handoverRequest("dev.m0", "fresh"))
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		b.faults.Fail = func(name string, _ int) (bool, bool) {
			if name != "event" {
				return false, false
			}
			seen++
			return seen == nth+1, false
		}
		rec, err := b.e.Apply(context.Background(), p, nil)
		b.faults.Fail = nil
		if err != nil {
			t.Errorf("event %d failed: %v", nth, err)
		}
		events, err := b.e.Events(context.Background(), engine.EventFilter{OpID: p.ID, Types: []string{"seat.handover_completed"}})
		if err != nil {
			t.Fatal(err)
		}
		after := b.seat(t, "dev.m0")
		if moved := after.Generation != before.Generation; moved != (len(events) == 1) {
			t.Errorf("event %d failed: generation %d → %d with %d events: %s", nth, before.Generation, after.Generation, len(events), mustMarshal(t, rec))
		}
		if nth == 0 && after.Generation != before.Generation {
			t.Error("the first event is not the commit's")
		}
		if op, _, err := b.e.Operation(context.Background(), p.ID); err != nil || !op.State.Ended() || op.Committed == op.UndoUntil.IsZero() {
			t.Errorf("event %d failed: %s, committed %v, undo until %s (%v)", nth, op.State, op.Committed, op.UndoUntil, err)
		}
		b.close(t)
	}
}

// TestAnEndThatCannotBeWritten leaves the operation open and its seat held: nobody
// acts as if it had ended, and it is closed after its process like any other.
func TestAnEndThatCannotBeWritten(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	before := b.world(t)
	p, err := b.e.Plan(context.Background(), handoverRequest("dev.m0", "fresh"))
	if err != nil {
		t.Fatal(err)
	}
	b.faults.Fail = func(name string, _ int) (bool, bool) { return name == "event" || name == "ready", false }
	if rec, err := b.e.Apply(context.Background(), p, nil); err == nil || rec.OK {
		t.Errorf("%+v %v", rec, err)
	}
	closing := func() error { _, err := b.e.Rollback(context.Background(), p.ID, nil); return err }
	for pid := 2; pid < 4; pid++ { // the second one cannot write its end either
		again, err := b.e.Plan(context.Background(), handoverRequest("dev.m0", "fresh"))
		if err != nil || again.Applicable() || b.leases() == 0 || b.world(t) != before {
			t.Fatalf("%v %+v", err, again)
		}
		b.procs.Die(pid - 1)
		b.procs.Become(pid, "later")
		if pid == 2 && closing() == nil {
			t.Error("an end was put on record")
		}
	}
	b.faults.Fail = nil
	if err := closing(); err != nil || b.leases() != 0 {
		t.Fatal(err)
	}
	if rec := b.run(t, handoverRequest("dev.m0", "fresh")); !rec.OK {
		t.Errorf("%+v", rec)
	}
}

// TestDeathNeedsProof: a holder of whom nothing can be told is not dead, and its
// lease stays its own.
func TestDeathNeedsProof(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	op := b.crash(t, handoverRequest("dev.m0", "fresh"), "ready")
	b.procs.Blind(true)
	if got, _, err := b.e.Operation(context.Background(), op); err != nil || got.State != engine.OpRunning {
		t.Errorf("%s is called %s: %v", op, got.State, err)
	}
	for _, verb := range []engine.Verb{engine.VerbRollback, engine.VerbFinish} {
		p, err := b.e.Plan(context.Background(), request(verb, op, struct{}{}))
		if err == nil && p.Applicable() {
			t.Errorf("%s of an operation that may still run", verb)
		}
	}
	b.procs.Blind(false)
	b.procs.Become(1, "later") // its pid is somebody else's now
	if rec, err := b.e.Rollback(context.Background(), op, nil); err != nil || rec.Operation.State != engine.OpRolledBack {
		t.Errorf("%+v %v", rec, err)
	}
}

// TestWhatWasShownIsWhatRuns: the journal of an operation lists the steps of the
// plan that was shown, in its order, and nothing else.
func TestWhatWasShownIsWhatRuns(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	for _, source := range []string{"fresh", "rebuild", "fork:dev.m0"} {
		p, err := b.e.Plan(context.Background(), handoverRequest("dev.m0", source))
		if err != nil {
			t.Fatal(err)
		}
		if rec, err := b.e.Apply(context.Background(), p, nil); err != nil || !rec.OK {
			t.Fatalf("%+v %v", rec, err)
		}
		op, steps, err := b.e.Operation(context.Background(), p.ID)
		if err != nil || op.Fingerprint != p.Fingerprint() {
			t.Errorf("%s: %v", source, err)
		}
		var shown, ran []string
		for _, s := range p.Steps() {
			shown = append(shown, s.ID+" "+s.Title)
		}
		for _, s := range steps {
			ran = append(ran, s.StepID+" "+s.Title)
			if s.State != engine.StepDone || s.StartedAt.IsZero() || !json.Valid(s.Evidence) {
				t.Errorf("%s: %+v", source, s)
			}
		}
		if !slices.Equal(shown, ran) {
			t.Errorf("%s: shown\n%v\nran\n%v", source, shown, ran)
		}
	}
}

// wakeTheDead lets a process go on whose operation was taken from it, and says what it changes or claims then.
func (b *bench) wakeTheDead(t *testing.T, wake chan<- struct{}, old <-chan *engine.Receipt) {
	t.Helper()
	world, record := b.world(t), dump(t, b.db)
	close(wake)
	if rec := <-old; rec != nil && rec.OK {
		t.Errorf("it says that it went well: %+v", rec)
	}
	if now := b.world(t); now != world {
		t.Errorf("it changed the world:\n%s", moved(world, now))
	}
	if now := dump(t, b.db); now != record {
		t.Errorf("it changed the record:\n%s", moved(record, now))
	}
}
