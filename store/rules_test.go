package store

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"rig/engine"
)

// What the record refuses, by code. Each case runs on a rig r1 "shop" with pod p1
// "dev" and seat s1 "impl", beside a rig r2 "other" with a seat s2.
func TestRefusals(t *testing.T) {
	pod1, pod2 := testPod("p1", "r1", "dev"), testPod("p2", "r2", "dev")
	sess := func(change func(*engine.Session)) func(engine.Tx) error {
		return func(tx engine.Tx) error {
			s := testSession("o1", "s1", 1)
			change(&s)
			return tx.InsertSession(s)
		}
	}
	twice := func(fn func(engine.Tx) error) func(engine.Tx) error {
		return func(tx engine.Tx) error {
			if err := fn(tx); err != nil {
				return errors.Join(errors.New("the first one"), err)
			}
			return fn(tx)
		}
	}
	tenure := func(tx engine.Tx) error {
		return tx.InsertTenure(engine.Tenure{SeatID: "s1", Generation: 1, StartedAt: epoch})
	}
	operation := func(tx engine.Tx) error {
		return tx.InsertOperation(engine.Operation{ID: "op1", State: engine.OpRunning, StartedAt: epoch})
	}
	edge := func(rig, from, to string, kind engine.EdgeKind) func(engine.Tx) error {
		return func(tx engine.Tx) error {
			return tx.InsertEdge(engine.Edge{RigID: rig, From: from, To: to, Kind: kind})
		}
	}
	lease := func(fence int64, op string) func(engine.Tx) error {
		return func(tx engine.Tx) error {
			return tx.PutLease(engine.Lease{Key: "seat:s1", OpID: op, Fence: fence, GrantedAt: epoch, ExpiresAt: epoch})
		}
	}
	db := fresh(t)
	write(t, db, func(tx engine.Tx) error {
		return must(
			func() error { return oneSeat(tx) },
			func() error { return tx.InsertRig(testRig("r2", "other")) },
			func() error { return tx.InsertPod(pod2) },
			func() error { return tx.InsertSeat(testSeat("s2", pod2, "impl")) },
		)
	})
	before := dump(t, db)
	for name, c := range map[string]struct {
		code engine.Code
		do   func(engine.Tx) error
	}{
		"two active rigs of a name": {engine.CodeConflict, func(tx engine.Tx) error { return tx.InsertRig(testRig("r9", "shop")) }},
		"a used rig id":             {engine.CodeConflict, func(tx engine.Tx) error { return tx.InsertRig(testRig("r1", "x")) }},
		"a rig without a name":      {engine.CodeInvalid, func(tx engine.Tx) error { return tx.InsertRig(testRig("r9", "")) }},
		"a rig without a time":      {engine.CodeInvalid, func(tx engine.Tx) error { return tx.InsertRig(engine.Rig{ID: "r9", Name: "x"}) }},
		"a rig from the far future": {engine.CodeInvalid, func(tx engine.Tx) error {
			r := testRig("r9", "x")
			r.UpdatedAt = time.Unix(1<<40, 0)
			return tx.InsertRig(r)
		}},
		"policies that are no JSON": {engine.CodeInvalid, func(tx engine.Tx) error {
			r := testRig("r9", "x")
			r.Policies = "{"
			return tx.InsertRig(r)
		}},
		"two pods of a name": {engine.CodeConflict, func(tx engine.Tx) error { return tx.InsertPod(testPod("p9", "r1", "dev")) }},
		"a pod of no rig":    {engine.CodeConflict, func(tx engine.Tx) error { return tx.InsertPod(testPod("p9", "none", "dev")) }},
		"two members of a name": {engine.CodeConflict, func(tx engine.Tx) error {
			return tx.InsertSeat(testSeat("s9", pod1, "impl"))
		}},
		"two seats of one address": {engine.CodeConflict, func(tx engine.Tx) error {
			long := testPod("p9", "r1", "dev-a")
			return must(
				func() error { return tx.InsertPod(long) },
				func() error { return tx.InsertSeat(testSeat("s8", pod1, "a-b")) },
				func() error { return tx.InsertSeat(testSeat("s9", long, "b")) },
			)
		}},
		"a seat in a pod of another rig": {engine.CodeConflict, func(tx engine.Tx) error {
			s := testSeat("s9", pod2, "x")
			s.RigID = "r1"
			return tx.InsertSeat(s)
		}},
		"a seat that misnames its pod": {engine.CodeConflict, func(tx engine.Tx) error {
			s := testSeat("s9", pod1, "x")
			s.Pod = "ops"
			return tx.InsertSeat(s)
		}},
		"an edge between two rigs":   {engine.CodeConflict, edge("r1", "s1", "s2", engine.EdgeDelegatesTo)},
		"an edge of another rig":     {engine.CodeConflict, edge("r2", "s1", "s1", engine.EdgeDelegatesTo)},
		"an edge to no seat":         {engine.CodeConflict, edge("r1", "s1", "s9", engine.EdgeDelegatesTo)},
		"an edge of an unknown kind": {engine.CodeInvalid, edge("r1", "s1", "s1", "likes")},
		"an edge twice":              {engine.CodeConflict, twice(edge("r1", "s1", "s1", engine.EdgeCanObserve))},
		"two sessions of a generation": {engine.CodeConflict, func(tx engine.Tx) error {
			return must(
				func() error { return tx.InsertSession(testSession("o1", "s1", 1)) },
				func() error { return tx.InsertSession(testSession("o2", "s1", 1)) },
			)
		}},
		"a session of no seat":         {engine.CodeConflict, sess(func(s *engine.Session) { s.SeatID = "none" })},
		"a session of generation 0":    {engine.CodeInvalid, sess(func(s *engine.Session) { s.Generation = 0 })},
		"an unknown session status":    {engine.CodeInvalid, sess(func(s *engine.Session) { s.Status = "asleep" })},
		"an unknown origin":            {engine.CodeInvalid, sess(func(s *engine.Session) { s.Origin = "" })},
		"settings that are no JSON":    {engine.CodeInvalid, sess(func(s *engine.Session) { s.Settings = "nope" })},
		"two tenures of a generation":  {engine.CodeConflict, twice(tenure)},
		"the end of an absent tenure":  {engine.CodeNotFound, func(tx engine.Tx) error { return tx.EndTenure("s1", 4, epoch) }},
		"reopening an absent tenure":   {engine.CodeNotFound, func(tx engine.Tx) error { return tx.ReopenTenure("s1", 4) }},
		"a binding of no seat":         {engine.CodeConflict, func(tx engine.Tx) error { return tx.PutBinding(engine.Binding{SeatID: "none", UpdatedAt: epoch}) }},
		"an operation id twice":        {engine.CodeConflict, twice(operation)},
		"an operation without a state": {engine.CodeInvalid, func(tx engine.Tx) error { return tx.InsertOperation(engine.Operation{ID: "x", StartedAt: epoch}) }},
		"a step of no operation": {engine.CodeConflict, func(tx engine.Tx) error {
			return tx.PutStep(engine.OperationStep{OpID: "none", State: engine.StepPending})
		}},
		"evidence that is no JSON": {engine.CodeInvalid, func(tx engine.Tx) error {
			return must(func() error { return operation(tx) }, func() error {
				return tx.PutStep(engine.OperationStep{OpID: "op1", State: engine.StepDone, Evidence: []byte("{]")})
			})
		}},
		"a lease of an older grant": {engine.CodeLeaseLost, func(tx engine.Tx) error {
			return must(func() error { return lease(5, "op2")(tx) }, func() error { return lease(4, "op1")(tx) })
		}},
		"an event without a type": {engine.CodeInvalid, func(tx engine.Tx) error {
			_, err := tx.AppendEvent(engine.Event{At: epoch})
			return err
		}},
		"an event without a time": {engine.CodeInvalid, func(tx engine.Tx) error {
			_, err := tx.AppendEvent(engine.Event{Type: "x"})
			return err
		}},
		"a payload that is no JSON": {engine.CodeInvalid, func(tx engine.Tx) error {
			_, err := tx.AppendEvent(engine.Event{At: epoch, Type: "x", Payload: []byte("x")})
			return err
		}},
		"two rows for one pane": {engine.CodeConflict, func(tx engine.Tx) error {
			d := engine.DiscoveredSession{ID: "d1", Epoch: "e", Pane: "%1", Status: "active", FirstSeen: epoch, LastSeen: epoch}
			other := d
			other.ID = "d2"
			return must(func() error { return tx.PutDiscovered(d) }, func() error { return tx.PutDiscovered(other) })
		}},
		"work for no seat": {engine.CodeConflict, func(tx engine.Tx) error {
			return tx.InsertWork(engine.WorkItem{ID: "w", SeatID: "none", State: "pending", CreatedAt: epoch, UpdatedAt: epoch})
		}},
		"work of an unknown state": {engine.CodeInvalid, func(tx engine.Tx) error {
			return tx.InsertWork(engine.WorkItem{ID: "w", SeatID: "s1", State: "lost", CreatedAt: epoch, UpdatedAt: epoch})
		}},
		"a share that is no number": {engine.CodeInvalid, func(tx engine.Tx) error {
			return tx.PutUsage(engine.StoredUsage{SeatID: "s1", Usage: engine.Usage{SampledAt: epoch, Percent: math.NaN()}})
		}},
		"a sample without a time": {engine.CodeInvalid, func(tx engine.Tx) error { return tx.PutUsage(engine.StoredUsage{SeatID: "s1"}) }},
		"an unknown verdict": {engine.CodeInvalid, func(tx engine.Tx) error {
			return tx.PutVerdict(engine.Verdict{SeatID: "s1", Verdict: "fine", At: epoch})
		}},
		"a key of the record itself":  {engine.CodeInvalid, func(tx engine.Tx) error { return tx.SetMeta(keyFence, "0") }},
		"deleting an absent rig":      {engine.CodeNotFound, func(tx engine.Tx) error { return tx.DeleteRig("none") }},
		"deleting an absent pod":      {engine.CodeNotFound, func(tx engine.Tx) error { return tx.DeletePod("none") }},
		"deleting an absent seat":     {engine.CodeNotFound, func(tx engine.Tx) error { return tx.DeleteSeat("none") }},
		"deleting an absent snapshot": {engine.CodeNotFound, func(tx engine.Tx) error { return tx.DeleteSnapshot("none") }},
		"updating an absent rig":      {engine.CodeNotFound, func(tx engine.Tx) error { r := testRig("none", "x"); return tx.UpdateRig(&r) }},
		"updating an absent seat":     {engine.CodeNotFound, func(tx engine.Tx) error { s := testSeat("none", pod1, "x"); return tx.UpdateSeat(&s) }},
		"updating an absent session":  {engine.CodeNotFound, func(tx engine.Tx) error { s := testSession("none", "s1", 1); return tx.UpdateSession(&s) }},
		"updating an absent operation": {engine.CodeNotFound, func(tx engine.Tx) error {
			return tx.UpdateOperation(&engine.Operation{ID: "x", State: "done", StartedAt: epoch})
		}},
		"updating absent work": {engine.CodeNotFound, func(tx engine.Tx) error {
			return tx.UpdateWork(&engine.WorkItem{ID: "x", State: "done", UpdatedAt: epoch})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			err := db.Write(context.Background(), c.do)
			wantCode(t, err, c.code)
			var e *engine.Error
			if !errors.As(err, &e) || e.Hint == "" || e.Msg == "" || strings.HasPrefix(err.Error(), "the first one") {
				t.Errorf("a refusal without a hint: %+v", err)
			}
			if dump(t, db) != before {
				t.Error("a refused transaction left something behind")
			}
		})
	}
}

