package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"rig/engine"
)

// Backup writes a copy of the record, as of one moment, to a new file that only
// its owner can read. The file is a record like this one. Writers are not held
// up. A dest that exists is CodeConflict.
func (db *DB) Backup(ctx context.Context, dest string) error {
	const op = "back up record"
	if _, err := os.Lstat(dest); !errors.Is(err, fs.ErrNotExist) {
		if err != nil {
			return wrap(dest, op, err)
		}
		return engine.Errorf(engine.CodeConflict, "the file is there already").On(op, dest).WithHint("name a new file")
	}
	h, err := db.source(ctx)
	if err != nil {
		return err
	}
	if h.empty {
		return engine.Errorf(engine.CodeNotFound, "there is no record yet").On(op, db.path).WithHint("nothing needs a backup")
	}
	tmp, err := os.CreateTemp(filepath.Dir(dest), ".record-*") // mode 0600
	if err != nil {
		return engine.Errorf(engine.CodeUnavailable, "the copy cannot be created").On(op, dest).Wrap(err).
			WithHint("name a file in a folder that this user can write")
	}
	defer os.Remove(tmp.Name())
	if err := errors.Join(db.vacuumInto(ctx, tmp.Name(), h.frozen), tmp.Sync(), tmp.Close()); err != nil {
		return wrapCtx(ctx, dest, op, err)
	}
	err = os.Link(tmp.Name(), dest) // unlike a rename it replaces nothing
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = os.Rename(tmp.Name(), dest)
	}
	return wrap(dest, op, err)
}

// vacuumInto copies through a connection of its own, which cannot write the
// record either: query_only would forbid the copy too.
func (db *DB) vacuumInto(ctx context.Context, dest string, frozen bool) error {
	params := []string{"mode=ro"}
	if frozen {
		params = append(params, "immutable=1")
	}
	h, err := open(1, dsn(db.path, params...))
	if err != nil {
		return err
	}
	_, err = h.ExecContext(ctx, "VACUUM INTO ?", dest)
	return errors.Join(err, h.Close())
}

// Integrity reads the whole record and checks its structure, its indexes and its
// foreign keys. Damage is CodeRecordDamaged and says where.
func (db *DB) Integrity(ctx context.Context) error {
	h, err := db.source(ctx)
	if err != nil {
		return err
	}
	tx, err := h.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return wrapCtx(ctx, db.path, "check record", err)
	}
	defer func() { _ = tx.Rollback() }() // it has only read
	v := &view{ctx: ctx, tx: tx, path: db.path}
	found, err := many(v, scanString, "PRAGMA integrity_check(10)")
	if err != nil {
		return err
	}
	if len(found) == 1 && found[0] == "ok" {
		found = nil
	}
	orphans, err := many(v, scanString, `SELECT "table" || ' row without its ' || parent FROM pragma_foreign_key_check LIMIT 10`)
	if err != nil {
		return err
	}
	if found = append(found, orphans...); len(found) > 0 {
		return engine.Errorf(engine.CodeRecordDamaged, "the record is damaged: %s", strings.Join(found, "; ")).
			On("check record", db.path).WithHint("move the file aside and put a backup in its place; agents in tmux are not touched by this")
	}
	return nil
}

// Dump gives every table as text: one line a row, tables and rows in a fixed
// order, so that two dumps are equal exactly when the records are. Resume tokens
// and snapshot data, which may hold some, stand as a digest. It is for
// comparisons, not for restoring.
func (db *DB) Dump(ctx context.Context) (string, error) {
	h, err := db.source(ctx)
	if err != nil {
		return "", err
	}
	tx, err := h.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return "", wrapCtx(ctx, db.path, "dump record", err)
	}
	defer func() { _ = tx.Rollback() }() // it has only read
	v := &view{ctx: ctx, tx: tx, path: db.path}
	tables, err := many(v, scanString, "SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_' ORDER BY name")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, table := range tables {
		if err := v.dumpTable(&b, table); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

func (v *view) dumpTable(b *strings.Builder, table string) error {
	rows, err := v.tx.QueryContext(v.ctx, "SELECT * FROM "+table)
	if err != nil {
		return v.fail("dump record", err)
	}
	defer rows.Close()
	cols, err := rows.Columns()
	if err != nil {
		return v.fail("dump record", err)
	}
	cells := make([]any, len(cols))
	dest := make([]any, len(cols))
	for i := range cells {
		dest[i] = &cells[i]
	}
	var lines []string
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return v.fail("dump record", err)
		}
		line := table
		for i, c := range cols {
			line += " " + c + "=" + dumpCell(table, c, cells[i])
		}
		lines = append(lines, line)
	}
	sort.Strings(lines)
	for _, line := range lines {
		b.WriteString(line + "\n")
	}
	return v.fail("dump record", rows.Err())
}

func dumpCell(table, col string, x any) string {
	switch x := x.(type) {
	case nil:
		return "null"
	case string:
		if table == "sessions" && col == "resume_token" && x != "" {
			return digest([]byte(x))
		}
		return strconv.Quote(x)
	case []byte:
		return digest(x)
	}
	return fmt.Sprint(x)
}

func digest(b []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(b)) }
