package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rig/engine"
	"rig/engine/enginetest"
)

// blinking is a record whose leases cannot be read for some looks, and whose reads fail while blind says so.
type blinking struct {
	engine.Store
	leases *atomic.Int32 // how many of the next looks at a lease fail
	blind  func() bool
}

// Read implements engine.Store.
func (s blinking) Read(ctx context.Context, fn func(engine.Reader) error) error {
	if s.blind != nil && s.blind() {
		return enginetest.ErrInjected
	}
	return s.Store.Read(ctx, fn)
}

// Write implements engine.Store.
func (s blinking) Write(ctx context.Context, fn func(engine.Tx) error) error {
	return s.Store.Write(ctx, func(tx engine.Tx) error { return fn(blinkingTx{tx, s.leases}) })
}

type blinkingTx struct {
	engine.Tx
	leases *atomic.Int32
}

// Lease implements engine.Reader.
func (t blinkingTx) Lease(key string) (engine.Lease, error) {
	if t.leases != nil && t.leases.Add(-1) >= 0 {
		return engine.Lease{}, enginetest.ErrInjected
	}
	return t.Tx.Lease(key)
}

// LeaseKeys implements engine.Reader.
func (t blinkingTx) LeaseKeys(opID string, fence int64) ([]string, error) {
	if t.leases != nil && t.leases.Add(-1) >= 0 {
		return nil, enginetest.ErrInjected
	}
	return t.Tx.LeaseKeys(opID, fence)
}

// blink gives the bench an engine over such a record; from the step that begins so on, the leases cannot be read n times.
func (b *bench) blink(step engine.StepKind, n int32) {
	var fails atomic.Int32
	b.made.Store = blinking{Store: b.db, leases: &fails}
	b.made.OnStep = func(when string, s engine.Step) {
		if when == "after" && s.Kind == step {
			fails.Store(n)
		}
	}
	b.e = engine.New(b.made)
}

// TestALeaseThatCannotBeReadIsNotLost: that the record does not answer is no proof that somebody else took a lease. The end of the
// operation is tried again; what cannot be put on record in the end keeps its leases, so that nobody acts as if it had ended.
func TestALeaseThatCannotBeReadIsNotLost(t *testing.T) {
	for _, c := range []struct {
		fails  int32
		closed bool
	}{{1, true}, {1000, false}} {
		b := newBench(t, t.TempDir(), engine.RuntimeTerminal)
		b.run(t, upRequest())
		b.blink(engine.StepSetModel, c.fails)
		p, err := b.e.Plan(t.Context(), modelRequest("dev.m0", "other"))
		if err != nil {
			t.Fatal(err)
		}
		var told engine.OpState
		rec, err := b.e.Apply(t.Context(), p, func(pr engine.OpProgress) { told = pr.Op.State })
		if told.Ended() != c.closed {
			t.Errorf("%d failures: whoever follows is told that it is %s", c.fails, told)
		}
		if engine.CodeOf(err) == engine.CodeLeaseLost || (err == nil) != c.closed || rec == nil {
			t.Errorf("%d failures: %+v, %v", c.fails, rec, err)
		}
		op, _, err := b.e.Operation(t.Context(), p.ID)
		if err != nil || op.State.Ended() != c.closed || (b.leases() == 0) != c.closed {
			t.Errorf("%d failures: the operation is %s with %d leases, %v", c.fails, op.State, b.leases(), err)
		}
		b.close(t)
	}
}

// TestAHolderThatCannotBeReadHolds: neither a lease nor the operation behind it is free because the record does not answer.
func TestAHolderThatCannotBeReadHolds(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeTerminal)
	defer b.close(t)
	b.run(t, upRequest())
	p, err := b.e.Plan(t.Context(), modelRequest("dev.m0", "other"))
	if err != nil {
		t.Fatal(err)
	}
	var fails atomic.Int32
	fails.Store(1) // the look before the grant
	b.made.Store = blinking{Store: b.db, leases: &fails}
	b.e = engine.New(b.made)
	if _, err := b.e.Apply(t.Context(), p, nil); engine.CodeOf(err) != "injected" {
		t.Errorf("granted without a look at who holds it: %v", err)
	}
}

