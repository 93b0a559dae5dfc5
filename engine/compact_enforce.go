package engine

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// How the managed policy paces itself.
const (
	enforceEvery    = 5 * time.Second  // between two rounds of the enforcer
	enforceTTL      = time.Minute      // of its lease
	managedDedup    = time.Minute      // between two attempts on one seat
	managedCooldown = 10 * time.Minute // after an audited compaction
)

// policyOperator is who acts where nobody but a rig's policy asked for it.
var policyOperator = Operator{Name: "compaction policy", Derived: true}

// enforcerLease is the right to enforce policies: one process has it, whichever
// consoles and watchers run.
const enforcerLease = "policy:compaction"

func managedKey(seatID string) string { return "compact/managed/" + seatID }

// JudgeManaged says whether the policy compacts a seat now, why not, and what is
// to be remembered. It is a pure function.
func JudgeManaged(s *SeatView, policy *ClaudeCompaction, st ManagedState, now time.Time) (trigger bool, reason string, next ManagedState) {
	if st.Generation != s.Generation {
		st = ManagedState{Generation: s.Generation}
	}
	percent, tokens := policy.Thresholds()
	u := s.Usage
	switch {
	case s.Runtime != RuntimeClaude:
		return false, string(CodeRuntimeFilter), st
	case percent == 0 && tokens == 0:
		return false, "disabled", st
	case !u.Known || u.Stale || u.Generation != s.Generation:
		return false, string(CodeNoUsage), st
	}
	over := percent > 0 && u.Percent >= float64(percent) || tokens > 0 && u.Tokens >= tokens
	switch {
	case !over:
		return false, ReasonBelow, ManagedState{Generation: st.Generation, Tried: st.Tried, Cooldown: st.Cooldown}
	case st.Latched:
		return false, "already_triggered_above_threshold", st
	// A time further ahead than these can be is of a clock that was set back since.
	case now.Before(st.Retry) && st.Retry.Sub(now) < managedRetryMost+clockSlack:
		return false, "waits_after_failure", st
	case now.Before(st.Cooldown) && st.Cooldown.Sub(now) < managedCooldown+clockSlack:
		return false, "post_restore_cooldown", st
	case now.Sub(st.Tried) < managedDedup && st.Tried.Sub(now) < clockSlack:
		return false, "dedup_window", st
	case s.Life != LifeRunning || s.Startup != StartupReady:
		return false, string(CodeSessionMissing), st
	case s.OpID != "":
		return false, string(CodeAlreadyCompacting), st
	case s.Activity.State != ActivityIdle:
		return false, string(CodeMidWork), st
	}
	st.Latched, st.Tried = true, now
	return true, "", st
}

// enforcer drives the policies of all rigs, if this process has the right to.
type enforcer struct {
	e       *Engine
	mu      sync.Mutex
	running bool
	held    time.Time // until when the lease is ours; zero = not ours
}

