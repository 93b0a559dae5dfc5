package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"

	"rig/engine"
)

// CodeRecordFull says that the disk has no room for what was to be written.
// Nothing was changed.
const CodeRecordFull engine.Code = "record_full"

// CodeRecordOlder says that the record was written by an older program and this
// process may not bring it up to date, because it only reads.
const CodeRecordOlder engine.Code = "record_older"

// CodeRecordTorn says that a process died while it wrote, and that only one that
// may write can put the record in order again.
const CodeRecordTorn engine.Code = "record_torn"

// SQLite's primary result codes that this package tells apart. They are part of
// its file format promise: they never change.
const (
	sqliteBusy       = 5
	sqliteLocked     = 6
	sqliteReadOnly   = 8
	sqliteInterrupt  = 9
	sqliteIOErr      = 10
	sqliteCorrupt    = 11
	sqliteFull       = 13
	sqliteCantOpen   = 14
	sqliteTooBig     = 18
	sqliteConstraint = 19
	sqliteMismatch   = 20
	sqliteNotADB     = 26
	readOnlyRecovery = sqliteReadOnly | 1<<8 // a reader met a log that only a writer can recover
	readOnlyRollback = sqliteReadOnly | 3<<8 // a reader met a journal that only a writer can roll back
	readOnlyMoved    = sqliteReadOnly | 4<<8 // the file was unlinked under us
	readOnlyCantInit = sqliteReadOnly | 5<<8 // no shared memory, and none can be made
	readOnlyFolder   = sqliteReadOnly | 6<<8 // the log cannot be made

	constraintCheck    = sqliteConstraint | 1<<8
	constraintNotNull  = sqliteConstraint | 5<<8
	constraintDatatype = sqliteConstraint | 12<<8
)

// sqliteCode gives the extended result code of an error, 0 for other errors.
func sqliteCode(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// isCode asks for a primary result code.
func isCode(err error, primary int) bool { return sqliteCode(err)&0xff == primary }

// wrapCtx is wrap, but a caller that gave up is told so, however SQLite words it.
func wrapCtx(ctx context.Context, path, op string, err error) error {
	if err == nil {
		return nil
	}
	var own *engine.Error
	if cause := ctx.Err(); cause != nil && !errors.As(err, &own) {
		err = cause
	}
	return wrap(path, op, err)
}

// wrap turns an error of SQLite or of the file system into an *engine.Error. An
// *engine.Error stays as it is.
func wrap(path, op string, err error) error {
	var own *engine.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return err
	case errors.Is(err, context.Canceled):
		return engine.Errorf(engine.CodeCancelled, "given up before it was done").On(op, path).Wrap(err).
			WithHint("nothing was changed; run it again")
	case errors.Is(err, context.DeadlineExceeded):
		return engine.Errorf(engine.CodeUnavailable, "the record did not answer in time").On(op, path).Wrap(err).
			WithHint("another process may hold it; try again")
	case errors.Is(err, sql.ErrTxDone), errors.Is(err, sql.ErrConnDone):
		return engine.Errorf(engine.CodeInternal, "the record was used outside its transaction").On(op, path).Wrap(err).
			WithHint("this is a fault of the program: please report it")
	case errors.Is(err, syscall.ENOTDIR):
		return engine.Errorf(engine.CodeUnavailable, "the record cannot be opened").On(op, path).Wrap(err).
			WithHint("set RIG_HOME to a folder: a part of that path is a file")
	case errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist):
		return engine.Errorf(engine.CodeUnavailable, "the record cannot be opened").On(op, path).Wrap(err).
			WithHint("check the owner and the permissions of the file and its folder")
	}
	if code := sqliteCode(err); code != 0 {
		return wrapSQLite(path, op, code, err)
	}
	return engine.Errorf(engine.CodeInternal, "the record failed").On(op, path).Wrap(err).
		WithHint("this is a fault of the program: please report it")
}

