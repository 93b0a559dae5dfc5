package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rig/engine"
	"rig/engine/enginetest"
	"rig/store"
)

// bench is an engine over a real record and an otherwise simulated world.
type bench struct {
	e      *engine.Engine
	db     *store.DB
	mux    *enginetest.Mux
	files  *enginetest.Files
	procs  *enginetest.Procs
	specs  enginetest.Specs
	faults *enginetest.Faults
	ctxs   *enginetest.Contexts
	rt     map[engine.RuntimeName]*enginetest.Runtime
	made   engine.Deps // of newBench, to make an engine that differs in one thing
}

func newBench(tb testing.TB, dir string, kinds ...engine.RuntimeName) *bench {
	tb.Helper()
	db, err := store.Open(filepath.Join(dir, "rig.db"))
	if err != nil {
		tb.Fatal(err)
	}
	b := &bench{
		db: db, mux: enginetest.NewMux(), files: &enginetest.Files{}, faults: &enginetest.Faults{},
		procs: &enginetest.Procs{Alive: map[int]string{1: "s1"}, Me: 1}, specs: enginetest.Specs{},
	}
	b.ctxs = &enginetest.Contexts{Faults: b.faults}
	b.mux.Faults, b.files.Faults = b.faults, b.faults
	b.specs["team"] = enginetest.Team("team", dir, kinds...)
	rts := map[engine.RuntimeName]engine.Runtime{}
	b.rt = map[engine.RuntimeName]*enginetest.Runtime{}
	for _, k := range []engine.RuntimeName{engine.RuntimeClaude, engine.RuntimeCodex, engine.RuntimeTerminal} {
		b.rt[k] = &enginetest.Runtime{Kind: k, Faults: b.faults}
		rts[k] = b.rt[k]
	}
	b.made = engine.Deps{
		Contexts: b.ctxs, Store: shaky{db, b.faults}, Mux: b.mux, Runtimes: rts, Specs: b.specs, Occupants: b.files, Procs: b.procs,
		Clock: enginetest.NewClock(), IDs: &enginetest.IDs{}, Build: "test",
		Config: engine.Config{IdentifyWait: 200e6, ReadyTimeout: 400e6, GateWait: 1e6, SubmitPause: 1e6},
	}
	b.e = engine.New(b.made)
	return b
}

func (b *bench) close(tb testing.TB) {
	tb.Helper()
	if err := b.db.Close(); err != nil {
		tb.Error(err)
	}
}

func request(verb engine.Verb, target string, args any) engine.Request {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return engine.Request{Verb: verb, Target: target, Args: raw}
}

func upRequest() engine.Request {
	return request(engine.VerbUp, "team", engine.UpArgs{Spec: "team"})
}

