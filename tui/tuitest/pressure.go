package tuitest

import (
	"context"
	"encoding/json"
	"time"

	"rig/engine"
)

// Pressure makes the plan of a picture with a made-up past: each known seat has
// grown steadily for an hour, the third of them was compacted on the way.
func (c *Console) Pressure(_ context.Context, f *engine.Fleet) (*engine.CompactPlan, error) {
	if err := c.call("Pressure"); err != nil {
		return nil, err
	}
	return engine.PlanCompaction(f, History(f), engine.CompactPlanOptions{}), nil
}

// History makes the stored samples of a picture, newest first.
func History(f *engine.Fleet) map[string][]engine.StoredUsage {
	out := map[string][]engine.StoredUsage{}
	for i, s := range f.Seats() {
		if !s.Usage.Known {
			continue
		}
		for k := 1; k <= 9; k++ {
			u := s.Usage
			u.SampledAt = u.SampledAt.Add(-time.Duration(k*7) * time.Minute)
			u.Tokens -= int64(k*(900+i*350)) + int64(k%3)*700
			if i%3 == 2 && k > 5 { // before it was compacted
				u.Tokens = s.Usage.Tokens*2 - int64(k)*1500
			}
			if u.Tokens > 0 {
				out[s.ID] = append(out[s.ID], engine.StoredUsage{SeatID: s.ID, SessionID: "s2", Usage: u})
			}
		}
	}
	return out
}

// CompactState says that a compaction prepares.
func (c *Console) CompactState(_ context.Context, ref string) (*engine.CompactState, error) {
	return &engine.CompactState{OK: true, Seat: ref, Stage: engine.StagePreparing}, c.call("CompactState")
}

// CancelCompact remembers who was to be left alone.
func (c *Console) CancelCompact(_ context.Context, ref string) (*engine.CompactState, error) {
	if err := c.call("CancelCompact"); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancelled = append(c.cancelled, ref)
	return &engine.CompactState{OK: true, Seat: ref, Stage: engine.StagePreparing, Cancelled: "ana"}, nil
}

// Cancelled lists the seats whose compaction was cancelled.
func (c *Console) Cancelled() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.cancelled...)
}

// compactPhases are the steps of a guided compaction, as the engine plans them.
func compactPhases(r engine.Request) []engine.Phase {
	var a engine.CompactArgs
	if len(r.Args) > 0 && json.Unmarshal(r.Args, &a) != nil {
		return nil
	}
	step := func(name string, kind engine.StepKind, e engine.Effect, title string) engine.Step {
		return engine.Step{ID: r.Target + "/" + name, Kind: kind, Title: title, Seat: r.Target, Effect: e}
	}
	prepare := engine.Phase{ID: "prepare", Title: "Phase A - prepare: what must survive is on disk first", Steps: []engine.Step{
		step("packet", engine.StepCompactPacket, engine.EffectOneWay, "write the restore packet and check it on disk"),
	}}
	if !a.SkipMap {
		prepare.Steps = append(prepare.Steps, step("prep", engine.StepCompactPrep, engine.EffectOneWay, "ask the seat for its own restore map and wait until it is whole"))
	}
	compact := engine.Phase{ID: "compact", Title: "Phase B - the client compacts its conversation", Steps: []engine.Step{
		step("send", engine.StepCompactSend, engine.EffectOneWay, "type /compact once, when it is idle and its input box is empty"),
		step("prove", engine.StepCompactProve, engine.EffectNone, "prove it by the client's own record; a failure beats a proof"),
		step("record", engine.StepCompactRecord, engine.EffectCommit, "record: "+engine.NotAudited),
	}}
	after := engine.Phase{ID: "restore", Title: "Phase C - restore and audit", Steps: []engine.Step{
		step("restore", engine.StepCompactRestore, engine.EffectOneWay, "one typed line starts the restore that its hook was given"),
		step("audit", engine.StepCompactAudit, engine.EffectOneWay, "ask what it knows now: current work and next owner"),
		step("verdict", engine.StepCompactVerdict, engine.EffectCommit, "record whether the audit passed"),
	}}
	if a.AuditOnly {
		after.Steps = after.Steps[1:]
		return []engine.Phase{after}
	}
	return []engine.Phase{prepare, compact, after}
}

// Near makes a picture with n seats, three of which are near their wall: one by
// share, one of a large window by tokens, one that is at its limit. A fourth was
// compacted and not audited.
func Near(n int) *engine.Fleet {
	f := Fleet(n)
	f.Revision = 2
	for i := range f.Rigs {
		for j := range f.Rigs[i].Seats {
			s := &f.Rigs[i].Seats[j]
			switch {
			case s.Member == "impl":
				s.Usage.Percent, s.Usage.Tokens, s.Activity.State = 88, 176_000, engine.ActivityIdle
			case s.Member == "qa":
				s.Usage.Percent, s.Usage.Tokens, s.Usage.Window, s.Activity.State = 43, 430_000, 1_000_000, engine.ActivityIdle
			case s.Member == "deploy":
				s.Compaction = engine.SeatCompaction{Managed: true, AtPercent: 80, IdleOff: true, Verdict: engine.NotAudited, Since: Start().Add(-3 * time.Minute)}
			}
		}
	}
	return f
}
