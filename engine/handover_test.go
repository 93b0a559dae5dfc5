package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rig/engine"
)

func handoverRequest(seat, source string) engine.Request {
	r := request(engine.VerbHandover, seat, engine.HandoverArgs{Source: source})
	r.Reason = "context wall"
	return r
}

// kept lists the generations that an undo window keeps, as "seat/generation".
func (b *bench) kept() map[string]bool {
	out := map[string]bool{}
	ops, err := b.e.Operations(context.Background(), engine.OperationFilter{})
	if err != nil {
		return out
	}
	for _, op := range ops {
		var plan engine.Plan
		if op.UndoUntil.IsZero() || json.Unmarshal(op.Plan, &plan) != nil {
			continue
		}
		for _, s := range plan.Steps() {
			if s.Kind == engine.StepRebind {
				out[s.Args["seat_id"]+"/"+s.Args["generation"]] = true
			}
		}
	}
	return out
}

func (b *bench) seat(tb testing.TB, logical string) *engine.SeatView {
	tb.Helper()
	s, _, err := b.e.SeatView(context.Background(), logical)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestHandoverKeepsTheSeatAndReplacesTheOccupant(t *testing.T) {
	for source, want := range map[string]engine.Continuity{
		"fresh": engine.ContinuityFresh, "rebuild": engine.ContinuityRebuilt, "fork:dev.m0": engine.ContinuityForked,
	} {
		t.Run(source, func(t *testing.T) {
			b := newBench(t, t.TempDir(), engine.RuntimeClaude, engine.RuntimeTerminal)
			defer b.close(t)
			b.run(t, upRequest())
			before := b.seat(t, "dev.m0")
			rec := b.run(t, handoverRequest("dev.m0", source))
			after := b.seat(t, "dev.m0")
			if !rec.OK || after.Continuity != want || after.Binding != engine.BindingHandedOver {
				t.Fatalf("receipt %+v, seat %s %s", rec, after.Continuity, after.Binding)
			}
			if after.Generation != before.Generation+1 || after.Pane == before.Pane {
				t.Errorf("generation %d → %d, pane %s → %s", before.Generation, after.Generation, before.Pane, after.Pane)
			}
			if after.ID != before.ID || after.Address != before.Address || after.Role != before.Role || after.Cwd != before.Cwd ||
				after.Model != before.Model || len(after.Edges) != len(before.Edges) || after.SessionName != before.SessionName {
				t.Errorf("the seat changed:\n%+v\n%+v", before, after)
			}
			if after.ContextDelivered != (source != "fork:dev.m0") {
				t.Errorf("context delivered: %v", after.ContextDelivered)
			}
		})
	}
}

func TestForkNeverKeepsTheParentsToken(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	parent := b.token(t, "dev.m0")
	rec := b.run(t, handoverRequest("dev.m0", "fork:"+parent))
	if !rec.OK {
		t.Fatalf("receipt %+v", rec)
	}
	if child := b.token(t, "dev.m0"); child == parent || child == "" {
		t.Fatalf("the child holds %q, the parent %q", child, parent)
	}
	// The dump hides the token column, where the parent's id rightly stands on its
	// own superseded row: anything found is a leak.
	if n := strings.Count(dump(t, b.db), parent); n != 0 {
		t.Errorf("the parent's id stands in %d places of the record", n)
	}
}

// TestAFreshSuccessorNeverHoldsItsPredecessorsConversation: whatever a client seems to write at its start, a fresh one has an id
// that no occupant of the seat had. The predecessor's is looked past, and alone it is no proof.
func TestAFreshSuccessorNeverHoldsItsPredecessorsConversation(t *testing.T) {
	for name, first := range map[string]int{"for a moment": 2, "for good": 1 << 30} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, t.TempDir(), engine.RuntimeClaude)
			defer b.close(t)
			b.run(t, upRequest())
			before := b.token(t, "dev.m0")
			asked := 0
			b.rt[engine.RuntimeClaude].Named = func(p engine.Probe) engine.Identity {
				id := p.Session.Token
				if asked++; asked <= first {
					id = engine.NewResumeToken(before)
				}
				return engine.Identity{Token: id, Proven: true, Provenance: engine.ProvenanceHook, Why: "a file it has open"}
			}
			rec := b.run(t, handoverRequest("dev.m0", "fresh"))
			after := b.token(t, "dev.m0")
			switch {
			case first == 2 && (!rec.OK || after == before || after == ""):
				t.Errorf("%+v; the successor holds %q, the predecessor %q", rec, after, before)
			case first > 2 && (rec.OK || after != before || b.seat(t, "dev.m0").Generation != 1 || !strings.Contains(fmt.Sprint(rec.Error), "earlier occupant")):
				t.Errorf("%+v; the seat is of generation %d", rec, b.seat(t, "dev.m0").Generation)
			}
		})
	}
}

