package engine_test

import (
	"context"
	"strings"
	"testing"

	"rig/engine"
	"rig/engine/enginetest"
)

func TestExpandIsRefusedBeforeAnyWrite(t *testing.T) {
	b := newForkBench(t, engine.RuntimeTerminal, engine.RuntimeTerminal)
	b.run(t, upRequest())
	b.parts.pod = engine.PodSpec{ID: "kid-a", Label: "Kids", Members: []engine.MemberSpec{b.member("b", nil)}}
	b.run(t, request(engine.VerbExpand, "team", engine.ExpandArgs{Fragment: "f"}))
	before, calls := dump(t, b.db), len(b.mux.Calls)
	for name, c := range map[string]struct {
		pod   engine.PodSpec
		edges []engine.EdgeSpec
	}{
		"a member that is there":   {pod: engine.PodSpec{ID: "dev", Members: []engine.MemberSpec{b.member("m0", nil)}}},
		"an address that is there": {pod: engine.PodSpec{ID: "kid", Members: []engine.MemberSpec{b.member("a-b", nil)}}}, // of kid-a.b
		"two of one address":       {pod: engine.PodSpec{ID: "kid", Members: []engine.MemberSpec{b.member("x", nil), b.member("x", nil)}}},
		"no members":               {pod: engine.PodSpec{ID: "kid"}},
		"no directory":             {pod: engine.PodSpec{ID: "kid", Members: []engine.MemberSpec{{ID: "x", Runtime: engine.RuntimeTerminal, Cwd: "/none/such"}}}},
		"a circle":                 {pod: engine.PodSpec{ID: "kid", Members: []engine.MemberSpec{b.member("x", nil)}}, edges: []engine.EdgeSpec{{Kind: engine.EdgeDelegatesTo, From: "dev.m1", To: "kid.x"}, {Kind: engine.EdgeDelegatesTo, From: "kid.x", To: "dev.m0"}}},
	} {
		t.Run(name, func(t *testing.T) {
			b.parts.pod, b.parts.edges = c.pod, c.edges
			p, err := b.e.Plan(context.Background(), request(engine.VerbExpand, "team", engine.ExpandArgs{Fragment: "f"}))
			if err == nil && p.Applicable() {
				t.Fatal("it was accepted")
			}
			if err == nil {
				if _, err := b.e.Apply(context.Background(), p, nil); err == nil {
					t.Error("it was applied")
				}
			}
		})
	}
	b.parts.edges = nil
	if dump(t, b.db) != before || len(b.mux.Calls) != calls {
		t.Error("a refusal left a trace")
	}
}

func TestExpandThenShrinkLeavesTheRigAsItWas(t *testing.T) {
	b := newForkBench(t, engine.RuntimeClaude, engine.RuntimeTerminal)
	b.run(t, upRequest())
	before := b.world(t)
	b.parts.edges = []engine.EdgeSpec{{Kind: engine.EdgeCanObserve, From: "kid.x", To: "dev.m0"}}
	rec := b.apply(t, b.expand(t, b.member("x", nil), b.member("y", fork(b.token(t, "dev.m0")))))
	b.parts.edges = nil
	if x := b.seat(t, "kid.x"); !rec.OK || len(x.Edges) != 1 || x.Continuity != engine.ContinuityFresh {
		t.Errorf("%+v %+v", rec, x)
	}
	if b.leases() != 0 {
		t.Error("leases are left")
	}
	rec = b.run(t, request(engine.VerbShrink, "team", engine.ShrinkArgs{Pod: "kid"}))
	if !rec.OK || b.world(t) != before || b.leases() != 0 {
		t.Errorf("%+v\n%s\n---\n%s", rec, before, b.world(t))
	}
	if text := dump(t, b.db); !strings.Contains(text, "seat.removed") || !strings.Contains(text, "pod.removed") || !strings.Contains(text, "rig.expanded") {
		t.Error("events are missing")
	}
}

// TestNothingOfASeatIsLeftBesideTheRecord: what was noted of a seat's source goes
// with the seat, also when its whole rig goes.
func TestNothingOfASeatIsLeftBesideTheRecord(t *testing.T) {
	for name, leave := range map[string]func(b *forkBench){
		"remove": func(b *forkBench) { b.run(t, request(engine.VerbRemove, "team", engine.ShrinkArgs{Seat: "kid.y"})) },
		"shrink": func(b *forkBench) { b.run(t, request(engine.VerbShrink, "team", engine.ShrinkArgs{Pod: "kid"})) },
		"delete": func(b *forkBench) { b.run(t, request(engine.VerbDown, "team", engine.DownArgs{Delete: true})) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newForkBench(t, engine.RuntimeClaude)
			b.run(t, upRequest())
			b.apply(t, b.expand(t, b.member("y", fork(b.token(t, "dev.m0")))))
			id := b.seat(t, "kid.y").ID
			if !strings.Contains(dump(t, b.db), "source/"+id) {
				t.Fatal("the source is not on record")
			}
			leave(b)
			if strings.Contains(dump(t, b.db), "source/"+id) {
				t.Error("a note of the seat is left")
			}
		})
	}
}

