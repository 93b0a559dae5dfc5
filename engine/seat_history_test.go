package engine_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"rig/engine"
	"rig/engine/enginetest"
)

// TestRandomSeatHistories drives the seat verbs and the handover with failures at
// any call, half done or not, with panes that die or vanish behind our back
// before the plan or between plan and apply, and checks what must always hold.
func TestRandomSeatHistories(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		b := newBench(t, filepath.Join(base, fmt.Sprint(n)), engine.RuntimeClaude, engine.RuntimeTerminal)
		b.specs["team"] = enginetest.Team("team", base, engine.RuntimeClaude, engine.RuntimeTerminal)
		defer b.close(t)
		b.run(t, upRequest())
		tokens := map[string]string{}
		for range rapid.IntRange(1, 4).Draw(rt, "ops") {
			seat := rapid.SampledFrom([]string{"dev.m0", "dev.m1"}).Draw(rt, "seat")
			req := rapid.SampledFrom([]engine.Request{
				stopRequest(seat), cleanRequest(seat), freshRequest(seat, false), freshRequest(seat, true), modelRequest(seat, "m"),
				tokenRequest(seat, secretID), clearRequest(seat, "r"), handoverRequest(seat, "fresh"), handoverRequest(seat, "fork:dev.m0"),
			}).Draw(rt, "request")
			b.drift(rt, "before")
			p, err := b.e.Plan(context.Background(), req)
			if err != nil {
				continue
			}
			before, moved := b.world(t), b.drift(rt, "between")
			if moved {
				before = b.world(t)
			}
			b.fault(rt)
			rec, err := b.e.Apply(context.Background(), p, nil)
			b.faults.Fail = nil
			if err != nil && b.world(t) != before {
				rt.Fatalf("%s was refused with %v and changed the world:\n%s\n---\n%s", req.Verb, err, before, b.world(t))
			}
			b.invariants(rt, rec, err)
			b.seatInvariants(rt, tokens)
		}
	})
}

// fault lets one call of a kind fail.
func (b *bench) fault(rt *rapid.T) {
	name := rapid.SampledFrom([]string{"create", "kill", "launch-file", "ready", "identify", "line", "swap", "none", "none", "none"}).Draw(rt, "fault")
	half, seen := rapid.Bool().Draw(rt, "half"), 0
	b.faults.Fail = func(call string, _ int) (bool, bool) {
		if call != name {
			return false, false
		}
		seen++
		return seen == 1, half
	}
}

// drift sometimes lets a pane die or vanish; true when it did.
func (b *bench) drift(rt *rapid.T, when string) bool {
	what := rapid.SampledFrom([]string{"none", "none", "none", "die", "vanish"}).Draw(rt, when)
	panes := b.mux.Panes()
	if what == "none" || len(panes) == 0 {
		return false
	}
	p := rapid.SampledFrom(panes).Draw(rt, when+" pane")
	if what == "vanish" {
		b.mux.Drop(p.ID)
		return true
	}
	p.Dead, p.DeadCode = true, 1
	b.mux.Put(p)
	return true
}

// seatInvariants: at most one live pane a generation, the bound one among them;
// no open row without a tenure that is open; a token never moves to another
// generation.
func (b *bench) seatInvariants(rt *rapid.T, tokens map[string]string) {
	f, err := b.e.Fleet(context.Background())
	if err != nil {
		rt.Fatal(err)
	}
	for _, s := range f.Seats() {
		rows, tenures, err := b.e.SeatHistory(context.Background(), s.ID)
		if err != nil {
			rt.Fatal(err)
		}
		open := 0
		for _, row := range rows {
			if !row.Status.Terminal() {
				open++
				if row.Generation != s.Generation {
					rt.Fatalf("%s: generation %d is open, the seat is at %d", s.Address, row.Generation, s.Generation)
				}
			}
			key := fmt.Sprintf("%s/%d", s.ID, row.Generation)
			if old := tokens[key]; old != "" && row.Token.Empty() {
				rt.Fatalf("%s lost the token of generation %d", s.Address, row.Generation)
			}
			tokens[key] = row.Token.Reveal()
		}
		if open > 1 || (s.Pane != "" && open != 1) {
			rt.Fatalf("%s: %d open rows, bound to %q", s.Address, open, s.Pane)
		}
		for _, tenure := range tenures {
			if tenure.EndedAt.IsZero() != (open == 1 && tenure.Generation == s.Generation) {
				rt.Fatalf("%s: tenure %d ended %v, open rows %d, generation %d", s.Address, tenure.Generation, tenure.EndedAt, open, s.Generation)
			}
		}
	}
}
