package engine_test

import (
	"context"
	"strings"
	"testing"

	"rig/engine"
)

// TestSnapshotLearnsOnlyWhatIsProven: a snapshot puts an id onto the record that the running client proves, and no other: not a
// guess, not the one of a process that is not the seat's, not one that was another occupant's, nor while somebody else changes
// the seat.
func TestSnapshotLearnsOnlyWhatIsProven(t *testing.T) {
	t.Parallel()
	proven := engine.Identity{Proven: true, Token: engine.NewResumeToken(secretID), Provenance: engine.ProvenanceHook, Why: "the registry names it"}
	for name, c := range map[string]struct {
		want bool
		id   engine.Identity
		edit func(*testing.T, *seatBench)
	}{
		"proven":         {true, proven, nil},
		"a guess":        {false, engine.Identity{Token: proven.Token, Why: "the newest file"}, nil},
		"another's pane": {false, proven, func(t *testing.T, b *seatBench) { b.respawn(t, 4711) }},
		"the id of its own former occupant": {false, proven, func(t *testing.T, b *seatBench) {
			all := b.history(t, "dev.m0")
			former := all[0]
			if former.Status == engine.SessionRunning {
				former = all[len(all)-1]
			}
			if err := b.db.Write(context.Background(), func(tx engine.Tx) error {
				s, err := tx.Session(former.ID)
				if err != nil {
					return err
				}
				s.Token = proven.Token
				return tx.UpdateSession(&s)
			}); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newSeatBench(t)
			b.claude.Gate = "trust_gate"
			b.run(t, freshRequest("dev.m0", true))
			b.claude.Gate = ""
			if c.edit != nil {
				c.edit(t, b)
			}
			b.claude.identity = &c.id
			rec := b.run(t, snapshotRequest())
			if got := b.token(t, "dev.m0") == secretID; got != c.want {
				t.Errorf("learned: %v, want %v", got, c.want)
			}
			learned := 0
			for _, ev := range b.events(t, rec.Operation.ID) {
				if ev.Type == engine.EventConversationLearned {
					learned++
					payload(t, ev, `"why":"the registry names it"`)
				}
			}
			if (learned == 1) != c.want {
				t.Errorf("%d events say so", learned)
			}
		})
	}
}

// TestASeatComesBackToTheConversationThatItLeft: after /clear a client writes another
// conversation than the one on record. What is saved and what is stopped names that
// one, once it is written; a word of the operator stands above it, and another seat's
// conversation is never taken.
func TestASeatComesBackToTheConversationThatItLeft(t *testing.T) {
	t.Parallel()
	moved := engine.Identity{Proven: true, Token: engine.NewResumeToken(secretID), Provenance: engine.ProvenanceHook, Why: "the registry names it"}
	for name, c := range map[string]struct {
		want bool
		edit func(*testing.T, *seatBench, *engine.Identity)
	}{
		"as it writes now": {true, nil},
		"nothing is written of it": {false, func(_ *testing.T, b *seatBench, _ *engine.Identity) {
			b.claude.Stored = func(token, _ string) engine.ConversationState {
				if token == secretID {
					return engine.ConversationState{Exists: engine.Absent}
				}
				return engine.ConversationState{Exists: engine.Present}
			}
		}},
		"a guess": {false, func(_ *testing.T, _ *seatBench, id *engine.Identity) { id.Proven = false }},
		"an operator's word": {false, func(t *testing.T, b *seatBench, _ *engine.Identity) {
			b.edit(t, "dev.m0", func(_ *engine.Seat, s *engine.Session) { s.Provenance = engine.ProvenanceOperator })
		}},
		"another seat's": {false, func(t *testing.T, b *seatBench, _ *engine.Identity) {
			b.edit(t, "dev.m1", func(seat *engine.Seat, s *engine.Session) {
				seat.Runtime, s.Runtime, s.Token = engine.RuntimeClaude, engine.RuntimeClaude, moved.Token
			})
		}},
	} {
		for verb, req := range map[string]engine.Request{"snapshot": snapshotRequest(), "stop": seatRequest(engine.VerbSeatStop, "dev.m0", struct{}{})} {
			t.Run(name+"/"+verb, func(t *testing.T) {
				t.Parallel()
				b := newSeatBench(t)
				was, id := b.token(t, "dev.m0"), moved
				if c.edit != nil {
					c.edit(t, b, &id)
				}
				b.claude.identity = &id
				in, err := b.e.Gather(context.Background(), "dev.m0", 0)
				if err != nil || (in.Session.Token.Reveal() == secretID) != c.want {
					t.Errorf("read %v %v, want %v", in.Session.Token, err, c.want)
				}
				if got := b.token(t, "dev.m0"); got != was {
					t.Error("reading wrote")
				}
				rec := b.run(t, req)
				if got := b.token(t, "dev.m0"); (got == secretID) != c.want || got != secretID && got != was {
					t.Errorf("on record now: %v, want the new one: %v", got == secretID, c.want)
				}
				told := false
				for _, ev := range b.events(t, rec.Operation.ID) {
					if ev.Type == engine.EventConversationLearned {
						payload(t, ev, `"moved":true`)
						told = true
					}
				}
				if told != c.want {
					t.Errorf("an event says so: %v", told)
				}
			})
		}
	}
}