func dump(tb testing.TB, db *DB) string {
	tb.Helper()
	s, err := db.Dump(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestUpdatesCompareVersions(t *testing.T) {
	db := fresh(t)
	write(t, db, oneSeat)
	var a, b engine.Seat
	read(t, db, func(r engine.Reader) (err error) { a, err = r.Seat("s1"); b = a; return err })
	a.Model, b.Model = "one", "two"
	write(t, db, func(tx engine.Tx) error { return tx.UpdateSeat(&a) })
	wantCode(t, db.Write(context.Background(), func(tx engine.Tx) error { return tx.UpdateSeat(&b) }), engine.CodeConflict)
	if b.Version != 0 || a.Version != 1 {
		t.Errorf("versions %d and %d, want 1 and 0", a.Version, b.Version)
	}
	a.Pod, a.Member, a.RigID, a.CreatedAt = "x", "y", "z", epoch.Add(time.Hour)
	write(t, db, func(tx engine.Tx) error { return tx.UpdateSeat(&a) }) // the writer's copy is still good
	read(t, db, func(r engine.Reader) error {
		s, err := r.Seat("s1")
		if s.Model != "one" || s.Version != 2 || s.Pod != "dev" || s.Member != "impl" || s.RigID != "r1" || !s.CreatedAt.Equal(epoch) {
			t.Errorf("stored %+v", s)
		}
		return err
	})
}

func TestNamesMayReturn(t *testing.T) {
	db := fresh(t)
	write(t, db, func(tx engine.Tx) error {
		old := testRig("r1", "shop")
		old.ArchivedAt = epoch
		older := testRig("r0", "shop")
		older.ArchivedAt, older.CreatedAt = epoch, epoch.Add(-time.Hour)
		return must(
			func() error { return tx.InsertRig(old) },
			func() error { return tx.InsertRig(older) },
			func() error { return tx.InsertRig(testRig("r2", "shop")) },
		)
	})
	read(t, db, func(r engine.Reader) error {
		active, err := r.RigsNamed("shop", false)
		all, err2 := r.RigsNamed("shop", true)
		if len(active) != 1 || active[0].ID != "r2" || len(all) != 3 || all[0].ID != "r0" {
			t.Errorf("active %v, all %v", active, all)
		}
		listed, err3 := r.AllRigs(false)
		every, err4 := r.AllRigs(true)
		if len(listed) != 1 || len(every) != 3 {
			t.Errorf("%d active and %d rigs", len(listed), len(every))
		}
		return errors.Join(err, err2, err3, err4)
	})
	err := db.Write(context.Background(), func(tx engine.Tx) error {
		r, err := tx.Rig("r1")
		if err != nil {
			return err
		}
		r.ArchivedAt = time.Time{}
		return tx.UpdateRig(&r)
	})
	wantCode(t, err, engine.CodeConflict)
}

func TestFencesGrowAndLeasesGoBack(t *testing.T) {
	db := fresh(t)
	var last int64
	for range 5 {
		write(t, db, func(tx engine.Tx) error {
			for range 2 {
				n, err := tx.NextFence()
				if err != nil || n <= last {
					t.Fatalf("fence %d after %d, %v", n, last, err)
				}
				last = n
			}
			return nil
		})
	}
	l := engine.Lease{Key: "seat:s1", OpID: "op1", Fence: last, GrantedAt: epoch, ExpiresAt: epoch}
	write(t, db, func(tx engine.Tx) error {
		renewed := l
		renewed.ExpiresAt = epoch.Add(time.Minute)
		return must(
			func() error { return tx.PutLease(l) },
			func() error { return tx.PutLease(renewed) },
			func() error { return tx.DeleteLease(l.Key, "another") }, // not the holder: nothing happens
			func() error { return tx.DeleteLease("rig:none", "op1") },
		)
	})
	read(t, db, func(r engine.Reader) error {
		got, err := r.Lease(l.Key)
		if got.OpID != "op1" || !got.ExpiresAt.Equal(epoch.Add(time.Minute)) {
			t.Errorf("lease %+v", got)
		}
		for _, c := range []struct {
			op    string
			fence int64
			keys  int
		}{{"op1", last, 1}, {"op1", last - 1, 0}, {"op2", last, 0}} {
			keys, kerr := r.LeaseKeys(c.op, c.fence)
			if kerr != nil || len(keys) != c.keys || c.keys > 0 && keys[0] != l.Key {
				t.Errorf("%s with fence %d holds %v, %v", c.op, c.fence, keys, kerr)
			}
		}
		return err
	})
	write(t, db, func(tx engine.Tx) error { return tx.DeleteLease(l.Key, "op1") })
	read(t, db, func(r engine.Reader) error {
		_, err := r.Lease(l.Key)
		wantCode(t, err, engine.CodeNotFound)
		return nil
	})
}

// The optional fields of a row: nothing stays nothing.
func TestEmptyFieldsStayEmpty(t *testing.T) {
	db := fresh(t)
	seat := testSeat("s1", testPod("p1", "r1", "dev"), "impl")
	sess := testSession("o1", "s1", 1)
	op := engine.Operation{ID: "op1", State: engine.OpRunning, StartedAt: epoch}
	step := engine.OperationStep{OpID: "op1", State: engine.StepPending}
	write(t, db, func(tx engine.Tx) error {
		return must(
			func() error { return oneSeat(tx) },
			func() error { return tx.InsertSession(sess) },
			func() error { return tx.InsertOperation(op) },
			func() error { return tx.PutStep(step) },
		)
	})
	read(t, db, func(r engine.Reader) error {
		gotSeat, err := r.Seat("s1")
		gotSess, err2 := r.Session("o1")
		gotOp, err3 := r.Operation("op1")
		steps, err4 := r.Steps("op1")
		for _, pair := range [][2]any{{gotSeat, seat}, {gotSess, sess}, {gotOp, op}, {steps, []engine.OperationStep{step}}} {
			if !reflect.DeepEqual(pair[0], pair[1]) {
				t.Errorf("read    %+v\nwritten %+v", pair[0], pair[1])
			}
		}
		return errors.Join(err, err2, err3, err4)
	})
}

func TestFunctionsOutlivedByTheirTransaction(t *testing.T) {
	db := fresh(t)
	var kept engine.Tx
	write(t, db, func(tx engine.Tx) error { kept = tx; return oneSeat(tx) })
	_, err := kept.Seat("s1")
	wantCode(t, err, engine.CodeInternal)
	wantCode(t, kept.DeleteSeat("s1"), engine.CodeInternal)
	func() {
		defer func() { _ = recover() }()
		_ = db.Write(context.Background(), func(tx engine.Tx) error {
			_ = tx.DeleteRig("r1")
			panic("a fault in the middle")
		})
	}()
	read(t, db, func(r engine.Reader) error { _, err := r.Rig("r1"); return err })
	if err := count(db); err != nil {
		t.Errorf("the lock stayed after a panic: %v", err)
	}
}
