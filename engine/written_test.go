package engine

import (
	"context"
	"testing"
	"time"
)

type reported struct {
	Occupants
	hooks []HookSignal
}

func (r reported) Signals(string) (Signals, error) { return Signals{Hooks: r.hooks}, nil }

type steadyClock struct{ Clock }

func (steadyClock) Now() time.Time { return time.Now() }

// turns is a conversation that is written at the third look.
type turns struct {
	Runtime
	since, then time.Time
	ended       bool
	looks       int
}

func (f *turns) LatestTurn(context.Context, Session, string) (time.Time, bool) {
	if f.looks++; f.looks < 3 {
		return f.since, f.ended
	}
	return f.then, true
}

// What a client has reported a moment ago and not written yet is waited for; what lies
// longer back, or is written, is not.
func TestAPromptThatIsReportedIsWaitedFor(t *testing.T) {
	now := time.Now()
	ago := func(ms int) time.Time { return now.Add(-time.Duration(ms) * time.Millisecond) }
	start := HookSignal{Event: "SessionStart", At: ago(5000)}
	tool := HookSignal{Event: "PreToolUse", At: ago(1)}
	prompt := func(ms int) HookSignal { return HookSignal{Event: "UserPromptSubmit", At: ago(ms)} }
	stop := func(ms int) HookSignal { return HookSignal{Event: "Stop", At: ago(ms)} }
	for _, c := range []struct {
		name  string
		hooks []HookSignal
		since time.Time // zero = no turn is on file
		ended bool
		waits bool
	}{
		{"nothing reported", nil, ago(3600e3), true, false},
		{"a start alone", []HookSignal{start}, time.Time{}, false, false},
		{"a first prompt, no turn on file", []HookSignal{start, prompt(0)}, time.Time{}, false, true},
		{"a first prompt, written before its report", []HookSignal{start, prompt(0)}, ago(14), false, false},
		{"a prompt, the turn before it on file", []HookSignal{start, prompt(900), stop(700), prompt(0)}, ago(750), true, true},
		{"a prompt after an interrupted one, which is on file", []HookSignal{start, prompt(900), prompt(0)}, ago(910), false, true},
		{"an end, no turn on file", []HookSignal{start, prompt(200), stop(0)}, time.Time{}, false, true},
		{"an end, its prompt on file", []HookSignal{start, prompt(200), stop(0)}, ago(210), false, true},
		{"an end, the one before it on file", []HookSignal{start, prompt(900), stop(700), prompt(200), stop(0)}, ago(750), true, true},
		{"an end, written before its report", []HookSignal{start, prompt(200), tool, stop(0)}, ago(20), true, false},
		{"long ago", []HookSignal{start, prompt(60e3)}, ago(3600e3), true, false},
	} {
		file := &turns{since: c.since, ended: c.ended, then: now}
		e := &Engine{d: Deps{Occupants: reported{hooks: c.hooks}, Clock: steadyClock{}, Runtimes: map[RuntimeName]Runtime{RuntimeClaude: file}}}
		waited := e.awaitWritten(context.Background(), Seat{Runtime: RuntimeClaude}, Session{ID: "o"})
		if waited != c.waits || waited && file.looks != 3 {
			t.Errorf("%s: waited %v, looked %d times", c.name, waited, file.looks)
		}
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	e := &Engine{d: Deps{Occupants: reported{hooks: []HookSignal{prompt(0)}}, Clock: steadyClock{}, Runtimes: map[RuntimeName]Runtime{RuntimeClaude: &turns{}}}}
	e.awaitWritten(gone, Seat{Runtime: RuntimeClaude}, Session{ID: "o"})   // it comes back
	e.awaitWritten(gone, Seat{Runtime: RuntimeTerminal}, Session{ID: "o"}) // a shell writes no turns
}
