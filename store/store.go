// Package store keeps the record: rigs, seats, occupants, operations and the
// audit log, in one SQLite file. It implements [engine.Store].
//
// There is one writer connection, whose transactions take the write lock at
// once, and a small pool of read-only connections beside it. The file is in WAL
// mode, so readers never wait for a writer, in this process or another. The -wal
// and -shm files stay when the last process leaves: a reader that had to make
// them anew would change the folder it only wants to look at.
//
// The package keeps no clock: every time comes from the caller.
package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"rig/engine"
)

// busyTimeout is how long a connection waits for a lock that another process
// holds. Transactions of ours last milliseconds; seconds mean a stopped process.
const busyTimeout = 10 * time.Second

// DB is an open record. Its methods may be called from several goroutines, but
// not from inside the function given to Read or Write: a Write inside a Write
// would wait for itself.
type DB struct {
	path     string
	readOnly bool

	mu       sync.Mutex
	readers  *sql.DB
	writer   *sql.DB
	void     *sql.DB     // stands in while there is no file: an empty record in memory
	checked  bool        // the file was found to be a record of this version
	frozen   bool        // readers open the file as immutable
	identity os.FileInfo // of the file that was checked
	watch    watcher
	sync     func(path string) // syncLog, but in tests
}

var _ engine.Store = (*DB)(nil)

// Open opens the record for reading and writing. It makes the folder (0700) and
// the file (0600) when they are missing and brings an older record up to this
// version. A record that exists but cannot be written opens all the same, and
// Write says CodeRecordReadOnly. CodeRecordNewer and CodeRecordDamaged refuse a
// file without having touched it.
func Open(path string) (*DB, error) {
	db, err := newDB(path, false)
	if err != nil {
		return nil, err
	}
	if err := ensureFile(db.path); err != nil {
		return nil, err
	}
	mend(db.path)
	ctx, cancel := context.WithTimeout(context.Background(), 3*busyTimeout)
	defer cancel()
	if err := db.prepare(ctx); err != nil {
		return nil, db.closeWith(err)
	}
	return db, nil
}

// OpenReadOnly opens the record for reading. It creates, migrates and writes
// nothing. While the file does not exist every read answers as an empty record
// would; a file that appears later is found by the next Read. Write always
// says CodeRecordReadOnly.
func OpenReadOnly(path string) (*DB, error) {
	db, err := OpenLazily(path)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*busyTimeout)
	defer cancel()
	if _, err := db.source(ctx); err != nil {
		return nil, db.closeWith(err)
	}
	return db, nil
}

// OpenLazily is OpenReadOnly without a look at the file: what speaks against it is
// said by the first Read. Something else can be done meanwhile.
func OpenLazily(path string) (*DB, error) {
	if err := refuseFolder(path); err != nil {
		return nil, err
	}
	return newDB(path, true)
}

func newDB(path string, readOnly bool) (*DB, error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return nil, engine.Errorf(engine.CodeInvalid, "%q cannot name a record", path).On("open record", path).
			WithHint("give the path of a file, without NUL bytes")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, engine.Errorf(engine.CodeUnavailable, "the path cannot be made absolute").
			On("open record", path).WithHint("change to a directory that exists").Wrap(err)
	}
	db := &DB{path: abs, readOnly: readOnly, sync: syncLog}
	if db.readers, err = openReaders(abs, false); err != nil {
		return nil, wrap(abs, "open record", err)
	}
	if !readOnly {
		if db.writer, err = openWriter(abs); err != nil {
			return nil, wrap(abs, "open record", err)
		}
	}
	return db, nil
}

// prepare checks the file and migrates it when it is empty or older.
func (db *DB) prepare(ctx context.Context) error {
	st, err := db.inspect(ctx)
	if code := sqliteCode(err); code == readOnlyRollback || code == readOnlyRecovery {
		// A process died between two pages of a file that was not in WAL mode yet.
		// Only a connection that may write can put the old pages back.
		if err = recoverJournal(ctx, db.path); err == nil {
			st, err = db.inspect(ctx)
		}
	}
	if err != nil {
		return wrap(db.path, "open record", err)
	}
	if st.version < latest() {
		if err := migrate(ctx, db.writer, db.path); err != nil {
			return err
		}
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.checked = true
	tighten(db.path)
	db.identity, err = os.Stat(db.path)
	return wrap(db.path, "open record", err)
}

// Path is the absolute path of the database file.
func (db *DB) Path() string { return db.path }

// closeWith closes after a failure, which stays the error that is told.
func (db *DB) closeWith(err error) error {
	if cerr := db.Close(); cerr != nil {
		return errors.Join(err, cerr)
	}
	return err
}

// Close waits for running transactions and closes every connection. The last
// process to close a record folds its write-ahead log into the file.
func (db *DB) Close() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	err := db.watch.close()
	for _, h := range []*sql.DB{db.void, db.readers, db.writer} {
		if h != nil {
			err = errors.Join(err, h.Close())
		}
	}
	return wrap(db.path, "close record", err)
}

