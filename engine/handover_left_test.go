package engine_test

import (
	"context"
	"strings"
	"testing"

	"rig/engine"
	"rig/engine/enginetest"
)

// paneOf is the pane that carries a generation.
func (b *bench) paneOf(tb testing.TB, gen string) engine.Pane {
	tb.Helper()
	for _, p := range b.mux.Panes() {
		if p.Gen == gen {
			return p
		}
	}
	tb.Fatalf("no pane of generation %s", gen)
	return engine.Pane{}
}

// TestASwapIsUndoneWithoutTheSuccessor: the successor's pane is ended between the swap and its undo. The incumbent's session, which is
// a staging one by then, gets the seat's name back.
func TestASwapIsUndoneWithoutTheSuccessor(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	before := b.world(t)
	op := b.crash(t, handoverRequest("dev.m0", "fresh"), "rebind")
	b.mux.Drop(b.paneOf(t, "2").ID)
	if rec := b.run(t, request(engine.VerbRollback, op, struct{}{})); !rec.OK {
		t.Errorf("%+v", rec)
	}
	if after := b.world(t); after != before {
		t.Errorf("the world differs:\n%s\n---\n%s", before, after)
	}
	// It had not swapped yet: there is nothing to undo of it, and nothing to warn of.
	op = b.crash2(t, handoverRequest("dev.m0", "fresh"), "swap")
	b.mux.Drop(b.paneOf(t, "2").ID)
	if rec := b.run(t, request(engine.VerbRollback, op, struct{}{})); !rec.OK || b.world(t) != before {
		t.Errorf("%+v\n%s\n---\n%s", rec, before, b.world(t))
	}
}

// TestASwapIsUndoneOfADeadSuccessor: its process ended between the swap and its undo, and tmux keeps the pane.
func TestASwapIsUndoneOfADeadSuccessor(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	before := b.world(t)
	op := b.crash(t, handoverRequest("dev.m0", "fresh"), "rebind")
	successor := b.paneOf(t, "2")
	successor.Dead = true
	b.mux.Put(successor)
	if rec := b.run(t, request(engine.VerbRollback, op, struct{}{})); !rec.OK {
		t.Errorf("%+v", rec)
	}
	if after := b.world(t); after != before {
		t.Errorf("the world differs:\n%s\n---\n%s", before, after)
	}
}

// TestAReleaseIsTakenBackOfWhoeverIsLeft: the client that was released ends between the release and its undo. A dead pane
// is the seat's again; where none is left there is nothing to tag.
func TestAReleaseIsTakenBackOfWhoeverIsLeft(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(m *enginetest.Mux, p engine.Pane){
		"dead": func(m *enginetest.Mux, p engine.Pane) { p.Dead = true; m.Put(p) },
		"gone": func(m *enginetest.Mux, p engine.Pane) { m.Drop(p.ID) },
	} {
		b := newBench(t, t.TempDir(), engine.RuntimeClaude)
		b.run(t, upRequest())
		b.edit(t, "dev.m0", func(_ *engine.Seat, s *engine.Session) { s.Origin = engine.OriginClaimed })
		before := b.seat(t, "dev.m0")
		op := b.crash(t, request(engine.VerbRelease, "dev.m0", struct{}{}), before.Address+"/vacate")
		end(b.mux, b.mux.Panes()[0])
		rec := b.run(t, request(engine.VerbRollback, op, struct{}{}))
		if panes := b.mux.Panes(); !rec.OK || len(panes) > 0 && panes[0].Seat != before.ID {
			t.Errorf("%s: %+v, panes %+v", name, rec, panes)
		}
		b.close(t)
	}
}

// crash2 is crash in a second process.
func (b *bench) crash2(tb testing.TB, req engine.Request, step string) string {
	tb.Helper()
	b.procs.Alive[1], b.procs.Me = "s1", 1
	return b.crash(tb, req, step)
}