// TestTheCheckTellsOfAConversationThatWasLeft: by the running client, and, when nobody
// looked before it ended, by the last report of its hooks.
func TestTheCheckTellsOfAConversationThatWasLeft(t *testing.T) {
	b := newSeatBench(t)
	check := func(when string, want bool) {
		t.Helper()
		rep, err := b.e.RestoreCheck(context.Background(), engine.RestoreCheckOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got := false
		for _, c := range rep.Checks {
			got = got || c.Check == "seat.dev-m0@team.conversation-moved" && c.Status == engine.CheckYellow && c.Remedy != ""
		}
		if got != want {
			t.Errorf("%s: %v, want %v: %+v", when, got, want, rep.Checks)
		}
	}
	b.edit(t, "dev.m0", func(_ *engine.Seat, s *engine.Session) { s.Token = engine.NewResumeToken(someID) })
	check("as recorded", false)
	b.claude.identity = &engine.Identity{Proven: true, Token: engine.NewResumeToken(secretID), Provenance: engine.ProvenanceHook}
	check("it runs another one", true)
	b.claude.identity = &engine.Identity{Code: engine.CodeSeveral, Why: "it holds several open"}
	check("it cannot be told", true)
	if in, err := b.e.Gather(context.Background(), "dev.m0", 0); err != nil || len(in.Gaps) != 1 || !strings.Contains(in.Gaps[0], "it holds several open") {
		t.Errorf("%v %+v", err, in.Gaps)
	}
	b.claude.identity = nil
	hook := func(event, payload string) {
		b.reports.hooks = append(b.reports.hooks, engine.HookSignal{Event: event, Payload: []byte(payload)})
	}
	hook("SessionStart", `{"session_id":"`+someID+`","source":"startup"}`)
	for _, pane := range b.mux.Panes() {
		b.mux.Drop(pane.ID)
	}
	check("its last report is the one on record", false)
	hook("SessionStart", `{"session_id":"`+secretID+`","source":"clear"}`)
	hook("SessionStart", `{"session_id":"no id","source":"fork"}`)
	hook("Stop", `{}`)
	check("its last report is another one", true)
	p, err := b.e.Plan(context.Background(), request(engine.VerbUp, "team", engine.UpArgs{Spec: "team"}))
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range p.Intents {
		if i.Seat == "dev-m0@team" && !strings.Contains(i.Reason, "moved to another conversation") {
			t.Errorf("the plan does not say so: %+v", i)
		}
	}
	b.edit(t, "dev.m0", func(_ *engine.Seat, s *engine.Session) { s.Provenance = engine.ProvenanceOperator })
	check("an operator's word", false)
}
