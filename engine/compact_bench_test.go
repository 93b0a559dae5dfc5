package engine_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rig/engine"
	"rig/engine/enginetest"
	"rig/store"
)

// patient is a Claude client that can compact: what it shows is set by the test.
type patient struct {
	*enginetest.Runtime
	mu      sync.Mutex
	usage   engine.Usage
	state   engine.ActivityState
	code    engine.Code
	proof   engine.CompactionProof
	since   engine.CompactionMark // from which the proof was last asked for
	latest  engine.CompactionProof
	queued  bool
	draft   string
	unread  int    // how many more looks show no input box
	written string // where its conversation is kept; "" = nobody prompted it
	entered bool   // a line that a dead process left in the box was submitted
	asked   bool   // the conversation holds every line that was typed
	answer  func(marker string) string
}

func (p *patient) set(fn func(p *patient)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fn(p)
}

func (p *patient) Activity(context.Context, engine.Probe) engine.Activity {
	p.mu.Lock()
	defer p.mu.Unlock()
	return engine.Activity{Reading: engine.Reading{State: p.state, Code: p.code, Why: "set by the test", Source: "test", Confidence: engine.ConfidenceHigh}, Queued: p.queued}
}

func (p *patient) Usage(_ context.Context, q engine.Probe) engine.Usage {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := p.usage
	u.Generation = q.Session.Generation
	return u
}

func (p *patient) InputBox(engine.Screen) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unread > 0 {
		p.unread--
		return "", false
	}
	return p.draft, true
}

func (p *patient) CompactionMark(_ context.Context, q engine.Probe) (engine.CompactionMark, error) {
	return engine.CompactionMark{Path: "/t.jsonl", Offset: 10, At: q.Now, Event: "the newest"}, nil
}

func (p *patient) CompactionSince(_ context.Context, _ engine.Probe, m engine.CompactionMark) engine.CompactionProof {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since = m
	return p.proof
}

func (p *patient) LatestCompaction(context.Context, engine.Probe) (engine.CompactionProof, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.latest, p.latest.State != ""
}

func (p *patient) AnswerTo(_ context.Context, _ engine.Probe, _ engine.CompactionMark, marker string) (asked bool, answer string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	answer = p.answer(marker)
	return answer != "" || p.asked, answer
}

func (p *patient) Transcript(context.Context, engine.Session, string) (path, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.written, "it was not prompted"
}

// ward is a bench with one such seat, that keeps maps and directives in memory.
type ward struct {
	*bench
	*patient
	keeper *keeper
	clock  *enginetest.Clock
	deps   engine.Deps
}

// keeper keeps directives and maps.
type keeper struct {
	*enginetest.Files
	*enginetest.Contexts
	mu    sync.Mutex
	armed map[string]engine.Directive
	whole bool
	asked int
}

func (k *keeper) ArmDirective(d engine.Directive) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.armed[d.Session] = d
	return nil
}

func (k *keeper) DisarmDirective(session, attempt string) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	d, ok := k.armed[session]
	if ok && d.Attempt == attempt {
		delete(k.armed, session)
		return true, nil
	}
	return false, nil
}

func (k *keeper) DirectiveOf(session, attempt string) (engine.DirectiveState, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if d, ok := k.armed[session]; ok && d.Attempt == attempt {
		return engine.DirectiveArmed, nil
	}
	return engine.DirectiveNone, nil
}

func (k *keeper) PrepareMap(cwd, attempt string) (string, error) {
	return filepath.Join(cwd, attempt, "RESTORE-MAP.md"), nil
}

func (k *keeper) PublishMap(string, string) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked++
	return k.whole, nil
}

func (k *keeper) CheckPacket(string) error { return nil }

func (k *keeper) left() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.armed)
}

func newWard(tb testing.TB) *ward {
	tb.Helper()
	dir := tb.TempDir()
	db, err := store.Open(filepath.Join(dir, "rig.db"))
	if err != nil {
		tb.Fatal(err)
	}
	w := &ward{bench: &bench{
		db: db, mux: enginetest.NewMux(), files: &enginetest.Files{}, faults: &enginetest.Faults{},
		procs: &enginetest.Procs{Alive: map[int]string{1: "s1"}, Me: 1}, specs: enginetest.Specs{},
	}, clock: enginetest.NewClock()}
	w.mux.Faults, w.files.Faults = w.faults, w.faults
	w.ctxs = &enginetest.Contexts{Faults: w.faults}
	w.keeper = &keeper{Files: w.files, Contexts: w.ctxs, armed: map[string]engine.Directive{}, whole: true}
	w.patient = &patient{
		Runtime: &enginetest.Runtime{Kind: engine.RuntimeClaude, Faults: w.faults}, state: engine.ActivityIdle, written: "/t.jsonl",
		usage: engine.Usage{Known: true, Tokens: 900_000, Window: 1_000_000, Percent: 90, SampledAt: w.clock.Now(), Source: "test", Confidence: engine.ConfidenceHigh},
		proof: engine.CompactionProof{State: engine.CompactionDone, Source: "transcript", Trigger: "manual"},
		answer: func(marker string) string {
			if strings.HasSuffix(marker, "audit") {
				return "all FULL\nCurrent work: the tax rates\nNext owner: dev-qa@team"
			}
			return "restored from packet at /p; resumed at step 2"
		},
	}
	w.specs["team"] = enginetest.Team("team", dir, engine.RuntimeClaude)
	w.deps = engine.Deps{
		Contexts: w.keeper, Store: db, Mux: w.mux, Specs: w.specs, Occupants: w.keeper, Procs: w.procs, Clock: w.clock, IDs: &enginetest.IDs{}, Build: "test",
		Runtimes: map[engine.RuntimeName]engine.Runtime{engine.RuntimeClaude: w.patient},
		Config:   engine.Config{IdentifyWait: 200e6, ReadyTimeout: 400e6, GateWait: 1e6, SubmitPause: 1e6, VerifyTimeout: 1e6, CompactWait: 700 * time.Millisecond},
	}
	w.e = engine.New(w.deps)
	w.run(tb, upRequest())
	return w
}

func compactRequest(args engine.CompactArgs) engine.Request {
	return request(engine.VerbCompact, "dev.m0", args)
}

// attempt plans and applies a compaction whatever comes of it.
func (w *ward) attempt(tb testing.TB, args engine.CompactArgs) (*engine.Receipt, error) {
	tb.Helper()
	p, err := w.e.Plan(context.Background(), compactRequest(args))
	if err != nil {
		tb.Fatal(err)
	}
	return w.e.Apply(context.Background(), p, nil)
}

// typed counts what was typed since the last call.
func (w *ward) typed() (pastes int) {
	for _, c := range w.mux.Calls {
		if strings.HasPrefix(c, "paste") {
			pastes++
		}
	}
	w.mux.Calls = nil
	return pastes
}
