package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"rig/engine"
)

// shut is a record that takes no write while it is shut.
type shut struct {
	engine.Store
	now *atomic.Bool
}

func (s shut) Write(ctx context.Context, fn func(engine.Tx) error) error {
	if s.now.Load() {
		return engine.Errorf(engine.CodeUnavailable, "the record is locked").WithHint("test")
	}
	return s.Store.Write(ctx, fn)
}

// A console lives for days. An operation whose end it could not put on record holds its seat until it can: so it goes on trying.
func TestTheEndOfAnOperationIsTriedOn(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	var locked atomic.Bool
	b.made.Store = shut{b.db, &locked}
	e := engine.New(b.made)
	req := request(engine.VerbSetModel, "dev.m0", engine.SetModelArgs{Model: "opus"})
	req.Reason = "it thinks longer"
	p, err := e.Plan(context.Background(), req)
	if err != nil || !p.Applicable() {
		t.Fatalf("%v %+v", err, p)
	}
	_, err = e.Apply(context.Background(), p, func(pr engine.OpProgress) {
		if pr.Op.Committed {
			locked.Store(true)
		}
	})
	var told *engine.Error
	if !errors.As(err, &told) || told.Code != engine.CodeUnavailable || !strings.Contains(told.Hint, "it tries again") {
		t.Fatalf("%v", err)
	}
	if op := b.openOf(t); op.State != engine.OpRunning {
		t.Errorf("it reads as %s", op.State)
	}
	locked.Store(false)
	if rec, err := e.Follow(t.Context(), p.ID, nil); err != nil || !rec.OK || b.leases() != 0 {
		t.Errorf("%v %+v, %d leases", err, rec, b.leases())
	}
}
