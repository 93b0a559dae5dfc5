package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
)

// watcher keeps the connection on which Changed asks.
type watcher struct {
	conn *sql.Conn
	base int64 // added to its answers, so that a new connection's never repeat
	last int64
}

func (w *watcher) close() error {
	if w.conn == nil {
		return nil
	}
	err := w.conn.Close()
	w.conn, w.base = nil, w.last+1
	return err
}

// Changed gives a number that grows with every commit of another connection. It
// asks on a connection that never writes, so the commits of this process count
// too. It reads one page of shared memory and no table: a few microseconds.
// Numbers of different DBs must not be compared.
func (db *DB) Changed(ctx context.Context) (int64, error) {
	h, err := db.source(ctx)
	if err != nil {
		return 0, err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if h.empty {
		return 0, nil
	}
	if h.frozen { // SQLite looks for no changes of an immutable file
		info, err := os.Stat(db.path)
		if err != nil {
			return 0, wrap(db.path, "read record", err)
		}
		return info.ModTime().UnixNano(), nil
	}
	w := &db.watch
	if w.conn == nil {
		if w.conn, err = h.Conn(ctx); err != nil {
			return 0, wrapCtx(ctx, db.path, "read record", err)
		}
	}
	var n int64
	if err := w.conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&n); err != nil {
		return 0, wrapCtx(ctx, db.path, "read record", errors.Join(err, w.close()))
	}
	w.last = w.base + n
	return w.last, nil
}
