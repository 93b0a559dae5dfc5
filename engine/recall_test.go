package engine_test

import (
	"testing"

	"rig/engine"
)

// TestAFinishNamesTheSeatsThatHadCommitted: a process that dies after the last commit leaves nothing to do, and the receipt of the
// finish still says what had become of each seat, no better than it was.
func TestAFinishNamesTheSeatsThatHadCommitted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer string
		state  engine.OpState
		action string
		failed bool
	}{
		"passed":     {"Current work: the tax rates\nNext owner: dev-qa@team", engine.OpDone, "compacted and audited", false},
		"not passed": {"all is well", engine.OpPartial, engine.NotAudited, true},
	} {
		w := newWard(t)
		w.set(func(p *patient) { p.answer = func(string) string { return c.answer } })
		id := w.crashAt(t, compactRequest(engine.CompactArgs{SkipMap: true}), "dev-m0@team/verdict", engine.StepDone)
		rec, err := w.e.Finish(t.Context(), id, nil)
		if err != nil || rec.Operation.State != c.state || len(rec.Seats) != 1 {
			t.Errorf("%s: %v %+v", name, err, rec)
			w.close(t)
			continue
		}
		if s := rec.Seats[0]; s.Seat != "dev-m0@team" || s.Action != c.action || s.Generation != 1 || (s.Error != nil) != c.failed || (s.Outcome != "") != c.failed {
			t.Errorf("%s: %+v", name, s)
		}
		w.close(t)
	}
}

// TestAFinishNamesSeatsOfOtherVerbs that had committed before the process died.
func TestAFinishNamesSeatsOfOtherVerbs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before  []engine.Request
		req     engine.Request
		step    string
		action  string
		outcome engine.Continuity
		gen     int64 // 0: the evidence does not tell it
	}{
		{nil, upRequest(), "dev-m0@team/commit", "launched", engine.ContinuityFresh, 1},
		{[]engine.Request{upRequest()}, modelRequest("dev.m0", "other"), "dev-m0@team/model", "model_changed", "", 0},
		{[]engine.Request{upRequest()}, request(engine.VerbDown, "team", engine.DownArgs{}), "dev-m0@team/vacate", "stopped", "", 1},
	} {
		b := newBench(t, t.TempDir(), engine.RuntimeTerminal)
		for _, req := range c.before {
			b.run(t, req)
		}
		id := b.crashAt(t, c.req, c.step, engine.StepDone)
		rec, err := b.e.Finish(t.Context(), id, nil)
		if err != nil || len(rec.Seats) != 1 {
			t.Errorf("%s: %v %+v", c.req.Verb, err, rec)
			b.close(t)
			continue
		}
		if s := rec.Seats[0]; s.Seat != "dev-m0@team" || s.Action != c.action || s.Outcome != c.outcome || s.Generation != c.gen || s.Error != nil {
			t.Errorf("%s: %+v", c.req.Verb, s)
		}
		b.close(t)
	}
}
