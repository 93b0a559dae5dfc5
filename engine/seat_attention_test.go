package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"rig/engine"
)

func clearRequest(seat, reason string) engine.Request {
	r := request(engine.VerbClearAttention, seat, struct{}{})
	r.Reason = reason
	return r
}

func reading(state engine.ActivityState, confidence engine.Confidence) *engine.Activity {
	return &engine.Activity{Reading: engine.Reading{State: state, Why: "as the test says", Source: "registry", Rule: "test", Confidence: confidence}}
}

// attend makes dev.m0's start need a person.
func (b *seatBench) attend(tb testing.TB) {
	tb.Helper()
	b.edit(tb, "dev.m0", func(seat *engine.Seat, s *engine.Session) {
		s.Startup, s.StartupNote, seat.LastError = engine.StartupAttention, "trust_gate: a gate", "an old error"
	})
}

// TestRestoreCheckNamesTheWayPastAGate: a client that asked something when it
// started has no conversation on record until its attention is cleared.
func TestRestoreCheckNamesTheWayPastAGate(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	b.edit(t, "dev.m0", func(_ *engine.Seat, s *engine.Session) {
		s.Startup, s.Token = engine.StartupAttention, engine.ResumeToken{}
	})
	rep, err := b.e.RestoreCheck(context.Background(), engine.RestoreCheckOptions{})
	if err != nil || len(rep.Repairs) == 0 || !strings.Contains(rep.Repairs[0].Remedy, "rig seat clear-attention dev-m0@team") {
		t.Errorf("%v %+v", err, rep.Repairs)
	}
}

// TestAClientThatEndedAtItsGateIsNotToBeAnswered: what is named as the way on is a verb that takes such a seat.
func TestAClientThatEndedAtItsGateIsNotToBeAnswered(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	b.edit(t, "dev.m0", func(_ *engine.Seat, s *engine.Session) {
		s.Startup, s.Token = engine.StartupAttention, engine.ResumeToken{}
	})
	b.kill(t, "dev.m0", 1)
	rep, err := b.e.RestoreCheck(context.Background(), engine.RestoreCheckOptions{})
	if err != nil || len(rep.Repairs) == 0 || strings.Contains(rep.Repairs[0].Remedy, "clear-attention") || !strings.Contains(rep.Repairs[0].Remedy, "rig up team --fresh dev.m0") {
		t.Errorf("%v %+v", err, rep.Repairs)
	}
	for _, req := range []engine.Request{restoreUp(), request(engine.VerbLaunch, "team", engine.LaunchArgs{Seats: []string{"dev.m0"}})} {
		p, err := b.e.Plan(context.Background(), req)
		if err != nil || strings.Contains(string(jsonOf(t, p)), "clear-attention") {
			t.Errorf("%s: %v %s", req.Verb, err, jsonOf(t, p))
		}
	}
	if rec := b.run(t, restoreUp("dev.m0")); rec.Seats[0].Outcome != engine.ContinuityFreshPrimed {
		t.Errorf("%+v", rec)
	}
}

func TestClearAttentionByEvidence(t *testing.T) {
	t.Parallel()
	for _, state := range []engine.ActivityState{engine.ActivityIdle, engine.ActivityBusy} {
		b := newSeatBench(t)
		b.attend(t)
		b.claude.activity = reading(state, engine.ConfidenceHigh)
		calls := len(b.mux.Calls)
		rec := b.run(t, clearRequest("dev-m0@team", ""))
		if s := b.seat(t, "dev.m0"); !rec.OK || s.Startup != engine.StartupReady || s.Continuity != engine.ContinuityFresh {
			t.Fatalf("%+v\n%+v", rec, s)
		}
		if len(b.mux.Calls) != calls {
			t.Errorf("tmux was changed: %v", b.mux.Calls[calls:])
		}
		ev := b.events(t, rec.Operation.ID)
		if types(ev) != "seat.attention_cleared" {
			t.Fatalf("events: %s", types(ev))
		}
		payload(t, ev[0], `"from":"attention_required"`, `"to":"ready"`, `"cleared_by":"evidence"`, `"kind":"fresh_activity"`,
			`"previous_error":"trust_gate: a gate"`, `"cleared_classes":["startup_status"]`, fmt.Sprintf(`"state":%q`, state))
		if code, _ := b.refused(t, clearRequest("dev.m0", "again")); code != engine.CodeNotInAttention {
			t.Errorf("a second time: %s", code)
		}
	}
}

