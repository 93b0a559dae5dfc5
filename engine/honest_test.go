package engine_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rig/engine"
	"rig/engine/enginetest"
)

// TestAnUndoTellsOfTheIncumbentAgain: whose fork an occupant is, and what it was told, belongs to the occupant. The seat tells of the
// incumbent again when an undo brings it back.
func TestAnUndoTellsOfTheIncumbentAgain(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	fresh := b.run(t, handoverRequest("dev.m0", "fresh")) // its successor was told something
	told := b.seat(t, "dev.m0")
	if !fresh.OK || !told.ContextDelivered {
		t.Fatalf("%+v", told)
	}
	fork := b.run(t, handoverRequest("dev.m0", "fork:dev.m0"))
	if s := b.seat(t, "dev.m0"); !fork.OK || s.ForkedFrom == "" || s.ContextDelivered {
		t.Fatalf("%+v", s)
	}
	if rec := b.run(t, request(engine.VerbUndo, fork.Operation.ID, struct{}{})); !rec.OK {
		t.Fatalf("%+v", rec)
	}
	if s := b.seat(t, "dev.m0"); s.ForkedFrom != "" || !s.ContextDelivered || s.Continuity != engine.ContinuityFresh || s.Generation != told.Generation {
		t.Errorf("forked from %q, told %v, %s, generation %d", s.ForkedFrom, s.ContextDelivered, s.Continuity, s.Generation)
	}
}

// TestAFreshStartIsNoFork: the mark of a fork ends with its conversation.
func TestAFreshStartIsNoFork(t *testing.T) {
	b := newForkBench(t, engine.RuntimeClaude)
	b.run(t, upRequest())
	b.run(t, request(engine.VerbFork, "dev.m0", engine.ForkArgs{Pod: "dev", Member: "kid"}))
	b.run(t, request(engine.VerbDown, "team", engine.DownArgs{}))
	b.run(t, request(engine.VerbUp, "team", engine.UpArgs{Spec: "team"}))
	if s := b.seat(t, "dev.kid"); s.Continuity != engine.ContinuityResumed || s.ForkedFrom == "" {
		t.Fatalf("resumed it is still that fork: %+v", s)
	}
	b.run(t, request(engine.VerbDown, "team", engine.DownArgs{}))
	b.run(t, request(engine.VerbUp, "team", engine.UpArgs{Spec: "team", Fresh: []string{"dev.kid"}}))
	if s := b.seat(t, "dev.kid"); s.Continuity != engine.ContinuityFreshPrimed || s.ForkedFrom != "" {
		t.Errorf("%s, forked from %q", s.Continuity, s.ForkedFrom)
	}
}

// showing is a tmux whose panes show one line.
type showing struct {
	*enginetest.Mux
	line string
}

// Capture implements engine.Mux.
func (m showing) Capture(_ context.Context, reqs []engine.CaptureRequest) ([]engine.CaptureResult, error) {
	out := make([]engine.CaptureResult, len(reqs))
	for i, r := range reqs {
		out[i] = engine.CaptureResult{Pane: r.Pane, Screen: engine.Screen{Lines: []string{m.line}}}
	}
	return out, nil
}

// Look implements engine.Mux.
func (m showing) Look(ctx context.Context, reqs []engine.CaptureRequest) (engine.Inventory, []engine.CaptureResult) {
	shots, _ := m.Capture(ctx, reqs) // never fails here
	return m.Inventory(ctx), shots
}

// slow is an agent that never becomes ready.
type slow struct{ *enginetest.Runtime }

// Ready implements engine.Runtime.
func (slow) Ready(context.Context, engine.Probe) engine.Readiness {
	return engine.Readiness{State: engine.ReadyStarting, Why: "loading"}
}

