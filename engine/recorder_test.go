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
