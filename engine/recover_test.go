package engine_test

import (
	"context"
	"strings"
	"testing"

	"rig/engine"
)

// planLines gives the plan of a request and its text.
func (b *bench) planLines(tb testing.TB, r engine.Request) (*engine.Plan, string) {
	tb.Helper()
	p, err := b.e.Plan(context.Background(), r)
	if err != nil {
		tb.Fatal(err)
	}
	var text strings.Builder
	for _, l := range p.Lines() {
		text.WriteString(l.Text + "\n")
	}
	return p, text.String()
}

// TestClosingACutOffOperationIsPlanned: the dry run of a rollback and of a finish
// says what will be undone and done, changes nothing, and is what is applied.
func TestClosingACutOffOperationIsPlanned(t *testing.T) {
	for _, c := range []struct {
		at         string
		verb       engine.Verb
		want       string
		generation int64
		other      engine.Code // what the other verb is blocked with, "" = nothing
		closed     string      // what finishing it comes to
	}{
		{"swap", engine.VerbRollback, "undo “start the successor in a staging session”", 1, "", "unfinished → closed, with what began undone"},
		{"go", engine.VerbFinish, "tell the successor that the seat is its own", 2, "already_committed", "unfinished → closed, with what is left of it done"},
	} {
		t.Run(c.at, func(t *testing.T) {
			b := newBench(t, t.TempDir(), engine.RuntimeClaude)
			defer b.close(t)
			b.run(t, upRequest())
			op := b.crash(t, handoverRequest("dev.m0", "fresh"), c.at)
			before := b.world(t)
			p, text := b.planLines(t, request(c.verb, op, struct{}{}))
			if !p.Applicable() || !strings.Contains(text, c.want) || p.Target != "dev-m0@team" {
				t.Fatalf("the plan of %s:\n%s", c.verb, text)
			}
			other := engine.VerbFinish
			if c.verb == other {
				other = engine.VerbRollback
			}
			if p, text := b.planLines(t, request(other, op, struct{}{})); c.other != "" && (p.Applicable() || p.Blockers[0].Code != c.other) {
				t.Errorf("the plan of %s:\n%s", other, text)
			}
			if _, text := b.planLines(t, request(engine.VerbFinish, op, struct{}{})); !strings.Contains(text, c.closed) {
				t.Errorf("how it is closed:\n%s", text)
			}
			if b.world(t) != before {
				t.Error("planning changed the world")
			}
			rec, err := b.e.Apply(context.Background(), p, nil)
			if err != nil || rec.Operation.ID != op {
				t.Fatalf("%+v %v", rec, err)
			}
			if s := b.seat(t, "dev.m0"); s.Generation != c.generation {
				t.Errorf("generation %d", s.Generation)
			}
			if _, err := b.e.Apply(context.Background(), p, nil); engine.CodeOf(err) != engine.CodePlanStale {
				t.Errorf("a second apply: %v", err)
			}
			if p, text := b.planLines(t, request(c.verb, op, struct{}{})); p.Applicable() || p.Blockers[0].Code != "operation_ended" {
				t.Errorf("an ended operation:\n%s", text)
			}
		})
	}
}

// TestHandoverSources: what can take a seat is listed with its own conversation
// first, what cannot with the reason, and no native id is in it.
func TestHandoverSources(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude, engine.RuntimeClaude, engine.RuntimeCodex, engine.RuntimeTerminal)
	defer b.close(t)
	b.run(t, upRequest())
	b.run(t, handoverRequest("dev.m0", "fresh"))
	seat := b.seat(t, "dev.m0")
	list, err := b.e.HandoverSources(context.Background(), seat.ID)
	if err != nil {
		t.Fatal(err)
	}
	got, former := map[string]string{}, ""
	for _, o := range list {
		if strings.Contains(o.Source+o.Label+o.Note+o.Trouble, b.token(t, "dev.m1")) {
			t.Errorf("a native id is in %+v", o)
		}
		if strings.HasSuffix(o.Label, ", generation 1") {
			former = o.Source
		}
		got[o.Source] = o.Trouble
	}
	for source, trouble := range map[string]string{
		"fresh": "", "rebuild": "", "fork:dev-m0@team": "", "fork:dev-m1@team": "", "fork:dev-m2@team": "it is codex, the seat is claude-code",
	} {
		if why, ok := got[source]; !ok || why != trouble {
			t.Errorf("%s: %v %q in %v", source, ok, why, got)
		}
	}
	if _, ok := got["fork:dev-m3@team"]; ok || former == "" {
		t.Errorf("a terminal is offered, or the former conversation is not: %v", got)
	}
	rec := b.run(t, handoverRequest("dev.m0", former))
	if !rec.OK || rec.Seats[0].Outcome != engine.ContinuityForked || !strings.Contains(rec.Seats[0].Evidence["source_of"].(string), "generation 1") {
		t.Errorf("a handover from the former conversation: %+v", rec)
	}
	sh := b.seat(t, "dev.m3")
	list, err = b.e.HandoverSources(context.Background(), sh.ID)
	if err != nil || len(list) < 2 || list[1].Trouble == "" {
		t.Errorf("a terminal's: %+v %v", list, err)
	}
}

// TestThePlanNamesTheGenerationThatComes: an undone successor keeps its number, and every plan after it says so.
func TestThePlanNamesTheGenerationThatComes(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	rec := b.run(t, handoverRequest("dev.m0", "fresh"))
	b.run(t, request(engine.VerbUndo, rec.Operation.ID, struct{}{}))
	p, text := b.planLines(t, handoverRequest("dev.m0", "fresh"))
	rec, err := b.e.Apply(t.Context(), p, nil)
	if err != nil || rec.Seats[0].Generation != 3 || !strings.Contains(text, "generation: 1 → 3") || !strings.Contains(text, "(generation 3)") {
		t.Errorf("%v %+v; planned:\n%s", err, rec, text)
	}
	b.run(t, request(engine.VerbUndo, rec.Operation.ID, struct{}{}))
	b.mux.Drop(b.paneOf(t, "1").ID)
	p, text = b.planLines(t, upRequest())
	rec, err = b.e.Apply(t.Context(), p, nil)
	if err != nil || rec.Seats[0].Generation != 4 || !strings.Contains(text, "generation: 1 → 4") {
		t.Errorf("%v %+v; planned:\n%s", err, rec, text)
	}
}

// TestAFinishOfNothingIsARollback: where nothing had committed there is nothing to finish, and the end says what happened.
func TestAFinishOfNothingIsARollback(t *testing.T) {
	t.Parallel()
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	id := b.crash(t, handoverRequest("dev.m0", "fresh"), "swap")
	p, err := b.e.Plan(t.Context(), handoverRequest("dev.m0", "fresh"))
	if err != nil || p.Applicable() || !strings.Contains(p.Blockers[0].Hint, "rig op rollback "+id) || strings.Contains(p.Blockers[0].Hint, "finish") {
		t.Errorf("what closes it: %v %+v", err, p.Blockers)
	}
	rec, err := b.e.Finish(t.Context(), id, nil)
	if err != nil || rec.Operation.State != engine.OpRolledBack || rec.Seats[0].Action != "rolled_back" {
		t.Errorf("%v %+v", err, rec)
	}
}