// TestNoScreenGoesOnRecordWithItsSecrets: what a start shows that comes to nothing is kept without them, whatever the start failed of.
func TestNoScreenGoesOnRecordWithItsSecrets(t *testing.T) {
	const secret = "hunter2hunter2"
	for name, failed := range map[string]func(b *forkBench) *engine.Receipt{
		"never ready": func(b *forkBench) *engine.Receipt {
			return b.apply(t, b.expand(t, b.member("x", nil)))
		},
		"a fork without an id": func(b *forkBench) *engine.Receipt {
			b.rt.Named = func(engine.Probe) engine.Identity { return engine.Identity{Why: "none"} }
			return b.apply(t, b.expand(t, b.member("x", fork(someID))))
		},
		"a rebuild that was told nothing": func(b *forkBench) *engine.Receipt {
			path := filepath.Join(b.dir, "log.md")
			if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
			b.faults.Fail = func(call string, _ int) (bool, bool) { return call == "arrive", false }
			return b.apply(t, b.expand(t, b.member("x", engine.RebuildSource{Artifacts: []string{path}})))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newForkBench(t, engine.RuntimeTerminal)
			b.run(t, upRequest())
			b.made.Mux = showing{b.mux, "token: " + secret}
			b.made.RedactScreen = func(rows []string) []string {
				out := slices.Clone(rows)
				for i := range out {
					out[i] = strings.ReplaceAll(out[i], secret, "[redacted]")
				}
				return out
			}
			if name == "never ready" {
				b.made.Runtimes = maps.Clone(b.made.Runtimes)
				b.made.Runtimes[engine.RuntimeClaude] = slow{b.rt}
			}
			b.e = engine.New(b.made)
			rec := failed(b)
			text := string(mustMarshal(t, rec)) + dump(t, b.db)
			if rec.OK || !strings.Contains(text, "[redacted]") || strings.Contains(text, secret) {
				t.Errorf("%s\n%+v", text, rec)
			}
		})
	}
}

// smudged is a tmux of which one row cannot be read.
type smudged struct {
	*enginetest.Mux
	row engine.PaneID
}

// Inventory implements engine.Mux.
func (m smudged) Inventory(ctx context.Context) engine.Inventory {
	inv := m.Mux.Inventory(ctx)
	inv.Panes = slices.DeleteFunc(inv.Panes, func(p engine.Pane) bool { return p.ID == m.row })
	inv.Faults = []string{"row of pane " + string(m.row) + ": pane_pid \"?\""}
	return inv
}

// InventoryOf implements engine.Mux.
func (m smudged) InventoryOf(ctx context.Context, _ string) engine.Inventory { return m.Inventory(ctx) }

// Look implements engine.Mux.
func (m smudged) Look(ctx context.Context, reqs []engine.CaptureRequest) (engine.Inventory, []engine.CaptureResult) {
	shots, _ := m.Capture(ctx, reqs) // never fails here
	return m.Inventory(ctx), shots
}

// TestARowThatCannotBeReadIsNoAbsence: a pane whose row tmux told, and nobody could read, is neither lost nor started anew; the panes
// that were read are told as ever.
func TestARowThatCannotBeReadIsNoAbsence(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeTerminal, engine.RuntimeTerminal)
	defer b.close(t)
	b.run(t, upRequest())
	hidden := b.seat(t, "dev.m0").Pane
	b.made.Mux = smudged{b.mux, hidden}
	b.e = engine.New(b.made)
	if a, z := b.seat(t, "dev.m0"), b.seat(t, "dev.m1"); a.Life != engine.LifeUnknown || z.Life != engine.LifeRunning {
		t.Errorf("%s (%s) and %s", a.Life, a.LifeWhy, z.Life)
	}
	p, err := b.e.Plan(t.Context(), request(engine.VerbLaunch, "team", engine.LaunchArgs{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.Steps() {
		if s.Kind == engine.StepCreate && p.Applicable() {
			t.Errorf("a second occupant would be started: %+v", s)
		}
	}
	if p, err = b.e.Plan(t.Context(), request(engine.VerbDown, "team", engine.DownArgs{})); err != nil || p.Applicable() {
		t.Errorf("%v: it would be called stopped while it may run", err)
	}
}
