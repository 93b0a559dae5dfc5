package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// preparedDB is a pool of one connection, so that every query meets the same
// kept statements.
func preparedDB(t *testing.T, path string) *sql.DB {
	t.Helper()
	h, err := open(1, dsn(path, "mode=rwc", "_pragma=journal_mode(WAL)"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// A query that is asked again while its first answer is still being read gets its
// own cursor, and both answers are whole.
func TestKeptStatementsAreNotShared(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := preparedDB(t, filepath.Join(t.TempDir(), "a.db"))
	run := func(q string, args ...any) {
		t.Helper()
		if _, err := h.ExecContext(ctx, q, args...); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE TABLE n (i INTEGER) STRICT; CREATE TABLE m (i INTEGER) STRICT") // a script
	for i := range 5 {
		run("INSERT INTO n (i) VALUES (?)", i)
	}
	tx, err := h.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	const all = "SELECT i FROM n ORDER BY i"
	outer, err := tx.QueryContext(ctx, all)
	if err != nil {
		t.Fatal(err)
	}
	defer outer.Close()
	var seen int
	for outer.Next() {
		var i, n int
		if err := outer.Scan(&i); err != nil || i != seen {
			t.Fatalf("row %d reads %d: %v", seen, i, err)
		}
		inner, err := tx.QueryContext(ctx, all)
		if err != nil {
			t.Fatal(err)
		}
		for inner.Next() {
			n++
		}
		if err := errors.Join(inner.Err(), inner.Close()); err != nil || n != 5 { //nolint:sqlclosecheck // in the loop
			t.Fatalf("the inner query gave %d rows: %v", n, err)
		}
		seen++
	}
	if err := outer.Err(); err != nil || seen != 5 {
		t.Errorf("%d rows: %v", seen, err)
	}
}

// A kept statement follows a schema that another connection changed, gives up its
// parameters after each run, and an error of one run is not that of the next.
func TestKeptStatementsFollowTheFile(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "a.db")
	a, b := preparedDB(t, path), preparedDB(t, path)
	run := func(h *sql.DB, q string, args ...any) error {
		_, err := h.ExecContext(ctx, q, args...)
		return err
	}
	if err := run(a, "CREATE TABLE n (i INTEGER PRIMARY KEY, s TEXT) STRICT"); err != nil {
		t.Fatal(err)
	}
	const insert, read = "INSERT INTO n (i, s) VALUES (?, ?)", "SELECT * FROM n WHERE i = ?"
	if err := run(a, insert, 1, "one"); err != nil {
		t.Fatal(err)
	}
	if err := run(a, insert, 1, "again"); err == nil {
		t.Error("a key was given twice")
	}
	if err := run(a, insert, 2, nil); err != nil {
		t.Errorf("after a refused one: %v", err)
	}
	row := func(cols int) string {
		t.Helper()
		rows, err := a.QueryContext(ctx, read, 2)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		values := make([]any, cols)
		dest := make([]any, cols)
		for i := range values {
			dest[i] = &values[i]
		}
		if !rows.Next() {
			t.Fatal(rows.Err())
		}
		if err := rows.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(fmt.Sprintln(values...))
	}
	if got := row(2); got != "2 <nil>" {
		t.Error(got)
	}
	if err := run(b, "ALTER TABLE n ADD COLUMN more TEXT DEFAULT 'x'"); err != nil {
		t.Fatal(err)
	}
	if got := row(3); got != "2 <nil> x" {
		t.Error(got)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	var n int
	if err := a.QueryRowContext(gone, read, 2).Scan(&n); !errors.Is(err, context.Canceled) {
		t.Errorf("a question whose asker has left: %v", err)
	}
	if got := row(3); got != "2 <nil> x" {
		t.Errorf("after a cancelled one: %s", got)
	}
}

// More queries than are kept still work.
func TestKeptStatementsAreBounded(t *testing.T) {
	t.Parallel()
	h := preparedDB(t, filepath.Join(t.TempDir(), "a.db"))
	for i := range maxPrepared + 10 {
		var n int
		if err := h.QueryRowContext(context.Background(), fmt.Sprintf("SELECT %d", i)).Scan(&n); err != nil || n != i {
			t.Fatalf("%d: %d, %v", i, n, err)
		}
	}
}
