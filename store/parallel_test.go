package store

import (
	"context"
	"errors"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"rig/engine"
)

func counted(tb testing.TB, db *DB) (counter, events int) {
	tb.Helper()
	read(tb, db, func(r engine.Reader) error {
		s, err := r.Meta("counter")
		if err != nil {
			return err
		}
		counter, _ = strconv.Atoi(s)
		evs, err := r.Events(engine.EventFilter{Types: []string{"counted"}, Limit: 1 << 20})
		events = len(evs)
		return err
	})
	return counter, events
}

// Case B90: twenty processes open a record that none has made yet and write at
// once. Nobody is told that it is locked, and every change is there once.
func TestManyProcessesOnAFreshRecord(t *testing.T) {
	path := recordPath(t)
	var ps []*process
	if err := os.MkdirAll(path[:len(path)-len("/record.db")], 0o700); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		ps = append(ps, start(t, "count", path, false))
	}
	for _, p := range ps {
		if err := p.in.Close(); err != nil { // the go
			t.Fatal(err)
		}
	}
	for _, p := range ps {
		if out := p.rest(t); out != "" {
			t.Errorf("a process said: %s", out)
		}
	}
	db := open1(t, path)
	if n, events := counted(t, db); n != 200 || events != 200 {
		t.Errorf("counter %d, events %d, want 200 of each", n, events)
	}
	if err := db.Integrity(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestManyHandlesInOneProcess(t *testing.T) {
	path := recordPath(t)
	var wg sync.WaitGroup
	errs := make(chan error, 20)
	for range 20 {
		wg.Go(func() {
			db, err := Open(path)
			for range 10 {
				if err == nil {
					err = count(db)
				}
			}
			if err == nil {
				err = db.Close()
			}
			errs <- err
		})
	}
	wg.Wait()
	for range 20 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if n, events := counted(t, open1(t, path)); n != 200 || events != 200 {
		t.Errorf("counter %d, events %d, want 200 of each", n, events)
	}
}

// Whoever opens a record that is not there yet finds it made, whatever the others
// are in the middle of. The race is narrow, so it is run many times.
func TestFirstOpenersMeet(t *testing.T) {
	for range 10 {
		path := recordPath(t)
		var wg sync.WaitGroup
		ready := make(chan struct{})
		for range 12 {
			wg.Go(func() {
				<-ready
				db, err := Open(path)
				if err == nil {
					err = db.Close()
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		close(ready)
		wg.Wait()
	}
}

func TestUntilFreeRepeatsABusyStep(t *testing.T) {
	path := recordPath(t)
	open1(t, path)
	holder, other := rawDB(t, path), rawDB(t, path)
	execRaw(t, other, "PRAGMA busy_timeout = 0")
	execRaw(t, holder, "BEGIN IMMEDIATE")
	tries := 0
	step := func() error {
		if tries++; tries == 3 {
			execRaw(t, holder, "COMMIT")
		}
		_, err := other.Exec("BEGIN IMMEDIATE")
		return err
	}
	if err := untilFree(context.Background(), step); err != nil || tries != 3 {
		t.Errorf("after %d tries: %v", tries, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := holder.Exec("PRAGMA busy_timeout = 0")
	busy := func() error { _, err := holder.Exec("BEGIN IMMEDIATE"); return err }
	if err = errors.Join(err, untilFree(ctx, busy)); !isCode(err, sqliteBusy) {
		t.Errorf("a caller that gave up gets %v", err)
	}
}

// Case B90: a writer waits for another process's three-second transaction, and
// readers do not notice it.
func TestWriterWaitsReadersDoNot(t *testing.T) {
	path := recordPath(t)
	db := open1(t, path)
	holder := start(t, "hold", path, false)
	if got := holder.line(t); got != "held" {
		t.Fatal(got)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	err := db.Read(ctx, func(r engine.Reader) error {
		if s, err := r.Meta("held"); s != "" || err != nil {
			t.Errorf("an open transaction is visible: %q, %v", s, err)
		}
		_, err := r.Record()
		return err
	})
	if err != nil {
		t.Errorf("a reader had to wait: %v", err)
	}
	if err := count(db); err != nil {
		t.Fatalf("the writer did not wait: %v", err)
	}
	read(t, db, func(r engine.Reader) error {
		if s, err := r.Meta("held"); s != "yes" || err != nil {
			t.Errorf("the holder's commit came after ours: %q, %v", s, err)
		}
		return nil
	})
	holder.rest(t)
}

func TestWriterGivesUpWithItsContext(t *testing.T) {
	path := recordPath(t)
	a, b := open1(t, path), open1(t, path)
	write(t, a, func(engine.Tx) error {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		err := b.Write(ctx, func(engine.Tx) error { t.Error("two writers at once"); return nil })
		wantCode(t, err, engine.CodeUnavailable)
		ctx, stop := context.WithCancel(context.Background())
		stop()
		wantCode(t, b.Write(ctx, func(engine.Tx) error { return nil }), engine.CodeCancelled)
		wantCode(t, b.Read(ctx, func(engine.Reader) error { return nil }), engine.CodeCancelled)
		return nil
	})
	if err := count(b); err != nil {
		t.Errorf("after giving up: %v", err)
	}
}

func TestKilledWriterLeavesCommittedRowsOnly(t *testing.T) {
	path := recordPath(t)
	open1(t, path)
	p := start(t, "crash", path, false)
	if got := p.line(t); got != "halfway" {
		t.Fatal(got)
	}
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() < 1<<20 {
		t.Fatalf("nothing of the open transaction reached the log: %v %v", info, err)
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait() // it was killed
	ro, err := OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close()
	for _, db := range []*DB{ro, open1(t, path)} {
		read(t, db, func(r engine.Reader) error {
			evs, err := r.Events(engine.EventFilter{})
			if len(evs) != 1 || evs[0].Type != "counted" {
				t.Errorf("events after the crash: %v", evs)
			}
			return err
		})
		if err := db.Integrity(context.Background()); err != nil {
			t.Error(err)
		}
	}
	if err := count(open1(t, path)); err != nil {
		t.Errorf("the next writer: %v", err)
	}
}

// A process that died while it made the file leaves a rollback journal. A reader
// cannot repair that; the next Open does.
func TestDeathDuringTheFirstOpening(t *testing.T) {
	path := recordPath(t)
	if err := os.MkdirAll(path[:len(path)-len("/record.db")], 0o700); err != nil {
		t.Fatal(err)
	}
	p := start(t, "journal", path, false)
	if got := p.line(t); got != "halfway" {
		t.Fatal(got)
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait() // it was killed
	if info, err := os.Stat(path + "-journal"); err != nil || info.Size() == 0 {
		t.Fatalf("no hot journal to test with: %v", err)
	}
	if ro, err := OpenReadOnly(path); err == nil {
		t.Errorf("a half-written file was read: %v", ro.Close())
	} else {
		wantCode(t, err, CodeRecordTorn)
	}
	db := open1(t, path)
	if err := count(db); err != nil {
		t.Error(err)
	}
	if err := db.Integrity(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestChanged(t *testing.T) {
	path := recordPath(t)
	ctx := context.Background()
	ro, err := OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close()
	var last int64
	moved := func(db *DB, last *int64) bool {
		n, err := db.Changed(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { *last = n }()
		return n != *last
	}
	if moved(ro, &last) {
		t.Error("no record, yet something changed")
	}
	a := open1(t, path)
	if !moved(ro, &last) {
		t.Error("the new record was not noticed")
	}
	b := open1(t, path)
	var lastA, lastB int64
	moved(a, &lastA)
	moved(b, &lastB)
	for i := range 3 {
		write(t, a, func(tx engine.Tx) error { return tx.SetMeta("x", strconv.Itoa(i)) })
		if !moved(a, &lastA) || !moved(b, &lastB) || !moved(ro, &last) {
			t.Errorf("commit %d was not noticed", i)
		}
		if moved(a, &lastA) || moved(b, &lastB) || moved(ro, &last) {
			t.Errorf("after commit %d it changes by itself", i)
		}
	}
	wantCode(t, a.Write(ctx, func(tx engine.Tx) error {
		return engine.Errorf(engine.CodePlanStale, "no").WithHint("none")
	}), engine.CodePlanStale)
	if moved(a, &lastA) || moved(b, &lastB) {
		t.Error("a rollback counts as a change")
	}
}