// unbooted is a process table that does not know which boot this is.
type unbooted struct{ *enginetest.Procs }

// Boot implements engine.Processes.
func (unbooted) Boot() string { return "" }

// TestAnUnknownBootIsNoProofOfDeath: a process that cannot tell which boot this is takes nobody's operation for cut off.
func TestAnUnknownBootIsNoProofOfDeath(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeTerminal)
	defer b.close(t)
	b.run(t, upRequest())
	op := engine.Operation{
		ID: "01OP", Verb: engine.VerbDown, Target: "team", State: engine.OpRunning, Plan: json.RawMessage("{}"), Version: 1,
		Owner: engine.Owner{PID: 1, PIDStart: "s1", Boot: "boot"}, StartedAt: enginetest.NewClock().Now(),
	}
	if err := b.db.Write(t.Context(), func(tx engine.Tx) error { return tx.InsertOperation(op) }); err != nil {
		t.Fatal(err)
	}
	b.made.Procs = unbooted{b.procs}
	b.e = engine.New(b.made)
	if got, _, err := b.e.Operation(t.Context(), "01OP"); err != nil || got.State != engine.OpRunning {
		t.Errorf("its owner lives, and it reads %s, %v", got.State, err)
	}
}

// TestFollowLooksAgainAfterALookThatFailed: the change that told of the end comes only once.
func TestFollowLooksAgainAfterALookThatFailed(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeTerminal)
	defer b.close(t)
	rec := b.run(t, upRequest())
	var looks atomic.Int32
	b.made.Store = blinking{Store: b.db, blind: func() bool { return looks.Add(1) == 1 }}
	b.e = engine.New(b.made)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if got, err := b.e.Follow(ctx, rec.Operation.ID, nil); err != nil || !got.OK {
		t.Errorf("%+v, %v", got, err)
	}
}

// detaching hands tickets over as files do, and applies them at once.
type detaching struct{ e **engine.Engine }

// Spawn implements engine.Spawner.
func (d detaching) Spawn(ctx context.Context, t engine.Ticket) error {
	raw, err := json.Marshal(t)
	if err != nil {
		return err
	}
	var read engine.Ticket
	if err := json.Unmarshal(raw, &read); err != nil {
		return err
	}
	_, _ = (*d.e).ApplyTicket(ctx, read, func() {}) // its outcome is on record
	return nil
}

// TestStartAppliesThePlanThatWasShown, like an apply that is followed.
func TestStartAppliesThePlanThatWasShown(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeTerminal)
	defer b.close(t)
	b.made.Spawner = detaching{&b.e}
	b.e = engine.New(b.made)
	p, err := b.e.Plan(t.Context(), upRequest())
	if err != nil {
		t.Fatal(err)
	}
	id, err := b.e.Start(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if op, _, err := b.e.Operation(t.Context(), id); err != nil || op.State != engine.OpDone || len(b.mux.Panes()) != 1 {
		t.Errorf("%s, %v, %d panes", op.State, err, len(b.mux.Panes()))
	}
}

