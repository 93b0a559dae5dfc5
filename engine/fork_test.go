package engine_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rig/engine"
	"rig/engine/enginetest"
	"rig/engine/image"
	"rig/engine/runtimes"
	"rig/specs"
	"rig/store"
)

const someID = "5e550037-0000-4000-8000-00000000a037"

// forkBench is a bench with a library of images, fragments, and one agent runtime
// whose stored conversations a test can choose.
type forkBench struct {
	*bench
	dir   string
	rt    *enginetest.Runtime
	parts *fragments
	lib   *image.Library
}

// fragments serves one fragment beside the specs in memory.
type fragments struct {
	enginetest.Specs
	pod   engine.PodSpec
	edges []engine.EdgeSpec
}

func (f *fragments) LoadFragment(context.Context, string, engine.RigSpec) (engine.PodSpec, []engine.EdgeSpec, error) {
	return f.pod, f.edges, nil
}

func newForkBench(t *testing.T, kinds ...engine.RuntimeName) *forkBench {
	t.Helper()
	dir := t.TempDir()
	db, err := store.Open(filepath.Join(dir, "rig.db"))
	if err != nil {
		t.Fatal(err)
	}
	b := &forkBench{dir: dir, bench: &bench{
		db: db, mux: enginetest.NewMux(), files: &enginetest.Files{}, faults: &enginetest.Faults{},
		procs: &enginetest.Procs{Alive: map[int]string{1: "s1"}, Me: 1}, specs: enginetest.Specs{},
	}}
	t.Cleanup(func() { b.close(t) })
	b.mux.Faults, b.files.Faults = b.faults, b.faults
	b.specs["team"] = enginetest.Team("team", dir, kinds...)
	b.rt = &enginetest.Runtime{Kind: engine.RuntimeClaude, Faults: b.faults}
	b.parts = &fragments{Specs: b.specs}
	b.lib = image.New(image.Options{Roots: []image.Root{{Label: image.Home, Path: filepath.Join(dir, "lib")}}, SpecRoots: []string{filepath.Join(dir, "specs")}, YAML: specs.Documents})
	b.made = engine.Deps{
		Store: db, Mux: b.mux, Specs: b.parts, Occupants: b.files, Procs: b.procs, Images: b.lib,
		Runtimes: map[engine.RuntimeName]engine.Runtime{
			engine.RuntimeClaude: b.rt, engine.RuntimeCodex: &enginetest.Runtime{Kind: engine.RuntimeCodex, Faults: b.faults},
			engine.RuntimeTerminal: &enginetest.Runtime{Kind: engine.RuntimeTerminal, Faults: b.faults},
		},
		Clock: enginetest.NewClock(), IDs: &enginetest.IDs{}, Build: "test",
		Config: engine.Config{IdentifyWait: 200e6, ReadyTimeout: 400e6, SubmitPause: 1e6},
	}
	b.e = engine.New(b.made)
	return b
}

// member is a seat to be added, with a source.
func (b *forkBench) member(id string, src engine.SessionSource) engine.MemberSpec {
	return engine.MemberSpec{ID: id, Runtime: engine.RuntimeClaude, AgentRef: "builtin:agent", Profile: "default", Cwd: b.dir, Source: src}
}

