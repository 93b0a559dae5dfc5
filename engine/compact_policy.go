package engine

import (
	"context"
	"encoding/json"
	"strings"
	"time"
)

// RigCompaction gives the managed compaction policy of a rig and whether it is
// in force. It is the one judgement behind both a launch and the enforcer, so
// that the two cannot disagree. A policy that cannot be read is off, and why says
// so.
func RigCompaction(rig Rig) (policy *ClaudeCompaction, on bool, why string) {
	if !strings.Contains(rig.Policies, "claude_compaction") {
		return nil, false, "no policy is set"
	}
	var p Policies
	if err := json.Unmarshal([]byte(rig.Policies), &p); err != nil {
		return nil, false, "the rig's policies cannot be read"
	}
	on, why = p.ClaudeCompaction.Active()
	return p.ClaudeCompaction, on, why
}

// idleCompactionOff says whether a launch of this seat takes the client's own
// compaction of idle sessions away: only a Claude seat, only while its rig's
// policy is in force.
func (e *Engine) idleCompactionOff(ctx context.Context, seat Seat) (bool, error) {
	if seat.Runtime != RuntimeClaude {
		return false, nil
	}
	var off bool
	err := e.d.Store.Read(ctx, func(r Reader) error {
		rig, err := r.Rig(seat.RigID)
		if err == nil {
			_, off, _ = RigCompaction(rig)
		}
		return err
	})
	return off, err
}

// launchedIdleOff reads from an occupant's launch settings whether its client
// was told not to compact when idle. A policy that changed later does not reach a
// running client, so this and not the policy says what it does.
func launchedIdleOff(settings string) bool {
	if !strings.Contains(settings, "idleCompaction") {
		return false
	}
	var s struct {
		Idle *bool `json:"idleCompaction"`
	}
	return json.Unmarshal([]byte(settings), &s) == nil && s.Idle != nil && !*s.Idle
}

// SeatCompaction is what stands on a seat about compaction.
type SeatCompaction struct {
	// Managed says that the rig's policy is in force now; Why says why it is not,
	// or why it cannot act on this seat now.
	Managed bool   `json:"managed"`
	Why     string `json:"managed_why,omitempty"`
	// AtPercent and AtTokens are where the policy compacts, whichever comes first;
	// 0 means that it does not go by this measure.
	AtPercent int   `json:"managed_at_percent,omitempty"`
	AtTokens  int64 `json:"managed_at_tokens,omitempty"`
	// IdleOff says that the running client was launched with idleCompaction
	// false. Clients before 2.1.290 ignore the key.
	IdleOff bool `json:"idle_compaction_off"`
	// Verdict is "compacted, not audited" between a compaction and a passed
	// audit, else "".
	Verdict string `json:"verdict,omitempty"`
	// Since is when that compaction was.
	Since time.Time `json:"since,omitzero"`
	// Failed is why the policy's last attempt on it failed or was refused, FailedAt
	// when, Fails how many in a row began and failed, and RetryAt when it tries again
	// at the earliest: zero with a failure is not before the context was below the
	// threshold.
	Failed   string    `json:"managed_failed,omitempty"`
	FailedAt time.Time `json:"managed_failed_at,omitzero"`
	Fails    int       `json:"managed_failures,omitempty"`
	RetryAt  time.Time `json:"managed_retry_at,omitzero"`
	// NextLaunch says what the next launch changes, "" when nothing.
	NextLaunch string `json:"next_launch,omitempty"`
}

// NotAudited is the verdict on a seat whose conversation was compacted and that
// has not shown since that it knows its work and the next owner.
const NotAudited = "compacted, not audited"

// seatCompaction judges one seat. managed is what the enforcer remembers of it.
func seatCompaction(rig Rig, s Seat, last Session, managed ManagedState) SeatCompaction {
	var c SeatCompaction
	if s.Lifecycle == LifecycleCompacted {
		c.Verdict, c.Since = NotAudited, s.UpdatedAt
	}
	if s.Runtime != RuntimeClaude {
		c.Why = "only claude-code seats are managed"
		return c
	}
	policy, on, why := RigCompaction(rig)
	if c.Managed, c.Why = on, why; on {
		c.AtPercent, c.AtTokens = policy.Thresholds()
	}
	c.tried(managed)
	c.IdleOff = launchedIdleOff(last.Settings)
	if last.ID == "" {
		return c
	}
	switch {
	case c.Managed && !c.IdleOff:
		c.NextLaunch = "the policy was turned on later: idle compaction of this session ends with its next launch"
	case !c.Managed && c.IdleOff:
		c.NextLaunch = "the policy was turned off later: idle compaction of this session comes back with its next launch"
	}
	return c
}

// sampled says what a managed seat without a fresh sample can count on.
func (c *SeatCompaction) sampled(u Usage) {
	if c.Managed && (!u.Known || u.Stale) {
		c.Why = "no fresh sample, so the policy does not compact it; the client's own auto-compaction is then the only one, and it is not guaranteed"
	}
}

// AttnNotAudited is the attention class of a seat that was compacted and has not
// shown since that it knows its work and the next owner.
const AttnNotAudited = "not_audited"

// auditAttention asks for a person when nothing of ours is auditing such a seat.
func auditAttention(s *SeatView) []AttentionItem {
	if s.Compaction.Verdict == "" || s.OpVerb == VerbCompact || s.Life != LifeRunning {
		return nil
	}
	return []AttentionItem{{
		Key: AttnNotAudited + "/" + s.ID + "/" + itoa(s.Generation), Class: AttnNotAudited, Seat: s.Address, SeatID: s.ID, Rig: s.Rig, Weight: 45,
		Since: s.Compaction.Since, Reason: s.Compaction.Verdict, Remedy: "rig compact " + s.Address + " --audit",
	}}
}