func TestClearAttentionOnTheOperatorsWord(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	b.attend(t)
	b.claude.activity = reading(engine.ActivityUnknown, engine.ConfidenceNone)
	rec := b.run(t, clearRequest("dev.m0", "I looked"))
	if s := b.seat(t, "dev.m0"); !rec.OK || s.Startup != engine.StartupReady {
		t.Fatalf("%+v\n%+v", rec, s)
	}
	payload(t, b.events(t, rec.Operation.ID)[0], `"cleared_by":"operator_attestation"`, `"reason":"I looked"`, `"runtime_verified":false`)
}

func TestClearAttentionRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		want   engine.Code
		reason string
		world  func(*testing.T, *seatBench)
	}{
		"nothing": {engine.CodeNotInAttention, "", func(*testing.T, *seatBench) {}},
		"stopped": {engine.CodeNotInAttention, "r", func(t *testing.T, b *seatBench) { b.attend(t); b.run(t, stopRequest("dev.m0")) }},
		"at a gate": {engine.CodeNotResponsive, "", func(t *testing.T, b *seatBench) {
			b.attend(t)
			b.claude.activity = reading(engine.ActivityWaiting, engine.ConfidenceHigh)
		}},
		"low confidence": {engine.CodeNotResponsive, "", func(t *testing.T, b *seatBench) {
			b.attend(t)
			b.claude.activity = reading(engine.ActivityIdle, engine.ConfidenceLow)
		}},
		"exited": {engine.CodeNotResponsive, "", func(t *testing.T, b *seatBench) {
			b.attend(t)
			b.claude.activity = reading(engine.ActivityExited, engine.ConfidenceHigh)
		}},
		"dead pane": {engine.CodeNotResponsive, "I say so", func(t *testing.T, b *seatBench) { b.attend(t); b.kill(t, "dev.m0", 1) }},
		"pane gone": {engine.CodeNotResponsive, "I say so", func(t *testing.T, b *seatBench) { b.attend(t); b.mux.Drop(b.pane(t, "dev.m0").ID) }},
		"no answer": {engine.CodeTmuxProbeFailed, "I say so", func(t *testing.T, b *seatBench) { b.attend(t); b.mux.State = engine.Unknown }},
		"outcome of another conversation": {engine.CodeNotResponsive, "", func(t *testing.T, b *seatBench) {
			b.edit(t, "dev.m0", func(seat *engine.Seat, _ *engine.Session) { seat.Continuity = engine.ContinuityAttention })
			b.claude.identity = &engine.Identity{Proven: true, Token: engine.NewResumeToken(secretID)}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newSeatBench(t)
			c.world(t, b)
			if code, _ := b.refused(t, clearRequest("dev.m0", c.reason)); code != c.want {
				t.Errorf("%s, want %s", code, c.want)
			}
		})
	}
}

func TestClearedOutcomeIsNoClaimOfContinuity(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"", "I looked"} {
		b := newSeatBench(t)
		b.edit(t, "dev.m0", func(seat *engine.Seat, _ *engine.Session) { seat.Continuity = engine.ContinuityFailed })
		if s := b.seat(t, "dev.m0"); len(s.Attention) != 1 {
			t.Errorf("a failed outcome is not shown: %v", s.Attention)
		}
		rec := b.run(t, clearRequest("dev.m0", reason))
		if s := b.seat(t, "dev.m0"); !rec.OK || s.Continuity != engine.ContinuityRecovered || rec.Seats[0].Outcome != engine.ContinuityRecovered || len(s.Attention) != 0 {
			t.Fatalf("%+v\n%+v", rec, s)
		}
		payload(t, b.events(t, rec.Operation.ID)[0], `"from":"failed"`, `"to":"operator_recovered"`, `"cleared_classes":["outcome"]`)
	}
}

// TestClearAttentionLearnsTheId: a start that waited at a gate has no id on
// record until somebody has answered it.
func TestClearAttentionLearnsTheId(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	b.claude.Gate = "trust_gate"
	b.run(t, freshRequest("dev.m0", true))
	b.claude.Gate = ""
	b.claude.identity = &engine.Identity{Proven: true, Token: engine.NewResumeToken(secretID), Provenance: engine.ProvenanceHook, Why: "the registry names it"}
	b.run(t, clearRequest("dev.m0", ""))
	if b.token(t, "dev.m0") != secretID {
		t.Error("its id was not learned")
	}
}