// TestAnUndoNeedsNoSuccessor: inside the window the successor's pane is ended behind our back. The undo brings the incumbent back under
// the seat's name, and refuses where another session has that by now.
func TestAnUndoNeedsNoSuccessor(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	before := b.seat(t, "dev.m0")
	rec := b.run(t, handoverRequest("dev.m0", "fresh"))
	b.mux.Drop(b.paneOf(t, "2").ID)
	undo := request(engine.VerbUndo, rec.Operation.ID, struct{}{})
	b.mux.Put(engine.Pane{ID: "%77", PID: 77, Session: before.SessionName})
	if p, err := b.e.Plan(context.Background(), undo); err != nil || len(p.Blockers) != 1 || p.Blockers[0].Code != engine.CodeSessionExists {
		t.Errorf("%v %+v", err, p.Blockers)
	}
	b.mux.Drop("%77")
	if rec := b.run(t, undo); !rec.OK {
		t.Errorf("%+v", rec)
	}
	after, panes := b.seat(t, "dev.m0"), b.mux.Panes()
	if after.Pane != before.Pane || after.Generation != 1 || after.Life != engine.LifeRunning || len(panes) != 1 || panes[0].Session != before.SessionName {
		t.Errorf("%+v, panes %+v", after, panes)
	}
}

// TestNoUndoIsOfferedOfWhatIsNotKept: a dead incumbent is ended at once, so nothing offers to bring it back.
func TestNoUndoIsOfferedOfWhatIsNotKept(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	p := b.mux.Panes()[0]
	p.Dead = true
	b.mux.Put(p)
	rec := b.run(t, handoverRequest("dev.m0", "fresh"))
	op, _, err := b.e.Operation(context.Background(), rec.Operation.ID)
	if err != nil || !rec.OK || !op.UndoUntil.IsZero() || len(b.kept()) != 0 || len(b.mux.Panes()) != 1 {
		t.Errorf("%v %+v, open until %s", err, rec, op.UndoUntil)
	}
}

// TestAStepThatActsIsNeverSaidToChangeNothing: what a cut-off step may have done already is unknown, and the plan that does it says so.
func TestAStepThatActsIsNeverSaidToChangeNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	op := b.crash(t, handoverRequest("dev.m0", "fresh"), "go")
	probed, err := b.e.ProbeOperation(context.Background(), op)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range probed {
		if p.Step == "go" && (p.State != engine.StepUnknown || p.Why == "") {
			t.Errorf("%+v", p)
		}
	}
	if _, text := b.planLines(t, request(engine.VerbFinish, op, struct{}{})); !strings.Contains(text, "how far “tell the successor that the seat is its own” came cannot be told") {
		t.Errorf("%s", text)
	}
}

// TestClaimsFollowTheOccupant: what an occupant had noted stays when its claim is given back, and an undo gives it its claims again,
// unless the work was done meanwhile.
func TestClaimsFollowTheOccupant(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	change := func(c engine.WorkChange) string {
		t.Helper()
		res, err := b.e.ChangeWork(context.Background(), c, "")
		if err != nil {
			t.Fatal(err)
		}
		return res.Item.ID
	}
	item := func(id string) engine.WorkItem {
		t.Helper()
		res, err := b.e.WorkByID(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		return res.Item
	}
	half := change(engine.WorkChange{Verb: engine.WorkAdd, Seat: "dev.m0", Title: "half"})
	done := change(engine.WorkChange{Verb: engine.WorkAdd, Seat: "dev.m0", Title: "done"})
	change(engine.WorkChange{Verb: engine.WorkClaim, ID: half, Note: "half of it is on branch y"})
	change(engine.WorkChange{Verb: engine.WorkClaim, ID: done})
	rec := b.run(t, handoverRequest("dev.m0", "fresh"))
	if it := item(half); it.State != engine.WorkPending || it.Generation != 0 || it.Note != "half of it is on branch y; given back: its occupant was replaced" {
		t.Errorf("after the handover: %+v", it)
	}
	change(engine.WorkChange{Verb: engine.WorkClaim, ID: half})
	change(engine.WorkChange{Verb: engine.WorkFinish, ID: done, Note: "merged"})
	b.run(t, request(engine.VerbUndo, rec.Operation.ID, struct{}{}))
	if it := item(half); it.State != engine.WorkClaimed || it.Generation != 1 || it.Note != "half of it is on branch y" {
		t.Errorf("after the undo: %+v", it)
	}
	if it := item(done); it.State != engine.WorkDone || it.Note != "merged" {
		t.Errorf("what was done meanwhile: %+v", it)
	}
}
