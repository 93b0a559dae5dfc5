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
