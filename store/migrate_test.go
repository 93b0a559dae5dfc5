package store

import (
	"compress/gzip"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rig/engine"
)

// rawDB opens a database without the package's care.
func rawDB(tb testing.TB, path string) *sql.DB {
	tb.Helper()
	h, err := sql.Open("sqlite", dsn(path, "mode=rwc"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = h.Close() })
	h.SetMaxOpenConns(1)
	return h
}

func execRaw(tb testing.TB, h *sql.DB, statements ...string) {
	tb.Helper()
	for _, q := range statements {
		if _, err := h.Exec(q); err != nil {
			tb.Fatalf("%s: %v", q, err)
		}
	}
}

// column gives the last column of every row of a query, as text.
func column(tb testing.TB, h *sql.DB, query string) (out []string) {
	tb.Helper()
	rows, err := h.Query(query)
	if err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		tb.Fatal(err)
	}
	cells := make([]any, len(names))
	for i := range cells {
		cells[i] = new(sql.NullString)
	}
	for rows.Next() {
		if err := rows.Scan(cells...); err != nil {
			tb.Fatal(err)
		}
		out = append(out, cells[len(cells)-1].(*sql.NullString).String)
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	return out
}

// schema lists the text of everything that a database is made of.
func schema(tb testing.TB, path string) string {
	tb.Helper()
	return strings.Join(column(tb, rawDB(tb, path),
		"SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema ORDER BY type, name"), "\n")
}

// A record of every version that ever was becomes one of this version, with its
// rows. testdata/rows-NNNN.sql fills a record of that version.
func TestMigrationsFromEveryVersion(t *testing.T) {
	reference := recordPath(t)
	open1(t, reference)
	want := schema(t, reference)
	for version := 0; version <= latest(); version++ {
		t.Run(fmt.Sprint("from ", version), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "record.db")
			h := rawDB(t, path)
			ctx := context.Background()
			for i, name := range migrations()[:version] {
				if err := migrateTo(ctx, h, i+1, name); err != nil {
					t.Fatal(err)
				}
			}
			if version > 0 {
				rows, err := os.ReadFile(fmt.Sprintf("testdata/rows-%04d.sql", version))
				if err != nil {
					t.Fatal(err)
				}
				execRaw(t, h, string(rows))
			}
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
			db := open1(t, path)
			if got := schema(t, path); got != want {
				t.Errorf("the tables differ from those of a new record:\n%s\nwant\n%s", got, want)
			}
			if err := db.Integrity(ctx); err != nil {
				t.Error(err)
			}
			if version > 0 {
				wantOldRows(t, db)
			}
		})
	}
}

