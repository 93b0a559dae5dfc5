package engine_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"rig/engine"
	"rig/engine/enginetest"
	"rig/store"
)

// reports lets a test say what supervisors report.
type reports struct {
	*enginetest.Files
	mu    sync.Mutex
	state map[string]engine.RunState
	fail  error
	hooks []engine.HookSignal // of every session
}

func (r *reports) Signals(string) (engine.Signals, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return engine.Signals{Hooks: r.hooks}, nil
}

func (r *reports) RunState(id string) (engine.RunState, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	st, ok := r.state[id]
	return st, ok, r.fail
}

// mind lets a test say what an agent shows of itself.
type mind struct {
	*enginetest.Runtime
	activity *engine.Activity
	identity *engine.Identity
	holders  map[string][]engine.Holder
}

func (m *mind) Activity(ctx context.Context, p engine.Probe) engine.Activity {
	if m.activity != nil {
		return *m.activity
	}
	return m.Runtime.Activity(ctx, p)
}

func (m *mind) Identify(ctx context.Context, p engine.Probe) engine.Identity {
	if m.identity != nil {
		return *m.identity
	}
	return m.Runtime.Identify(ctx, p)
}

func (m *mind) Holders(context.Context, engine.Homes) map[string][]engine.Holder { return m.holders }

// gag is a record that refuses audit events of some types.
type gag struct {
	*store.DB
	types map[string]bool
}

type gagTx struct {
	engine.Tx
	types map[string]bool
}

var errGag = errors.New("the audit log is full")

func (g *gag) Write(ctx context.Context, fn func(engine.Tx) error) error {
	return g.DB.Write(ctx, func(tx engine.Tx) error { return fn(gagTx{tx, g.types}) })
}

func (t gagTx) AppendEvent(e engine.Event) (int64, error) {
	if t.types[e.Type] {
		return 0, errGag
	}
	return t.Tx.AppendEvent(e)
}

// seatBench is a bench with two seats up, an agent dev.m0 and a terminal dev.m1.
type seatBench struct {
	*bench
	reports *reports
	claude  *mind
	gag     *gag
	deps    engine.Deps
}

// rebuild goes on with a process of another build.
func (b *seatBench) rebuild(build string) {
	b.deps.Build = build
	b.e = engine.New(b.deps)
}

func newSeatBench(tb testing.TB) *seatBench {
	tb.Helper()
	dir := tb.TempDir()
	db, err := store.Open(filepath.Join(dir, "rig.db"))
	if err != nil {
		tb.Fatal(err)
	}
	b := &seatBench{bench: &bench{
		db: db, mux: enginetest.NewMux(), files: &enginetest.Files{}, faults: &enginetest.Faults{},
		procs: &enginetest.Procs{Alive: map[int]string{1: "s1"}, Me: 1}, specs: enginetest.Specs{}, ctxs: &enginetest.Contexts{},
	}}
	b.reports = &reports{Files: b.files, state: map[string]engine.RunState{}}
	b.claude = &mind{Runtime: &enginetest.Runtime{Kind: engine.RuntimeClaude, Faults: b.faults}}
	b.gag = &gag{DB: db, types: map[string]bool{}}
	b.mux.Faults, b.files.Faults, b.ctxs.Faults = b.faults, b.faults, b.faults
	b.specs["team"] = enginetest.Team("team", dir, engine.RuntimeClaude, engine.RuntimeTerminal)
	b.deps = engine.Deps{
		Contexts: b.ctxs, Store: b.gag, Mux: b.mux, Specs: b.specs, Occupants: b.reports, Procs: b.procs,
		Runtimes: map[engine.RuntimeName]engine.Runtime{
			engine.RuntimeClaude: b.claude, engine.RuntimeTerminal: &enginetest.Runtime{Kind: engine.RuntimeTerminal, Faults: b.faults},
		},
		Clock: enginetest.NewClock(), IDs: &enginetest.IDs{}, Build: "test", Self: engine.Self{Login: "ann"},
		Config: engine.Config{IdentifyWait: 200e6, ReadyTimeout: 400e6, GateWait: 1e6, SubmitPause: 1e6},
	}
	b.e = engine.New(b.deps)
	tb.Cleanup(func() { b.close(tb) })
	b.run(tb, upRequest())
	return b
}

