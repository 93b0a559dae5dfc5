package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"rig/engine"
)

func stopRequest(seat string) engine.Request {
	return seatRequest(engine.VerbSeatStop, seat, struct{}{})
}

func cleanRequest(seat string) engine.Request {
	return seatRequest(engine.VerbSeatClean, seat, struct{}{})
}

func TestStopEndsExactlyOneOccupant(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	token := b.token(t, "dev.m0")
	rec := b.run(t, stopRequest("dev-m0@team")) // the canonical form
	if !rec.OK || rec.Seats[0].Action != "stopped" {
		t.Fatalf("%+v", rec)
	}
	s := b.seat(t, "dev.m0")
	if s.Life != engine.LifeStopped || s.LifeWhy != "its last occupant has ended" || s.Pane != "" || s.Generation != 1 {
		t.Errorf("%+v", s)
	}
	if h := b.history(t, "dev.m0"); h[0].Status != engine.SessionExited || h[0].Token.Reveal() != token {
		t.Errorf("the row: %+v", h[0])
	}
	if other := b.seat(t, "dev.m1"); other.Life != engine.LifeRunning || len(b.mux.Panes()) != 1 {
		t.Errorf("the sibling: %s, %d panes", other.Life, len(b.mux.Panes()))
	}
	ev := b.events(t, rec.Operation.ID)
	if types(ev) != "session.stopped" {
		t.Fatalf("events: %s", types(ev))
	}
	payload(t, ev[0], `"session_name":"dev-m0@team"`, `"reason":"because"`, `"generation":1`)
	if rec.EventSeq != ev[0].Seq {
		t.Errorf("event_seq %d, event %d", rec.EventSeq, ev[0].Seq)
	}
}

func TestStopRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		want  string // every blocker, in order
		seat  string
		world func(*testing.T, *seatBench)
	}{
		"gone pane": {want: "session_not_live", world: func(t *testing.T, b *seatBench) { b.mux.Drop(b.pane(t, "dev.m0").ID) }},
		"dead pane": {want: "session_not_live", world: func(t *testing.T, b *seatBench) { b.kill(t, "dev.m0", 3) }},
		"no answer": {want: "tmux_probe_failed", world: func(_ *testing.T, b *seatBench) { b.mux.State = engine.Unknown }},
		"no server": {want: "session_not_live", world: func(_ *testing.T, b *seatBench) { b.mux.State = engine.Absent }},
		"adopted": {want: "claimed_session", world: func(t *testing.T, b *seatBench) {
			b.edit(t, "dev.m0", func(_ *engine.Seat, s *engine.Session) { s.Origin = engine.OriginClaimed })
		}},
		"adopted and gone": {want: "claimed_session session_not_live", world: func(t *testing.T, b *seatBench) {
			b.mux.Drop(b.pane(t, "dev.m0").ID)
			b.edit(t, "dev.m0", func(_ *engine.Seat, s *engine.Session) { s.Origin = engine.OriginClaimed })
		}},
		"stopped": {want: "session_not_live", world: func(t *testing.T, b *seatBench) { b.run(t, stopRequest("dev.m0")) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newSeatBench(t)
			c.world(t, b)
			code, all := b.refused(t, stopRequest("dev.m0"))
			if codes(all) != c.want || string(code) != strings.Fields(c.want)[0] {
				t.Errorf("%s, all %s; want %s", code, codes(all), c.want)
			}
		})
	}
}

// kill makes a seat's process end; its pane is kept.
func (b *seatBench) kill(tb testing.TB, logical string, code int) {
	tb.Helper()
	p := b.pane(tb, logical)
	p.Dead, p.DeadCode = true, code
	b.mux.Put(p)
}

