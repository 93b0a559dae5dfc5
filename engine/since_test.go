package engine

import (
	"testing"
	"time"
)

// A state lasts since it began last, as its source tells: a turn that passed between two
// looks begins the rest after it anew, and the steps of one turn begin nothing.
func TestAStateLastsSinceItBeganLast(t *testing.T) {
	t0 := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(s int) time.Time { return t0.Add(time.Duration(s) * time.Second) }
	act := func(state ActivityState, sure Confidence, s int) Activity {
		return Activity{Reading: Reading{State: state, Confidence: sure, At: at(s)}}
	}
	for _, c := range []struct {
		name      string
		old, next Activity
		want      int
	}{
		{"a turn passed unseen", act(ActivityIdle, ConfidenceHigh, 10), act(ActivityIdle, ConfidenceHigh, 70), 70},
		{"another question", act(ActivityWaiting, ConfidenceHigh, 10), act(ActivityWaiting, ConfidenceHigh, 70), 70},
		{"nothing moved", act(ActivityIdle, ConfidenceHigh, 10), act(ActivityIdle, ConfidenceHigh, 10), 10},
		{"a step of the same turn", act(ActivityBusy, ConfidenceHigh, 10), act(ActivityBusy, ConfidenceHigh, 70), 10},
		{"a source that guesses", act(ActivityIdle, ConfidenceLow, 10), act(ActivityIdle, ConfidenceLow, 70), 10},
		{"a change", act(ActivityBusy, ConfidenceHigh, 10), act(ActivityIdle, ConfidenceHigh, 70), 70},
	} {
		o := (&Engine{}).newObserver()
		p := &Probe{Seat: Seat{ID: "s"}}
		o.keep(p, c.old, Usage{}, at(20))
		o.keep(p, c.next, Usage{}, at(80))
		if got := o.since["s"]; !got.Equal(at(c.want)) {
			t.Errorf("%s: since %s, want %s", c.name, got.Sub(t0), at(c.want).Sub(t0))
		}
	}
}

// An age is that of what is shown: of the present occupant, of the operation that stopped
// it, of the attempt that left a decision.
func TestAnAgeIsThatOfWhatIsShown(t *testing.T) {
	t0 := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(m int) time.Time { return t0.Add(time.Duration(m) * time.Minute) }
	build := func(act Activity, seat func(*Seat), origin Origin) *SeatView {
		s := Seat{ID: "s", RigID: "r", Pod: "dev", Member: "a", Generation: 1, Lifecycle: LifecycleActive, UpdatedAt: at(50)}
		seat(&s)
		return BuildFleet(FleetInput{
			Live: true, Now: at(60), Since: map[string]time.Time{"s": at(10)}, Activity: map[string]Activity{"s": act},
			Record: &Record{
				Rigs: []Rig{{ID: "r", Name: "x"}}, Pods: []Pod{{ID: "p", RigID: "r", Name: "dev"}}, Seats: []Seat{s},
				Sessions: []Session{{ID: "o", SeatID: "s", Generation: 1, Origin: origin, Status: SessionRunning, Startup: StartupReady, CreatedAt: at(30)}},
				Bindings: []Binding{{SeatID: "s", Pane: "%1", Epoch: "1-1"}},
				Open:     []Operation{{ID: "op", Verb: VerbHandover, StartedAt: at(40)}}, Leases: []Lease{{Key: "seat:s", OpID: "op"}},
			},
			Inv: Inventory{Server: Present, Epoch: "1-1", Panes: []Pane{{ID: "%1", Seat: "s", Gen: "1"}}},
		}).Seats()[0]
	}
	idle := Activity{Reading: Reading{State: ActivityIdle}}
	none := func(*Seat) {}
	for name, c := range map[string]struct {
		got  time.Time
		want int
	}{
		"resumed":  {build(idle, none, OriginLaunched).Since, 30},
		"claimed":  {build(idle, none, OriginClaimed).Since, 10},
		"stopped":  {build(Activity{Reading: Reading{State: ActivityWaiting, Code: CodeSuspended}}, none, OriginLaunched).Since, 40},
		"decision": {build(idle, func(s *Seat) { s.Continuity = ContinuityAwaiting }, OriginLaunched).OutcomeAt, 50},
		"outcome":  {build(idle, func(s *Seat) { s.Continuity = ContinuityFresh }, OriginLaunched).OutcomeAt, 30},
	} {
		if !c.got.Equal(at(c.want)) {
			t.Errorf("%s: %s, want %s", name, c.got.Sub(t0), at(c.want).Sub(t0))
		}
	}
}
