package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"modernc.org/sqlite"
)

// Pragmas hold for one connection only, so they stand in the DSN, where every
// connection of a pool gets them. The driver sets busy_timeout before all others:
// the switch to WAL needs it.
func dsn(path string, params ...string) string {
	params = append(params, "_dqs=0", "_pragma=busy_timeout("+strconv.FormatInt(busyTimeout.Milliseconds(), 10)+")")
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + strings.Join(params, "&")
}

// walLimit is the size in bytes to which the write-ahead log is cut back.
const walLimit = "4194304"

func openWriter(path string) (*sql.DB, error) {
	return open(1, dsn(path, "mode=rw", "_txlock=immediate",
		"_pragma=journal_mode(WAL)", "_pragma=foreign_keys(1)", "_pragma=synchronous(NORMAL)",
		"_pragma=journal_size_limit("+walLimit+")"))
}

// openReaders makes the pool of read-only connections: four for Read, one that
// Changed keeps. A frozen file is read without locks and without -wal and -shm
// files, and never from a cache: see inspect.
func openReaders(path string, frozen bool) (*sql.DB, error) {
	params := []string{"mode=ro", "_pragma=query_only(1)"}
	if frozen {
		params = append(params, "immutable=1")
	}
	h, err := open(5, dsn(path, params...))
	if err == nil && frozen {
		h.SetMaxIdleConns(0)
	}
	return h, err
}

func openMemory() (*sql.DB, error) {
	base, err := sqlite.NewConnector("file::memory:?_dqs=0&_pragma=foreign_keys(1)")
	if err != nil {
		return nil, err
	}
	h := sql.OpenDB(base)
	h.SetMaxOpenConns(1) // each connection would be a database of its own
	return h, nil
}

func open(conns int, name string) (*sql.DB, error) {
	base, err := sqlite.NewConnector(name)
	if err != nil {
		return nil, err
	}
	h := sql.OpenDB(connector{base})
	h.SetMaxOpenConns(conns)
	h.SetMaxIdleConns(conns)
	return h, nil
}

// connector opens connections that leave the -wal and -shm files in place and keep
// their statements.
type connector struct{ driver.Connector }

// Connect waits while another process switches the file to WAL: SQLite answers
// "busy" there without asking the busy handler, because both hold a lock that
// the other waits for.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	var conn driver.Conn
	err := untilFree(ctx, func() (err error) {
		conn, err = c.Connector.Connect(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	if fc, ok := conn.(sqlite.FileControl); ok {
		if _, err := fc.FileControlPersistWAL("main", 1); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	if full, ok := conn.(driverConn); ok {
		return &preparedConn{driverConn: full, kept: map[string]*preparedStmt{}}, nil
	}
	return conn, nil
}

// untilFree repeats fn while it says busy, up to the busy timeout.
func untilFree(ctx context.Context, fn func() error) error {
	ctx, cancel := context.WithTimeout(ctx, busyTimeout)
	defer cancel()
	for {
		err := fn()
		if !isCode(err, sqliteBusy) {
			return err
		}
		t := time.NewTimer(10 * time.Millisecond)
		select {
		case <-ctx.Done():
			t.Stop()
			return err
		case <-t.C:
		}
	}
}

// recoverJournal lets SQLite finish what a dead process left half done. It needs
// a connection that may write, and changes no setting of the file.
func recoverJournal(ctx context.Context, path string) error {
	h, err := open(1, dsn(path, "mode=rw"))
	if err != nil {
		return err
	}
	var n int
	return errors.Join(h.QueryRowContext(ctx, "PRAGMA user_version").Scan(&n), h.Close())
}

// whole reports whether the database file alone is the whole record: nothing is
// in the write-ahead log and no journal waits to be rolled back.
func whole(path string) bool {
	for _, suffix := range []string{"-wal", "-journal"} {
		info, err := os.Stat(path + suffix)
		if !errors.Is(err, os.ErrNotExist) && (err != nil || info.Size() > 0) {
			return false
		}
	}
	return true
}
