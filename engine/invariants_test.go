package engine_test

import (
	"context"
	"strings"
	"sync/atomic"

	"pgregory.net/rapid"

	"rig/engine"
	"rig/engine/enginetest"
)

// shaky is a record in which appending an event can be made to fail.
type shaky struct {
	engine.Store
	faults *enginetest.Faults
}

// Write implements engine.Store.
func (s shaky) Write(ctx context.Context, fn func(engine.Tx) error) error {
	return s.Store.Write(ctx, func(tx engine.Tx) error { return fn(shakyTx{tx, s.faults}) })
}

type shakyTx struct {
	engine.Tx
	faults *enginetest.Faults
}

// AppendEvent implements engine.Tx.
func (t shakyTx) AppendEvent(e engine.Event) (int64, error) {
	if fail, _ := t.faults.Ask("event"); fail {
		return 0, enginetest.ErrInjected
	}
	return t.Tx.AppendEvent(e)
}

// rival gives a progress that, at the nth report of an operation, applies a plan of
// the same request, made before: the operation holds its leases, so it is refused.
// check says afterwards whether it was. Reports come from several goroutines.
func (b *bench) rival(req engine.Request, nth int64) (progress func(engine.OpProgress), check func(*rapid.T)) {
	p, err := b.e.Plan(context.Background(), req)
	if err != nil || !p.Applicable() {
		return nil, func(*rapid.T) {}
	}
	var reports atomic.Int64
	refused := make(chan error, 1)
	progress = func(pr engine.OpProgress) {
		if reports.Add(1) == nth && !pr.Op.State.Ended() { // with its end it gives the leases back
			_, err := b.e.Apply(context.Background(), p, nil)
			refused <- err
		}
	}
	return progress, func(rt *rapid.T) {
		select {
		case err := <-refused:
			if engine.CodeOf(err) != engine.CodeInProgress {
				rt.Fatalf("a second %s during the first: %v", req.Verb, err)
			}
		default:
		}
	}
}

// invariants checks what must hold after any operation, however it ended.
func (b *bench) invariants(rt *rapid.T, rec *engine.Receipt, err error) {
	f, ferr := b.e.Fleet(context.Background())
	if ferr != nil {
		rt.Fatal(ferr)
	}
	bound := map[engine.PaneID]string{}
	for _, s := range f.Seats() {
		if s.Pane == "" {
			continue
		}
		if other := bound[s.Pane]; other != "" {
			rt.Fatalf("%s and %s are bound to one pane", other, s.Address)
		}
		bound[s.Pane] = s.Address
	}
	kept := b.kept()
	for _, p := range b.mux.Panes() {
		if p.Seat != "" && bound[p.ID] == "" && !kept[p.Seat+"/"+p.Gen] {
			rt.Fatalf("pane %s of %s runs and nobody is bound to it", p.ID, p.Session)
		}
	}
	for _, op := range f.Ops {
		if !op.State.Ended() || op.UndoUntil.IsZero() {
			rt.Fatalf("an operation did not end: %+v", op)
		}
	}
	if err == nil && rec.OK {
		for _, s := range rec.Seats {
			if s.Error != nil {
				rt.Fatalf("a good receipt hides an error: %+v", s)
			}
		}
	}
	b.journals(rt)
	if leases := b.leases(); leases != 0 {
		rt.Fatalf("%d leases are left", leases)
	}
}

func (b *bench) leases() int {
	n := 0
	_ = b.db.Read(context.Background(), func(r engine.Reader) error {
		l, err := r.Leases()
		n = len(l)
		return err
	})
	return n
}

// fataler is what a check needs of a test, random or not.
type fataler interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// journals checks what the journal of every ended operation tells, unit by unit:
// after a commit nothing was undone, and without one everything that was begun and
// can be undone was, in reverse.
func (b *bench) journals(rt fataler) {
	ctx := context.Background()
	ops, err := b.e.Operations(ctx, engine.OperationFilter{})
	if err != nil {
		rt.Fatal(err)
	}
	for _, op := range ops {
		_, steps, err := b.e.Operation(ctx, op.ID)
		if err != nil {
			rt.Fatal(err)
		}
		units := map[string][]engine.OperationStep{}
		for _, s := range steps {
			units[s.Unit] = append(units[s.Unit], s)
		}
		for _, steps := range units {
			unitJournal(rt, op, steps)
		}
		events, err := b.e.Events(ctx, engine.EventFilter{OpID: op.ID})
		if err != nil || op.Committed && len(events) == 0 {
			rt.Fatalf("%s %s committed without an event: %v", op.Verb, op.ID, err)
		}
	}
}

func unitJournal(rt fataler, op engine.Operation, steps []engine.OperationStep) {
	committed, failed := false, false
	for _, s := range steps {
		committed = committed || s.Effect == engine.EffectCommit && s.State == engine.StepDone
		failed = failed || s.State != engine.StepDone
	}
	var last engine.OperationStep
	for _, s := range steps {
		switch s.State {
		case engine.StepUndone, engine.StepUnknown:
			if committed {
				rt.Fatalf("%s: “%s” was undone after the commit", op.Verb, s.Title)
			}
			if !last.EndedAt.IsZero() && !s.EndedAt.Before(last.EndedAt) {
				rt.Fatalf("%s: “%s” was undone after “%s”, which came before it", op.Verb, s.Title, last.Title)
			}
			last = s
		case engine.StepDone, engine.StepFailed:
			if failed && !committed && s.Effect == engine.EffectReversible {
				rt.Fatalf("%s: “%s” is %s and was not undone", op.Verb, s.Title, s.State)
			}
		case engine.StepStarted:
			rt.Fatalf("%s: “%s” is left half-way", op.Verb, s.Title)
		case engine.StepPending, engine.StepSkipped:
		}
	}
}

// moved lists the lines by which two renderings of a world or record differ.
func moved(before, after string) string {
	had := map[string]bool{}
	for line := range strings.Lines(before) {
		had[line] = true
	}
	var out strings.Builder
	for line := range strings.Lines(after) {
		if had[line] {
			delete(had, line)
			continue
		}
		out.WriteString("+ " + line)
	}
	for line := range strings.Lines(before) {
		if had[line] {
			out.WriteString("- " + line)
		}
	}
	return out.String()
}
