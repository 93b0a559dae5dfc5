package engine_test

import (
	"context"
	"slices"
	"testing"

	"rig/engine"
)

// durable counts the transactions that ask to outlive a loss of power, by what they wrote last.
type durable struct {
	engine.Store
	asked *[]string
}

func (d durable) Write(ctx context.Context, fn func(engine.Tx) error) error {
	tx := &durableTx{}
	err := d.Store.Write(ctx, func(under engine.Tx) error {
		*tx = durableTx{Tx: under}
		return fn(tx)
	})
	if err == nil && tx.durable {
		*d.asked = append(*d.asked, tx.wrote)
	}
	return err
}

type durableTx struct {
	engine.Tx
	durable bool
	wrote   string
}

func (t *durableTx) Durable() { t.durable = true; t.Tx.Durable() }

func (t *durableTx) AppendEvent(ev engine.Event) (int64, error) {
	t.wrote = ev.Type
	return t.Tx.AppendEvent(ev)
}

func (t *durableTx) UpdateOperation(op *engine.Operation) error {
	if op.State.Ended() {
		t.wrote = "end"
	}
	return t.Tx.UpdateOperation(op)
}

// What commits an operation and what ends it outlive a loss of power.
func TestCommitsOutliveALossOfPower(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	var asked []string
	b.made.Store = durable{b.db, &asked}
	e := engine.New(b.made)
	p, err := e.Plan(context.Background(), handoverRequest("dev.m0", "fresh"))
	if err != nil {
		t.Fatal(err)
	}
	if rec, err := e.Apply(context.Background(), p, nil); err != nil || !rec.OK {
		t.Fatalf("%v %+v", err, rec)
	}
	if !slices.Equal(asked, []string{"seat.handover_completed", "end"}) {
		t.Errorf("%q", asked)
	}
}
