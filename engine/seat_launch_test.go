package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"rig/engine"
)

func TestFreshLaunchReplacesTheOccupantAndNothingElse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stop   bool
		events string
		world  func(*testing.T, *seatBench)
	}{
		"running":        {true, "session.stopped seat.fresh_launched", func(*testing.T, *seatBench) {}},
		"stopped":        {false, "seat.fresh_launched", func(t *testing.T, b *seatBench) { b.run(t, stopRequest("dev.m0")) }},
		"dead pane":      {false, "session.cleaned seat.fresh_launched", func(t *testing.T, b *seatBench) { b.kill(t, "dev.m0", 1) }},
		"lost":           {true, "session.cleaned seat.fresh_launched", func(t *testing.T, b *seatBench) { b.mux.Drop(b.pane(t, "dev.m0").ID) }},
		"an older row":   {true, "session.stopped session.cleaned seat.fresh_launched", func(t *testing.T, b *seatBench) { b.older(t, engine.SessionUnknown) }},
		"gave it a fork": {true, "session.stopped seat.fresh_launched", func(t *testing.T, b *seatBench) { b.run(t, handoverRequest("dev.m0", "fork:dev.m0")) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newSeatBench(t)
			c.world(t, b)
			before, token, gen := b.seat(t, "dev.m0"), b.token(t, "dev.m0"), b.history(t, "dev.m0")[0].Generation
			rec := b.run(t, freshRequest("dev.m0", c.stop))
			after := b.seat(t, "dev.m0")
			if !rec.OK || after.Continuity != engine.ContinuityFresh || after.Life != engine.LifeRunning || after.Generation != gen+1 {
				t.Fatalf("%+v\n%+v", rec, after)
			}
			if after.ID != before.ID || after.Address != before.Address || after.Model != before.Model || after.Cwd != before.Cwd ||
				len(after.Edges) != len(before.Edges) || after.SessionName != "dev-m0@team" || after.ForkedFrom != "" || after.Binding != "" {
				t.Errorf("the seat changed:\n%+v\n%+v", before, after)
			}
			if b.token(t, "dev.m0") == token {
				t.Error("it is not a new conversation")
			}
			for _, s := range b.history(t, "dev.m0")[1:] {
				if !s.Status.Terminal() || s.Token.Empty() {
					t.Errorf("former occupant %d: %s, token %s", s.Generation, s.Status, s.Token)
				}
			}
			ev := b.events(t, rec.Operation.ID)
			if types(ev) != c.events {
				t.Fatalf("events: %s, want %s", types(ev), c.events)
			}
			payload(t, ev[len(ev)-1], `"status":"ready"`, `"reason":"because"`, `"startup_policy_hash":"`, `"superseded_session_ids":[`, `"new_generation":`)
			if strings.Contains(string(ev[len(ev)-1].Payload), b.token(t, "dev.m0")) {
				t.Error("the event quotes the native id")
			}
			if n := b.leases(); n != 0 {
				t.Errorf("%d leases are left", n)
			}
		})
	}
}