// A record that a build of version 1 wrote in use, with the journal of a handover that was cut off and two undo windows whose
// owners were killed, one of them behind some fifty newer operations.
func TestRecordOfVersion1Opens(t *testing.T) {
	packed, err := os.Open("testdata/record-0001.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "record.db")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = OpenReadOnly(path)
	wantCode(t, err, CodeRecordOlder)
	db := open1(t, path)
	if err := db.Integrity(context.Background()); err != nil {
		t.Error(err)
	}
	read(t, db, func(r engine.Reader) error {
		rec, err := r.Record()
		if err != nil {
			return err
		}
		if len(rec.Rigs) != 1 || len(rec.Seats) != 3 || len(rec.Bindings) != 3 || len(rec.Open) != 1 || len(rec.Leases) != 1 {
			t.Errorf("%d rigs, %d seats, %d bindings, %d open operations, %d leases", len(rec.Rigs), len(rec.Seats), len(rec.Bindings), len(rec.Open), len(rec.Leases))
		}
		ops, err := r.Operations(engine.OperationFilter{Undo: true})
		if len(ops) != 2 || ops[1].ID != "01M8MNVBF07EYG12NZN759FBCD" {
			t.Errorf("undo windows: %+v", ops)
		}
		return err
	})
}

// wantOldRows looks for what every testdata/rows-NNNN.sql holds.
func wantOldRows(t *testing.T, db *DB) {
	t.Helper()
	read(t, db, func(r engine.Reader) error {
		rec, err := r.Record()
		if err != nil {
			return err
		}
		if len(rec.Rigs) != 1 || len(rec.Pods) != 1 || len(rec.Seats) != 2 || len(rec.Edges) != 1 || len(rec.Sessions) != 1 ||
			len(rec.Bindings) != 1 || len(rec.Open) != 1 || rec.LastSeq != 2 {
			t.Errorf("after the migration: %+v", rec)
		}
		s, err := r.Session("o1")
		if s.Token.Reveal() != "0b5c1d2e-7f00-4a11-9c33-5d6e7f809102" {
			t.Errorf("the token did not survive: %v", s.Token)
		}
		tenures, err2 := r.Tenures("s1")
		snaps, err3 := r.Snapshots("r1")
		if len(tenures) != 1 || len(snaps) != 1 {
			t.Errorf("%d tenures, %d snapshots", len(tenures), len(snaps))
		}
		return errors.Join(err, err2, err3)
	})
}

func TestMigrationsAreNumbered(t *testing.T) {
	for i, name := range migrations() {
		if !strings.HasPrefix(filepath.Base(name), fmt.Sprintf("%04d_", i+1)) {
			t.Errorf("migration %d is called %s", i+1, name)
		}
	}
	if latest() == 0 {
		t.Error("no migration is built in")
	}
}

// Case B91: a record of a newer version, or one that an unknown build left half
// changed, is refused before anything is written.
func TestUnknownVersionsAreRefusedUntouched(t *testing.T) {
	for name, c := range map[string]struct {
		code       engine.Code
		statements []string
		words      []string
	}{
		"newer":                {engine.CodeRecordNewer, []string{"PRAGMA user_version = 9001"}, []string{"9001", fmt.Sprint("up to ", latest())}},
		"newer and alien":      {engine.CodeRecordNewer, []string{"PRAGMA user_version = 9001", "DROP TABLE meta"}, []string{"9001"}},
		"newer, other journal": {engine.CodeRecordNewer, []string{"PRAGMA journal_mode = DELETE", "PRAGMA user_version = 2000000000"}, []string{"2000000000"}},
		"a new table":          {engine.CodeRecordNewer, []string{"CREATE TABLE later (x)"}, []string{"half applied"}},
		"a new column":         {engine.CodeRecordNewer, []string{"ALTER TABLE seats ADD COLUMN later TEXT"}, []string{"half applied"}},
		"a lost table":         {engine.CodeRecordNewer, []string{"DROP TABLE acks"}, []string{"half applied"}},
		"a lost digest":        {engine.CodeRecordNewer, []string{"DELETE FROM meta"}, []string{"half applied"}},
		"version set to zero":  {engine.CodeRecordNewer, []string{"PRAGMA user_version = 0"}, []string{"half applied"}},
		"negative version":     {engine.CodeRecordNewer, []string{"PRAGMA user_version = -3"}, []string{"-3"}},
		"of another program":   {engine.CodeRecordDamaged, []string{"PRAGMA application_id = 7"}, []string{"not written by rig"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := recordPath(t)
			db, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, db, oneSeat)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			h := rawDB(t, path)
			execRaw(t, h, c.statements...)
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, 0o644); err != nil { // not even this is tidied up
				t.Fatal(err)
			}
			before, info := fingerprintFile(t, path), stat(t, path)
			for _, open := range []func(string) (*DB, error){Open, OpenReadOnly} {
				db, err := open(path)
				if err == nil {
					t.Fatalf("it was opened: %v", db.Close())
				}
				wantCode(t, err, c.code)
				var e *engine.Error
				for _, w := range append(c.words, path) {
					if !strings.Contains(err.Error(), w) {
						t.Errorf("%q does not name %q", err, w)
					}
				}
				if !errors.As(err, &e) || e.Hint == "" {
					t.Errorf("no hint in %+v", e)
				}
			}
			after := stat(t, path)
			if fingerprintFile(t, path) != before || after.Mode() != info.Mode() || !after.ModTime().Equal(info.ModTime()) {
				t.Errorf("the file was touched: %v, %v", info, after)
			}
		})
	}
}

func fingerprintFile(tb testing.TB, path string) string {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

func stat(tb testing.TB, path string) os.FileInfo {
	tb.Helper()
	info, err := os.Stat(path)
	if err != nil {
		tb.Fatal(err)
	}
	return info
}

// A console that stays open while a newer program migrates the file must stop.
func TestMigratedUnderAnOpenRecord(t *testing.T) {
	path := recordPath(t)
	db := open1(t, path)
	execRaw(t, rawDB(t, path), "PRAGMA user_version = 9001")
	err := db.Write(context.Background(), func(engine.Tx) error { t.Error("it may write"); return nil })
	wantCode(t, err, engine.CodeRecordNewer)
	wantCode(t, db.Read(context.Background(), func(engine.Reader) error { return nil }), engine.CodeRecordNewer)
}

// An empty file is what a crash between the first two steps of Open leaves.
func TestEmptyFileIsFilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ro, err := OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close()
	read(t, ro, func(r engine.Reader) error { _, err := r.Record(); return err })
	write(t, open1(t, path), oneSeat)
	read(t, ro, func(r engine.Reader) error { _, err := r.Rig("r1"); return err })
}

// TestOlderRecordSaysWhatToDo: whoever only reads cannot bring an older record up
// to date, and names the command that does. The file is not touched.
func TestOlderRecordSaysWhatToDo(t *testing.T) {
	path := recordPath(t)
	db, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before := fingerprintFile(t, path)
	known := migrations
	migrations = func() []string { return append(known(), "migrations/9999_later.sql") }
	defer func() { migrations = known }()
	_, err = OpenReadOnly(path)
	wantCode(t, err, CodeRecordOlder)
	var e *engine.Error
	if !errors.As(err, &e) || !strings.Contains(e.Hint, "`rig setup`") || !strings.Contains(e.Msg, fmt.Sprintf("version %d, this program reads version %d", latest()-1, latest())) {
		t.Errorf("%v → %+v", err, e)
	}
	if fingerprintFile(t, path) != before {
		t.Error("a reader changed the record")
	}
}