// TestWhatTheDeadLeftIsTakenAway: whoever takes a lease takes away those of dead processes whose operation never began, or has
// ended, also of keys that nobody else would ever want. A living holder keeps its own, and so does an operation that was cut off.
func TestWhatTheDeadLeftIsTakenAway(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeTerminal)
	defer b.close(t)
	now := time.Date(2026, 3, 3, 10, 0, 0, 0, time.UTC)
	dead, alive := engine.Owner{PID: 77, PIDStart: "s77"}, engine.Owner{PID: 1, PIDStart: "s1"}
	err := b.db.Write(t.Context(), func(tx engine.Tx) error {
		cut := engine.Operation{ID: "01CUT", Verb: engine.VerbImageCreate, Target: "x", State: engine.OpRunning, Owner: dead, StartedAt: now, Plan: json.RawMessage("{}")}
		err := tx.InsertOperation(cut)
		for key, l := range map[string]engine.Lease{
			"agent-images": {OpID: "01NEVER", Owner: dead}, "rig:cut": {OpID: "01CUT", Owner: dead}, "rig:alive": {OpID: "01BEGINS", Owner: alive},
		} {
			if l.Key, l.GrantedAt, l.ExpiresAt = key, now, now; err == nil {
				err = tx.PutLease(l)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if rec := b.run(t, upRequest()); !rec.OK {
		t.Fatalf("%+v", rec)
	}
	var left []string
	err = b.db.Read(t.Context(), func(r engine.Reader) error {
		all, err := r.Leases()
		for _, l := range all {
			left = append(left, l.Key)
		}
		return err
	})
	if err != nil || len(left) != 2 || left[0] != "rig:alive" || left[1] != "rig:cut" {
		t.Errorf("%v, %v", left, err)
	}
}

// TestARivalIsToldWhatHoldsTheSeat: also before the holder has written its journal.
func TestARivalIsToldWhatHoldsTheSeat(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeTerminal)
	defer b.close(t)
	b.run(t, upRequest())
	seat, now := b.seat(t, "dev.m0"), time.Now()
	b.procs.Alive[2] = "s2"
	held := engine.Lease{Key: "seat:" + seat.ID, OpID: "01BEGINS", Fence: 99, GrantedAt: now, ExpiresAt: now.Add(time.Hour)}
	for verb, want := range map[engine.Verb]string{engine.VerbCompact: "compact by ann is under way", "": "an operation by ann is under way"} {
		held.Owner = engine.Owner{PID: 2, PIDStart: "s2", Label: "ann", Verb: verb}
		if err := b.db.Write(t.Context(), func(tx engine.Tx) error { return tx.PutLease(held) }); err != nil {
			t.Fatal(err)
		}
		p, err := b.e.Plan(t.Context(), request(engine.VerbDown, "team", engine.DownArgs{}))
		if err == nil {
			_, err = b.e.Apply(t.Context(), p, nil)
		}
		if engine.CodeOf(err) != engine.CodeInProgress || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", verb, err)
		}
	}
}

// TestALeaseSaysWhatItWasGrantedFor: every lease of an operation carries its verb.
func TestALeaseSaysWhatItWasGrantedFor(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeTerminal)
	defer b.close(t)
	seen := 0
	p, err := b.e.Plan(t.Context(), upRequest())
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.e.Apply(t.Context(), p, func(engine.OpProgress) {
		err := b.db.Read(t.Context(), func(r engine.Reader) error {
			all, err := r.Leases()
			for _, l := range all {
				if seen++; l.Owner.Verb != engine.VerbUp {
					t.Errorf("%+v", l)
				}
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	if err != nil || seen == 0 {
		t.Errorf("%v, %d leases seen", err, seen)
	}
}

// TestARefusalNamesTheSeat: a detached apply that is refused stands on record under the seat that its plan was about, whichever
// way that was typed, and is found there; what names no seat stays as it was typed.
func TestARefusalNamesTheSeat(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeTerminal)
	defer b.close(t)
	b.run(t, upRequest())
	for _, c := range []struct {
		req    engine.Request
		target string
		seat   bool
	}{
		{modelRequest("dev.m0", "other"), "dev-m0@team", true},
		{modelRequest("dev-m0@team", "other"), "dev-m0@team", true},
		{request(engine.VerbDown, "team", engine.DownArgs{}), "team", false},
	} {
		p, err := b.e.Plan(t.Context(), c.req)
		if err != nil {
			t.Fatal(err)
		}
		ticket := engine.Ticket{OpID: p.ID, Request: p.Request, Fingerprint: "what was shown is another plan", Leases: p.Leases, Basis: p.Basis}
		if _, err := b.e.ApplyTicket(t.Context(), ticket, func() {}); engine.CodeOf(err) != engine.CodePlanStale {
			t.Fatalf("%s: %v", c.req.Target, err)
		}
		op, _, err := b.e.Operation(t.Context(), p.ID)
		if err != nil || op.State != engine.OpFailed || op.Target != c.target || c.seat && op.SeatID == "" || !c.seat && op.RigID == "" {
			t.Errorf("%s: %v, %+v", c.req.Target, err, op)
		}
	}
}