// token gives the raw token of a seat's current occupant.
func (b *bench) token(tb testing.TB, logical string) string {
	tb.Helper()
	s := b.seat(tb, logical)
	sessions, _, err := b.e.SeatHistory(context.Background(), s.ID)
	if err != nil {
		tb.Fatal(err)
	}
	for _, x := range sessions {
		if x.Generation == s.Generation {
			return x.Token.Reveal()
		}
	}
	return ""
}

func TestHandoverFailureBeforeTheCommitLeavesTheIncumbent(t *testing.T) {
	for _, name := range []string{"packet", "launch-file", "line", "create", "ready", "identify", "arrive", "swap"} {
		for _, half := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				b := newBench(t, t.TempDir(), engine.RuntimeClaude)
				defer b.close(t)
				b.run(t, upRequest())
				before := b.world(t)
				b.faults.Fail = func(call string, _ int) (bool, bool) { return call == name, half }
				p, err := b.e.Plan(context.Background(), handoverRequest("dev.m0", "fresh"))
				if err != nil {
					t.Fatal(err)
				}
				rec, err := b.e.Apply(context.Background(), p, nil)
				b.faults.Fail = nil
				if err != nil {
					t.Fatal(err)
				}
				if rec.OK || rec.Operation.State != engine.OpFailed {
					t.Fatalf("%s: %+v", name, rec)
				}
				b.journals(t)
				if name == "swap" && half {
					return // the undo of a swap needs a swap that works again; the next test covers it
				}
				if after := b.world(t); after != before {
					t.Errorf("%s (half %v): the world differs:\n%s\n---\n%s", name, half, before, after)
				}
				if len(b.ctxs.Kept) != 0 {
					t.Errorf("a packet was left: %v", b.ctxs.Kept)
				}
			})
		}
	}
}

func TestHalfDoneSwapIsUndone(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	before := b.world(t)
	b.faults.Fail = func(call string, nth int) (bool, bool) { return call == "swap" && nth == 0, true }
	p, err := b.e.Plan(context.Background(), handoverRequest("dev.m0", "fresh"))
	if err != nil {
		t.Fatal(err)
	}
	if rec, err := b.e.Apply(context.Background(), p, nil); err != nil || rec.OK {
		t.Fatalf("%+v %v", rec, err)
	}
	b.faults.Fail = nil
	if after := b.world(t); after != before {
		t.Errorf("the world differs:\n%s\n---\n%s", before, after)
	}
}

// The picture does not promise an undo whose incumbent is gone.
func TestTheUndoOfAnIncumbentThatIsGoneIsNotOffered(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	b.run(t, handoverRequest("dev.m0", "fresh"))
	gone := func() bool {
		t.Helper()
		f, err := b.e.Fleet(context.Background())
		if err != nil || len(f.Ops) != 1 || f.Ops[0].UndoUntil.IsZero() {
			t.Fatalf("%v %+v", err, f)
		}
		return f.Ops[0].UndoGone
	}
	if gone() {
		t.Error("gone while it is there")
	}
	b.mux.Drop(b.paneOf(t, "1").ID)
	if !gone() {
		t.Error("offered without its incumbent")
	}
}

