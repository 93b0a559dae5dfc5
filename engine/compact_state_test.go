package engine_test

import (
	"testing"

	"rig/engine"
)

// TestAFailedAuditIsNoAudit: what answers without naming its work is not "audited",
// and the time of its compaction is not that of the row's last change.
func TestAFailedAuditIsNoAudit(t *testing.T) {
	w := newWard(t)
	defer w.close(t)
	w.set(func(p *patient) { p.answer = func(string) string { return "I am back." } })
	rec, err := w.attempt(t, engine.CompactArgs{})
	if err != nil || rec.OK {
		t.Fatalf("%v %+v", err, rec)
	}
	was := w.seat(t, "dev.m0").Compaction.Since
	model := request(engine.VerbSetModel, "dev.m0", engine.SetModelArgs{Model: "m2"})
	model.Reason = "cheaper"
	w.run(t, model)
	if now := w.seat(t, "dev.m0").Compaction.Since; !now.Equal(was) || was.IsZero() {
		t.Errorf("it was compacted at %s, and after its model was changed the seat says %s", was, now)
	}
	st, err := w.e.CompactState(t.Context(), "dev.m0")
	if err != nil || st.Stage != engine.StageAuditSent || st.Verdict != engine.NotAudited || st.Code != engine.CodeNotAudited || !st.Compaction.Since.Equal(was) {
		t.Errorf("%v %+v", err, st)
	}
}

// TestARestartIsNoAudit: what was compacted and not audited stays so when its own
// conversation goes on, also when a handover is taken back, until its audit passes.
// A new conversation has nothing to audit.
func TestARestartIsNoAudit(t *testing.T) {
	w := newWard(t)
	defer w.close(t)
	verdict := func(when, want string) {
		t.Helper()
		if got := w.seat(t, "dev.m0").Compaction.Verdict; got != want {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	w.set(func(p *patient) { p.answer = func(string) string { return "I am back." } })
	if _, err := w.attempt(t, engine.CompactArgs{}); err != nil {
		t.Fatal(err)
	}
	w.run(t, request(engine.VerbDown, "team", engine.DownArgs{}))
	if rec := w.run(t, request(engine.VerbUp, "team", engine.UpArgs{Spec: "team"})); rec.Seats[0].Outcome != engine.ContinuityResumed {
		t.Fatalf("%+v", rec)
	}
	verdict("resumed", engine.NotAudited)
	swap := w.run(t, handoverRequest("dev.m0", "fresh"))
	verdict("handed over", "")
	w.run(t, request(engine.VerbUndo, swap.Operation.ID, struct{}{}))
	verdict("the handover taken back", engine.NotAudited)
	w.set(func(p *patient) {
		p.answer = func(string) string { return "Current work: the tax rates\nNext owner: dev-qa@team" }
	})
	if rec, err := w.attempt(t, engine.CompactArgs{AuditOnly: true}); err != nil || !rec.OK {
		t.Fatalf("%v %+v", err, rec)
	}
	verdict("audited", "")
	w.run(t, request(engine.VerbDown, "team", engine.DownArgs{}))
	w.run(t, request(engine.VerbUp, "team", engine.UpArgs{Spec: "team"}))
	verdict("resumed after its audit", "")

	w.set(func(p *patient) { p.answer = func(string) string { return "I am back." } })
	if _, err := w.attempt(t, engine.CompactArgs{}); err != nil {
		t.Fatal(err)
	}
	w.run(t, request(engine.VerbDown, "team", engine.DownArgs{}))
	w.run(t, request(engine.VerbUp, "team", engine.UpArgs{Spec: "team", Fresh: []string{"dev.m0"}}))
	verdict("a new conversation", "")
}
