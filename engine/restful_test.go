package engine

import (
	"testing"
	"time"
)

// processRuntime is a runtime that judges by the process alone, or not.
type processRuntime struct {
	Runtime
	alone bool
}

func (r processRuntime) ByProcess() bool { return r.alone }

// TestRestfulSeatsAreLeftOut: a round over all seats leaves out whoever is judged by the process alone, was looked at a moment
// ago, and is the same occupant in the same pane.
func TestRestfulSeatsAreLeftOut(t *testing.T) {
	now := time.Date(2026, 3, 3, 10, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		runtime       RuntimeName
		session, pane string
		looked        time.Time
		want          bool
	}{
		"a moment ago":               {RuntimeTerminal, "s1", "%1", now.Add(-restEvery / 2), true},
		"its time has come":          {RuntimeTerminal, "s1", "%1", now.Add(-restEvery), false},
		"never":                      {RuntimeTerminal, "s1", "%1", time.Time{}, false},
		"the clock was set back":     {RuntimeTerminal, "s1", "%1", now.Add(time.Hour), false},
		"another occupant":           {RuntimeTerminal, "s2", "%1", now.Add(-restEvery / 2), false},
		"another pane":               {RuntimeTerminal, "s1", "%2", now.Add(-restEvery / 2), false},
		"files tell of it too":       {RuntimeClaude, "s1", "%1", now.Add(-restEvery / 2), false},
		"a runtime that is not ours": {RuntimeCodex, "s1", "%1", now.Add(-restEvery / 2), false},
	} {
		e := &Engine{d: Deps{Runtimes: map[RuntimeName]Runtime{RuntimeTerminal: processRuntime{alone: true}, RuntimeClaude: processRuntime{}}}}
		o := e.newObserver()
		if !c.looked.IsZero() {
			o.looked["a"], o.identity["a"] = c.looked, PaneIdentity{Session: "s1", Pane: "%1"}
		}
		if got := o.restful(Seat{ID: "a", Runtime: c.runtime}, c.session, PaneID(c.pane), now); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
