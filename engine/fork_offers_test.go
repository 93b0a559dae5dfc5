package engine_test

import (
	"context"
	"strings"
	"testing"

	"rig/engine"
	"rig/engine/image"
)

// keep writes an image into the library of a bench.
func (b *forkBench) keep(t *testing.T, name, parent string, rt engine.RuntimeName) {
	t.Helper()
	_, err := b.lib.Write(context.Background(), engine.NewImage{Image: engine.Image{
		ImageRef: engine.ImageRef{Root: image.Home, Name: name, Version: "1"}, Runtime: rt, SourceSeat: "dev-m0@team (generation 1)",
		Parent: engine.NewParentToken(parent), SourceCwd: b.dir, Operation: "01" + strings.ToUpper(name),
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// TestForkOffersJudgeAsThePlanDoes: what is offered can be planned, what is not
// says the plan's own reason, and looking changes nothing and names no id.
func TestForkOffersJudgeAsThePlanDoes(t *testing.T) {
	b := newForkBench(t, engine.RuntimeClaude, engine.RuntimeTerminal, engine.RuntimeClaude)
	b.run(t, upRequest())
	good, bad := b.token(t, "dev.m0"), b.token(t, "dev.m2")
	b.rt.Stored = func(id, _ string) engine.ConversationState {
		if id == bad || id == someID {
			return engine.ConversationState{Exists: engine.Absent, Why: "no transcript"}
		}
		return engine.ConversationState{Exists: engine.Present}
	}
	b.keep(t, "good", good, engine.RuntimeClaude)
	b.keep(t, "gone", someID, engine.RuntimeClaude)
	before := dump(t, b.db)
	offers, err := b.e.ForkOffers(context.Background())
	if err != nil || len(offers) != 5 {
		t.Fatalf("%+v %v", offers, err)
	}
	if dump(t, b.db) != before || strings.Contains(string(mustMarshal(t, offers)), good) {
		t.Error("looking wrote, or names an id")
	}
	want := map[string]engine.Code{
		"dev-m0@team": "", "dev-m1@team": "runtime_unsupported", "dev-m2@team": "fork_source_not_found",
		"agent-image:good:1": "", "agent-image:gone:1": "fork_source_not_found",
	}
	for _, o := range offers {
		if o.Code != want[o.Ref] || o.Image != strings.HasPrefix(o.Ref, "agent-image:") || (o.Code != "") != (o.Why != "" && o.Hint != "") {
			t.Errorf("%+v, want %q", o, want[o.Ref])
		}
		p, err := b.e.Plan(context.Background(), request(engine.VerbFork, o.Ref, engine.ForkArgs{Rig: "team", Pod: "dev", Member: "kid"}))
		if err != nil {
			t.Fatalf("%s: %v", o.Ref, err)
		}
		if p.Applicable() != (o.Code == "") || o.Code != "" && (p.Blockers[0].Code != o.Code || p.Blockers[0].Message != o.Why) {
			t.Errorf("%+v, but the plan says %+v", o, p.Blockers)
		}
		if o.Ref == "dev-m2@team" && !strings.Contains(o.Hint, "prompt it once") {
			t.Errorf("it does not say what to do: %+v", o)
		}
	}
}

// TestForkOfAnImage joins a rig by the path of an expansion: its runtime, its
// directory, an id of its own, one more fork in the image's count.
func TestForkOfAnImage(t *testing.T) {
	b := newForkBench(t, engine.RuntimeClaude)
	b.run(t, upRequest())
	parent := b.token(t, "dev.m0")
	b.keep(t, "expert", parent, engine.RuntimeClaude)
	for _, bad := range []engine.ForkArgs{
		{Pod: "dev", Member: "kid"},
		{Rig: "none", Pod: "dev", Member: "kid"},
		{Rig: "team", Pod: "none", Member: "kid"},
		{Rig: "team", Pod: "dev", Member: "m0"},
		{Rig: "team", Pod: "dev", Member: "a b"},
		{Rig: "team", Pod: "dev", Member: "kid", KeepImage: true},
	} {
		if p, err := b.e.Plan(context.Background(), request(engine.VerbFork, "agent-image:expert", bad)); err == nil && p.Applicable() {
			t.Errorf("accepted: %+v", bad)
		}
	}
	count := func() int64 {
		img, err := b.e.Image(context.Background(), "expert")
		if err != nil {
			t.Fatal(err)
		}
		return img.Stats.ForkCount
	}
	req := request(engine.VerbFork, "agent-image:expert:1", engine.ForkArgs{Rig: "team", Pod: "dev", Member: "kid"})
	b.faults.Fail = func(call string, _ int) (bool, bool) { return call == "ready", false }
	p, err := b.e.Plan(context.Background(), req)
	if err != nil || strings.Contains(string(mustMarshal(t, p)), parent) {
		t.Fatalf("%v, or the plan names the parent's id", err)
	}
	if rec := b.apply(t, p); rec.OK || count() != 0 {
		t.Errorf("a fork that failed is counted %d times: %+v", count(), rec)
	}
	b.faults.Fail = nil
	rec := b.run(t, request(engine.VerbLaunch, "team", engine.LaunchArgs{Seats: []string{"dev.kid"}}))
	s := b.seat(t, "dev.kid")
	if !rec.OK || s.Continuity != engine.ContinuityForked || s.ForkedFrom != "dev-m0@team (generation 1), by agent image expert v1" || s.Cwd != b.dir {
		t.Errorf("%+v %+v", rec, s)
	}
	if id := b.token(t, "dev.kid"); id == parent || id == "" || strings.Contains(dump(t, b.db), parent) || count() != 1 {
		t.Errorf("the child holds %q, or the parent's id is on record, or the count is %d", id, count())
	}
}
