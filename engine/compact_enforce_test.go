package engine_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"rig/engine"
	"rig/engine/enginetest"
)

func TestJudgeManaged(t *testing.T) {
	now := planNow
	policy := &engine.ClaudeCompaction{Enabled: true, ThresholdPercent: number(80)}
	full := planSeat("dev-a@r", engine.RuntimeClaude, known(900_000, 1_000_000))
	with := func(fn func(s *engine.SeatView)) engine.SeatView {
		s := full
		fn(&s)
		return s
	}
	for name, c := range map[string]struct {
		seat    engine.SeatView
		policy  *engine.ClaudeCompaction
		state   engine.ManagedState
		trigger bool
		reason  string
		latched bool
	}{
		"due":               {full, policy, engine.ManagedState{Generation: 1}, true, "", true},
		"latched":           {full, policy, engine.ManagedState{Generation: 1, Latched: true}, false, "already_triggered_above_threshold", true},
		"other generation":  {full, policy, engine.ManagedState{Generation: 7, Latched: true, Cooldown: now.Add(time.Hour)}, true, "", true},
		"cooling":           {full, policy, engine.ManagedState{Generation: 1, Cooldown: now.Add(time.Minute)}, false, "post_restore_cooldown", false},
		"just tried":        {full, policy, engine.ManagedState{Generation: 1, Tried: now.Add(-time.Second)}, false, "dedup_window", false},
		"a clock set back":  {full, policy, engine.ManagedState{Generation: 1, Tried: now.Add(720 * time.Hour), Cooldown: now.Add(720 * time.Hour)}, true, "", true},
		"off":               {full, &engine.ClaudeCompaction{ThresholdPercent: number(80)}, engine.ManagedState{Generation: 1}, false, "disabled", false},
		"invalid threshold": {full, &engine.ClaudeCompaction{Enabled: true, ThresholdPercent: number(0)}, engine.ManagedState{Generation: 1}, false, "disabled", false},
		"below re-arms":     {with(func(s *engine.SeatView) { s.Usage = known(10, 1_000_000); s.Usage.Generation = 1 }), policy, engine.ManagedState{Generation: 1, Latched: true}, false, engine.ReasonBelow, false},
		"no sample":         {with(func(s *engine.SeatView) { s.Usage = engine.Usage{} }), policy, engine.ManagedState{Generation: 1}, false, "no_usage_data", false},
		"stale":             {with(func(s *engine.SeatView) { s.Usage.Stale = true }), policy, engine.ManagedState{Generation: 1}, false, "no_usage_data", false},
		"another's sample":  {with(func(s *engine.SeatView) { s.Usage.Generation = 7 }), policy, engine.ManagedState{Generation: 1}, false, "no_usage_data", false},
		"stale keeps latch": {with(func(s *engine.SeatView) { s.Usage.Stale = true }), policy, engine.ManagedState{Generation: 1, Latched: true}, false, "no_usage_data", true},
		"busy":              {with(func(s *engine.SeatView) { s.Activity.State = engine.ActivityBusy }), policy, engine.ManagedState{Generation: 1}, false, "mid_work", false},
		"waiting":           {with(func(s *engine.SeatView) { s.Activity.State = engine.ActivityWaiting }), policy, engine.ManagedState{Generation: 1}, false, "mid_work", false},
		"held":              {with(func(s *engine.SeatView) { s.OpID = "op" }), policy, engine.ManagedState{Generation: 1}, false, "already_in_progress", false},
		"gone":              {with(func(s *engine.SeatView) { s.Life = engine.LifeLost }), policy, engine.ManagedState{Generation: 1}, false, "session_missing", false},
		"codex":             {with(func(s *engine.SeatView) { s.Runtime = engine.RuntimeCodex }), policy, engine.ManagedState{Generation: 1}, false, "runtime_filter", false},
	} {
		trigger, reason, next := engine.JudgeManaged(&c.seat, c.policy, c.state, now)
		if trigger != c.trigger || reason != c.reason || next.Latched != c.latched || next.Generation != 1 {
			t.Errorf("%s: %v %q %+v", name, trigger, reason, next)
		}
	}
	// Tokens count as well as the share, whichever is reached first.
	tokens := int64(500_000)
	byTokens := &engine.ClaudeCompaction{Enabled: true, ThresholdTokens: &tokens}
	if trigger, _, _ := engine.JudgeManaged(&full, byTokens, engine.ManagedState{Generation: 1}, now); !trigger {
		t.Error("the token threshold does not count")
	}
}

// Two watchers run over one record with the policy on: one of them compacts the
// full seat, once.
func TestOneEnforcerAmongWatchers(t *testing.T) {
	w := newWard(t)
	defer w.close(t)
	s := w.seat(t, "dev.m0")
	setPolicies(t, w, s.RigID, `{"claude_compaction":{"enabled":true,"threshold_percent":80}}`)
	w.procs.Alive[2] = "s2"
	other := w.deps
	other.Procs = &enginetest.Procs{Alive: map[int]string{1: "s1", 2: "s2"}, Me: 2}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for _, e := range []*engine.Engine{engine.New(w.deps), engine.New(other)} {
		wg.Go(func() { e.Watcher().Run(ctx) })
	}
	compactions := func() (n int, done bool) {
		ops, err := w.e.Operations(ctx, engine.OperationFilter{})
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range ops {
			if op.Verb == engine.VerbCompact {
				n++
				done = op.State.Ended()
			}
		}
		return n, done
	}
	limit := time.NewTimer(40 * time.Second)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var settled time.Time
	for settled.IsZero() || time.Since(settled) < 11*time.Second { // two more rounds of both
		select {
		case <-limit.C:
			t.Fatal("no managed compaction within the time")
		case <-tick.C:
		}
		n, done := compactions()
		if n > 1 {
			t.Fatalf("%d compactions", n)
		}
		if n == 1 && done && settled.IsZero() {
			settled = time.Now()
		}
	}
	cancel()
	wg.Wait()
	var leases []engine.Lease
	if err := w.db.Read(context.Background(), func(r engine.Reader) (err error) { leases, err = r.Leases(); return err }); err != nil || len(leases) != 0 {
		t.Errorf("leases are left: %+v %v", leases, err)
	}
}

func setPolicies(t *testing.T, w *ward, rigID, policies string) {
	t.Helper()
	err := w.db.Write(t.Context(), func(tx engine.Tx) error {
		rig, err := tx.Rig(rigID)
		if err != nil {
			return err
		}
		rig.Policies = policies
		return tx.UpdateRig(&rig)
	})
	if err != nil {
		t.Fatal(err)
	}
}