// TestEverySeatVerbResolvesAlike: the reference, the reason and a seat that never
// ran.
func TestEverySeatVerbResolvesAlike(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	verbs := map[engine.Verb]any{
		engine.VerbSeatStop: struct{}{}, engine.VerbSeatClean: struct{}{}, engine.VerbSeatLaunch: engine.SeatLaunchArgs{Fresh: true},
		engine.VerbSetModel: engine.SetModelArgs{Model: "m"}, engine.VerbSetToken: struct{}{}, engine.VerbClearAttention: struct{}{},
	}
	for verb, args := range verbs {
		for ref, want := range map[string]engine.Code{
			"": engine.CodeSeatRefRequired, "  ": engine.CodeSeatRefRequired, "dev.nobody": engine.CodeSeatNotFound,
			"dev-m0@other": engine.CodeSeatNotFound, "@team": engine.CodeInvalid,
		} {
			if code, _ := b.refused(t, seatRequest(verb, ref, args)); code != want {
				t.Errorf("%s %q: %s, want %s", verb, ref, code, want)
			}
		}
		req := seatRequest(verb, "dev.m0", args)
		req.Reason = " \t"
		if verb == engine.VerbClearAttention {
			continue
		}
		if code, _ := b.refused(t, req); code != engine.CodeMissingReason {
			t.Errorf("%s without a reason: %s", verb, code)
		}
	}
	b.specs["twin"] = b.specs["team"]
	twin := b.specs["twin"]
	twin.Name = "twin"
	b.specs["twin"] = twin
	b.run(t, request(engine.VerbUp, "twin", engine.UpArgs{Spec: "twin"}))
	for verb, args := range verbs {
		if code, _ := b.refused(t, seatRequest(verb, "dev.m0", args)); code != engine.CodeSeatAmbiguous {
			t.Errorf("%s of two seats: %s", verb, code)
		}
	}
}

