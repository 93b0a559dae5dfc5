package engine_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"rig/engine"
	"rig/engine/enginetest"
	"rig/store"
)

// askedProcs lets a test act at the moment when somebody asks whether a process lives.
type askedProcs struct {
	*enginetest.Procs
	asked func(pid int)
}

// Start implements engine.Processes.
func (p askedProcs) Start(pid int) (string, bool, error) {
	p.asked(pid)
	return p.Procs.Start(pid)
}

// followed is a record with one running operation of process 77, and an engine that asks about processes through asked.
func followed(t *testing.T, asked func(*store.DB, *enginetest.Procs, int)) *engine.Engine {
	t.Helper()
	return followedBy(t, enginetest.NewClock(), asked)
}

// followedBy is followed with a clock.
func followedBy(t *testing.T, clock engine.Clock, asked func(*store.DB, *enginetest.Procs, int)) *engine.Engine {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "rig.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	procs := &enginetest.Procs{Alive: map[int]string{1: "s1", 77: "s77"}, Me: 1}
	op := engine.Operation{
		ID: "01OP", Verb: engine.VerbUp, Target: "team", State: engine.OpRunning, Plan: json.RawMessage("{}"), Version: 1,
		Owner: engine.Owner{PID: 77, PIDStart: "s77", Boot: "boot"}, StartedAt: enginetest.NewClock().Now(),
	}
	if err := db.Write(t.Context(), func(tx engine.Tx) error { return tx.InsertOperation(op) }); err != nil {
		t.Fatal(err)
	}
	return engine.New(engine.Deps{
		Store: db, Mux: enginetest.NewMux(), Occupants: &enginetest.Files{}, Clock: clock, IDs: &enginetest.IDs{},
		Procs: askedProcs{procs, func(pid int) { asked(db, procs, pid) }},
	})
}

// An operation that ends, and whose process goes, between two looks of its follower has not been cut off.
func TestFollowBelievesTheRecordOfAProcessThatHasGone(t *testing.T) {
	e := followed(t, func(db *store.DB, procs *enginetest.Procs, pid int) {
		err := db.Write(t.Context(), func(tx engine.Tx) error {
			op, err := tx.Operation("01OP")
			if err != nil || op.State.Ended() || pid != 77 {
				return err
			}
			op.State, op.Receipt, op.EndedAt = engine.OpDone, json.RawMessage(`{"ok":true,"outcome":"done"}`), op.StartedAt
			return tx.UpdateOperation(&op)
		})
		if err != nil {
			t.Error(err)
		}
		procs.Die(77)
	})
	rec, err := e.Follow(t.Context(), "01OP", nil)
	if err != nil || rec.Outcome != "done" {
		t.Fatalf("receipt %+v, error %v; want the receipt of a finished operation", rec, err)
	}
}

// A process that is killed writes nothing any more: its follower must notice without a change of the record.
func TestFollowNoticesADeathThatLeavesNoTrace(t *testing.T) {
	looks := 0
	e := followed(t, func(_ *store.DB, procs *enginetest.Procs, pid int) {
		if looks++; looks == 6 && pid == 77 {
			procs.Die(77)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := e.Follow(ctx, "01OP", nil)
	if engine.CodeOf(err) != "operation_unfinished" {
		t.Fatalf("error %v; want that the process has died", err)
	}
}

// lost is a record that was moved away: it answers nothing.
type lost struct{ engine.Store }

func (lost) Changed(context.Context) (int64, error) {
	return 0, engine.Errorf(engine.CodeUnavailable, "the record was moved").WithHint("put it back")
}

// leaping is a clock on which each look takes seconds.
type leaping struct{ *enginetest.Clock }

func (h leaping) Now() time.Time {
	for range 3000 { // of its milliseconds
		h.Clock.Now()
	}
	return h.Clock.Now()
}

// Whoever follows an operation of a record that cannot be read any more is told so, instead of nothing.
func TestFollowSaysThatTheRecordCannotBeRead(t *testing.T) {
	t.Parallel()
	e := engine.New(engine.Deps{
		Store: lost{}, Mux: enginetest.NewMux(), Occupants: &enginetest.Files{}, Clock: leaping{enginetest.NewClock()}, IDs: &enginetest.IDs{},
		Procs: &enginetest.Procs{Alive: map[int]string{1: "s1"}, Me: 1},
	})
	_, err := e.Follow(t.Context(), "01OP", nil)
	if told := engine.AsError(err); told.Code != engine.CodeUnavailable || told.Hint != "put it back; `rig op show 01OP` tells once that is possible" {
		t.Errorf("%v, %q", err, told.Hint)
	}
}
