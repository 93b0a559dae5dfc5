package engine_test

import (
	"context"
	"testing"
	"time"

	"rig/engine"
	"rig/engine/enginetest"
)

// late is a client that has just reported a prompt and writes it at the third look.
type late struct {
	engine.Runtime
	world *enginetest.Mux
	at    time.Time
	asked *int
	there *bool // its pane was there at every look
}

func (l late) LatestTurn(context.Context, engine.Session, string) (time.Time, bool) {
	*l.asked++
	*l.there = *l.there && len(l.world.Panes()) == 1
	if *l.asked < 3 {
		return time.Time{}, false
	}
	return l.at.Add(time.Second), false
}

// tells reports a prompt of that time.
type tells struct {
	*enginetest.Files
	at time.Time
}

func (f tells) Signals(string) (engine.Signals, error) {
	return engine.Signals{Hooks: []engine.HookSignal{{Event: "UserPromptSubmit", At: f.at}}}, nil
}

// TestAStopWaitsForWhatItsClientHasNotWritten: it would be lost with it.
func TestAStopWaitsForWhatItsClientHasNotWritten(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	asked, there, now := 0, true, b.made.Clock.Now()
	b.made.Runtimes[engine.RuntimeClaude] = late{Runtime: b.rt[engine.RuntimeClaude], world: b.mux, at: now, asked: &asked, there: &there}
	b.made.Occupants = tells{b.files, now}
	b.e = engine.New(b.made)
	if rec := b.run(t, request(engine.VerbDown, "team", engine.DownArgs{})); !rec.OK || asked < 3 || !there || len(b.mux.Panes()) != 0 {
		t.Errorf("looked %d times, its pane was there: %v, %+v", asked, there, rec)
	}
}
