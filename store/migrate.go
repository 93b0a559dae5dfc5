package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"rig/engine"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// applicationID is in the header of every record: "RIGR".
const applicationID = 0x52494752

// Keys of meta that belong to this package.
const (
	reservedPrefix = "store."
	keySchema      = reservedPrefix + "schema" // digest of the tables, written by the migration
	keyFence       = reservedPrefix + "fence"
)

// migrations lists the scripts in order; the n-th brings a record to version n.
var migrations = sync.OnceValue(func() []string {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil { // only a malformed pattern can fail
		return nil
	}
	return names
})

// latest is the version that this build writes.
func latest() int { return len(migrations()) }

// SchemaVersion is the version of the record that this build writes, and the
// highest one that it opens.
func SchemaVersion() int { return latest() }

// state is what a look at a database file found.
type state struct {
	version int // 0 = empty
}

// inspect looks at the file through a read-only connection. A file that is not a
// record of a known version is refused here, before anything could change it.
func (db *DB) inspect(ctx context.Context) (state, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.inspectLocked(ctx)
}

// inspectLocked also decides how to read. A file in WAL mode cannot be read where
// its -shm file can neither be found nor made, as on a read-only disk. There it is
// opened as immutable, as long as it alone is the whole record.
func (db *DB) inspectLocked(ctx context.Context) (state, error) {
	if db.frozen && !whole(db.path) {
		if err := db.setReaders(false); err != nil {
			return state{}, err
		}
	}
	st, err := inspect(ctx, db.readers, db.path)
	code := sqliteCode(err)
	lacksShm := code == readOnlyFolder || code == readOnlyCantInit || code&0xff == sqliteCantOpen
	if !lacksShm || db.frozen || !whole(db.path) {
		return st, err
	}
	if ferr := db.setReaders(true); ferr != nil {
		return state{}, errors.Join(err, ferr)
	}
	return inspect(ctx, db.readers, db.path)
}

func (db *DB) setReaders(frozen bool) error {
	h, err := openReaders(db.path, frozen)
	if err != nil {
		return err
	}
	err = db.readers.Close()
	db.readers, db.frozen = h, frozen
	return err
}

func inspect(ctx context.Context, h *sql.DB, path string) (state, error) {
	tx, err := h.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return state{}, err
	}
	defer func() { _ = tx.Rollback() }() // it has only read
	var version, app int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return state{}, err
	}
	if version > latest() {
		return state{}, newerError(path, version)
	}
	if err := tx.QueryRowContext(ctx, "PRAGMA application_id").Scan(&app); err != nil {
		return state{}, err
	}
	digest, objects, err := schemaDigest(ctx, tx)
	switch {
	case err != nil:
		return state{}, err
	case version == 0 && objects == 0 && app == 0:
		return state{}, nil
	case app != applicationID:
		return state{}, foreignError(path)
	case version <= 0:
		return state{}, unknownSchemaError(path, version)
	}
	var want string
	err = tx.QueryRowContext(ctx, "SELECT value FROM meta WHERE key = ?", keySchema).Scan(&want)
	switch {
	case isCode(err, sqliteCorrupt):
		return state{}, err
	case err != nil, want != digest:
		return state{}, unknownSchemaError(path, version)
	}
	return state{version: version}, nil
}

// schemaDigest hashes the text of every table, index and trigger.
func schemaDigest(ctx context.Context, tx *sql.Tx) (digest string, objects int, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT type, name, coalesce(sql, '') FROM sqlite_schema
		WHERE substr(name, 1, 7) <> 'sqlite_' ORDER BY type, name`)
	if err != nil {
		return "", 0, err
	}
	defer rows.Close()
	h := sha256.New()
	for rows.Next() {
		var kind, name, text string
		if err := rows.Scan(&kind, &name, &text); err != nil {
			return "", 0, err
		}
		for _, s := range []string{kind, name, text} {
			_, _ = io.WriteString(h, s+"\x00") // a hash takes everything
		}
		objects++
	}
	return hex.EncodeToString(h.Sum(nil)), objects, rows.Err()
}

// migrate applies what is missing, each script in a transaction of its own that
// asks again which version is there: another process may have been faster.
func migrate(ctx context.Context, h *sql.DB, path string) error {
	for i, name := range migrations() {
		if err := migrateTo(ctx, h, i+1, name); err != nil {
			if isCode(err, sqliteCantOpen) {
				return readOnlyError(path, err)
			}
			return wrapCtx(ctx, path, "migrate record", err)
		}
	}
	return nil
}

func migrateTo(ctx context.Context, h *sql.DB, version int, name string) error {
	script, err := migrationFiles.ReadFile(name)
	if err != nil {
		return err
	}
	tx, err := h.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit this does nothing
	var have int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil || have >= version {
		return err
	}
	if _, err := tx.ExecContext(ctx, string(script)); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	digest, _, err := schemaDigest(ctx, tx)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", keySchema, digest); err != nil {
		return err
	}
	// The version is in the header page and so part of the transaction.
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version)); err != nil {
		return err
	}
	return tx.Commit()
}

// ensureFile makes the folder and an empty file that only its owner can read.
// The file gets its name by a link: a descriptor that this process closed on a
// file which SQLite has open would drop SQLite's locks.
func ensureFile(path string) error {
	_, err := os.Stat(path)
	if err == nil {
		return refuseFolder(path)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return wrap(path, "open record", err)
	}
	if err := makeFile(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return engine.Errorf(engine.CodeRecordReadOnly, "the record cannot be created").On("open record", path).Wrap(err).
			WithHint("make the folder writable for this user, or set RIG_HOME to one that is")
	}
	return nil
}

// refuseFolder says so where a folder stands in the place of the record: SQLite calls
// that a failing disk.
func refuseFolder(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return engine.Errorf(engine.CodeInvalid, "this is a folder, and not a record").On("open record", path).
			WithHint("move it away, or set RIG_HOME to another folder")
	}
	return nil
}

func makeFile(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".record-*") // mode 0600
	if err != nil {
		return err
	}
	if err := tmp.Close(); err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	err = os.Link(tmp.Name(), path)
	if errors.Is(err, syscall.EPERM) || errors.Is(err, errors.ErrUnsupported) { // no hard links here
		var f *os.File
		if f, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
			err = f.Close()
		}
	}
	return errors.Join(err, os.Remove(tmp.Name()))
}

// mend gives the files beside a record the right to write that the record has.
// SQLite makes them with the mode that the record has at that moment: what was
// made while the record was read-only would keep it so when it no longer is.
func mend(path string) {
	db, err := os.Stat(path)
	if err != nil || db.Mode().Perm()&0o200 == 0 {
		return
	}
	for _, p := range []string{path + "-wal", path + "-shm"} {
		if info, err := os.Lstat(p); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o600 != 0o600 {
			_ = os.Chmod(p, info.Mode().Perm()|0o600) // one that is not ours stays as it is, and the write says so
		}
	}
}

// tighten takes the record away from other users: it holds resume tokens. A file
// that is not ours to change stays as it is.
func tighten(path string) {
	for _, p := range []string{path, path + "-wal", path + "-shm"} {
		if info, err := os.Stat(p); err == nil && info.Mode().Perm()&0o077 != 0 {
			_ = os.Chmod(p, info.Mode().Perm()&^0o077)
		}
	}
}
