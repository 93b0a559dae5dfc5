package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"rig/engine"
)

// view reads inside one transaction. It keeps the context because the methods of
// engine.Reader take none: it lives no longer than the call that made it.
type view struct {
	ctx  context.Context
	tx   *sql.Tx
	path string
}

// txn writes inside one immediate transaction.
type txn struct {
	view
	durable bool
}

var (
	_ engine.Reader = (*view)(nil)
	_ engine.Tx     = (*txn)(nil)
)

// Durable implements engine.Tx.
func (t *txn) Durable() { t.durable = true }

// row is what a scan function reads from: one row of a result.
type row interface{ Scan(dest ...any) error }

func (v *view) checkVersion() error {
	var n int
	if err := v.tx.QueryRowContext(v.ctx, "PRAGMA user_version").Scan(&n); err != nil {
		return v.fail("read record", err)
	}
	if n > latest() {
		return newerError(v.path, n)
	}
	return nil
}

func (v *view) fail(op string, err error) error { return wrapCtx(v.ctx, v.path, op, err) }

// one reads a single row; absent is the error that none makes.
func one[T any](v *view, scan func(row) (T, error), absent func() error, query string, args ...any) (T, error) {
	out, err := scan(v.tx.QueryRowContext(v.ctx, query, args...))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return out, absent()
	case err != nil:
		return out, v.fail("read record", err)
	}
	return out, nil
}

// many reads every row of a query.
func many[T any](v *view, scan func(row) (T, error), query string, args ...any) (out []T, err error) {
	rows, err := v.tx.QueryContext(v.ctx, query, args...)
	if err != nil {
		return nil, v.fail("read record", err)
	}
	defer rows.Close()
	for rows.Next() {
		x, err := scan(rows)
		if err != nil {
			return nil, v.fail("read record", err)
		}
		out = append(out, x)
	}
	if err := rows.Err(); err != nil {
		return nil, v.fail("read record", err)
	}
	return out, nil
}

// absent makes the error for a row that is not on record.
func absent(kind, id, hint string) func() error {
	return func() error {
		return engine.Errorf(engine.CodeNotFound, "no such %s on record", kind).On("read record", id).WithHint("%s", hint)
	}
}

// exec runs a statement and gives the number of rows it changed.
func (t *txn) exec(query string, args ...any) (int64, error) {
	res, err := t.tx.ExecContext(t.ctx, query, args...)
	if err != nil {
		return 0, t.fail("write record", err)
	}
	n, err := res.RowsAffected()
	return n, t.fail("write record", err)
}

// insert writes one row; cols is the comma-separated list that args fill.
func (t *txn) insert(table, cols string, args []any) error {
	_, err := t.exec("INSERT INTO "+table+" ("+cols+") VALUES ("+marks(len(args))+")", args...)
	return err
}

// put writes one row and replaces what stands under the same key. Unlike INSERT
// OR REPLACE it deletes nothing, so no foreign key fires.
func (t *txn) put(table, key, cols string, args []any) error {
	_, err := t.exec("INSERT INTO "+table+" ("+cols+") VALUES ("+marks(len(args))+") ON CONFLICT ("+key+") DO UPDATE SET ("+
		cols+") = ("+excluded(cols)+")", args...)
	return err
}

// update writes the columns of a row whose version is still the given one, and
// bumps it. A row that moved on is CodeConflict, a missing one CodeNotFound.
func (t *txn) update(table, kind, id string, version *int64, cols string, args []any) error {
	n, err := t.exec("UPDATE "+table+" SET ("+cols+") = ("+marks(len(args))+"), version = version + 1 WHERE id = ? AND version = ?",
		append(args, id, *version)...)
	if err != nil {
		return err
	}
	if n == 1 {
		*version++
		return nil
	}
	now, err := one(&t.view, scanInt, absent(kind, id, "it may have been deleted meanwhile; read the record again"),
		"SELECT version FROM "+table+" WHERE id = ?", id)
	if err != nil {
		return err
	}
	return engine.Errorf(engine.CodeConflict, "the %s changed meanwhile (version %d, expected %d)", kind, now, *version).
		On("write record", id).WithHint("nothing was changed; read the record again and decide anew")
}

