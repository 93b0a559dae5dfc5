package engine_test

import (
	"context"
	"testing"

	"rig/engine"
)

func number(n int) *int { return &n }

// policy gives the bench's team a managed compaction policy.
func (b *bench) policy(p *engine.ClaudeCompaction) {
	spec := b.specs["team"]
	spec.Policies.ClaudeCompaction = p
	b.specs["team"] = spec
}

// settings gives what the present occupant of a seat was launched with.
func (b *bench) settings(tb testing.TB, logical string) string {
	tb.Helper()
	s := b.seat(tb, logical)
	rows, _, err := b.e.SeatHistory(context.Background(), s.ID)
	if err != nil {
		tb.Fatal(err)
	}
	for _, row := range rows {
		if row.Generation == s.Generation {
			return row.Settings
		}
	}
	return ""
}

// TestIdleCompactionAtEveryLaunch launches a Claude seat in every way there is,
// with the policy on, off, and on with a threshold that is not valid.
func TestIdleCompactionAtEveryLaunch(t *testing.T) {
	for name, c := range map[string]struct {
		policy *engine.ClaudeCompaction
		off    bool
	}{
		"no policy":         {nil, false},
		"not enabled":       {&engine.ClaudeCompaction{ThresholdPercent: number(80)}, false},
		"enabled":           {&engine.ClaudeCompaction{Enabled: true, ThresholdPercent: number(70)}, true},
		"the default":       {&engine.ClaudeCompaction{Enabled: true}, true},
		"threshold too big": {&engine.ClaudeCompaction{Enabled: true, ThresholdPercent: number(101)}, false},
		"threshold nought":  {&engine.ClaudeCompaction{Enabled: true, ThresholdPercent: number(0)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, t.TempDir(), engine.RuntimeClaude, engine.RuntimeCodex)
			defer b.close(t)
			b.policy(c.policy)
			b.run(t, upRequest())
			check := func(how string) {
				t.Helper()
				want := "{}"
				if c.off {
					want = `{"idleCompaction":false}`
				}
				if got := b.settings(t, "dev.m0"); got != want {
					t.Errorf("%s: %s", how, got)
				}
				if got := b.settings(t, "dev.m1"); got != "{}" {
					t.Errorf("%s: the Codex seat got %s", how, got)
				}
				if s := b.seat(t, "dev.m0").Compaction; s.IdleOff != c.off || s.Managed != c.off || s.NextLaunch != "" {
					t.Errorf("%s: the seat says %+v", how, s)
				}
			}
			check("up")
			for _, source := range []string{"fresh", "rebuild", "fork:dev.m0"} {
				b.run(t, handoverRequest("dev.m0", source))
				check("handover " + source)
			}
			b.run(t, request(engine.VerbDown, "team", engine.DownArgs{}))
			b.run(t, upRequest())
			check("restore")
		})
	}
}

// TestPolicyChangeReachesTheNextLaunchOnly changes the policy under a running
// session.
func TestPolicyChangeReachesTheNextLaunchOnly(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	set := func(policies string) {
		t.Helper()
		s := b.seat(t, "dev.m0")
		err := b.db.Write(context.Background(), func(tx engine.Tx) error {
			rig, err := tx.Rig(s.RigID)
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
	set(`{"claude_compaction":{"enabled":true,"threshold_tokens":400000}}`)
	if c := b.seat(t, "dev.m0").Compaction; c.AtPercent != 0 || c.AtTokens != 400_000 {
		t.Errorf("where it acts: %+v", c)
	}
	set(`{"claude_compaction":{"enabled":true}}`)
	if c := b.seat(t, "dev.m0").Compaction; !c.Managed || c.IdleOff || c.NextLaunch == "" || c.AtPercent != engine.DefaultCompactPercent || c.AtTokens != 0 {
		t.Errorf("turned on: %+v", c)
	}
	b.run(t, handoverRequest("dev.m0", "fresh"))
	if c := b.seat(t, "dev.m0").Compaction; !c.Managed || !c.IdleOff || c.NextLaunch != "" {
		t.Errorf("launched: %+v", c)
	}
	set(`{"claude_compaction":{"enabled":false}}`)
	if c := b.seat(t, "dev.m0").Compaction; c.Managed || !c.IdleOff || c.NextLaunch == "" {
		t.Errorf("turned off: %+v", c)
	}
	set(`{"claude_compaction":7}`)
	if c := b.seat(t, "dev.m0").Compaction; c.Managed || c.Why != "the rig's policies cannot be read" {
		t.Errorf("unreadable: %+v", c)
	}
}