func TestUndoBringsTheIncumbentBack(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	before, token := b.seat(t, "dev.m0"), b.token(t, "dev.m0")
	rec := b.run(t, handoverRequest("dev.m0", "fresh"))
	f, err := b.e.Fleet(context.Background())
	if err != nil || len(f.Ops) != 1 || f.Ops[0].ID != rec.Operation.ID || f.Ops[0].UndoUntil.IsZero() {
		t.Errorf("the picture does not offer the undo: %v %+v", err, f)
	}
	undo := b.run(t, request(engine.VerbUndo, rec.Operation.ID, struct{}{}))
	if !undo.OK {
		t.Fatalf("undo: %+v", undo)
	}
	after := b.seat(t, "dev.m0")
	if after.Pane != before.Pane || after.Generation != before.Generation || b.token(t, "dev.m0") != token {
		t.Errorf("the incumbent did not come back: %+v", after)
	}
	if panes := b.mux.Panes(); len(panes) != 1 {
		t.Errorf("panes left: %+v", panes)
	}
	p, err := b.e.Plan(context.Background(), request(engine.VerbUndo, rec.Operation.ID, struct{}{}))
	if err != nil || p.Applicable() {
		t.Errorf("a second undo is possible: %v %+v", err, p)
	}
	// The next handover takes a number that no occupant had before.
	if again := b.run(t, handoverRequest("dev.m0", "fresh")); !again.OK || again.Seats[0].Generation != 3 {
		t.Errorf("handover after an undo: %+v", again)
	}
}

// TestNoUndoOnAStoppedSeat: the undo swaps with the successor's pane, so it is
// refused before anything is done when a stop has ended that one.
func TestNoUndoOnAStoppedSeat(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	rec := b.run(t, handoverRequest("dev.m0", "fresh"))
	undo := request(engine.VerbUndo, rec.Operation.ID, struct{}{})
	if p, err := b.e.Plan(context.Background(), undo); err != nil || !p.Applicable() {
		t.Fatalf("no undo while the successor runs: %v %+v", err, p)
	}
	b.run(t, request(engine.VerbDown, "team", engine.DownArgs{}))
	p, err := b.e.Plan(context.Background(), undo)
	if err != nil || p.Applicable() {
		t.Fatalf("undo on a stopped seat: %v %+v", err, p)
	}
	for _, b := range p.Blockers {
		if b.Code != "undo_impossible" && b.Code != "undo_window_closed" || b.Hint == "" {
			t.Errorf("undo on a stopped seat: %+v", b)
		}
	}
}

func TestHandoverRefusals(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude, engine.RuntimeTerminal)
	defer b.close(t)
	b.run(t, upRequest())
	plan := func(seat, source, reason string) error {
		r := handoverRequest(seat, source)
		r.Reason = reason
		p, err := b.e.Plan(context.Background(), r)
		if err != nil {
			return err
		}
		_, err = b.e.Apply(context.Background(), p, nil)
		return err
	}
	for _, c := range []struct {
		seat, source, reason string
		want                 engine.Code
	}{
		{"dev.m0", "fresh", " ", engine.CodeMissingReason},
		{"dev.m0", "fork:", "r", "invalid_source"},
		{"dev.m0", "Fresh", "r", "invalid_source"},
		{"dev.m0", "rebuild:x", "r", "invalid_source"},
		{"", "fresh", "r", engine.CodeSeatRefRequired},
		{"dev.nobody", "fresh", "r", engine.CodeSeatNotFound},
		{"dev.m0", "fork:nobody", "r", "fork_source_not_found"},
		{"dev.m0", "fork:dev.m1", "r", "runtime_mismatch"},
		{"dev.m1", "fork:dev.m1", "r", "runtime_unsupported"},
		{"dev.m1", "rebuild", "r", "runtime_unsupported"},
		{"dev.m0", "discovered:nope", "r", "discovered_not_found"},
	} {
		before := b.world(t)
		if err := plan(c.seat, c.source, c.reason); engine.CodeOf(err) != c.want {
			t.Errorf("%s %s: want %s, got %v", c.seat, c.source, c.want, err)
		}
		if after := b.world(t); after != before {
			t.Errorf("%s: a refusal changed the world", c.want)
		}
	}
}