func (b *forkBench) expand(t *testing.T, members ...engine.MemberSpec) *engine.Plan {
	t.Helper()
	b.parts.pod = engine.PodSpec{ID: "kid", Label: "Kids", Members: members}
	p, err := b.e.Plan(context.Background(), request(engine.VerbExpand, "team", engine.ExpandArgs{Fragment: "f.yaml"}))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (b *forkBench) apply(t *testing.T, p *engine.Plan) *engine.Receipt {
	t.Helper()
	rec, err := b.e.Apply(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func fork(id string) engine.ForkSource { return engine.ForkSource{Parent: engine.NewParentToken(id)} }

func TestAForkIsJudgedBeforeItStarts(t *testing.T) {
	for name, c := range map[string]struct {
		conv engine.ConversationState
		code engine.Code
		says string
	}{
		"unknown parent":    {engine.ConversationState{Exists: engine.Absent, Why: "no transcript"}, "fork_source_not_found", "claude-code has no conversation " + someID},
		"another directory": {engine.ConversationState{Exists: engine.Absent, Details: map[string]any{"recorded_cwd": "/elsewhere"}}, "fork_cwd_mismatch", "/elsewhere"},
		"a caveat only":     {engine.ConversationState{Exists: engine.Present, Details: map[string]any{"recorded_cwd": "/elsewhere"}}, "fork_cwd_mismatch", "/elsewhere"},
		"unreadable":        {engine.ConversationState{Exists: engine.Unknown, Why: "no permission"}, engine.CodeUnavailable, "no permission"},
		"archived":          {engine.ConversationState{Exists: engine.Present, Why: "archived", Details: map[string]any{"blocks": true}}, "conversation_blocked", "archived"},
		"in use":            {engine.ConversationState{Exists: engine.Present, Live: true, LivePID: 7}, "", "process 7"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newForkBench(t, engine.RuntimeClaude)
			b.run(t, upRequest())
			b.rt.Stored = func(string, string) engine.ConversationState { return c.conv }
			before := dump(t, b.db)
			p := b.expand(t, b.member("x", fork(someID)))
			text := ""
			for _, l := range p.Lines() {
				text += l.Text + "\n"
			}
			if !strings.Contains(text, c.says) {
				t.Errorf("the plan does not say %q:\n%s", c.says, text)
			}
			if (c.code == "") != p.Applicable() || c.code != "" && p.Blockers[0].Code != c.code {
				t.Errorf("%+v", p.Blockers)
			}
			if dump(t, b.db) != before {
				t.Error("planning wrote")
			}
		})
	}
}

// TestTheParentsIDIsNeverTheChilds: a client that keeps naming the parent is a
// failure, and nothing of it stays.
func TestTheParentsIDIsNeverTheChilds(t *testing.T) {
	b := newForkBench(t, engine.RuntimeClaude)
	b.run(t, upRequest())
	for name, named := range map[string]func(engine.Probe) engine.Identity{
		"the parent, proven": func(p engine.Probe) engine.Identity {
			return engine.Identity{Token: engine.NewResumeToken(strings.ToUpper(someID)), Proven: true}
		},
		"nothing": func(engine.Probe) engine.Identity {
			return engine.Identity{Code: "awaiting_new_id", Why: "it names the parent"}
		},
		"no id": func(engine.Probe) engine.Identity { return engine.Identity{Proven: true} },
	} {
		t.Run(name, func(t *testing.T) {
			b.rt.Named = named
			id := strings.ReplaceAll(strings.Fields(name)[0], "the", "t")
			rec := b.apply(t, b.expand(t, b.member(id, fork(someID))))
			b.rt.Named = nil
			s := b.seat(t, "kid."+id)
			if rec.OK || s.Generation != 0 || s.TokenPresent || s.Continuity != engine.ContinuityNone || s.ForkedFrom != "" {
				t.Errorf("%+v %+v", rec, s)
			}
			if text := dump(t, b.db); strings.Contains(strings.ToLower(text), someID) {
				t.Error("the parent's id is on record")
			}
			// What was asked for is not answered with a fresh start later.
			launch, err := b.e.Plan(context.Background(), request(engine.VerbLaunch, "team", engine.LaunchArgs{Seats: []string{"kid." + id}}))
			if err != nil || launch.Intents[0].Action != "awaiting-decision" {
				t.Fatalf("%+v %v", launch, err)
			}
			for _, s := range launch.Steps() {
				if s.Kind == engine.StepCreate {
					t.Errorf("it would start something: %+v", s)
				}
			}
			b.run(t, request(engine.VerbRemove, "team", engine.ShrinkArgs{Seat: "kid." + id}))
		})
	}
}

// TestForkOfASeatOnRecord names the seat, never the id, and a failed start can be
// tried again from the same occupant.
func TestForkOfASeatOnRecord(t *testing.T) {
	b := newForkBench(t, engine.RuntimeClaude, engine.RuntimeTerminal)
	b.run(t, upRequest())
	parent := b.token(t, "dev.m0")
	req := request(engine.VerbFork, "dev.m0", engine.ForkArgs{Pod: "dev", Member: "kid"})
	b.faults.Fail = func(call string, _ int) (bool, bool) { return call == "ready", false }
	p, err := b.e.Plan(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(mustMarshal(t, p)); strings.Contains(text, parent) {
		t.Error("the plan names the parent's id")
	}
	if rec := b.apply(t, p); rec.OK {
		t.Fatalf("%+v", rec)
	}
	b.faults.Fail = nil
	rec := b.run(t, request(engine.VerbLaunch, "team", engine.LaunchArgs{Seats: []string{"dev.kid"}}))
	s := b.seat(t, "dev.kid")
	if !rec.OK || s.Continuity != engine.ContinuityForked || s.ForkedFrom != "dev-m0@team (generation 1)" || b.token(t, "dev.kid") == parent {
		t.Errorf("%+v %+v", rec, s)
	}
	if strings.Contains(dump(t, b.db), parent) {
		t.Error("the parent's id stands in the record outside of its own row")
	}
	down := b.run(t, request(engine.VerbDown, "team", engine.DownArgs{}))
	back := b.run(t, request(engine.VerbUp, "team", engine.UpArgs{Spec: "team"}))
	_ = down
	for _, x := range back.Seats {
		if x.Seat == "dev-kid@team" && x.Outcome != engine.ContinuityResumed {
			t.Errorf("%+v", x)
		}
	}
	for _, bad := range []engine.ForkArgs{{Pod: "dev", Member: "m1"}, {Pod: "none", Member: "x"}, {Pod: "dev", Member: "a b"}, {Pod: "dev", Member: ""}} {
		p, err := b.e.Plan(context.Background(), request(engine.VerbFork, "dev.m0", bad))
		if err == nil && p.Applicable() {
			t.Errorf("accepted: %+v", bad)
		}
	}
	if p, err := b.e.Plan(context.Background(), request(engine.VerbFork, "dev.m1", engine.ForkArgs{Pod: "dev", Member: "x"})); err != nil || p.Applicable() {
		t.Errorf("a terminal was forked: %v", err)
	}
}

func mustMarshal(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestRebuildNeedsEveryArtifact, quotes them in their order, and claims nothing
// that was not seen to arrive.
func TestRebuildNeedsEveryArtifact(t *testing.T) {
	b := newForkBench(t, engine.RuntimeClaude)
	b.run(t, upRequest())
	first, second := filepath.Join(b.dir, "culture.md"), filepath.Join(b.dir, "log.md")
	for path, text := range map[string]string{first: "FIRST", second: "SECOND" + strings.Repeat("x", 70<<10)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := b.expand(t, b.member("a", engine.RebuildSource{Artifacts: []string{first, filepath.Join(b.dir, "none.md")}}))
	if p.Applicable() || p.Blockers[0].Code != "artifact_missing" {
		t.Errorf("%+v", p.Blockers)
	}
	p = b.expand(t, b.member("a", engine.RebuildSource{Artifacts: []string{first, second}}))
	prompt := engine.PromptForTest(p, "kid-a@team")
	if i, j := strings.Index(prompt, "FIRST"), strings.Index(prompt, second); i < 0 || j < i || strings.Contains(prompt, "SECOND") || len(prompt) > 4<<10 {
		t.Errorf("%d bytes, %d, %d", len(prompt), i, j)
	}
	b.faults.Fail = func(call string, _ int) (bool, bool) { return call == "arrive", false }
	if rec := b.apply(t, p); rec.OK || b.seat(t, "kid.a").Generation != 0 {
		t.Errorf("%+v", rec)
	}
	b.faults.Fail = nil
	rec := b.run(t, request(engine.VerbLaunch, "team", engine.LaunchArgs{Seats: []string{"kid.a"}}))
	if s := b.seat(t, "kid.a"); !rec.OK || s.Continuity != engine.ContinuityRebuilt || s.ForkedFrom != "" {
		t.Errorf("%+v %+v", rec, s)
	}
}

// smuggled are starts that the engine's own types do not allow: each pretends to
// be one of them and carries the other.
type smuggled struct {
	engine.StartResume
	Fork engine.StartFork
}

// TestResumeAndForkExcludeEachOther in three places, each for itself: the input,
// the engine's types, the adapters.
func TestResumeAndForkExcludeEachOther(t *testing.T) {
	base := "version: \"0.2\"\nname: x\npods:\n  - id: dev\n    label: D\n    members:\n      - id: a\n        runtime: claude-code\n        agent_ref: \"builtin:agent\"\n        profile: default\n        cwd: .\n"
	src := "        session_source: {mode: fork, ref: {kind: native_id, value: \"" + someID + "\"}}\n"
	if res := specs.ParseRig([]byte(base+src), specs.Options{File: "r.yaml", Root: "/"}); len(res.Problems) != 0 {
		t.Fatalf("the plain fork: %+v", res.Problems)
	}
	for name, text := range map[string]string{
		"a token beside the source": base + src + "        resume_token: \"" + someID + "\"\n",
		"a token in the source":     base + strings.Replace(src, "mode: fork", "mode: fork, resume_token: \""+someID+"\"", 1),
		"two sources":               base + src + src,
		"a resume as a source":      base + strings.Replace(src, "mode: fork", "mode: resume", 1),
	} {
		if res := specs.ParseRig([]byte(text), specs.Options{File: "r.yaml", Root: "/"}); len(res.Problems) == 0 || strings.Contains(res.Err().Error(), someID) {
			t.Errorf("%s: %+v", name, res.Problems)
		}
	}
	dir := t.TempDir()
	for _, rt := range []engine.Runtime{runtimes.NewClaude(runtimes.Config{}), runtimes.NewCodex(runtimes.Config{})} {
		req := engine.LaunchRequest{Address: "a-b@c", Seat: engine.Seat{Runtime: rt.Name(), Cwd: dir}}
		both := smuggled{engine.StartResume{Token: engine.NewResumeToken(someID)}, engine.StartFork{Parent: engine.NewParentToken(someID), NewID: someID}}
		for name, start := range map[string]engine.Start{"both": both, "none": nil, "no parent": engine.StartFork{NewID: someID}, "no token": engine.StartResume{}} {
			req.Start = start
			if line, err := rt.Line(req); err == nil {
				t.Errorf("%s, %s: %v", rt.Name(), name, line.Argv)
			}
		}
		req.Start = engine.StartFork{Parent: engine.NewParentToken(someID), NewID: "5e550097-0000-4000-8000-00000000a097"}
		line, err := rt.Line(req)
		argv := strings.Join(line.Argv, " ")
		if err != nil || line.Token.Reveal() == someID || strings.Contains(argv, " resume ") || strings.Contains(argv, "--resume") != strings.Contains(argv, "--fork-session") {
			t.Errorf("%s: %s %v", rt.Name(), argv, err)
		}
	}
	same := engine.LaunchRequest{Address: "a-b@c", Seat: engine.Seat{Runtime: engine.RuntimeClaude, Cwd: dir}, Start: engine.StartFork{Parent: engine.NewParentToken(someID), NewID: strings.ToUpper(someID)}}
	if _, err := runtimes.NewClaude(runtimes.Config{}).Line(same); err == nil {
		t.Error("a child with its parent's id")
	}
}

// TestHandoverForksWhatTheSourceWritesNow: after /clear the client writes another
// conversation than the one on record, and a handover by the seat's name takes
// that one, as a fork of the seat does. Named by its id the old one is taken.
func TestHandoverForksWhatTheSourceWritesNow(t *testing.T) {
	const cleared = "99999999-9999-4999-8999-999999999999"
	for _, byID := range []bool{false, true} {
		b := newForkBench(t, engine.RuntimeClaude, engine.RuntimeClaude)
		b.run(t, upRequest())
		recorded := b.token(t, "dev.m1")
		var taken string
		b.rt.Named = func(p engine.Probe) engine.Identity {
			id := engine.Identity{Token: engine.NewResumeToken(cleared), Proven: true, Provenance: engine.ProvenanceHook, Why: "as it writes now"}
			if parent := p.Parent.Reveal(); parent != "" {
				taken, id.Token = parent, p.Session.Token
			}
			return id
		}
		source, want := "fork:dev.m1", cleared
		if byID {
			source, want = "fork:"+recorded, recorded
		}
		p, err := b.e.Plan(context.Background(), handoverRequest("dev.m0", source))
		if err != nil {
			t.Fatal(err)
		}
		if told := strings.Contains(strings.Join(p.Warnings, "\n"), "moved to another conversation"); told == byID {
			t.Errorf("%s: warnings %q", source, p.Warnings)
		}
		if rec := b.apply(t, p); !rec.OK || taken != want {
			t.Errorf("%s took %q, want %q; receipt %+v", source, taken, want, rec)
		}
		opts, err := b.e.HandoverSources(context.Background(), b.seat(t, "dev.m0").ID)
		if err != nil || len(opts) == 0 {
			t.Errorf("the sources: %v %v", opts, err)
		}
	}
}