func TestSeatThatNeverRan(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	lone := b.specs["team"]
	lone.Name = "lone"
	b.specs["lone"] = lone
	b.faults.Fail = func(call string, _ int) (bool, bool) { return call == "create", false }
	p, err := b.e.Plan(context.Background(), request(engine.VerbUp, "lone", engine.UpArgs{Spec: "lone"}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.e.Apply(context.Background(), p, nil); err != nil {
		t.Fatal(err)
	}
	b.faults.Fail = nil
	for verb, want := range map[engine.Verb]engine.Code{
		engine.VerbSeatStop: engine.CodeNoSession, engine.VerbSeatClean: engine.CodeNothingToClean, engine.VerbClearAttention: engine.CodeNotInAttention,
	} {
		if code, _ := b.refused(t, seatRequest(verb, "dev-m0@lone", struct{}{})); code != want {
			t.Errorf("%s: %s, want %s", verb, code, want)
		}
	}
	if code, _ := b.refused(t, tokenRequest("dev.m0@lone", "5e550041-0000-4000-8000-00000000a041")); code != engine.CodeNoSession {
		t.Errorf("set-resume-token: %s", code)
	}
	if rec := b.run(t, freshRequest("dev.m0@lone", false)); !rec.OK || rec.Seats[0].Generation != 1 {
		t.Errorf("launch: %+v", rec)
	}
}

func TestCleanReturnsADeadSeatToLaunchable(t *testing.T) {
	t.Parallel()
	for name, world := range map[string]func(*testing.T, *seatBench){
		"kept dead pane": func(t *testing.T, b *seatBench) { b.kill(t, "dev.m0", 3) },
		"pane gone":      func(t *testing.T, b *seatBench) { b.mux.Drop(b.pane(t, "dev.m0").ID) },
		"another server": func(_ *testing.T, b *seatBench) { b.mux.Epoch = "200:2" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newSeatBench(t)
			token := b.token(t, "dev.m0")
			world(t, b)
			if name == "another server" {
				for _, p := range b.mux.Panes() {
					b.mux.Drop(p.ID)
				}
			}
			rec := b.run(t, cleanRequest("dev.m0"))
			h := b.history(t, "dev.m0")
			if !rec.OK || h[0].Status != engine.SessionExited || h[0].Token.Reveal() != token || b.seat(t, "dev.m0").Pane != "" {
				t.Fatalf("%+v\n%+v", rec, h)
			}
			if name == "kept dead pane" && (h[0].ExitCode == nil || *h[0].ExitCode != 3) {
				t.Errorf("exit code: %v", h[0].ExitCode)
			}
			for _, p := range b.mux.Panes() {
				if p.Session == "dev-m0@team" {
					t.Errorf("a pane is left: %+v", p)
				}
			}
			ev := b.events(t, rec.Operation.ID)
			if types(ev) != "session.cleaned" {
				t.Fatalf("events: %s", types(ev))
			}
			payload(t, ev[0], `"sessions_exited":["dev-m0@team"]`, `"binding_cleared":true`, `"reason":"because"`)
			if rec := b.run(t, freshRequest("dev.m0", false)); !rec.OK || rec.Seats[0].Generation != 2 {
				t.Errorf("it cannot be launched: %+v", rec)
			}
		})
	}
}

func TestCleanRefusals(t *testing.T) {
	t.Parallel()
	client := func(t *testing.T, b *seatBench, pid int) {
		b.mux.Drop(b.pane(t, "dev.m0").ID)
		b.reports.state[b.history(t, "dev.m0")[0].ID] = engine.RunState{PID: pid, PIDStart: "then"}
	}
	for name, c := range map[string]struct {
		want  string
		world func(*testing.T, *seatBench)
	}{
		"live": {"session_live", func(*testing.T, *seatBench) {}},
		"client outlived its pane": {"session_live", func(t *testing.T, b *seatBench) {
			client(t, b, 77)
			b.procs.Alive[77] = "then"
		}},
		"no answer": {"tmux_probe_failed", func(_ *testing.T, b *seatBench) { b.mux.State = engine.Unknown }},
		"adopted": {"claimed_session", func(t *testing.T, b *seatBench) {
			b.kill(t, "dev.m0", 0)
			b.edit(t, "dev.m0", func(_ *engine.Seat, s *engine.Session) { s.Origin = engine.OriginClaimed })
		}},
		"adopted and live": {"claimed_session session_live", func(t *testing.T, b *seatBench) {
			b.edit(t, "dev.m0", func(_ *engine.Seat, s *engine.Session) { s.Origin = engine.OriginClaimed })
		}},
		"nothing": {"nothing_to_clean", func(t *testing.T, b *seatBench) { b.run(t, stopRequest("dev.m0")) }},
		"report unreadable": {"unavailable", func(t *testing.T, b *seatBench) {
			b.mux.Drop(b.pane(t, "dev.m0").ID)
			b.reports.fail = errors.New("no permission")
		}},
		"somebody beside the dead pane": {"session_live", func(t *testing.T, b *seatBench) {
			b.kill(t, "dev.m0", 0)
			b.mux.Put(engine.Pane{ID: "%90", PID: 900, Session: "dev-m0@team"})
		}},
		"an older open row lives": {"session_live", func(t *testing.T, b *seatBench) {
			id := b.older(t, engine.SessionRunning)
			b.kill(t, "dev.m0", 0)
			b.mux.Put(engine.Pane{ID: "%91", PID: 901, Session: "elsewhere", Seat: id, Gen: "1"})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newSeatBench(t)
			c.world(t, b)
			code, all := b.refused(t, cleanRequest("dev.m0"))
			if codes(all) != c.want || string(code) != strings.Fields(c.want)[0] {
				t.Errorf("%s, all %s; want %s", code, codes(all), c.want)
			}
		})
	}
}

// older gives dev.m0 a second occupant and opens the row of the first one again,
// as a history from before may have left it. It gives the seat's id.
func (b *seatBench) older(tb testing.TB, status engine.SessionStatus) string {
	tb.Helper()
	b.run(tb, freshRequest("dev.m0", true))
	s := b.history(tb, "dev.m0")[1]
	s.Status, s.Name = status, "dev-m0-old@team"
	if err := b.db.Write(context.Background(), func(tx engine.Tx) error { return tx.UpdateSession(&s) }); err != nil {
		tb.Fatal(err)
	}
	return s.SeatID
}

// TestCleanProbesAndClosesEveryOpenRow: also a former occupant whose own pane was
// kept.
func TestCleanProbesAndClosesEveryOpenRow(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	id := b.older(t, engine.SessionUnknown)
	b.kill(t, "dev.m0", 1)
	b.mux.Put(engine.Pane{ID: "%91", PID: 901, Session: "elsewhere", Seat: id, Gen: "1", Dead: true, DeadCode: 9})
	rec := b.run(t, cleanRequest("dev.m0"))
	if !rec.OK || len(b.mux.Panes()) != 1 {
		t.Fatalf("%+v, panes %+v", rec, b.mux.Panes())
	}
	for _, s := range b.history(t, "dev.m0") {
		if s.Status != engine.SessionExited || s.ExitCode == nil {
			t.Errorf("%d: %s, exit code %v", s.Generation, s.Status, s.ExitCode)
		}
	}
	payload(t, b.events(t, rec.Operation.ID)[0], `"sessions_exited":["dev-m0@team","dev-m0-old@team"]`)
}

func TestPaneStartedAgainIsNotReaped(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	b.kill(t, "dev.m0", 0)
	p, err := b.e.Plan(context.Background(), cleanRequest("dev.m0"))
	if err != nil {
		t.Fatal(err)
	}
	pane := b.pane(t, "dev.m0")
	pane.Dead, pane.PID = false, 4711
	b.mux.Put(pane)
	if _, err := b.e.Apply(context.Background(), p, nil); engine.CodeOf(err) != engine.CodePlanStale {
		t.Fatalf("want plan_stale, got %v", err)
	}
	if b.pane(t, "dev.m0").PID != 4711 {
		t.Error("the pane was ended")
	}
}
