package engine

import (
	"context"
	"testing"
	"time"
)

type shotList []Shot

func (l *shotList) Keep(s Shot) error                             { *l = append(*l, s); return nil }
func (l *shotList) Shots(context.Context, string) ([]Shot, error) { return *l, nil }
func (l *shotList) Forget([]string) error                         { return nil }

// That a client has ended is one change: the end of its pane is none from exited to
// exited.
func TestAnEndIsRecordedOnce(t *testing.T) {
	var kept shotList
	e := &Engine{d: Deps{Recorder: &kept}}
	tp, at := e.newTape(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tp.gone(Seat{ID: "s"}, Activity{Reading: Reading{State: ActivityIdle}}, []string{"bye"}, "its process has ended", at)
	tp.gone(Seat{ID: "s"}, Activity{Reading: Reading{State: ActivityExited}}, []string{"bye", "rig: ended"}, "its process has ended", at)
	if len(kept) != 2 || kept[0].Moment != ShotAfter || kept[1].Moment != ShotRest {
		t.Errorf("%+v", kept)
	}
}

// An incumbent that an operation stops and lets go on has not changed what it does, and
// one whose operation was cut off waits.
func TestAFrozenIncumbentIsNotRecordedAsWaiting(t *testing.T) {
	var kept shotList
	e := &Engine{d: Deps{Recorder: &kept}}
	tp, at := e.newTape(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	busy := Activity{Reading: Reading{State: ActivityBusy}}
	stopped := Activity{Reading: Reading{State: ActivityWaiting, Code: CodeSuspended, Why: "the client is stopped"}}
	op := Operation{ID: "op-1", Verb: VerbHandover}
	rec := &Record{Open: []Operation{op}, Leases: []Lease{{Key: "seat:s", OpID: "op-1"}, {Key: "seat:z", OpID: "op-2"}}}
	if held := opsBySeat(rec); len(held) != 1 || held["s"].ID != "op-1" {
		t.Fatalf("%+v", held)
	}
	look := func(by Operation, dead map[string]bool, old, act Activity) {
		at = at.Add(time.Second)
		p := &Probe{Seat: Seat{ID: "s"}, Now: at, Screen: Screen{Lines: []string{"working ", at.String()}}}
		tp.looked(p, frozen(by, dead, old), frozen(by, dead, act), true, at)
	}
	look(op, nil, busy, stopped)
	look(op, nil, stopped, busy)
	if len(kept) != 0 {
		t.Errorf("a handover under way: %+v", kept)
	}
	look(op, map[string]bool{"op-1": true}, busy, stopped)
	look(Operation{}, nil, stopped, busy)
	if len(kept) != 2 || kept[0].To != ActivityWaiting || kept[1].From != ActivityWaiting {
		t.Errorf("a handover that was cut off: %+v", kept)
	}
}