func wrapSQLite(path, op string, code int, err error) *engine.Error {
	as := func(c engine.Code, msg string) *engine.Error {
		return engine.Errorf(c, "%s", msg).On(op, path).Wrap(err)
	}
	switch code & 0xff {
	case sqliteBusy, sqliteLocked:
		return as(engine.CodeUnavailable, "another process holds the record").
			WithHint("try again; if it stays so, look for a stopped `rig` process")
	case sqliteReadOnly:
		switch code {
		case readOnlyMoved:
			return as(engine.CodeUnavailable, "the record was moved while it was open").
				WithHint("put the file back, or end this process and start it again")
		case readOnlyRecovery, readOnlyRollback:
			return as(CodeRecordTorn, "a process died while it wrote the record, and a reader cannot repair that").
				WithHint("`rig setup` repairs it; so does any command that changes something")
		}
		return readOnlyError(path, err)
	case sqliteFull:
		return as(CodeRecordFull, "there is no room left to write the record").
			WithHint("nothing was changed; free some space on the disk and run it again")
	case sqliteCorrupt, sqliteNotADB:
		return as(engine.CodeRecordDamaged, "the record is damaged or is not a record").
			WithHint("move the file aside and put a backup in its place; agents in tmux are not touched by this")
	case sqliteCantOpen:
		return as(engine.CodeUnavailable, "the record cannot be opened").
			WithHint("check the owner and the permissions of the file and its folder")
	case sqliteIOErr:
		return as(engine.CodeUnavailable, "the disk failed while the record was used").
			WithHint("check the file system; `rig doctor` checks the record")
	case sqliteInterrupt:
		return as(engine.CodeCancelled, "given up before it was done").
			WithHint("nothing was changed; run it again")
	case sqliteConstraint, sqliteMismatch, sqliteTooBig:
		return constraintError(code, as)
	}
	return as(engine.CodeInternal, "the record refused a statement").
		WithHint("this is a fault of the program: please report it")
}

// constraintError tells a row that is malformed in itself from one that clashes
// with what is on record.
func constraintError(code int, as func(engine.Code, string) *engine.Error) *engine.Error {
	switch code {
	case constraintCheck, constraintNotNull, constraintDatatype, sqliteMismatch, sqliteTooBig:
		return as(engine.CodeInvalid, "a value is missing or of a form that the record does not keep").
			WithHint("nothing was changed; the message names the column")
	}
	return as(engine.CodeConflict, "it clashes with what is on record").
		WithHint("nothing was changed; read the record again and decide anew")
}

func readOnlyError(path string, cause error) *engine.Error {
	return engine.Errorf(engine.CodeRecordReadOnly, "the record cannot be written").On("write record", path).Wrap(cause).
		WithHint("make the file and its folder writable for this user; reading works meanwhile")
}

func newerError(path string, found int) *engine.Error {
	return engine.Errorf(engine.CodeRecordNewer, "the record has version %d, this program knows versions up to %d", found, latest()).
		On("open record", path).With("found", found).With("known", latest()).
		WithHint("use the newer `rig` that wrote it; nothing was changed")
}

func unknownSchemaError(path string, found int) *engine.Error {
	return engine.Errorf(engine.CodeRecordNewer,
		"the record says version %d of at most %d, but its tables are not those of that version: a change of an unknown build was half applied",
		found, latest()).On("open record", path).With("found", found).With("known", latest()).
		WithHint("use the `rig` that wrote it, or put a backup in its place; nothing was changed")
}

func foreignError(path string) *engine.Error {
	return engine.Errorf(engine.CodeRecordDamaged, "this database was not written by rig").On("open record", path).
		WithHint("name another file; nothing was changed")
}

func olderError(path string, found int) *engine.Error {
	return engine.Errorf(CodeRecordOlder, "the record was written by an older rig: it has version %d, this program reads version %d", found, latest()).
		On("open record", path).With("found", found).With("known", latest()).
		WithHint("`rig setup` brings it up to date; so does any command that changes something. An older rig cannot read it afterwards: `cp` %s first to go back", path)
}