// remove deletes one row by id; a missing one is CodeNotFound.
func (t *txn) remove(table, kind, id string) error {
	n, err := t.exec("DELETE FROM "+table+" WHERE id = ?", id)
	if err == nil && n == 0 {
		return absent(kind, id, "it may have been deleted meanwhile")()
	}
	return err
}

func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }

func excluded(cols string) string {
	names := strings.Split(cols, ",")
	for i, c := range names {
		names[i] = "excluded." + strings.TrimSpace(c)
	}
	return strings.Join(names, ",")
}

// prefixed names every column of a list with its table, for joins.
func prefixed(table, cols string) string {
	names := strings.Split(cols, ",")
	for i, c := range names {
		names[i] = table + "." + strings.TrimSpace(c)
	}
	return strings.Join(names, ",")
}

func scanInt(r row) (n int64, err error)     { return n, r.Scan(&n) }
func scanString(r row) (s string, err error) { return s, r.Scan(&s) }

// timeLayout is UTC with three decimals, always of the same length: the order of
// the texts is the order of the times.
const timeLayout = "2006-01-02T15:04:05.000Z"

// stamp stores a time as text, the zero time as NULL.
type stamp time.Time

// Value refuses a year that would break the order of the texts.
func (s stamp) Value() (driver.Value, error) {
	t := time.Time(s)
	if t.IsZero() {
		return nil, nil
	}
	t = t.UTC()
	if y := t.Year(); y < 0 || y > 9999 {
		return nil, engine.Errorf(engine.CodeInvalid, "year %d cannot be stored", y).WithHint("check the clock")
	}
	return t.Format(timeLayout), nil
}

// Scan reads what Value wrote.
func (s *stamp) Scan(src any) error {
	switch x := src.(type) {
	case nil:
		*s = stamp{}
	case string:
		// The layout is a case of RFC 3339, for which time has a quicker way.
		t, err := time.Parse(time.RFC3339, x)
		if err != nil {
			return damagedValue("time", err)
		}
		if len(x) != len(timeLayout) || x[len(x)-1] != 'Z' {
			return damagedValue("time", fmt.Errorf("%q is not in the layout of the record", x))
		}
		*s = stamp(t)
	default:
		return damagedValue("time", fmt.Errorf("stored as %T", src))
	}
	return nil
}

// raw stores JSON text as it is, nil as NULL. The table checks its form.
type raw json.RawMessage

// Value gives the text.
func (r raw) Value() (driver.Value, error) {
	if r == nil {
		return nil, nil
	}
	return string(r), nil
}

// Scan reads the text.
func (r *raw) Scan(src any) error {
	switch x := src.(type) {
	case nil:
		*r = nil
	case string:
		*r = raw(x)
	default:
		return damagedValue("JSON", fmt.Errorf("stored as %T", src))
	}
	return nil
}

// object stores a Go value as JSON, a nil map as NULL.
type object[T any] struct{ p *T }

func asJSON[T any](p *T) object[T] { return object[T]{p} }

// Value marshals.
func (o object[T]) Value() (driver.Value, error) {
	b, err := json.Marshal(o.p)
	if err != nil {
		return nil, engine.Errorf(engine.CodeInvalid, "a value has no JSON form").Wrap(err).WithHint("nothing was changed")
	}
	if string(b) == "null" {
		return nil, nil
	}
	return string(b), nil
}

// Scan unmarshals.
func (o object[T]) Scan(src any) error {
	switch x := src.(type) {
	case nil:
		return nil
	case string:
		if err := json.Unmarshal([]byte(x), o.p); err != nil {
			return damagedValue("JSON", err)
		}
		return nil
	}
	return damagedValue("JSON", fmt.Errorf("stored as %T", src))
}

func damagedValue(kind string, cause error) error {
	return engine.Errorf(engine.CodeRecordDamaged, "a stored %s cannot be read", kind).Wrap(cause).
		WithHint("put a backup of the record in its place; agents in tmux are not touched by this")
}