// seatRequest is a request of a seat verb with a reason.
func seatRequest(verb engine.Verb, seat string, args any) engine.Request {
	r := request(verb, seat, args)
	r.Reason = "because"
	return r
}

func freshRequest(seat string, stop bool) engine.Request {
	return seatRequest(engine.VerbSeatLaunch, seat, engine.SeatLaunchArgs{Fresh: true, Stop: stop})
}

func tokenRequest(seat, token string) engine.Request {
	r := seatRequest(engine.VerbSetToken, seat, struct{}{})
	r.Secret = engine.NewSecret(token)
	return r
}

// refused plans and applies a request that has to be refused, and gives the code
// and every blocker. Nothing may have changed, and every refusal needs a hint.
func (b *seatBench) refused(tb testing.TB, req engine.Request) (engine.Code, []engine.Code) {
	tb.Helper()
	before, calls := dump(tb, b.db), len(b.mux.Calls)
	p, err := b.e.Plan(context.Background(), req)
	var all []engine.Code
	if err == nil {
		for _, x := range p.Blockers {
			all = append(all, x.Code)
			if x.Hint == "" {
				tb.Errorf("%s %s: blocker %s has no hint", req.Verb, req.Target, x.Code)
			}
		}
		_, err = b.e.Apply(context.Background(), p, nil)
	}
	if err == nil {
		tb.Fatalf("%s %s was applied", req.Verb, req.Target)
	}
	var e *engine.Error
	if errors.As(err, &e) && e.Hint == "" {
		tb.Errorf("%s %s: %s has no hint", req.Verb, req.Target, e.Code)
	}
	if after := dump(tb, b.db); after != before {
		tb.Errorf("%s %s: the refusal changed the record:\n%s\n---\n%s", req.Verb, req.Target, before, after)
	}
	if len(b.mux.Calls) != calls {
		tb.Errorf("%s %s: the refusal changed tmux: %v", req.Verb, req.Target, b.mux.Calls[calls:])
	}
	return engine.CodeOf(err), all
}

// edit changes the seat's row and the row of its occupant.
func (b *bench) edit(tb testing.TB, logical string, fn func(seat *engine.Seat, s *engine.Session)) {
	tb.Helper()
	view := b.seat(tb, logical)
	err := b.db.Write(context.Background(), func(tx engine.Tx) error {
		seat, err := tx.Seat(view.ID)
		if err != nil {
			return err
		}
		all, err := tx.Sessions(seat.ID)
		if err != nil {
			return err
		}
		for i := range all {
			if all[i].Generation == seat.Generation {
				fn(&seat, &all[i])
				if err := tx.UpdateSession(&all[i]); err != nil {
					return err
				}
			}
		}
		return tx.UpdateSeat(&seat)
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// history gives a seat's occupants, newest first.
func (b *seatBench) history(tb testing.TB, logical string) []engine.Session {
	tb.Helper()
	all, _, err := b.e.SeatHistory(context.Background(), b.seat(tb, logical).ID)
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

// pane gives the pane that a seat is bound to.
func (b *seatBench) pane(tb testing.TB, logical string) engine.Pane {
	tb.Helper()
	id := b.seat(tb, logical).Pane
	for _, p := range b.mux.Panes() {
		if p.ID == id {
			return p
		}
	}
	tb.Fatalf("%s has no pane", logical)
	return engine.Pane{}
}

// events lists the types of the audit events of one operation.
func (b *seatBench) events(tb testing.TB, op string) []engine.Event {
	tb.Helper()
	list, err := b.e.Events(context.Background(), engine.EventFilter{OpID: op})
	if err != nil {
		tb.Fatal(err)
	}
	return list
}

func types(list []engine.Event) string {
	out := []string{}
	for _, e := range list {
		out = append(out, e.Type)
	}
	return strings.Join(out, " ")
}

// payload checks that an event tells what it has to.
func payload(tb testing.TB, e engine.Event, parts ...string) {
	tb.Helper()
	for _, part := range parts {
		if !strings.Contains(string(e.Payload), part) {
			tb.Errorf("%s does not tell %s: %s", e.Type, part, e.Payload)
		}
	}
	if e.Operator != "ann (derived)" {
		tb.Errorf("%s: operator %q", e.Type, e.Operator)
	}
}

func codes(list []engine.Code) string { return strings.Trim(fmt.Sprint(list), "[]") }