func TestFreshLaunchRefusals(t *testing.T) {
	t.Parallel()
	startup := func(files, actions string, rt engine.RuntimeName) func(*testing.T, *seatBench) {
		return func(t *testing.T, b *seatBench) {
			b.run(t, stopRequest("dev.m0"))
			err := b.db.Write(context.Background(), func(tx engine.Tx) error {
				c, err := tx.StartupContext(b.seat(t, "dev.m0").ID)
				if err != nil {
					return err
				}
				c.Files, c.Actions, c.Runtime = json.RawMessage(files), json.RawMessage(actions), rt
				return tx.PutStartupContext(c)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		want  string
		stop  bool
		world func(*testing.T, *seatBench)
	}{
		"running":          {"session_live", false, func(*testing.T, *seatBench) {}},
		"no answer":        {"tmux_probe_failed", true, func(_ *testing.T, b *seatBench) { b.mux.State = engine.Unknown }},
		"files no list":    {"startup_context_malformed", false, startup(`{}`, `[]`, engine.RuntimeClaude)},
		"actions null":     {"startup_context_malformed", false, startup(`[]`, `null`, engine.RuntimeClaude)},
		"wrong entry":      {"startup_context_malformed", false, startup(`[7]`, `[]`, engine.RuntimeClaude)},
		"unknown action":   {"startup_context_malformed", false, startup(`[]`, `[{"type":"shell","value":"x","phase":"after_files","applies_on":["restore"]}]`, engine.RuntimeClaude)},
		"unknown phase":    {"startup_context_malformed", false, startup(`[]`, `[{"type":"send_text","value":"x","phase":"never","applies_on":["restore"]}]`, engine.RuntimeClaude)},
		"unknown occasion": {"startup_context_malformed", false, startup(`[]`, `[{"type":"send_text","value":"x","phase":"after_files","applies_on":["someday"]}]`, engine.RuntimeClaude)},
		"unknown hint":     {"startup_context_malformed", false, startup(`[{"path":"a","abs":"/a","delivery_hint":"fax","applies_on":["restore"]}]`, `[]`, engine.RuntimeClaude)},
		"other runtime":    {"startup_context_runtime_mismatch", false, startup(`[]`, `[]`, engine.RuntimeCodex)},
		"adopted": {"claimed_session", true, func(t *testing.T, b *seatBench) {
			b.edit(t, "dev.m0", func(_ *engine.Seat, s *engine.Session) { s.Origin = engine.OriginClaimed })
		}},
		"foreign name": {"unmanaged_session_collision", false, func(t *testing.T, b *seatBench) {
			b.run(t, stopRequest("dev.m0"))
			b.mux.Put(engine.Pane{ID: "%90", PID: 900, Session: "dev-m0@team"})
		}},
		"foreign name, lost seat": {"unmanaged_session_collision", true, func(t *testing.T, b *seatBench) {
			b.mux.Drop(b.pane(t, "dev.m0").ID)
			b.mux.Put(engine.Pane{ID: "%90", PID: 900, Session: "dev-m0@team", Seat: "another"})
		}},
		"two panes": {"unmanaged_session_collision", true, func(_ *testing.T, b *seatBench) {
			b.mux.Put(engine.Pane{ID: "%90", PID: 900, Session: "dev-m0@team"})
		}},
		"client outlived its pane": {"session_live", true, func(t *testing.T, b *seatBench) {
			b.mux.Drop(b.pane(t, "dev.m0").ID)
			b.reports.state[b.history(t, "dev.m0")[0].ID] = engine.RunState{PID: 77, PIDStart: "then"}
			b.procs.Alive[77] = "then"
		}},
		"everything at once": {"startup_context_malformed claimed_session session_live", false, func(t *testing.T, b *seatBench) {
			startup(`7`, `[]`, engine.RuntimeClaude)(t, b)
			b.run(t, request(engine.VerbLaunch, "team", engine.LaunchArgs{Seats: []string{"dev.m0"}}))
			b.edit(t, "dev.m0", func(_ *engine.Seat, s *engine.Session) { s.Origin = engine.OriginClaimed })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newSeatBench(t)
			c.world(t, b)
			code, all := b.refused(t, freshRequest("dev.m0", c.stop))
			if codes(all) != c.want || string(code) != strings.Fields(c.want)[0] {
				t.Errorf("%s, all %s; want %s", code, codes(all), c.want)
			}
		})
	}
}

// TestKeptFormerOccupantGoesWithTheSeat: a handover's undo window keeps one,
// stopped. A verb that empties the seat ends it, and says so in its plan.
func TestKeptFormerOccupantGoesWithTheSeat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		req  engine.Request
		left int // panes of the seat
	}{
		{stopRequest("dev.m0"), 0},
		{freshRequest("dev.m0", true), 1},
		{request(engine.VerbDown, "team", engine.DownArgs{}), 0},
		{request(engine.VerbRemove, "team", engine.ShrinkArgs{Seat: "dev.m0"}), 0},
	} {
		t.Run(string(c.req.Verb), func(t *testing.T) {
			t.Parallel()
			b := newSeatBench(t)
			handed := b.run(t, handoverRequest("dev.m0", "fresh"))
			seat := b.seat(t, "dev.m0").ID
			if _, text := b.planLines(t, c.req); !strings.Contains(text, "end the former occupant that an undo could still bring back (_rig-") {
				t.Errorf("the plan does not say so:\n%s", text)
			}
			if rec := b.run(t, c.req); !rec.OK {
				t.Fatalf("%+v", rec)
			}
			left := 0
			for _, p := range b.mux.Panes() {
				if p.Seat == seat {
					left++
				}
			}
			if op, _, err := b.e.Operation(context.Background(), handed.Operation.ID); err != nil || left != c.left || !op.UndoUntil.IsZero() {
				t.Errorf("%d panes of the seat are left, want %d; the undo is offered until %s: %v", left, c.left, op.UndoUntil, err)
			}
		})
	}
}

// TestKeptOfAStoppedSeatGoesDown: a seat that stands still and keeps a former
// occupant is not passed over.
func TestKeptOfAStoppedSeatGoesDown(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	b.run(t, handoverRequest("dev.m0", "fresh"))
	b.mux.Drop(b.pane(t, "dev.m0").ID)
	b.run(t, seatRequest(engine.VerbSeatClean, "dev.m0", struct{}{}))
	if n := len(b.mux.Panes()); n != 2 {
		t.Fatalf("%d panes", n)
	}
	if rec := b.run(t, request(engine.VerbDown, "team", engine.DownArgs{})); !rec.OK || len(b.mux.Panes()) != 0 {
		t.Errorf("%+v, panes %+v", rec, b.mux.Panes())
	}
}

func TestFreshIsSaidOutLoud(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	if code, _ := b.refused(t, seatRequest(engine.VerbSeatLaunch, "dev.m0", engine.SeatLaunchArgs{Stop: true})); code != engine.CodeFreshRequired {
		t.Errorf("%s", code)
	}
}

func TestFreshLaunchThatFailsSaysWhatIsLeft(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"line", "launch-file", "create", "ready"} {
		for _, stop := range []bool{false, true} {
			b := newSeatBench(t)
			if !stop {
				b.run(t, stopRequest("dev.m0"))
			}
			sibling := b.seat(t, "dev.m1")
			b.faults.Fail = func(call string, _ int) (bool, bool) { return call == at, true }
			rec := b.run(t, freshRequest("dev.m0", stop))
			b.faults.Fail = nil
			want := engine.OpFailed
			events := "operation.step_failed seat.fresh_launch_failed"
			if stop {
				want, events = engine.OpPartial, "session.stopped "+events
			}
			if rec.OK || rec.Operation.State != want || rec.Seats[0].Outcome != engine.ContinuityFailed || rec.Seats[0].Error == nil || rec.Seats[0].Binding != engine.BindingFailed {
				t.Fatalf("%s, stop %v: %+v", at, stop, rec)
			}
			ev := b.events(t, rec.Operation.ID)
			if types(ev) != events {
				t.Errorf("%s, stop %v: events %s", at, stop, types(ev))
			}
			payload(t, ev[len(ev)-1], `"status":"failed"`, `"errors":["`, `"reason":"because"`)
			s := b.seat(t, "dev.m0")
			if s.Generation != 1 || s.Life != engine.LifeStopped || len(b.mux.Panes()) != 1 || b.seat(t, "dev.m1").Pane != sibling.Pane {
				t.Errorf("%s, stop %v: %+v, panes %+v", at, stop, s, b.mux.Panes())
			}
			if again := b.run(t, freshRequest("dev.m0", false)); !again.OK {
				t.Errorf("it cannot be tried again: %+v", again)
			}
		}
	}
}

