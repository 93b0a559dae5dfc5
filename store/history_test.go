package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"rig/engine"
)

func TestHistorySurvivesItsRig(t *testing.T) {
	db := fresh(t)
	fleet(t, db, 40) // rigs r000 and r001
	write(t, db, func(tx engine.Tx) error {
		return must(
			func() error { return tx.InsertTenure(engine.Tenure{SeatID: "s0000", Generation: 1, StartedAt: epoch}) },
			func() error {
				return tx.InsertOperation(engine.Operation{ID: "op1", RigID: "r000", State: engine.OpDone, StartedAt: epoch})
			},
			func() error { return tx.PutStep(engine.OperationStep{OpID: "op1", State: engine.StepDone}) },
			func() error {
				return tx.InsertSnapshot(engine.SnapshotRow{ID: "n1", RigID: "r000", Kind: "manual", Status: "complete", CreatedAt: epoch})
			},
			func() error {
				return tx.PutStartupContext(engine.StartupContext{SeatID: "s0000", Runtime: engine.RuntimeClaude})
			},
		)
	})
	write(t, db, func(tx engine.Tx) error { return tx.DeleteRig("r000") })
	after := dump(t, db)
	for _, table := range []string{"tenures", "operations", "operation_steps", "snapshots"} {
		if !strings.Contains(after, "\n"+table+" ") {
			t.Errorf("%s did not survive", table)
		}
	}
	read(t, db, func(r engine.Reader) error {
		rec, err := r.Record()
		evs, err2 := r.Events(engine.EventFilter{RigID: "r000"})
		if len(rec.Seats) != 20 || len(evs) != 20 {
			t.Errorf("%d seats and %d events of the deleted rig", len(rec.Seats), len(evs))
		}
		return errors.Join(err, err2)
	})
	for _, line := range strings.Split(after, "\n") {
		table, _, _ := strings.Cut(line, " ")
		history := table == "events" || table == "tenures" || table == "operations" || table == "snapshots"
		if !history && (strings.Contains(line, `"s0000"`) || strings.Contains(line, `"r000"`)) {
			t.Errorf("left behind: %s", line)
		}
	}
	write(t, db, func(tx engine.Tx) error {
		return must(
			func() error { return tx.DeleteSeat("s0021") },
			func() error { return tx.DeletePod("p003") },
			func() error { return tx.DeleteSnapshot("n1") },
		)
	})
	read(t, db, func(r engine.Reader) error {
		rec, err := r.Record()
		if len(rec.Seats) != 9 || len(rec.Sessions) != 9 || len(rec.Bindings) != 9 || len(rec.Edges) != 8 || len(rec.Work) != 9 {
			t.Errorf("after deleting a seat and a pod: %d seats, %d sessions, %d bindings, %d edges, %d work counts",
				len(rec.Seats), len(rec.Sessions), len(rec.Bindings), len(rec.Edges), len(rec.Work))
		}
		return err
	})
	if err := db.Integrity(context.Background()); err != nil {
		t.Error(err)
	}
}

// The database itself keeps history, also from a program that means to change it.
func TestHistoryCannotBeRewritten(t *testing.T) {
	path := recordPath(t)
	db := open1(t, path)
	write(t, db, func(tx engine.Tx) error {
		_, err := tx.AppendEvent(engine.Event{At: epoch, Type: "x"})
		return errors.Join(err, tx.InsertTenure(engine.Tenure{SeatID: "s1", Generation: 1, Reason: "first", StartedAt: epoch}))
	})
	before := dump(t, db)
	h := rawDB(t, path)
	for _, q := range []string{
		"UPDATE events SET type = 'y'", "UPDATE events SET seq = 7", "DELETE FROM events",
		"UPDATE tenures SET reason = 'other'", "UPDATE tenures SET generation = 2", "DELETE FROM tenures",
	} {
		if _, err := h.Exec(q); engine.CodeOf(wrap(path, "test", err)) != engine.CodeConflict {
			t.Errorf("%s: %v", q, err)
		}
	}
	if dump(t, db) != before {
		t.Error("history was rewritten")
	}
	write(t, db, func(tx engine.Tx) error { return tx.EndTenure("s1", 1, epoch.Add(time.Hour)) })
	ended := tenureEnd(t, db)
	write(t, db, func(tx engine.Tx) error { return tx.ReopenTenure("s1", 1) })
	if reopened := tenureEnd(t, db); !ended.Equal(epoch.Add(time.Hour)) || !reopened.IsZero() {
		t.Errorf("ended %v, reopened %v", ended, reopened)
	}
}

func tenureEnd(tb testing.TB, db *DB) (end time.Time) {
	tb.Helper()
	read(tb, db, func(r engine.Reader) error {
		all, err := r.Tenures("s1")
		end = all[0].EndedAt
		return err
	})
	return end
}

