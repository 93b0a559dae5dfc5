package engine

import (
	"context"
	"os"
	"path/filepath"
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

// What a client has reported a moment ago and not written yet is waited for; what lies
// longer back, or is written, is not.
func TestAPromptThatIsReportedIsWaitedFor(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name    string
		hooks   []HookSignal
		written time.Time // zero = there is no file yet
		waits   bool
	}{
		{"nothing reported", nil, now.Add(-time.Hour), false},
		{"a prompt, not written", []HookSignal{{Event: "UserPromptSubmit", At: now}}, now.Add(-time.Hour), true},
		{"a prompt, no file", []HookSignal{{Event: "UserPromptSubmit", At: now}}, time.Time{}, true},
		{"a turn, its end not written", []HookSignal{{Event: "UserPromptSubmit", At: now.Add(-time.Second)}, {Event: "Stop", At: now}}, now.Add(-900 * time.Millisecond), true},
		{"a turn, written before its end was reported", []HookSignal{{Event: "UserPromptSubmit", At: now.Add(-time.Second)}, {Event: "Stop", At: now}}, now.Add(-20 * time.Millisecond), false},
		{"long ago", []HookSignal{{Event: "UserPromptSubmit", At: now.Add(-time.Minute)}}, now.Add(-time.Hour), false},
	} {
		path := filepath.Join(t.TempDir(), "c.jsonl")
		if !c.written.IsZero() {
			if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, c.written, c.written); err != nil {
				t.Fatal(err)
			}
		}
		looks := 0
		e := &Engine{d: Deps{Occupants: reported{hooks: c.hooks}, Clock: steadyClock{}}}
		waited := e.awaitWritten(context.Background(), Session{ID: "o"}, func() string {
			if looks++; looks == 3 { // now the client gets to it
				if err := os.WriteFile(path, []byte("{}\n{}\n"), 0o600); err != nil {
					t.Error(err)
				}
			}
			return path
		})
		if waited != c.waits || waited && looks != 3 {
			t.Errorf("%s: waited %v, looked %d times", c.name, waited, looks)
		}
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	e := &Engine{d: Deps{Occupants: reported{hooks: []HookSignal{{Event: "UserPromptSubmit", At: now}}}, Clock: steadyClock{}}}
	e.awaitWritten(gone, Session{ID: "o"}, func() string { return "" }) // it comes back
}