// round looks at one picture. It returns at once; what it starts goes on by
// itself.
func (x *enforcer) round(ctx context.Context, f *Fleet, rigs []Rig) {
	policies := map[string]*ClaudeCompaction{}
	for _, r := range rigs {
		if p, on, _ := RigCompaction(r); on {
			policies[r.ID] = p
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(policies) == 0 || f == nil || !f.Live || x.running {
		return
	}
	x.running = true
	go func() {
		defer func() { x.mu.Lock(); x.running = false; x.mu.Unlock() }()
		if !x.lease(ctx) {
			return
		}
		for i := range f.Rigs {
			if p := policies[f.Rigs[i].ID]; p != nil {
				if run := x.rig(ctx, &f.Rigs[i], p); run != nil {
					go run()
				}
			}
		}
	}()
}

// lease takes or keeps the right to enforce. A holder that is proven dead, or
// whose time is over, has lost it.
func (x *enforcer) lease(ctx context.Context) bool {
	now := x.e.d.Clock.Now()
	x.mu.Lock()
	fresh := x.held.Sub(now) > enforceTTL/2
	x.mu.Unlock()
	if fresh {
		return true
	}
	me := x.e.d.Procs.Self(policyOperator.Name)
	err := x.e.d.Store.Write(ctx, func(tx Tx) error {
		l, err := tx.Lease(enforcerLease)
		other := err == nil && (l.Owner.PID != me.PID || l.Owner.PIDStart != me.PIDStart || l.Owner.Boot != me.Boot)
		if other && !x.e.ownerDead(l.Owner) && now.Before(l.ExpiresAt) {
			return Errorf(CodeInProgress, "another process enforces").WithHint("nothing to do")
		}
		fence, err := tx.NextFence()
		if err != nil {
			return err
		}
		return tx.PutLease(Lease{Key: enforcerLease, OpID: "policy", Owner: me, Fence: fence, GrantedAt: now, ExpiresAt: now.Add(enforceTTL)})
	})
	x.mu.Lock()
	defer x.mu.Unlock()
	x.held = time.Time{}
	if err == nil {
		x.held = now.Add(enforceTTL)
	}
	return err == nil
}

// release gives the right back when the loop ends.
func (x *enforcer) release() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.held.IsZero() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := x.e.d.Store.Write(ctx, func(tx Tx) error { return tx.DeleteLease(enforcerLease, "policy") }); err != nil {
		x.e.d.Log.Debug("release enforcer", "err", err)
	}
}

// rig begins at most one compaction in a rig, of the fullest seat that is due. What it
// gives runs it to its end; nil is none.
func (x *enforcer) rig(ctx context.Context, r *RigView, policy *ClaudeCompaction) (run func()) {
	var best *SeatView
	var state ManagedState
	for i := range r.Seats {
		s := &r.Seats[i]
		if s.OpVerb == VerbCompact {
			return nil
		}
		st, err := x.remembered(ctx, s.ID)
		if err != nil {
			return nil
		}
		st = x.ended(ctx, s, st)
		trigger, _, next := JudgeManaged(s, policy, st, x.e.d.Clock.Now())
		if !trigger {
			if next != st {
				x.remember(ctx, s.ID, next)
			}
			continue
		}
		if best == nil || s.Usage.Percent > best.Usage.Percent {
			best, state = s, next
		}
	}
	if best == nil {
		return nil
	}
	return x.start(ctx, best, state)
}

// start plans one managed compaction and gives what applies it. The latch is on record
// before anything is typed; a plan that is refused takes it back.
func (x *enforcer) start(ctx context.Context, s *SeatView, st ManagedState) (run func()) {
	args, err := json.Marshal(CompactArgs{Automatic: true})
	if err != nil {
		return nil
	}
	p, err := x.e.Plan(ctx, Request{
		Verb: VerbCompact, Target: s.Address, Reason: "policies.claude_compaction", Args: args, Operator: policyOperator,
	})
	if err == nil && !p.Applicable() {
		err = blockedError(p)
	}
	if err != nil {
		x.remember(ctx, s.ID, st.refused(err, x.e.d.Clock.Now()))
		return nil
	}
	if st.Op = p.ID; !x.remember(ctx, s.ID, st) {
		return nil
	}
	return func() {
		rec, err := x.e.Apply(ctx, p, nil)
		if err != nil || !rec.OK {
			x.e.d.Log.Info("managed compaction", "seat", s.Address, "op", p.ID, "err", err)
		}
		after := context.WithoutCancel(ctx)
		if next, over := x.outcome(after, st, err); over {
			x.remember(after, s.ID, next)
		}
	}
}

func (x *enforcer) remembered(ctx context.Context, seatID string) (ManagedState, error) {
	var st ManagedState
	err := x.e.d.Store.Read(ctx, func(r Reader) (err error) {
		st, err = managedState(r, seatID)
		return err
	})
	return st, err
}

// managedState reads what is remembered of a seat; what cannot be read is nothing.
func managedState(r Reader, seatID string) (ManagedState, error) {
	var st ManagedState
	text, err := r.Meta(managedKey(seatID))
	if err == nil && text != "" && json.Unmarshal([]byte(text), &st) != nil {
		st = ManagedState{}
	}
	return st, err
}

func (x *enforcer) remember(ctx context.Context, seatID string, st ManagedState) bool {
	err := x.e.d.Store.Write(ctx, func(tx Tx) error { return tx.SetMeta(managedKey(seatID), string(mustJSON(st))) })
	if err != nil {
		x.e.d.Log.Warn("managed compaction", "seat", seatID, "err", err)
	}
	return err == nil
}
