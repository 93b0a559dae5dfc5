package store

import (
	"context"
	"database/sql/driver"
	"errors"
)

// maxPrepared bounds the statements that one connection keeps. The queries of this
// package are fixed texts, of which there are fewer.
const maxPrepared = 200

// driverConn is what the driver's connection can do, as far as database/sql asks.
type driverConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.QueryerContext
	driver.ExecerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// preparedConn keeps the statements of its queries, because parsing one takes
// longer than running it, and a whole operation is a few hundred of them. A
// statement is one cursor: a query that is still being read when the same one is
// asked again takes the driver's own way, as does a script.
type preparedConn struct {
	driverConn
	kept map[string]*preparedStmt
}

type preparedStmt struct {
	driver.Stmt
	busy bool
}

// stmt gives the kept statement of a query, nil when there is none to use. The
// connection is used by one goroutine at a time.
func (c *preparedConn) stmt(ctx context.Context, query string) (*preparedStmt, error) {
	if s := c.kept[query]; s != nil {
		if s.busy {
			return nil, nil
		}
		return s, nil
	}
	if len(c.kept) == maxPrepared {
		return nil, nil
	}
	s, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	kept := &preparedStmt{Stmt: s}
	c.kept[query] = kept
	return kept, nil
}

// QueryContext asks with the kept statement.
func (c *preparedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.stmt(ctx, query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.driverConn.QueryContext(ctx, query, args)
	}
	rows, err := s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	s.busy = true
	return &preparedRows{Rows: rows, stmt: s}, nil
}

// ExecContext changes with the kept statement.
func (c *preparedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if len(args) == 0 {
		return c.driverConn.ExecContext(ctx, query, args) // scripts, and what runs once
	}
	s, err := c.stmt(ctx, query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.driverConn.ExecContext(ctx, query, args)
	}
	return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

// Close closes what is kept, then the connection.
func (c *preparedConn) Close() error {
	var err error
	for _, s := range c.kept {
		err = errors.Join(err, s.Close())
	}
	c.kept = nil
	return errors.Join(err, c.driverConn.Close())
}

// preparedRows gives its statement back at the end.
type preparedRows struct {
	driver.Rows
	stmt *preparedStmt
}

// Close ends the reading.
func (r *preparedRows) Close() error {
	r.stmt.busy = false
	return r.Rows.Close()
}
