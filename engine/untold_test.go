package engine_test

import (
	"context"
	"testing"

	"rig/engine"
)

// TestATmuxThatDoesNotAnswerIsNoZero: how many seats run, would be stopped, or would come back is not known then, and no count says otherwise.
func TestATmuxThatDoesNotAnswerIsNoZero(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	b.mux.State = engine.Unknown
	f, err := b.e.Fleet(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if f.Totals.Unknown != f.Totals.Seats || f.Rigs[0].Unknown != len(f.Rigs[0].Seats) || f.Totals.Seats == 0 {
		t.Errorf("%+v", f.Totals)
	}
	p, err := b.e.Plan(context.Background(), request(engine.VerbDown, "team", engine.DownArgs{}))
	if err != nil || len(p.Changes) == 0 || p.Changes[0].Before != "? seats running" {
		t.Errorf("%+v %v", p.Changes, err)
	}
	rep, err := b.e.RestoreCheck(context.Background(), engine.RestoreCheckOptions{})
	if err != nil || rep.Seats.Unknown != 2 || rep.Seats.Restorable != 0 {
		t.Errorf("%+v %v", rep.Seats, err)
	}
}

// TestADeadPaneDoesNotRun: nor does a down count it as running.
func TestADeadPaneDoesNotRun(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	b.kill(t, "dev.m0", 1)
	p, err := b.e.Plan(context.Background(), request(engine.VerbDown, "team", engine.DownArgs{}))
	if err != nil || len(p.Changes) == 0 || p.Changes[0].Before != "1 seat running" {
		t.Errorf("%+v %v", p.Changes, err)
	}
}

func TestUntold(t *testing.T) {
	t.Parallel()
	for want, c := range map[string][2]int{"3": {3, 0}, "0": {0, 0}, "?": {0, 4}, "3+?": {3, 1}} {
		if got := engine.Untold(c[0], c[1]); got != want {
			t.Errorf("%v: %s, want %s", c, got, want)
		}
	}
}
