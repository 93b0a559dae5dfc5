package store

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"rig/engine"
)

// epoch is the time that test rows start from. The record keeps milliseconds.
var epoch = time.Date(2026, 3, 1, 9, 30, 0, 250_000_000, time.UTC)

func recordPath(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(tb.TempDir(), "home", "record.db")
}

func open1(tb testing.TB, path string) *DB {
	tb.Helper()
	db, err := Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	return db
}

func fresh(tb testing.TB) *DB {
	tb.Helper()
	return open1(tb, recordPath(tb))
}

func write(tb testing.TB, db *DB, fn func(engine.Tx) error) {
	tb.Helper()
	if err := db.Write(context.Background(), fn); err != nil {
		tb.Fatal(err)
	}
}

func read(tb testing.TB, db *DB, fn func(engine.Reader) error) {
	tb.Helper()
	if err := db.Read(context.Background(), fn); err != nil {
		tb.Fatal(err)
	}
}

func wantCode(tb testing.TB, err error, code engine.Code) {
	tb.Helper()
	if engine.CodeOf(err) != code {
		tb.Fatalf("error %v: code %q, want %q", err, engine.CodeOf(err), code)
	}
}

// must runs writes until one fails.
func must(errs ...func() error) error {
	for _, fn := range errs {
		if err := fn(); err != nil {
			return err
		}
	}
	return nil
}

func testRig(id, name string) engine.Rig {
	return engine.Rig{ID: id, Name: name, CreatedAt: epoch, UpdatedAt: epoch}
}

func testPod(id, rigID, name string) engine.Pod {
	return engine.Pod{ID: id, RigID: rigID, Name: name, Label: name}
}

func testSeat(id string, p engine.Pod, member string) engine.Seat {
	return engine.Seat{
		ID: id, RigID: p.RigID, PodID: p.ID, Pod: p.Name, Member: member, Runtime: engine.RuntimeClaude,
		AgentRef: "builtin:x", RestorePolicy: engine.RestoreResume, Cwd: "/src", CreatedAt: epoch, UpdatedAt: epoch,
	}
}

func testSession(id, seatID string, generation int64) engine.Session {
	return engine.Session{
		ID: id, SeatID: seatID, Generation: generation, Name: "dev-impl@shop", Runtime: engine.RuntimeClaude,
		Status: engine.SessionRunning, Origin: engine.OriginLaunched, Startup: engine.StartupReady, CreatedAt: epoch,
	}
}

// oneSeat fills a record with rig r1 "shop", pod p1 "dev" and seat s1 "impl".
func oneSeat(tx engine.Tx) error {
	pod := testPod("p1", "r1", "dev")
	return must(
		func() error { return tx.InsertRig(testRig("r1", "shop")) },
		func() error { return tx.InsertPod(pod) },
		func() error { return tx.InsertSeat(testSeat("s1", pod, "impl")) },
	)
}

// fleet fills a record with rigs of twenty seats each, every one with an
// occupant, a predecessor, a binding, usage, a verdict, work and edges.
func fleet(tb testing.TB, db *DB, seats int) {
	tb.Helper()
	write(tb, db, func(tx engine.Tx) error {
		for i := range seats {
			rig := fmt.Sprintf("r%03d", i/20)
			pod := testPod(fmt.Sprintf("p%03d", i/10), rig, fmt.Sprintf("pod%d", i/10))
			if i%20 == 0 {
				if err := tx.InsertRig(testRig(rig, "rig"+rig)); err != nil {
					return err
				}
			}
			if i%10 == 0 {
				if err := tx.InsertPod(pod); err != nil {
					return err
				}
			}
			if err := fleetSeat(tx, pod, i); err != nil {
				return err
			}
		}
		return nil
	})
}

func fleetSeat(tx engine.Tx, pod engine.Pod, i int) error {
	s := testSeat(fmt.Sprintf("s%04d", i), pod, fmt.Sprintf("m%d", i))
	s.Env = map[string]string{"A": "1"}
	s.Generation = 2
	old, now := testSession(s.ID+"a", s.ID, 1), testSession(s.ID+"b", s.ID, 2)
	old.Status = engine.SessionSuperseded
	now.Token = engine.NewResumeToken(fmt.Sprintf("3f2a77c0-0000-4000-8000-%012d", i))
	fns := []func() error{
		func() error { return tx.InsertSeat(s) },
		func() error { return tx.InsertSession(old) },
		func() error { return tx.InsertSession(now) },
		func() error {
			return tx.PutBinding(engine.Binding{SeatID: s.ID, Epoch: "1-2", SessionName: "x", Pane: "%1", UpdatedAt: epoch})
		},
		func() error {
			return tx.PutUsage(engine.StoredUsage{SeatID: s.ID, SessionID: now.ID, Usage: engine.Usage{Known: true, SampledAt: epoch}})
		},
		func() error { return tx.PutVerdict(engine.Verdict{SeatID: s.ID, Verdict: "verified", At: epoch}) },
		func() error {
			return tx.InsertWork(engine.WorkItem{ID: s.ID + "w", SeatID: s.ID, State: "pending", CreatedAt: epoch, UpdatedAt: epoch})
		},
		func() error {
			_, err := tx.AppendEvent(engine.Event{At: epoch, Type: "seat.started", RigID: s.RigID, SeatID: s.ID})
			return err
		},
	}
	if i%20 != 0 {
		fns = append(fns, func() error {
			return tx.InsertEdge(engine.Edge{RigID: s.RigID, From: fmt.Sprintf("s%04d", i-i%20), To: s.ID, Kind: engine.EdgeDelegatesTo})
		})
	}
	return must(fns...)
}