// TestClearAttentionLeavesAnothersIdAlone: one conversation has one seat. A client that names the one on record as another seat's, also as
// that of a former occupant, is cleared without it, and the plan, the receipt and the event say whose it is.
func TestClearAttentionLeavesAnothersIdAlone(t *testing.T) {
	t.Parallel()
	for _, former := range []bool{false, true} {
		b := newSeatBench(t)
		other := b.specs["team"]
		other.Name = "other"
		b.specs["other"] = other
		b.run(t, request(engine.VerbUp, "other", engine.UpArgs{Spec: "other"}))
		theirs := b.token(t, "dev-m0@other")
		if former {
			b.run(t, handoverRequest("dev-m0@other", "fresh"))
		}
		b.claude.Gate = "trust_gate"
		b.run(t, freshRequest("dev-m0@team", true))
		b.claude.Gate = ""
		b.claude.identity = &engine.Identity{Proven: true, Token: engine.NewResumeToken(theirs), Provenance: engine.ProvenanceHook, Why: "the registry names it"}
		req := clearRequest("dev-m0@team", "")
		p, err := b.e.Plan(context.Background(), req)
		if err != nil || !strings.Contains(strings.Join(p.Warnings, "\n"), "the conversation of dev-m0@other") {
			t.Errorf("former %v: the plan says %v, %v", former, p.Warnings, err)
		}
		rec := b.run(t, req)
		s := b.seat(t, "dev-m0@team")
		if !rec.OK || s.Startup != engine.StartupReady || b.token(t, "dev-m0@team") != "" {
			t.Errorf("former %v: ok %v, startup %s, it holds another's token: %v", former, rec.OK, s.Startup, b.token(t, "dev-m0@team") == theirs)
		}
		payload(t, b.events(t, rec.Operation.ID)[0], `"token_why":"it is the conversation of dev-m0@other`)
	}
}

// respawn puts another process into dev.m0's pane.
func (b *seatBench) respawn(tb testing.TB, pid int) {
	tb.Helper()
	p := b.pane(tb, "dev.m0")
	p.PID, p.Command = pid, "intruder"
	b.mux.Put(p)
	b.procs.Alive[pid] = "later"
}

func TestWrongProcessIsAttention(t *testing.T) {
	t.Parallel()
	for name, world := range map[string]func(*testing.T, *seatBench){
		"the pane was started anew": func(t *testing.T, b *seatBench) { b.respawn(t, 4711) },
		"the client is gone": func(t *testing.T, b *seatBench) {
			b.reports.state[b.history(t, "dev.m0")[0].ID] = engine.RunState{SupervisorPID: 70, PID: 71, PIDStart: "then"}
		},
		"the pid belongs to another process": func(t *testing.T, b *seatBench) {
			b.reports.state[b.history(t, "dev.m0")[0].ID] = engine.RunState{SupervisorPID: 70, PID: 71, PIDStart: "then"}
			b.procs.Alive[71] = "much later"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newSeatBench(t)
			world(t, b)
			s, f, err := b.e.SeatView(context.Background(), "dev.m0")
			if err != nil {
				t.Fatal(err)
			}
			if s.Life != engine.LifeAttention || s.Identity != engine.VerdictMismatch || s.Activity.State != engine.ActivityUnknown {
				t.Fatalf("%+v", s)
			}
			if len(f.Attention) != 1 || f.Attention[0].Class != engine.AttnIdentity || f.Attention[0].Remedy == "" {
				t.Errorf("%+v", f.Attention)
			}
			if code, _ := b.refused(t, cleanRequest("dev.m0")); code != engine.CodeSessionLive {
				t.Errorf("clean: %s", code)
			}
		})
	}
}

// TestEndedClientIsNotAnIntruder: what the supervisor says, or is about to say,
// is no wrong process.
func TestEndedClientIsNotAnIntruder(t *testing.T) {
	t.Parallel()
	for name, st := range map[string]engine.RunState{
		"said": {SupervisorPID: 70, PID: 71, PIDStart: "then", Exited: true}, "about to say": {SupervisorPID: 72, PID: 71, PIDStart: "then"},
	} {
		b := newSeatBench(t)
		b.procs.Alive[72] = "then"
		b.reports.state[b.history(t, "dev.m0")[0].ID] = st
		if s := b.seat(t, "dev.m0"); s.Identity != "" || s.Life != engine.LifeRunning {
			t.Errorf("%s: %s %s", name, s.Identity, s.Life)
		}
	}
}