func TestBindingsCountTheirVersions(t *testing.T) {
	db := fresh(t)
	write(t, db, oneSeat)
	for i := range 3 {
		write(t, db, func(tx engine.Tx) error {
			return errors.Join(
				tx.PutBinding(engine.Binding{SeatID: "s1", Pane: "%1", PanePID: i, UpdatedAt: epoch, Version: 77}),
				tx.PutStartupContext(engine.StartupContext{SeatID: "s1", Runtime: engine.RuntimeCodex}))
		})
	}
	read(t, db, func(r engine.Reader) error {
		b, err := r.Binding("s1")
		c, err2 := r.StartupContext("s1")
		if b.Version != 3 || b.PanePID != 2 || c.Version != 3 {
			t.Errorf("binding %+v, startup context %+v", b, c)
		}
		return errors.Join(err, err2)
	})
	write(t, db, func(tx engine.Tx) error { return errors.Join(tx.DeleteBinding("s1"), tx.DeleteBinding("s1")) })
	read(t, db, func(r engine.Reader) error {
		_, err := r.Binding("s1")
		wantCode(t, err, engine.CodeNotFound)
		return nil
	})
}

// A native id is in one column and nowhere else: not in another table, not in
// the dump, not in an error about its row.
func TestTokensStayInTheirColumn(t *testing.T) {
	const token = "6d1f0a52-93ab-4c1e-8f77-1b2c3d4e5f60"
	path := recordPath(t)
	db := open1(t, path)
	s := testSession("o1", "s1", 1)
	s.Token, s.Provenance = engine.NewResumeToken(token), engine.ProvenanceHook
	write(t, db, oneSeat)
	write(t, db, func(tx engine.Tx) error { return tx.InsertSession(s) })
	err := db.Write(context.Background(), func(tx engine.Tx) error {
		again := s
		again.ID = "o2"
		return tx.InsertSession(again)
	})
	wantCode(t, err, engine.CodeConflict)
	if strings.Contains(err.Error(), token) {
		t.Errorf("the token is in the error: %v", err)
	}
	if text := dump(t, db); strings.Contains(text, token) || !strings.Contains(text, "resume_token=sha256:") {
		t.Errorf("the dump shows the token, or no sign of it:\n%s", text)
	}
	if hits := grepColumns(t, path, token); !reflect.DeepEqual(hits, []string{"sessions.resume_token"}) {
		t.Errorf("the token is in %v", hits)
	}
}

// grepColumns looks for a text in every column of every table.
func grepColumns(t *testing.T, path, needle string) (hits []string) {
	t.Helper()
	h := rawDB(t, path)
	cols := column(t, h, "SELECT m.name || '.' || c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY 1")
	if len(cols) < 150 {
		t.Fatalf("only %d columns were found", len(cols))
	}
	for _, c := range cols {
		table, col, _ := strings.Cut(c, ".")
		var n int
		if err := h.QueryRow("SELECT count(*) FROM "+table+" WHERE instr("+col+", ?)", needle).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			hits = append(hits, c)
		}
	}
	return hits
}

func TestDumpTellsRecordsApart(t *testing.T) {
	a, b := fresh(t), fresh(t)
	fleet(t, a, 20)
	fleet(t, b, 20)
	if dump(t, a) != dump(t, b) {
		t.Error("the same rows give two dumps")
	}
	write(t, b, func(tx engine.Tx) error {
		s, err := tx.Session("s0003b")
		if err != nil {
			return err
		}
		s.Token = engine.NewResumeToken("another")
		return tx.UpdateSession(&s)
	})
	if dump(t, a) == dump(t, b) {
		t.Error("a changed token does not show")
	}
}

func TestBackup(t *testing.T) {
	db := fresh(t)
	fleet(t, db, 40)
	dest := filepath.Join(t.TempDir(), "copy it?.db")
	ctx := context.Background()
	if err := db.Backup(ctx, dest); err != nil {
		t.Fatal(err)
	}
	if info := stat(t, dest); info.Mode().Perm() != 0o600 {
		t.Errorf("the copy has mode %o", info.Mode().Perm())
	}
	if names := ls(t, filepath.Dir(dest)); len(names) != 1 {
		t.Errorf("left beside the copy: %v", names)
	}
	copied := open1(t, dest)
	if dump(t, db) != dump(t, copied) {
		t.Error("the copy differs")
	}
	if err := copied.Integrity(ctx); err != nil {
		t.Error(err)
	}
	write(t, copied, func(tx engine.Tx) error {
		seq, err := tx.AppendEvent(engine.Event{At: epoch, Type: "x"})
		if seq != 41 {
			t.Errorf("the copy counts events on from %d", seq)
		}
		return err
	})
	wantCode(t, db.Backup(ctx, dest), engine.CodeConflict)
	wantCode(t, db.Backup(ctx, filepath.Join(dest+".d", "none.db")), engine.CodeUnavailable)
	if _, err := os.Stat(dest + ".d"); err == nil {
		t.Error("a folder was made for the copy")
	}
}