// TestStopThatFailsLaunchesNothing: the receipt names the first cause, not that
// the launch never began.
func TestStopThatFailsLaunchesNothing(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	b.faults.Fail = func(call string, _ int) (bool, bool) { return call == "kill", false }
	rec := b.run(t, freshRequest("dev.m0", true))
	b.faults.Fail = nil
	if rec.OK || rec.Operation.State != engine.OpFailed || rec.Seats[0].Error.Code != "injected" {
		t.Fatalf("%+v", rec)
	}
	if s := b.seat(t, "dev.m0"); s.Generation != 1 || s.Life != engine.LifeRunning || types(b.events(t, rec.Operation.ID)) != "operation.step_failed" {
		t.Errorf("%+v, events %s", s, types(b.events(t, rec.Operation.ID)))
	}
}

func TestFreshLaunchAtAGateIsAttention(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	b.claude.Gate = "trust_gate"
	rec := b.run(t, freshRequest("dev.m0", true))
	s := b.seat(t, "dev.m0")
	if rec.OK || rec.Seats[0].Outcome != engine.ContinuityAttention || s.Startup != engine.StartupAttention || s.Generation != 2 || s.TokenPresent {
		t.Fatalf("%+v\n%+v", rec, s)
	}
	ev := b.events(t, rec.Operation.ID)
	payload(t, ev[len(ev)-1], `"status":"attention_required"`, `"native_session_id_reason"`)
}

