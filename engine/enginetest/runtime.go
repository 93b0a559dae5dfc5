package enginetest

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"

	"rig/engine"
)

// Runtime is an agent that is ready at once and whose id is the one it was
// launched with.
type Runtime struct {
	Kind   engine.RuntimeName
	Faults *Faults
	// Gate, when set, is where every start waits.
	Gate engine.Code
	// Stored, when set, answers what is known of a stored conversation.
	Stored func(token, cwd string) engine.ConversationState
	// Named, when set, answers which conversation an occupant writes.
	Named func(p engine.Probe) engine.Identity
	// Used, when set, answers how much of its context an occupant has used.
	Used func(p engine.Probe) engine.Usage
	// Asked, when set, is told of every launch line that is made.
	Asked func(q engine.LaunchRequest)
}

var _ engine.Runtime = (*Runtime)(nil)

// Name implements engine.Runtime.
func (r *Runtime) Name() engine.RuntimeName { return r.Kind }

// Caps implements engine.Runtime.
func (r *Runtime) Caps() engine.RuntimeCaps {
	agent := r.Kind != engine.RuntimeTerminal
	return engine.RuntimeCaps{Resume: agent, Fork: agent, Prompt: agent}
}

// ValidToken implements engine.Runtime.
func (r *Runtime) ValidToken(id string) error {
	if strings.TrimSpace(id) == "" {
		return engine.Errorf(engine.CodeInvalidToken, "empty").WithHint("test")
	}
	return nil
}

// Line implements engine.Runtime.
func (r *Runtime) Line(q engine.LaunchRequest) (engine.LaunchLine, error) {
	if fail, _ := r.Faults.Ask("line"); fail {
		return engine.LaunchLine{}, ErrInjected
	}
	if r.Asked != nil {
		r.Asked(q)
	}
	l := engine.LaunchLine{Argv: []string{"agent"}, Dir: q.Seat.Cwd}
	switch s := q.Start.(type) {
	case engine.StartFresh:
		l.Token = engine.NewResumeToken(s.SessionID)
	case engine.StartResume:
		l.Token = s.Token
	case engine.StartFork:
		l.Token = engine.NewResumeToken(s.NewID)
	}
	return l, nil
}

// Preflight implements engine.Runtime.
func (r *Runtime) Preflight(context.Context, engine.LaunchRequest) []engine.Blocker { return nil }

// Ready implements engine.Runtime.
func (r *Runtime) Ready(_ context.Context, _ engine.Probe) engine.Readiness {
	if fail, _ := r.Faults.Ask("ready"); fail {
		return engine.Readiness{State: engine.ReadyFailed, Code: "injected", Why: "an injected failure"}
	}
	if r.Gate != "" {
		return engine.Readiness{State: engine.ReadyGate, Code: r.Gate, Why: "a gate"}
	}
	return engine.Readiness{State: engine.ReadyYes, Why: "at once"}
}

// Identify implements engine.Runtime.
func (r *Runtime) Identify(_ context.Context, p engine.Probe) engine.Identity {
	if fail, _ := r.Faults.Ask("identify"); fail {
		return engine.Identity{Why: "an injected failure"}
	}
	if r.Named != nil {
		return r.Named(p)
	}
	return engine.Identity{Token: p.Session.Token, Proven: !p.Session.Token.Empty(), Provenance: engine.ProvenanceHook, Why: "as launched"}
}

// Activity implements engine.Runtime.
func (r *Runtime) Activity(context.Context, engine.Probe) engine.Activity {
	return engine.Activity{Reading: engine.Reading{State: engine.ActivityIdle, Source: "test", Rule: "always", Confidence: engine.ConfidenceHigh}}
}

// Usage implements engine.Runtime.
func (r *Runtime) Usage(_ context.Context, p engine.Probe) engine.Usage {
	if r.Used != nil {
		return r.Used(p)
	}
	return engine.Usage{Note: "none in tests", Confidence: engine.ConfidenceNone}
}

// Conversation implements engine.Runtime: every conversation is on disk unless
// Stored says otherwise.
func (r *Runtime) Conversation(_ context.Context, token, cwd string, _ engine.Homes) engine.ConversationState {
	if r.Stored != nil {
		return r.Stored(token, cwd)
	}
	return engine.ConversationState{Exists: engine.Present}
}

// Hint implements engine.Runtime.
func (r *Runtime) Hint(engine.Pane, []string, []string) (engine.Confidence, string) {
	return engine.ConfidenceNone, ""
}

// Close implements engine.Runtime.
func (r *Runtime) Close() error { return nil }

// Files keeps launch files in memory.
type Files struct {
	Faults *Faults
	mu     sync.Mutex
	files  map[string]engine.LaunchFile
}

var _ engine.Occupants = (*Files)(nil)

// Unread lists launch files that nobody removed.
func (f *Files) Unread() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.files)
}