// run plans and applies.
func (b *bench) run(tb testing.TB, req engine.Request) *engine.Receipt {
	tb.Helper()
	p, err := b.e.Plan(context.Background(), req)
	if err != nil {
		tb.Fatal(err)
	}
	rec, err := b.e.Apply(context.Background(), p, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return rec
}

// world renders panes and occupants, so that two moments can be compared.
func (b *bench) world(tb testing.TB) string {
	tb.Helper()
	var lines []string
	for _, p := range b.mux.Panes() {
		lines = append(lines, fmt.Sprintf("pane %s %s seat=%s gen=%s", p.ID, p.Session, p.Seat, p.Gen))
	}
	err := b.db.Read(context.Background(), func(r engine.Reader) error {
		rec, err := r.Record()
		if err != nil {
			return err
		}
		for _, s := range rec.Seats {
			lines = append(lines, fmt.Sprintf("seat %s gen=%d", s.Logical(), s.Generation))
		}
		for _, s := range rec.Sessions {
			lines = append(lines, fmt.Sprintf("session %s gen=%d %s", s.SeatID, s.Generation, s.Status))
		}
		for _, x := range rec.Bindings {
			lines = append(lines, fmt.Sprintf("binding %s %s", x.SeatID, x.Pane))
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

func TestUpLaunchesEverySeatAndLeavesNoLease(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude, engine.RuntimeCodex, engine.RuntimeTerminal)
	defer b.close(t)
	rec := b.run(t, upRequest())
	if !rec.OK || len(rec.Seats) != 3 {
		t.Fatalf("receipt: %+v", rec)
	}
	for _, s := range rec.Seats {
		if s.Outcome != engine.ContinuityFresh || s.Generation != 1 {
			t.Errorf("%s: %s generation %d", s.Seat, s.Outcome, s.Generation)
		}
	}
	f, err := b.e.Fleet(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range f.Seats() {
		if s.Life != engine.LifeRunning || s.OpID != "" {
			t.Errorf("%s: %s, held by %q", s.Address, s.Life, s.OpID)
		}
	}
	if len(f.Ops) != 0 {
		t.Errorf("open operations: %+v", f.Ops)
	}
}

func TestDryRunLeavesNoTrace(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude, engine.RuntimeTerminal)
	defer b.close(t)
	b.run(t, upRequest())
	before, calls := dump(t, b.db), len(b.mux.Calls)
	for _, req := range []engine.Request{
		request(engine.VerbDown, "team", engine.DownArgs{Delete: true}),
		request(engine.VerbLaunch, "team", engine.LaunchArgs{}),
		request(engine.VerbUp, "team", engine.UpArgs{Spec: "team"}),
	} {
		p, err := b.e.Plan(context.Background(), req)
		if err != nil {
			t.Fatalf("%s: %v", req.Verb, err)
		}
		if len(p.Lines()) == 0 {
			t.Errorf("%s: an empty plan", req.Verb)
		}
	}
	if after := dump(t, b.db); after != before {
		t.Errorf("the record changed:\n%s\n---\n%s", before, after)
	}
	if len(b.mux.Calls) != calls {
		t.Errorf("tmux was changed: %v", b.mux.Calls[calls:])
	}
}

func dump(tb testing.TB, db *store.DB) string {
	tb.Helper()
	s, err := db.Dump(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestStalePlanChangesNothing(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeTerminal)
	defer b.close(t)
	b.run(t, upRequest())
	p, err := b.e.Plan(context.Background(), request(engine.VerbDown, "team", engine.DownArgs{}))
	if err != nil {
		t.Fatal(err)
	}
	b.mux.Drop(b.mux.Panes()[0].ID) // the world moves
	before := b.world(t)
	_, err = b.e.Apply(context.Background(), p, nil)
	if engine.CodeOf(err) != engine.CodePlanStale {
		t.Fatalf("want plan_stale, got %v", err)
	}
	if after := b.world(t); after != before {
		t.Errorf("a stale plan changed the world:\n%s\n---\n%s", before, after)
	}
}

func TestPlanIsUsedOnce(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeTerminal)
	defer b.close(t)
	p, err := b.e.Plan(context.Background(), upRequest())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.e.Apply(context.Background(), p, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := b.e.Apply(context.Background(), p, nil); engine.CodeOf(err) != engine.CodePlanUsed {
		t.Fatalf("want plan_used, got %v", err)
	}
}

func TestOneOfManyApplies(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeTerminal)
	defer b.close(t)
	const n = 12
	plans := make([]*engine.Plan, n)
	for i := range plans {
		var err error
		if plans[i], err = b.e.Plan(context.Background(), upRequest()); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range plans {
		wg.Add(1)
		go func() {
			defer wg.Done()
			_, errs[i] = b.e.Apply(context.Background(), plans[i], nil)
		}()
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		switch engine.CodeOf(err) {
		case "":
			won++
		case engine.CodeInProgress, engine.CodePlanStale:
		default:
			t.Errorf("unexpected refusal: %v", err)
		}
	}
	if won != 1 || len(b.mux.Panes()) != 1 {
		t.Fatalf("%d succeeded, %d panes", won, len(b.mux.Panes()))
	}
}

func TestDeadHolderOfAnUnfinishedOperationIsNamed(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeTerminal)
	defer b.close(t)
	b.run(t, upRequest())
	err := b.db.Write(context.Background(), func(tx engine.Tx) error {
		rigs, err := tx.RigsNamed("team", false)
		if err != nil {
			return err
		}
		at := time.Date(2026, 3, 3, 10, 0, 0, 0, time.UTC)
		op := engine.Operation{StartedAt: at, ID: "01X", Verb: engine.VerbDown, Target: "team", State: engine.OpRunning, Plan: json.RawMessage("{}"), Owner: engine.Owner{PID: 99, PIDStart: "old", Boot: "boot", Label: "ann"}}
		if err := tx.InsertOperation(op); err != nil {
			return err
		}
		return tx.PutLease(engine.Lease{Key: "rig:" + rigs[0].ID, OpID: "01X", Owner: op.Owner, Fence: 1, GrantedAt: at, ExpiresAt: at})
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.e.Plan(context.Background(), request(engine.VerbDown, "team", engine.DownArgs{}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.e.Apply(context.Background(), p, nil); engine.CodeOf(err) != "operation_unfinished" {
		t.Fatalf("want operation_unfinished, got %v", err)
	}
	f, err := b.e.Fleet(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Ops) != 1 || f.Ops[0].State != engine.OpUnfinished || len(f.Attention) != 1 {
		t.Errorf("the picture does not tell of it: %+v %+v", f.Ops, f.Attention)
	}
}

// TestRandomHistories drives up, launch and down with failures at any call, half
// done or not, and checks the invariants after each operation.
func TestRandomHistories(t *testing.T) {
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		b := newBench(t, filepath.Join(base, fmt.Sprint(n)), engine.RuntimeClaude, engine.RuntimeTerminal)
		b.specs["team"] = enginetest.Team("team", base, engine.RuntimeClaude, engine.RuntimeTerminal)
		defer b.close(t)
		ops := rapid.IntRange(1, 4).Draw(rt, "ops")
		for range ops {
			verb := rapid.SampledFrom([]engine.Verb{engine.VerbUp, engine.VerbLaunch, engine.VerbDown, engine.VerbHandover, engine.VerbHandover}).Draw(rt, "verb")
			name := rapid.SampledFrom([]string{"create", "kill", "launch-file", "ready", "identify", "line", "swap", "packet", "arrive", "paste", "keys", "event", "none", "none"}).Draw(rt, "fault")
			nth := rapid.IntRange(0, 2).Draw(rt, "nth")
			half := rapid.Bool().Draw(rt, "half")
			seen := 0
			b.faults.Fail = func(call string, _ int) (bool, bool) {
				if call != name {
					return false, false
				}
				seen++
				return seen-1 == nth, half
			}
			req := request(verb, "team", map[string]any{})
			switch verb {
			case engine.VerbUp:
				req = upRequest()
			case engine.VerbHandover:
				seat := rapid.SampledFrom([]string{"dev.m0", "dev.m1"}).Draw(rt, "seat")
				source := rapid.SampledFrom([]string{"fresh", "rebuild", "fork:dev.m0"}).Draw(rt, "source")
				req = handoverRequest(seat, source)
			}
			p, err := b.e.Plan(context.Background(), req)
			b.faults.Fail = nil
			if err != nil {
				continue
			}
			seen = 0
			b.faults.Fail = func(call string, _ int) (bool, bool) {
				if call != name {
					return false, false
				}
				seen++
				return seen-1 == nth, half
			}
			rival, refused := b.rival(req, rapid.Int64Range(1, 25).Draw(rt, "rival at"))
			rec, err := b.e.Apply(context.Background(), p, rival)
			b.faults.Fail = nil
			refused(rt)
			b.invariants(rt, rec, err)
		}
	})
}