// TestCutOffHandover cuts an operation off at every step, as a crash would, and
// rolls it back or finishes it.
func TestCutOffHandover(t *testing.T) {
	for _, at := range []string{"packet", "freeze", "create", "ready", "identify", "arrive", "swap", "rebind", "go", "retire"} {
		t.Run(at, func(t *testing.T) {
			b := newBench(t, t.TempDir(), engine.RuntimeClaude)
			defer b.close(t)
			b.run(t, upRequest())
			before := b.world(t)
			op := b.crash(t, handoverRequest("dev.m0", "fresh"), at)
			if op == "" {
				t.Fatal("the operation was not cut off")
			}
			after := at == "go" || at == "retire"
			var rec *engine.Receipt
			var err error
			if after {
				rec, err = b.e.Finish(context.Background(), op, nil)
			} else {
				rec, err = b.e.Rollback(context.Background(), op, nil)
			}
			if err != nil {
				t.Fatalf("%v", err)
			}
			now := b.seat(t, "dev.m0")
			if after {
				if now.Generation != 2 || !rec.OK {
					t.Errorf("not finished: generation %d, %+v", now.Generation, rec)
				}
			} else if w := b.world(t); w != before {
				t.Errorf("not rolled back:\n%s\n---\n%s", before, w)
			}
			if n := b.leases(); n != 0 {
				t.Errorf("%d leases are left", n)
			}
			_, steps, err := b.e.Operation(context.Background(), op)
			if err != nil || slices.ContainsFunc(steps, func(s engine.OperationStep) bool { return s.State == engine.StepStarted }) {
				t.Errorf("a step of what is closed still runs: %+v %v", steps, err)
			}
		})
	}
}

// TestCutOffHandoverOnAnotherServer cuts an operation off and then loses the tmux server with every pane in it. Both
// ways to close it still work, hold nothing back, and the seat is said to be lost, with what brings it back.
func TestCutOffHandoverOnAnotherServer(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"freeze", "create", "swap", "rebind", "go"} {
		for _, verb := range []engine.Verb{engine.VerbFinish, engine.VerbRollback} {
			if at == "go" && verb == engine.VerbRollback {
				continue // there is no way back any more
			}
			t.Run(at+" "+string(verb), func(t *testing.T) {
				t.Parallel()
				b := newBench(t, t.TempDir(), engine.RuntimeClaude)
				defer b.close(t)
				b.run(t, upRequest())
				id := b.crash(t, handoverRequest("dev.m0", "fresh"), at)
				b.reboot()
				b.run(t, request(verb, id, struct{}{}))
				if op, _, err := b.e.Operation(context.Background(), id); err != nil || !op.State.Ended() {
					t.Errorf("the operation is %s, %v", op.State, err)
				}
				if n := b.leases(); n != 0 {
					t.Errorf("%d leases are left", n)
				}
				f, err := b.e.Fleet(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				if len(f.Attention) == 0 || f.Attention[0].Class != engine.AttnLost || f.Attention[0].Remedy == "" {
					t.Errorf("what needs a person: %+v", f.Attention)
				}
				b.run(t, request(engine.VerbUp, "team", engine.UpArgs{Spec: "team"}))
				if s := b.seat(t, "dev.m0"); s.Life != engine.LifeRunning {
					t.Errorf("the seat is %s", s.Life)
				}
			})
		}
	}
}

// crash applies a request in a goroutine that stops for ever at the beginning of
// a step, declares its owner dead, and gives the operation.
func (b *bench) crash(tb testing.TB, req engine.Request, step string) string {
	tb.Helper()
	return b.crashAt(tb, req, step, engine.StepStarted)
}

