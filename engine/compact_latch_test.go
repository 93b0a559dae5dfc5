package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"rig/engine"
)

// lateClock is a clock that a test sets forward.
type lateClock struct {
	engine.Clock
	by *time.Duration
}

func (c lateClock) Now() time.Time { return c.Clock.Now().Add(*c.by) }

// managedWard is a ward whose rig's policy is in force; the clock is set forward with by.
func managedWard(t *testing.T) (w *ward, by *time.Duration) {
	t.Helper()
	w, by = newWard(t), new(time.Duration)
	w.deps.Clock = lateClock{w.clock, by}
	w.e = engine.New(w.deps)
	setPolicies(t, w, w.seat(t, "dev.m0").RigID, `{"claude_compaction":{"enabled":true,"threshold_percent":80}}`)
	t.Cleanup(func() { w.close(t) })
	return w, by
}

// enforce does one round and gives how many compactions are on record after it.
func (w *ward) enforce(t *testing.T) int {
	t.Helper()
	_, f, err := w.e.SeatView(t.Context(), "dev.m0")
	if err != nil {
		t.Fatal(err)
	}
	w.e.EnforceForTest(t.Context(), f, &engine.ClaudeCompaction{Enabled: true, ThresholdPercent: number(80)})
	ops, err := w.e.Operations(t.Context(), engine.OperationFilter{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, op := range ops {
		if op.Verb == engine.VerbCompact {
			n++
		}
	}
	return n
}

func (w *ward) fresh(by time.Duration) {
	w.set(func(p *patient) { p.usage.SampledAt = w.clock.Now().Add(by) })
}

// TestAFailedManagedCompactionIsToldAndTriedAgain: an attempt that typed no /compact, because the seat's restore map did not come, is on
// the seat and in Attention, and is tried again after a while, longer each time; what succeeds then ends it.
func TestAFailedManagedCompactionIsToldAndTriedAgain(t *testing.T) {
	t.Parallel()
	w, by := managedWard(t)
	w.keeper.whole = false
	if n := w.enforce(t); n != 1 {
		t.Fatalf("%d attempts", n)
	}
	s, f, err := w.e.SeatView(t.Context(), "dev.m0")
	if err != nil || !s.Compaction.Managed || !strings.Contains(s.Compaction.Why, "/compact was not typed") || s.Compaction.RetryAt.IsZero() {
		t.Errorf("the seat says %+v %v", s.Compaction, err)
	}
	if len(f.Attention) != 1 || f.Attention[0].Class != engine.AttnCompaction || !strings.Contains(f.Attention[0].Reason, "restore map was not finished") ||
		f.Attention[0].Remedy != "rig compact dev-m0@team" {
		t.Errorf("attention: %+v", f.Attention)
	}
	if st, err := w.e.CompactState(t.Context(), "dev.m0"); err != nil || st.Compaction.Why != s.Compaction.Why {
		t.Errorf("--state says %q %v", st.Compaction.Why, err)
	}
	for _, step := range []struct {
		on   time.Duration
		want int
	}{{2 * time.Minute, 1}, {4 * time.Minute, 2}, {6 * time.Minute, 2}, {5 * time.Minute, 3}} {
		*by += step.on
		w.fresh(*by)
		if n := w.enforce(t); n != step.want {
			t.Errorf("%s later: %d attempts, want %d", *by, n, step.want)
		}
	}
	w.keeper.whole = true
	*by += time.Hour
	w.fresh(*by)
	if n := w.enforce(t); n != 4 {
		t.Errorf("%d attempts", n)
	}
	if s, f, _ := w.e.SeatView(t.Context(), "dev.m0"); s.Compaction.Why != "" || len(f.Attention) != 0 {
		t.Errorf("after a success: %+v %+v", s.Compaction, f.Attention)
	}
}

// TestAManagedCompactionThatWasTypedIsNotTypedAgain: it is told, and waits for the context to fall below the threshold.
func TestAManagedCompactionThatWasTypedIsNotTypedAgain(t *testing.T) {
	t.Parallel()
	w, by := managedWard(t)
	w.set(func(p *patient) {
		p.proof = engine.CompactionProof{State: engine.CompactionFailed, Why: "conversation too long"}
	})
	w.enforce(t)
	*by = 3 * time.Hour
	w.fresh(*by)
	if n := w.enforce(t); n != 1 {
		t.Errorf("%d attempts", n)
	}
	s, f, _ := w.e.SeatView(t.Context(), "dev.m0")
	if !strings.Contains(s.Compaction.Why, "was typed, or may have been") || !s.Compaction.RetryAt.IsZero() || len(f.Attention) != 1 {
		t.Errorf("%+v %+v", s.Compaction, f.Attention)
	}
	full := w.usage
	w.set(func(p *patient) { p.usage.Percent, p.usage.Tokens = 10, 100_000 })
	w.enforce(t)
	w.set(func(p *patient) { p.usage, p.proof.State = full, engine.CompactionDone })
	w.fresh(*by)
	if n := w.enforce(t); n != 2 {
		t.Errorf("%d attempts after it was below", n)
	}
}

// TestAManagedAttemptAtAWrongMomentIsNoFailure: a plan that is refused for a draft in the box, and a world that moved before the apply,
// keep no latch; the refusal is on the seat.
func TestAManagedAttemptAtAWrongMomentIsNoFailure(t *testing.T) {
	t.Parallel()
	w, by := managedWard(t)
	w.set(func(p *patient) { p.draft = "half a thought" })
	w.enforce(t)
	s, f, _ := w.e.SeatView(t.Context(), "dev.m0")
	if !strings.Contains(s.Compaction.Why, "refused") || len(f.Attention) != 0 {
		t.Errorf("%+v %+v", s.Compaction, f.Attention)
	}
	w.set(func(p *patient) { p.draft = "" })
	*by += 2 * time.Minute
	w.fresh(*by)
	if n := w.enforce(t); n != 1 {
		t.Errorf("%d attempts", n)
	}
	stale := engine.ManagedState{Generation: 1, Latched: true, Op: "op"}
	op := engine.Operation{ID: "op", State: engine.OpFailed, Receipt: []byte(`{"outcome":"refused","error":{"code":"plan_stale"}}`)}
	if st := stale.Ended(op, nil, planNow); st.Latched || st.Fails != 0 || st.Failed != "" {
		t.Errorf("a stale plan: %+v", st)
	}
}

// TestALatchOfADeadProcessIsLookedInto: who typed nothing before its process died, and an older build's latch, are no end of it.
func TestALatchOfADeadProcessIsLookedInto(t *testing.T) {
	t.Parallel()
	w, by := managedWard(t)
	s := w.seat(t, "dev.m0")
	err := w.db.Write(context.Background(), func(tx engine.Tx) error {
		return tx.SetMeta("compact/managed/"+s.ID, `{"generation":1,"latched":true,"tried_at":"`+w.clock.Now().Format(time.RFC3339)+`"}`)
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := w.enforce(t); n != 0 {
		t.Errorf("%d attempts while it may be under way", n)
	}
	*by += 2 * time.Minute
	w.fresh(*by)
	if n := w.enforce(t); n != 1 {
		t.Errorf("%d attempts", n)
	}
}

// TestACompactionIsProvenFromItsMark: the mark goes through the journal, because another process may have to ask for the proof.
func TestACompactionIsProvenFromItsMark(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	defer w.close(t)
	if rec, err := w.attempt(t, engine.CompactArgs{}); err != nil || !rec.OK {
		t.Fatalf("%+v %v", rec, err)
	}
	if m := w.since; m.Event != "the newest" || m.Offset != 10 || m.At.IsZero() {
		t.Errorf("%+v", m)
	}
}
