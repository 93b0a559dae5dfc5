package engine_test

import (
	"context"
	"strings"
	"testing"

	"rig/engine"
)

// TestAFailedForkIsNotAnsweredWithAnotherConversation: the source has moved on to
// another one meanwhile, and that one is not what was asked for.
func TestAFailedForkIsNotAnsweredWithAnotherConversation(t *testing.T) {
	b := newForkBench(t, engine.RuntimeClaude)
	b.run(t, upRequest())
	b.faults.Fail = func(call string, _ int) (bool, bool) { return call == "ready", false }
	if rec := b.apply(t, b.plan(t, request(engine.VerbFork, "dev.m0", engine.ForkArgs{Pod: "dev", Member: "kid"}))); rec.OK {
		t.Fatalf("%+v", rec)
	}
	b.faults.Fail = nil
	launch := request(engine.VerbLaunch, "team", engine.LaunchArgs{Seats: []string{"dev.kid"}})
	if p := b.plan(t, launch); p.Intents[0].Action != "launch" {
		t.Errorf("the source is as it was: %+v", p.Intents)
	}
	b.rt.Named = func(engine.Probe) engine.Identity {
		return engine.Identity{Code: engine.CodeSeveral, Why: "it holds several open"}
	}
	for name, req := range map[string]engine.Request{
		"fork":  request(engine.VerbFork, "dev.m0", engine.ForkArgs{Pod: "dev", Member: "other"}),
		"image": request(engine.VerbImageCreate, "dev.m0", engine.ImageArgs{Name: "a"}),
	} {
		if p := b.plan(t, req); !p.Applicable() || !strings.Contains(strings.Join(p.Warnings, "\n"), "it holds several open") {
			t.Errorf("%s: %q", name, p.Warnings)
		}
	}
	b.rt.Named = nil
	b.edit(t, "dev.m0", func(_ *engine.Seat, s *engine.Session) { s.Token = engine.NewResumeToken(someID) })
	p := b.plan(t, launch)
	if p.Intents[0].Action != "awaiting-decision" || !strings.Contains(p.Intents[0].Reason, "dev-m0@team (generation 1)") {
		t.Errorf("%+v", p.Intents)
	}
}

func (b *forkBench) plan(t *testing.T, req engine.Request) *engine.Plan {
	t.Helper()
	p, err := b.e.Plan(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