// crashAt is crash at the moment at which a step has come to a state on record.
func (b *bench) crashAt(tb testing.TB, req engine.Request, step string, state engine.StepState) string {
	tb.Helper()
	p, err := b.e.Plan(context.Background(), req)
	if err != nil {
		tb.Fatal(err)
	}
	stopped := make(chan struct{})
	go func() {
		defer func() { _ = recover() }()
		_, _ = b.e.Apply(context.Background(), p, func(pr engine.OpProgress) {
			for _, s := range pr.Steps {
				if s.StepID == step && s.State == state {
					close(stopped)
					select {} // the process is gone
				}
			}
		})
	}()
	<-stopped
	b.procs.Die(1)
	b.procs.Me = 2
	b.procs.Alive[2] = "s2"
	return p.ID
}

func TestAWindowThatNobodyClosedIsClosedLater(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	rec := b.run(t, handoverRequest("dev.m0", "fresh"))
	if n := len(b.mux.Panes()); n != 2 {
		t.Fatalf("%d panes: the incumbent is not kept", n)
	}
	if err := b.e.Expire(context.Background()); err != nil || len(b.mux.Panes()) != 2 {
		t.Fatalf("an open window was closed: %v", err)
	}
	err := b.db.Write(context.Background(), func(tx engine.Tx) error {
		op, err := tx.Operation(rec.Operation.ID)
		if err != nil {
			return err
		}
		op.UndoUntil = op.StartedAt // long ago
		for i := range 300 {        // more than any list of the newest ones holds
			later := engine.Operation{
				ID: fmt.Sprintf("later%d", i), Verb: engine.VerbSnapshot, State: engine.OpDone, Plan: []byte("{}"),
				StartedAt: op.StartedAt.Add(time.Hour), EndedAt: op.StartedAt.Add(time.Hour),
			}
			if err := tx.InsertOperation(later); err != nil {
				return err
			}
		}
		return tx.UpdateOperation(&op)
	})
	if err != nil {
		t.Fatal(err)
	}
	b.run(t, request(engine.VerbSnapshot, "team", engine.SnapshotArgs{})) // whoever changes something next
	if panes := b.mux.Panes(); len(panes) != 1 || panes[0].ID != b.seat(t, "dev.m0").Pane {
		t.Errorf("panes after the window: %+v", panes)
	}
}