// Read runs fn in one transaction on a consistent view. It waits for no writer.
func (db *DB) Read(ctx context.Context, fn func(engine.Reader) error) error {
	h, err := db.source(ctx)
	if err != nil {
		return err
	}
	tx, err := h.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return wrapCtx(ctx, db.path, "read record", err)
	}
	defer func() { _ = tx.Rollback() }() // nothing to undo; it ends the view
	v := &view{ctx: ctx, tx: tx, path: db.path}
	if err := v.checkVersion(); err != nil {
		return err
	}
	return fn(v)
}

// Write runs fn once, in one transaction that holds the write lock from its
// start. It waits for the lock up to 10 s or as long as ctx allows, then says
// CodeUnavailable. An error of fn undoes everything and is returned as it is.
func (db *DB) Write(ctx context.Context, fn func(engine.Tx) error) error {
	if db.readOnly {
		return readOnlyError(db.path, nil).WithHint("it was opened for reading only; run the command without --dry-run")
	}
	if err := db.sameFile(); err != nil {
		return err
	}
	tx, err := db.writer.BeginTx(ctx, nil)
	if err != nil {
		return db.writeError(ctx, err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit this does nothing
	t := &txn{view: view{ctx: ctx, tx: tx, path: db.path}}
	// A newer program may have migrated the file since it was opened.
	if err := t.checkVersion(); err != nil {
		return err
	}
	if err := fn(t); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return db.writeError(ctx, err)
	}
	if t.durable {
		db.sync(db.path)
	}
	return nil
}

// syncLog brings the write-ahead log to the disk. SQLite does so by itself only before a
// checkpoint: with synchronous=FULL it would for every line of a journal, and an
// operation is some hundred of those. No lock of SQLite's is on this file, so that a
// descriptor of it may be closed.
func syncLog(path string) {
	f, err := os.Open(path + "-wal")
	if err != nil {
		return // a file system that has none
	}
	_ = f.Sync() // the transaction stands all the same
	_ = f.Close()
}

// writeError maps the failure to begin or commit. Where the file is there and
// SQLite cannot open what it needs beside it, the folder is the reason.
func (db *DB) writeError(ctx context.Context, err error) error {
	if ctx.Err() == nil && isCode(err, sqliteCantOpen) {
		return readOnlyError(db.path, err)
	}
	return wrapCtx(ctx, db.path, "write record", err)
}

// handle is where a read goes.
type handle struct {
	*sql.DB
	empty  bool // the stand-in for a record that is not there
	frozen bool
}

// source gives the handle to read from: the file's readers, or an empty record
// while there is no file.
func (db *DB) source(ctx context.Context) (handle, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.checked && !db.frozen {
		return handle{DB: db.readers}, db.sameFileLocked()
	}
	info, err := os.Stat(db.path)
	if errors.Is(err, fs.ErrNotExist) && db.readOnly && !db.checked {
		return db.emptyRecord(ctx)
	}
	if err != nil {
		return handle{}, wrap(db.path, "open record", err)
	}
	st, err := db.inspectLocked(ctx)
	switch {
	case err != nil:
		return handle{}, wrapCtx(ctx, db.path, "open record", err)
	case st.version == 0:
		return db.emptyRecord(ctx) // its first opener has not filled it yet
	case st.version < latest():
		return handle{}, olderError(db.path, st.version)
	}
	db.checked, db.identity = true, info
	return handle{DB: db.readers, frozen: db.frozen}, nil
}

// emptyRecord is a record in memory with every table and no row.
func (db *DB) emptyRecord(ctx context.Context) (handle, error) {
	if db.void == nil {
		h, err := openMemory()
		if err != nil {
			return handle{}, wrap(db.path, "open record", err)
		}
		if err := migrate(ctx, h, db.path); err != nil {
			return handle{}, errors.Join(err, h.Close())
		}
		db.void = h
	}
	return handle{DB: db.void, empty: true}, nil
}

// sameFile refuses a record whose file was deleted or replaced: what is written
// to the old one would be lost without a word.
func (db *DB) sameFile() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.sameFileLocked()
}

func (db *DB) sameFileLocked() error {
	info, err := os.Stat(db.path)
	if err == nil && os.SameFile(info, db.identity) {
		return nil
	}
	return engine.Errorf(engine.CodeUnavailable, "the record was moved or replaced while it was open").
		On("open record", db.path).Wrap(err).WithHint("put the file back, or end this process and start it again")
}