// TestShrinkLeavesWhatCannotBeStopped: the seat whose session stays keeps its row,
// and so does the pod; the others go.
func TestShrinkLeavesWhatCannotBeStopped(t *testing.T) {
	b := newForkBench(t, engine.RuntimeTerminal)
	b.run(t, upRequest())
	b.apply(t, b.expand(t, b.member("x", nil), b.member("y", nil)))
	failed := false
	b.faults.Fail = func(call string, _ int) (bool, bool) {
		if call != "kill" || failed {
			return false, false
		}
		failed = true
		return true, false
	}
	rec := b.run(t, request(engine.VerbShrink, "team", engine.ShrinkArgs{Pod: "kid"}))
	b.faults.Fail = nil
	f, err := b.e.Fleet(context.Background())
	if err != nil || rec.OK || len(f.Seats()) != 2 || len(f.Rigs[0].Pods) != 2 {
		t.Errorf("%+v, %d seats, %v", rec, len(f.Seats()), err)
	}
	for _, s := range f.Seats() {
		if s.Life != engine.LifeRunning {
			t.Errorf("%+v", s)
		}
	}
	if rec = b.run(t, request(engine.VerbShrink, "team", engine.ShrinkArgs{Pod: "kid"})); !rec.OK {
		t.Errorf("a second try: %+v", rec)
	}
}