// TestAForkThatWroteNothingKeepsItsIncumbent: until a fork has a conversation of its own on disk, the end of the undo window does not
// take the incumbent away.
func TestAForkThatWroteNothingKeepsItsIncumbent(t *testing.T) {
	b := newSeatBench(t)
	rec := b.run(t, handoverRequest("dev.m0", "fork:dev.m0"))
	if !rec.OK {
		t.Fatalf("%+v", rec)
	}
	over := func() {
		t.Helper()
		if err := b.db.Write(context.Background(), func(tx engine.Tx) error {
			op, err := tx.Operation(rec.Operation.ID)
			op.UndoUntil = op.StartedAt
			if err == nil {
				err = tx.UpdateOperation(&op)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if err := b.e.Expire(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	before := len(b.mux.Panes())
	b.claude.Stored = func(string, string) engine.ConversationState { return engine.ConversationState{Exists: engine.Absent} }
	over()
	if op, _, err := b.e.Operation(context.Background(), rec.Operation.ID); err != nil || len(b.mux.Panes()) != before || op.UndoUntil.Before(op.StartedAt.Add(time.Second)) {
		t.Fatalf("%v, %d panes of %d, undo until %s", err, len(b.mux.Panes()), before, op.UndoUntil)
	}
	b.claude.Stored = nil // now it is on disk
	over()
	if n := len(b.mux.Panes()); n != before-1 {
		t.Errorf("%d panes of %d: the incumbent is kept for ever", n, before)
	}
}

// TestAClockSetBackClosesTheWindow: a handover made while the clock was ahead does
// not keep its incumbent until the clock is there again.
func TestAClockSetBackClosesTheWindow(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	rec := b.run(t, handoverRequest("dev.m0", "fresh"))
	err := b.db.Write(context.Background(), func(tx engine.Tx) error {
		op, err := tx.Operation(rec.Operation.ID)
		if err != nil {
			return err
		}
		const ahead = 720 * time.Hour
		op.StartedAt, op.EndedAt, op.UndoUntil = op.StartedAt.Add(ahead), op.EndedAt.Add(ahead), op.UndoUntil.Add(ahead)
		return tx.UpdateOperation(&op)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.e.Expire(context.Background()); err != nil {
		t.Fatal(err)
	}
	if panes := b.mux.Panes(); len(panes) != 1 || panes[0].ID != b.seat(t, "dev.m0").Pane {
		t.Errorf("panes after the window: %+v", panes)
	}
}

// TestFailedHandoverStandsOnRecord: continuity and binding are two outcomes. Which
// of them a failure touches depends on where it happened.
func TestFailedHandoverStandsOnRecord(t *testing.T) {
	for _, c := range []struct {
		at         string
		fault      string
		continuity engine.Continuity
		binding    engine.BindingOutcome
		generation int64
	}{
		{"never started", "create", engine.ContinuityFailed, engine.BindingUnchanged, 1},
		{"not proven", "ready", engine.ContinuityFailed, engine.BindingUnchanged, 1},
		{"bind broke", "swap", engine.ContinuityForked, engine.BindingFailed, 1},
	} {
		t.Run(c.at, func(t *testing.T) {
			b := newBench(t, t.TempDir(), engine.RuntimeClaude)
			defer b.close(t)
			b.run(t, upRequest())
			before := b.seat(t, "dev.m0")
			b.faults.Fail = func(call string, nth int) (bool, bool) { return call == c.fault && nth == 0, false }
			p, err := b.e.Plan(context.Background(), handoverRequest("dev.m0", "fork:dev.m0"))
			if err != nil {
				t.Fatal(err)
			}
			rec, err := b.e.Apply(context.Background(), p, nil)
			b.faults.Fail = nil
			if err != nil || rec.OK || len(rec.Seats) != 1 {
				t.Fatalf("%+v %v", rec, err)
			}
			if s := rec.Seats[0]; s.Outcome != c.continuity || s.Binding != c.binding || s.Error == nil {
				t.Errorf("the receipt says %s and %s: %+v", s.Outcome, s.Binding, s)
			}
			after := b.seat(t, "dev.m0")
			if after.Binding != c.binding || after.Continuity != before.Continuity || after.Generation != c.generation || after.LastError == "" {
				t.Errorf("the seat says %s and %s, %q", after.Continuity, after.Binding, after.LastError)
			}
			events, err := b.e.Events(context.Background(), engine.EventFilter{Types: []string{"seat.handover_failed"}})
			if err != nil || len(events) != 1 || !strings.Contains(string(events[0].Payload), `"binding_outcome":"`+string(c.binding)+`"`) ||
				!strings.Contains(string(events[0].Payload), `"continuity_outcome":"`+string(c.continuity)+`"`) {
				t.Errorf("events %+v %v", events, err)
			}
			if rec := b.run(t, handoverRequest("dev.m0", "fresh")); !rec.OK || b.seat(t, "dev.m0").Binding != engine.BindingHandedOver {
				t.Errorf("the next one: %+v", rec)
			}
		})
	}
}

// TestFailureAfterTheCommitTakesNothingBack: the seat changed hands, and what is
// missing is named.
func TestFailureAfterTheCommitTakesNothingBack(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	op := b.crash(t, handoverRequest("dev.m0", "fresh"), "go")
	b.faults.Fail = func(call string, _ int) (bool, bool) {
		return call == "type" || call == "submit" || call == "paste" || call == "kill", false
	}
	rec, err := b.e.Finish(context.Background(), op, nil)
	b.faults.Fail = nil
	if err != nil || len(rec.Seats) != 1 {
		t.Fatalf("%+v %v", rec, err)
	}
	if s := rec.Seats[0]; s.Outcome != engine.ContinuityFresh || s.Binding != engine.BindingPartial || s.Generation != 2 || !s.ContextDelivered {
		t.Errorf("the receipt says %s and %s: %+v", s.Outcome, s.Binding, s)
	}
	if rec.Error == nil || rec.Error.Hint == "" {
		t.Errorf("what failed is not told: %+v", rec)
	}
	if s := b.seat(t, "dev.m0"); s.Binding != engine.BindingPartial || s.Continuity != engine.ContinuityFresh || s.Generation != 2 {
		t.Errorf("the seat says %s and %s", s.Continuity, s.Binding)
	}
}

// overdue puts the end of a handover's undo window into the past.
func (b *bench) overdue(tb testing.TB, opID string) {
	tb.Helper()
	err := b.db.Write(context.Background(), func(tx engine.Tx) error {
		op, err := tx.Operation(opID)
		if err != nil {
			return err
		}
		op.UndoUntil = op.StartedAt
		return tx.UpdateOperation(&op)
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// TestAWindowIsNotClosedUnseen: while tmux does not answer, nobody can tell whether the incumbent is still kept. The window closes when
// it is seen, and the incumbent ends with it.
func TestAWindowIsNotClosedUnseen(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	id := b.run(t, handoverRequest("dev.m0", "fresh")).Operation.ID
	b.overdue(t, id)
	b.faults.Fail = func(call string, _ int) (bool, bool) { return call == "inventory", false }
	if err := b.e.Expire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if op, _, err := b.e.Operation(t.Context(), id); err != nil || op.UndoUntil.IsZero() {
		t.Fatalf("the window was closed with an incumbent that nobody saw: %v", err)
	}
	b.faults.Fail = nil
	if err := b.e.Expire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if op, _, err := b.e.Operation(t.Context(), id); err != nil || !op.UndoUntil.IsZero() || len(b.mux.Panes()) != 1 || b.leases() != 0 {
		t.Errorf("%v, %d panes, %d leases, undo until %s", err, len(b.mux.Panes()), b.leases(), op.UndoUntil)
	}
}

// TestAnUndoUnderWayIsNotExpired: an undo that began inside its window brings the incumbent back, whoever finds the window over meanwhile.
func TestAnUndoUnderWayIsNotExpired(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	incumbent := b.seat(t, "dev.m0").Pane
	id := b.run(t, handoverRequest("dev.m0", "fresh")).Operation.ID
	p, err := b.e.Plan(t.Context(), request(engine.VerbUndo, id, struct{}{}))
	if err != nil {
		t.Fatal(err)
	}
	late := b.made
	expired := false
	late.OnStep = func(when string, s engine.Step) {
		if when != "before" || s.Kind != engine.StepUndo {
			return
		}
		expired = true
		b.overdue(t, id)
		if err := engine.New(b.made).Expire(t.Context()); err != nil {
			t.Error(err)
		}
	}
	rec, err := engine.New(late).Apply(t.Context(), p, nil)
	if err != nil || !rec.OK || !expired {
		t.Errorf("%+v, %v", rec, err)
	}
	if s := b.seat(t, "dev.m0"); s.Pane != incumbent || s.Life != engine.LifeRunning || s.Generation != 1 {
		t.Errorf("%+v", s)
	}
}

// full is a record that takes no write any more once a window was closed, as when the disk is full from then on.
type full struct {
	engine.Store
	closed *bool
}

func (s full) Write(ctx context.Context, fn func(engine.Tx) error) error {
	if *s.closed {
		return errors.New("the disk is full")
	}
	return s.Store.Write(ctx, func(tx engine.Tx) error { return fn(fullTx{tx, s.closed}) })
}

type fullTx struct {
	engine.Tx
	closed *bool
}

func (t fullTx) AppendEvent(ev engine.Event) (int64, error) {
	*t.closed = *t.closed || ev.Type == "seat.undo_window_closed"
	return t.Tx.AppendEvent(ev)
}

// TestAClosedWindowHoldsNothing: whoever closes windows lives on. The lease goes with the change, so that a record which takes
// nothing more afterwards does not leave the seat held as long as that process lives.
func TestAClosedWindowHoldsNothing(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	id := b.run(t, handoverRequest("dev.m0", "fresh")).Operation.ID
	b.overdue(t, id)
	closed := false
	b.made.Store = full{b.db, &closed}
	if err := engine.New(b.made).Expire(t.Context()); err != nil || !closed || b.leases() != 0 {
		t.Errorf("closed: %v, %v, %d leases are left", closed, err, b.leases())
	}
}
