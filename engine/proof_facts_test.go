package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"rig/engine"
)

// TestTheFingerprintHoldsEveryFact, every step and every blocker, and nothing that
// is only said.
func TestTheFingerprintHoldsEveryFact(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	p, err := b.e.Plan(context.Background(), handoverRequest("dev.m0", "fresh"))
	if err != nil || len(p.Basis) < 4 {
		t.Fatal(err, p.Basis)
	}
	was := p.Fingerprint()
	differs := func(what string) {
		t.Helper()
		if p.Fingerprint() == was {
			t.Errorf("%s is not in the fingerprint", what)
		}
	}
	for i, f := range p.Basis {
		p.Basis[i].Value += "x"
		differs("fact " + f.Key)
		p.Basis[i] = f
	}
	for i := range p.Phases {
		steps := p.Phases[i].Steps
		p.Phases[i].Steps = steps[1:]
		differs("step " + steps[0].ID)
		p.Phases[i].Steps = steps
	}
	p.Block(engine.Errorf("x", "y").WithHint("z"))
	differs("a blocker")
	p.Blockers = p.Blockers[:0]
	p.Warnings, p.ID, p.Reason = append(p.Warnings, "mind"), "other", "another reason"
	if p.Fingerprint() != was {
		t.Error("what is only said is in the fingerprint")
	}
}

// TestRollbackLeavesWhatCommitted: the panes of a handover that was cut off after
// its commit stay where they are.
func TestRollbackLeavesWhatCommitted(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	op := b.crash(t, handoverRequest("dev.m0", "fresh"), "go")
	before := b.world(t)
	if _, err := b.e.Rollback(context.Background(), op, nil); err != nil {
		t.Fatal(err)
	}
	if now := b.world(t); now != before || b.seat(t, "dev.m0").Generation != 2 {
		t.Errorf("something was undone:\n%s", moved(before, now))
	}
}

// TestACommitBelongsToThePlannedOccupant: a seat whose occupant changed between the
// last look and the commit, past every lease, keeps what it has.
func TestACommitBelongsToThePlannedOccupant(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.run(t, upRequest())
	p, err := b.e.Plan(context.Background(), modelRequest("dev.m0", "another"))
	if err != nil {
		t.Fatal(err)
	}
	reports := 0
	rec, err := b.e.Apply(context.Background(), p, func(engine.OpProgress) {
		if reports++; reports != 1 {
			return
		}
		err := b.db.Write(context.Background(), func(tx engine.Tx) error {
			seat, err := tx.Seat(b.seat(t, "dev.m0").ID)
			if err != nil {
				return err
			}
			seat.Generation++
			return tx.UpdateSeat(&seat)
		})
		if err != nil {
			t.Error(err)
		}
	})
	if err != nil || rec.OK || rec.Error == nil || rec.Error.Code != engine.CodeConflict || b.seat(t, "dev.m0").Model != "" {
		t.Errorf("%+v %v", rec, err)
	}
}

// TestTokensPrintRedacted in every form that Go prints a value in on its own.
func TestTokensPrintRedacted(t *testing.T) {
	own, parent := engine.NewResumeToken(someID), engine.NewParentToken(someID)
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "own", own, "parent", parent)
	for name, text := range map[string]string{
		"%v": fmt.Sprintf("%v %v", own, parent), "%+v": fmt.Sprintf("%+v %+v", own, parent), "%s": fmt.Sprintf("%s %s", own, parent),
		"json": string(mustMarshal(t, []any{own, parent})), "in a row": fmt.Sprintf("%+v", engine.Session{Token: own}), "log": log.String(),
	} {
		if strings.Contains(text, someID) || strings.Contains(text, someID[9:]) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestUnknownRefusesEveryVerb that acts on a process: while tmux does not answer
// nothing is planned as if nothing ran.
func TestUnknownRefusesEveryVerb(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude, engine.RuntimeTerminal)
	defer b.close(t)
	b.run(t, upRequest())
	b.mux.State = engine.Unknown
	before, calls := dump(t, b.db), len(b.mux.Calls)
	for _, req := range []engine.Request{
		request(engine.VerbUp, "team", engine.UpArgs{Spec: "team"}), request(engine.VerbDown, "team", engine.DownArgs{}),
		request(engine.VerbLaunch, "team", engine.LaunchArgs{}),
		handoverRequest("dev.m0", "fresh"), handoverRequest("dev.m0", "fork:dev.m0"), handoverRequest("dev.m0", "rebuild"),
		stopRequest("dev.m0"), cleanRequest("dev.m0"), freshRequest("dev.m0", true), freshRequest("dev.m0", false),
		seatRequest(engine.VerbClearAttention, "dev.m0", struct{}{}),
		request(engine.VerbShrink, "team", engine.ShrinkArgs{Pod: "dev"}),
	} {
		p, err := b.e.Plan(context.Background(), req)
		if err != nil {
			t.Errorf("%s: %v", req.Verb, err)
			continue
		}
		if p.Applicable() {
			t.Errorf("%s would be applied", req.Verb)
		}
		if _, err := b.e.Apply(context.Background(), p, nil); engine.CodeOf(err) != engine.CodeTmuxProbeFailed {
			t.Errorf("%s: %v", req.Verb, err)
		}
	}
	if after := dump(t, b.db); after != before || len(b.mux.Calls) != calls {
		t.Errorf("something was done: %v\n%s", b.mux.Calls[calls:], moved(before, after))
	}
}

// TestAnOpeningPromptIsRedacted before it becomes an argument, which other users of
// the machine can read.
func TestAnOpeningPromptIsRedacted(t *testing.T) {
	b := newBench(t, t.TempDir(), engine.RuntimeClaude)
	defer b.close(t)
	b.made.Redact = func(text string) string { return strings.ReplaceAll(text, "packet", "[REDACTED]") }
	b.e = engine.New(b.made)
	b.run(t, upRequest())
	var prompts []string
	b.rt[engine.RuntimeClaude].Asked = func(q engine.LaunchRequest) { prompts = append(prompts, q.Prompt) }
	b.run(t, handoverRequest("dev.m0", "fresh"))
	if len(prompts) != 1 || !strings.HasPrefix(prompts[0], "[REDACTED]-") {
		t.Errorf("%q", prompts)
	}
}
