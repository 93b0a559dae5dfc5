package engine

import (
	"log/slog"
	"testing"
	"time"
)

// reports are what supervisors said, by session; asked counts the reads.
type reports struct {
	Occupants
	said  map[string]RunState
	asked int
}

func (r *reports) RunState(id string) (RunState, bool, error) {
	r.asked++
	st, ok := r.said[id]
	return st, ok, nil
}

// A lost seat is as old as the end that its client's supervisor reported; without such a
// report nobody knows, and it is asked for again only now and then.
func TestALostSeatIsAsOldAsTheReportedEnd(t *testing.T) {
	t0 := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	files := &reports{said: map[string]RunState{"one": {Exited: true, ExitedAt: t0.Add(-time.Hour)}, "two": {}, "three": {Exited: true}}}
	o := (&Engine{d: Deps{Occupants: files, Log: slog.New(slog.DiscardHandler)}}).newObserver()
	rec := &Record{Rigs: []Rig{{ID: "r", Name: "x"}}, Pods: []Pod{{ID: "p", RigID: "r", Name: "dev"}}}
	for _, name := range []string{"one", "two", "three", "runs"} {
		rec.Seats = append(rec.Seats, Seat{ID: "s-" + name, RigID: "r", Pod: "dev", Member: name, Generation: 1})
		rec.Sessions = append(rec.Sessions, Session{ID: name, SeatID: "s-" + name, Generation: 1, Status: SessionRunning, Origin: OriginLaunched})
		rec.Bindings = append(rec.Bindings, Binding{SeatID: "s-" + name, Pane: PaneID("%" + name), Epoch: "1-1"})
	}
	o.rec, o.live = rec, true
	o.inv = Inventory{Server: Present, Epoch: "1-1", Panes: []Pane{{ID: "%runs", Seat: "s-runs", Gen: "1"}}}
	if !o.readEnds(t0) || files.asked != 3 {
		t.Errorf("%d reports were read", files.asked)
	}
	ages := map[string]time.Time{}
	for _, s := range BuildFleet(FleetInput{Record: rec, Inv: o.inv, Live: true, Now: t0, Ended: o.ends.at}).Seats() {
		if ages[s.Member] = s.Since; (s.Life == LifeLost) == (s.Member == "runs") {
			t.Errorf("%s is %s", s.Member, s.Life)
		}
	}
	if !ages["one"].Equal(t0.Add(-time.Hour)) || !ages["two"].IsZero() || !ages["three"].IsZero() {
		t.Errorf("ages: %v", ages)
	}
	if o.readEnds(t0.Add(endEvery/2)) || files.asked != 3 {
		t.Errorf("they were read again at once: %d", files.asked)
	}
	files.said["two"] = RunState{Exited: true, ExitedAt: t0}
	if !o.readEnds(t0.Add(endEvery)) || files.asked != 5 || !o.ends.at["two"].Equal(t0) {
		t.Errorf("a report that came later: %d, %v", files.asked, o.ends.at)
	}
}