// WriteLaunch implements engine.Occupants. The file counts as read at once, as a
// supervisor would.
func (f *Files) WriteLaunch(id string, l engine.LaunchFile) ([]string, error) {
	if fail, _ := f.Faults.Ask("launch-file"); fail {
		return nil, ErrInjected
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.files == nil {
		f.files = map[string]engine.LaunchFile{}
	}
	f.files[id] = l
	return []string{"rig", "seat-exec", id}, nil
}

// RemoveUnread implements engine.Occupants.
func (f *Files) RemoveUnread(op string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.files, func(_ string, l engine.LaunchFile) bool { return l.Op == op })
	return nil
}

// RemoveLaunch implements engine.Occupants.
func (f *Files) RemoveLaunch(id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.files, id)
	return nil
}

// RunState implements engine.Occupants: nothing is reported.
func (f *Files) RunState(string) (engine.RunState, bool, error) { return engine.RunState{}, false, nil }

// SettingsFor implements engine.Occupants.
func (f *Files) SettingsFor(_ engine.Seat, _ string, _ int64, idleOff bool) string {
	if idleOff {
		return `{"idleCompaction":false}`
	}
	return "{}"
}

// Signals implements engine.Occupants.
func (f *Files) Signals(string) (engine.Signals, error) { return engine.Signals{}, nil }

// Typing implements engine.Occupants: nobody else types.
func (f *Files) Typing(context.Context, string) (func(), error) { return func() {}, nil }

// Procs says which processes live. Pids not in Alive are provably gone.
type Procs struct {
	mu    sync.Mutex
	Alive map[int]string // pid → start
	Me    int
	blind bool
}

var _ engine.Processes = (*Procs)(nil)

// Start implements engine.Processes.
func (p *Procs) Start(pid int) (string, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.blind {
		return "", false, ErrInjected
	}
	s, ok := p.Alive[pid]
	return s, ok, nil
}

// Boot implements engine.Processes.
func (p *Procs) Boot() string { return "boot" }

// Self implements engine.Processes.
func (p *Procs) Self(label string) engine.Owner {
	p.mu.Lock()
	defer p.mu.Unlock()
	return engine.Owner{PID: p.Me, PIDStart: p.Alive[p.Me], Boot: "boot", Label: label}
}

// Become makes the caller another process.
func (p *Procs) Become(pid int, start string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Me, p.Alive[pid] = pid, start
}

// Blind makes every question about a process fail, or takes that back.
func (p *Procs) Blind(blind bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.blind = blind
}

// Die makes a process provably gone.
func (p *Procs) Die(pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.Alive, pid)
}

// Stop implements engine.Processes.
func (p *Procs) Stop(context.Context, int) (stopped, refused []int, err error) { return nil, nil, nil }

// Continue implements engine.Processes.
func (p *Procs) Continue(context.Context, []int) error { return nil }

// ContinueTree implements engine.Processes.
func (p *Procs) ContinueTree(context.Context, int) error { return nil }

// Kill implements engine.Processes.
func (p *Procs) Kill(context.Context, int) error { return nil }

// Specs serves specs from memory.
type Specs map[string]engine.RigSpec

var _ engine.SpecSource = Specs(nil)

// Load implements engine.SpecSource.
func (s Specs) Load(_ context.Context, ref string, _ engine.SpecOptions) (engine.RigSpec, error) {
	spec, ok := s[ref]
	if !ok {
		return spec, engine.Errorf(engine.CodeNotFound, "no spec %s", ref).WithHint("test")
	}
	return spec, nil
}

// LoadFragment implements engine.SpecSource.
func (s Specs) LoadFragment(context.Context, string, engine.RigSpec) (engine.PodSpec, []engine.EdgeSpec, error) {
	return engine.PodSpec{}, nil, engine.Errorf(engine.CodeNotFound, "no fragments").WithHint("test")
}

// IsStarter implements engine.SpecSource.
func (s Specs) IsStarter(name string) bool { _, ok := s[name]; return ok }

// Team is a spec of n terminal or agent seats in one pod, in dir, each delegating
// to the next one.
func Team(name, dir string, kinds ...engine.RuntimeName) engine.RigSpec {
	pod := engine.PodSpec{ID: "dev", Label: "Development"}
	for i, k := range kinds {
		m := fmt.Sprintf("m%d", i)
		pod.Members = append(pod.Members, engine.MemberSpec{ID: m, Runtime: k, Cwd: dir, AgentRef: "builtin:agent", Profile: "default"})
		if i > 0 {
			pod.Edges = append(pod.Edges, engine.EdgeSpec{Kind: engine.EdgeDelegatesTo, From: fmt.Sprintf("dev.m%d", i-1), To: "dev." + m})
		}
	}
	return engine.RigSpec{Version: "0.2", Name: name, Root: dir, Path: dir + "/rig.yaml", Digest: "d1", Pods: []engine.PodSpec{pod}}
}

// Arrived answers whether an opening prompt was seen: it was, unless made to
// fail.
func (r *Runtime) Arrived(context.Context, engine.Probe, string) (bool, string) {
	if fail, _ := r.Faults.Ask("arrive"); fail {
		return false, "an injected failure"
	}
	return true, "as launched"
}

// Transcript gives no path: the stand-in keeps none.
func (r *Runtime) Transcript(context.Context, engine.Session, string) (path, why string) {
	return "", "a stand-in"
}