func TestRemoveKeepsASeatWithWork(t *testing.T) {
	b := newForkBench(t, engine.RuntimeTerminal, engine.RuntimeTerminal)
	b.run(t, upRequest())
	id, at := b.seat(t, "dev.m0").ID, enginetest.NewClock().Now()
	err := b.db.Write(context.Background(), func(tx engine.Tx) error {
		return tx.InsertWork(engine.WorkItem{ID: "w1", SeatID: id, Title: "t", State: "pending", CreatedAt: at, UpdatedAt: at, Version: 1})
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.e.Plan(context.Background(), request(engine.VerbRemove, "team", engine.ShrinkArgs{Seat: "dev.m0"}))
	if err != nil || p.Applicable() || p.Blockers[0].Code != "work_open" {
		t.Fatalf("%+v %v", p, err)
	}
	if rec := b.run(t, request(engine.VerbRemove, "team", engine.ShrinkArgs{Seat: "dev.m0", DropWork: true})); !rec.OK {
		t.Errorf("%+v", rec)
	}
	p, err = b.e.Plan(context.Background(), request(engine.VerbRemove, "team", engine.ShrinkArgs{Seat: "dev.m1"}))
	if err != nil || p.Applicable() || p.Blockers[0].Code != "last_seat" {
		t.Errorf("%+v %v", p, err)
	}
}

// TestRemoveEndsTheKeptIncumbentToo: a former occupant that an undo could bring
// back goes with its seat, and nobody else's.
func TestRemoveEndsTheKeptIncumbentToo(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude, engine.RuntimeTerminal)
	defer b.close(t)
	b.run(t, upRequest())
	b.run(t, handoverRequest("dev.m0", "fresh"))
	if n := len(b.mux.Panes()); n != 3 {
		t.Fatalf("%d panes", n)
	}
	rec := b.run(t, request(engine.VerbRemove, "team", engine.ShrinkArgs{Seat: "dev.m0"}))
	if panes := b.mux.Panes(); !rec.OK || len(panes) != 1 || panes[0].Session != "dev-m1@team" {
		t.Errorf("%+v %+v", rec, panes)
	}
}

// TestImagesFollowTheirPlans: dry runs leave no trace, failures are undone, and
// nothing on record names a conversation.
func TestImagesFollowTheirPlans(t *testing.T) {
	b := newForkBench(t, engine.RuntimeClaude)
	b.run(t, upRequest())
	ctx := context.Background()
	count := func() int {
		l, err := b.e.Images(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return len(l.Images)
	}
	create := request(engine.VerbImageCreate, "dev.m0", engine.ImageArgs{Name: "a"})
	p, err := b.e.Plan(ctx, create)
	if err != nil || !p.Applicable() || count() != 0 {
		t.Fatalf("%+v %v", p, err)
	}
	if text := string(mustMarshal(t, p)) + string(mustMarshal(t, b.run(t, create))); strings.Contains(text, b.token(t, "dev.m0")) {
		t.Error("a plan or receipt names the conversation")
	}
	b.run(t, request(engine.VerbImageCreate, "dev.m0", engine.ImageArgs{Name: "b", Lineage: []string{"a"}}))
	b.run(t, request(engine.VerbImagePin, "b", struct{}{}))
	p, err = b.e.Plan(ctx, request(engine.VerbImageDelete, "a", engine.ImageArgs{}))
	if err != nil || p.Applicable() || p.Blockers[0].Code != engine.CodeImageInUse || !strings.Contains(p.Blockers[0].Message, "lineage_ancestor_of_protected") {
		t.Errorf("%+v %v", p, err)
	}
	rec := b.run(t, request(engine.VerbImagePrune, "", engine.ImageArgs{}))
	note, _ := rec.Extra["note"].(string)
	if kept, _ := rec.Extra["protected"].([]any); !rec.OK || count() != 2 || len(kept) != 2 || note != "nothing has to be removed: 2 images, all protected" {
		t.Errorf("%+v", rec)
	}
	b.run(t, request(engine.VerbImageUnpin, "b", struct{}{}))
	rec = b.run(t, request(engine.VerbImagePrune, "", engine.ImageArgs{}))
	if deleted, _ := rec.Extra["deleted"].([]string); !rec.OK || count() != 0 || len(deleted) != 2 {
		t.Errorf("%+v", rec)
	}
	if strings.Contains(dump(t, b.db), b.token(t, "dev.m0")) {
		t.Error("the record names the conversation")
	}
	for _, want := range []string{"image.created", "image.pinned", "image.unpinned", "image.deleted"} {
		if !strings.Contains(dump(t, b.db), want) {
			t.Errorf("no %s", want)
		}
	}
}

// TestAStaleImagePlanChangesNothing: the guard's judgement is taken again under
// the lease.
func TestAStaleImagePlanChangesNothing(t *testing.T) {
	b := newForkBench(t, engine.RuntimeClaude)
	b.run(t, upRequest())
	b.run(t, request(engine.VerbImageCreate, "dev.m0", engine.ImageArgs{Name: "a"}))
	p, err := b.e.Plan(context.Background(), request(engine.VerbImagePrune, "", engine.ImageArgs{}))
	if err != nil {
		t.Fatal(err)
	}
	b.run(t, request(engine.VerbImagePin, "a", struct{}{}))
	if _, err := b.e.Apply(context.Background(), p, nil); engine.CodeOf(err) != engine.CodePlanStale {
		t.Errorf("%v", err)
	}
	if l, err := b.e.Images(context.Background()); err != nil || len(l.Images) != 1 {
		t.Errorf("%+v %v", l, err)
	}
}

// TestForkByImageCountsAfterSuccess only.
func TestForkByImageCountsAfterSuccess(t *testing.T) {
	b := newForkBench(t, engine.RuntimeClaude)
	b.run(t, upRequest())
	b.run(t, request(engine.VerbImageCreate, "dev.m0", engine.ImageArgs{Name: "a"}))
	forks := func() int64 {
		v, err := b.e.Image(context.Background(), "a")
		if err != nil {
			t.Fatal(err)
		}
		return v.Stats.ForkCount
	}
	b.faults.Fail = func(call string, _ int) (bool, bool) { return call == "identify", false }
	if rec := b.apply(t, b.expand(t, b.member("x", engine.ImageSource{Name: "a"}))); rec.OK || forks() != 0 {
		t.Errorf("%+v, %d forks", rec, forks())
	}
	b.faults.Fail = nil
	rec := b.run(t, request(engine.VerbLaunch, "team", engine.LaunchArgs{Seats: []string{"kid.x"}}))
	if s := b.seat(t, "kid.x"); !rec.OK || s.Continuity != engine.ContinuityForked || forks() != 1 || !strings.Contains(s.ForkedFrom, "agent image a v1") {
		t.Errorf("%+v %+v, %d forks", rec, s, forks())
	}
	for _, src := range []engine.ImageSource{{Name: "none"}, {Name: "a", Version: "2"}, {Name: "../a"}} {
		if p := b.expand(t, b.member("z", src)); p.Applicable() {
			t.Errorf("accepted: %+v", src)
		}
	}
	wrong := b.member("z", engine.ImageSource{Name: "a"})
	wrong.Runtime = engine.RuntimeCodex
	if p := b.expand(t, wrong); p.Applicable() || p.Blockers[0].Code != "runtime_mismatch" {
		t.Errorf("%+v", p.Blockers)
	}
}