// TestANewOccupantGivesClaimedWorkBack: whichever verb brings it, also one that
// resumes the conversation.
func TestANewOccupantGivesClaimedWorkBack(t *testing.T) {
	t.Parallel()
	for name, arrive := range map[string]func(*seatBench){
		"fresh launch": func(b *seatBench) { b.run(t, freshRequest("dev.m0", true)) },
		"handover":     func(b *seatBench) { b.run(t, handoverRequest("dev.m0", "fresh")) },
		"stopped, and launched again": func(b *seatBench) {
			b.run(t, stopRequest("dev.m0"))
			b.run(t, seatRequest(engine.VerbLaunch, "team", engine.LaunchArgs{}))
		},
	} {
		b := newSeatBench(t)
		id := b.seat(t, "dev.m0").ID
		at := b.seat(t, "dev.m0").StartedAt
		err := b.db.Write(context.Background(), func(tx engine.Tx) error {
			return tx.InsertWork(engine.WorkItem{ID: "01W", SeatID: id, Title: "t", State: "claimed", Generation: 1, CreatedAt: at, UpdatedAt: at, Version: 1})
		})
		if err != nil {
			t.Fatal(err)
		}
		arrive(b)
		if s := b.seat(t, "dev.m0"); s.Generation != 2 || s.Work.Pending != 1 || s.Work.Claimed != 0 {
			t.Errorf("%s: generation %d, %+v", name, s.Generation, s.Work)
		}
	}
}

// TestCutOffFreshLaunch: a crash at every step, then rollback or finish.
func TestCutOffFreshLaunch(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"stop", "stopped", "mark", "create", "ready", "identify", "commit"} {
		for _, finish := range []bool{false, true} {
			b := newSeatBench(t)
			op := b.crash(t, freshRequest("dev.m0", true), "dev-m0@team/"+at)
			act := b.e.Rollback
			if finish {
				act = b.e.Finish
			}
			if _, err := act(context.Background(), op, nil); err != nil {
				t.Fatalf("%s: %v", at, err)
			}
			s := b.seat(t, "dev.m0")
			panes := 0
			for _, p := range b.mux.Panes() {
				if p.Seat == s.ID {
					panes++
				}
			}
			bound := 0
			if s.Pane != "" {
				bound = 1
			}
			if s.Generation != 1 || panes > bound || b.leases() != 0 {
				t.Errorf("%s: generation %d, %d panes, bound to %q, %d leases", at, s.Generation, panes, s.Pane, b.leases())
			}
			if again := b.run(t, freshRequest("dev.m0", true)); !again.OK || again.Seats[0].Generation != 2 {
				t.Errorf("%s: it cannot be tried again: %+v", at, again)
			}
		}
	}
}
