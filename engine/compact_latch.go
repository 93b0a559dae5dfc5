package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
)

// How long the managed policy leaves a seat alone after an attempt that typed nothing
// and failed: longer with each in a row.
const (
	managedRetry     = 5 * time.Minute
	managedRetryMost = time.Hour
)

// ManagedState is what the enforcer remembers of a seat. It is void for another
// generation.
type ManagedState struct {
	Generation int64     `json:"generation"`
	Latched    bool      `json:"latched"`      // triggered, and not below the threshold since
	Op         string    `json:"op,omitempty"` // the attempt that it is latched for, while its end is not known
	Tried      time.Time `json:"tried_at,omitzero"`
	Cooldown   time.Time `json:"cooldown_until,omitzero"`
	Fails      int       `json:"fails,omitempty"`  // attempts in a row that began and did not compact it
	Failed     string    `json:"failed,omitempty"` // why the last one did not, or was refused
	FailedAt   time.Time `json:"failed_at,omitzero"`
	Retry      time.Time `json:"retry_after,omitzero"` // before that nothing is tried again
}

// refused is the state after an attempt that did not begin: it is tried again soon, and
// is no failure, since most of what refuses one passes by itself.
func (st ManagedState) refused(cause error, now time.Time) ManagedState {
	st.Latched, st.Op = false, ""
	if cause != nil && !overtaken(CodeOf(cause)) {
		st.Failed, st.FailedAt = AsError(cause).Msg, now
	}
	return st
}

// overtaken are the codes of an attempt that came at a wrong moment.
func overtaken(code Code) bool {
	switch code {
	case CodePlanStale, CodeInProgress, CodeAlreadyCompacting, CodeCancelled:
		return true
	}
	return false
}

// Ended is the state after an attempt that has ended. One that may have typed /compact
// keeps the latch, because that is not typed twice; any other gives it back, and
// waits a while.
func (st ManagedState) Ended(op Operation, steps []OperationStep, now time.Time) ManagedState {
	if op.Committed {
		return ManagedState{Generation: st.Generation, Tried: st.Tried, Cooldown: now.Add(managedCooldown)}
	}
	rec, err := receiptOf(op)
	if err == nil && rec.Error != nil {
		err = rec.Error
	}
	typed := slices.ContainsFunc(steps, mayHaveTyped)
	if !typed && overtaken(CodeOf(err)) {
		return st.refused(err, now)
	}
	why := op.Error
	if err != nil {
		why = AsError(err).Msg
	}
	st.Latched, st.Op = typed, ""
	st.Fails++
	st.Failed, st.FailedAt = cmp.Or(why, "it ended as "+string(op.State)), now
	st.Retry = now.Add(min(managedRetry<<min(st.Fails-1, 4), managedRetryMost))
	return st
}

// typedKey says in a step's evidence whether its line was, or may have been, typed.
const typedKey = "typed"

// mayHaveTyped reports that the step which types /compact had begun to, and that
// nothing says that it did not come to it.
func mayHaveTyped(s OperationStep) bool { return typesCompact(s) && evidenceOf(s)[typedKey] != false }

// outcome gives the state after the attempt that a seat is latched for; over is false
// while it goes on, or where that cannot be told. cause is why its apply was refused.
func (x *enforcer) outcome(ctx context.Context, st ManagedState, cause error) (next ManagedState, over bool) {
	op, steps, err := x.e.operation(ctx, st.Op, true)
	switch {
	case CodeOf(err) == CodeNotFound:
		return st.refused(cause, x.e.d.Clock.Now()), true
	case err != nil || !op.State.Ended():
		return st, false
	}
	return st.Ended(op, steps, x.e.d.Clock.Now()), true
}

// ended looks how the attempt ended that a seat is latched for, where the process that
// made it did not live to say so, or was an older build.
func (x *enforcer) ended(ctx context.Context, s *SeatView, st ManagedState) ManagedState {
	now := x.e.d.Clock.Now()
	if !st.Latched || st.Failed != "" && st.Op == "" || s.OpID != "" || st.Generation != s.Generation || !Passed(st.Tried, now, managedDedup) {
		return st
	}
	if st.Op == "" {
		op, _, err := x.e.compactOp(ctx, s.ID)
		if err != nil {
			return st
		}
		st.Op = op.ID
	}
	next, over := x.outcome(ctx, st, nil)
	if over && !x.remember(ctx, s.ID, next) {
		return st
	}
	return next
}

// managedStates reads what the enforcer remembers of the seats whose rig's policy is in force.
func managedStates(r Reader, rec *Record) (map[string]ManagedState, error) {
	on := map[string]bool{}
	for _, rig := range rec.Rigs {
		_, in, _ := RigCompaction(rig)
		on[rig.ID] = in
	}
	out := map[string]ManagedState{}
	for _, s := range rec.Seats {
		if !on[s.RigID] || s.Runtime != RuntimeClaude {
			continue
		}
		st, err := managedState(r, s.ID)
		if err != nil {
			return nil, err
		}
		if st.Generation == s.Generation {
			out[s.ID] = st
		}
	}
	return out, nil
}

// tried says what the last attempt of the policy means for what it does next.
func (c *SeatCompaction) tried(st ManagedState) {
	if !c.Managed || st.Failed == "" {
		return
	}
	why := strings.TrimRight(st.Failed, ". ")
	c.Failed, c.FailedAt, c.Fails, c.RetryAt = why, st.FailedAt, st.Fails, st.Retry
	switch {
	case st.Latched:
		c.RetryAt = time.Time{}
		c.Why = "its last attempt failed (" + why + "); /compact was typed, or may have been, so the policy tries again only after the context was below its threshold"
	case st.Fails > 0:
		c.Why = "its last attempt failed (" + why + "); the policy tries again"
	default:
		c.Why = "its last attempt was refused (" + why + "); the policy tries again"
	}
}

// AttnCompaction is the attention class of a seat that its rig's policy could not compact.
const AttnCompaction = "managed_compaction"

// managedAttention asks for a person when the policy's last attempt failed: the
// client's own compaction of idle sessions is off while there is a policy.
func managedAttention(s *SeatView) []AttentionItem {
	c := s.Compaction
	if c.Fails == 0 || s.OpVerb == VerbCompact || s.Life != LifeRunning {
		return nil
	}
	return []AttentionItem{{
		Key:   AttnCompaction + "/" + s.ID + "/" + itoa(s.Generation) + "/" + itoa(int64(c.Fails)),
		Class: AttnCompaction, Seat: s.Address, SeatID: s.ID, Rig: s.Rig, Weight: 45,
		Since: c.FailedAt, Reason: "the policy could not compact it: " + c.Failed, Remedy: "rig compact " + s.Address,
	}}
}