func TestWrongProcessIsClearedOnlyByVerifyingIt(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	token := b.token(t, "dev.m0")
	b.respawn(t, 4711)
	for name, id := range map[string]engine.Identity{
		"no proof": {Why: "no registry file"}, "another conversation": {Proven: true, Token: engine.NewResumeToken(secretID), PID: 4711},
	} {
		b.claude.identity = &id
		if code, _ := b.refused(t, clearRequest("dev.m0", "I vouch for it")); code != engine.CodeNotResponsive {
			t.Errorf("%s: %s", name, code)
		}
	}
	b.procs.Alive[4712] = "later"
	b.claude.identity = &engine.Identity{Proven: true, Token: engine.NewResumeToken(token), PID: 4712, Why: "its registry file"}
	rec := b.run(t, clearRequest("dev.m0", ""))
	s := b.seat(t, "dev.m0")
	if !rec.OK || s.Life != engine.LifeRunning || s.Identity != engine.VerdictVerified || s.PanePID != 4711 || len(s.Attention) != 0 {
		t.Fatalf("%+v\n%+v", rec, s)
	}
	payload(t, b.events(t, rec.Operation.ID)[0], `"pane_identity_reverified"`, `"cleared_classes":["pane_identity"]`, `"cleared_by":"evidence"`)
	if row := b.history(t, "dev.m0")[0]; row.PID != 4712 || row.PIDStart != "later" {
		t.Errorf("the record names process %d", row.PID)
	}
}

// TestOldVerdictNeverColoursANewOccupant: neither a look nor a stored verdict
// counts for another occupant or pane.
func TestOldVerdictNeverColoursANewOccupant(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	old := b.history(t, "dev.m0")[0]
	pane := b.pane(t, "dev.m0").ID
	err := b.db.Write(context.Background(), func(tx engine.Tx) error {
		return tx.PutVerdict(engine.Verdict{SeatID: old.SeatID, SessionID: old.ID, Pane: pane, Verdict: "mismatch", At: old.CreatedAt})
	})
	if err != nil {
		t.Fatal(err)
	}
	b.run(t, freshRequest("dev.m0", true))
	if s := b.seat(t, "dev.m0"); s.Life != engine.LifeRunning || s.Identity == engine.VerdictMismatch {
		t.Errorf("a stored verdict: %s %s", s.Life, s.Identity)
	}
	var rec *engine.Record
	err = b.db.Read(context.Background(), func(r engine.Reader) error {
		rec, err = r.Record()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	now := b.history(t, "dev.m0")[0]
	look := func(session string, pane engine.PaneID) engine.SeatLife {
		f := engine.BuildFleet(engine.FleetInput{
			Record: rec, Inv: b.mux.Inventory(context.Background()), Live: true, Now: now.CreatedAt,
			Identity: map[string]engine.PaneIdentity{now.SeatID: {Session: session, Pane: pane, Verdict: engine.VerdictMismatch, Why: "x"}},
		})
		return f.Seat(now.SeatID).Life
	}
	if look(old.ID, b.pane(t, "dev.m0").ID) == engine.LifeAttention || look(now.ID, "%77") == engine.LifeAttention {
		t.Error("an old look colours the new occupant")
	}
	if look(now.ID, b.pane(t, "dev.m0").ID) != engine.LifeAttention {
		t.Error("a look at the present occupant does not count")
	}
}

func TestConversationOpenOutsideIsAttention(t *testing.T) {
	t.Parallel()
	b := newSeatBench(t)
	token := b.token(t, "dev.m0")
	b.reports.state[b.history(t, "dev.m0")[0].ID] = engine.RunState{SupervisorPID: 70, PID: 71, PIDStart: "then"}
	b.procs.Alive[71], b.procs.Alive[99] = "then", "now"
	b.claude.holders = map[string][]engine.Holder{token: {{PID: 71, Start: "then"}, {PID: 98, Start: "dead"}, {PID: 99, Start: "now"}}}
	s, f, err := b.e.SeatView(context.Background(), "dev.m0")
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Attention) != 1 || f.Attention[0].Class != engine.AttnShared || f.Attention[0].Reason != "its conversation is also open in process 99" {
		t.Fatalf("%+v", f.Attention)
	}
	b.procs.Die(99)
	if s := b.seat(t, "dev.m0"); len(s.Attention) != 0 {
		t.Errorf("it is gone, and still shown: %v", s.Attention)
	}
}
