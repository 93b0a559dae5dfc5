package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rig/engine"
	"rig/tui/tuitest"
)

const someToken = "5e550041-0000-4000-8000-00000000a041"

// withCutOff is a picture with a handover whose process died half-way.
func withCutOff(was *engine.Fleet, committed bool) *engine.Fleet {
	f := *was
	f.Revision++
	since := tuitest.Start().Add(-3 * time.Minute)
	f.Ops = append([]engine.OpView{{
		ID: "op-77", Verb: engine.VerbHandover, Target: "dev-impl@shop", State: engine.OpUnfinished, StartedAt: since, Done: 4, Total: 10, Committed: committed,
	}}, f.Ops...)
	f.Attention = append([]engine.AttentionItem{{
		Key: engine.AttnUnfinished + "/op-77", Class: engine.AttnUnfinished, OpID: "op-77", Weight: 100, Since: since,
		Reason: "handover of dev-impl@shop was cut off half-way", Remedy: "rig op finish op-77 or rig op rollback op-77",
	}}, f.Attention...)
	return &f
}

// A cut-off operation is closed from Attention and from Operations, by the verb
// that its commit leaves open.
func TestCutOffOperationsOpenTheRightWizard(t *testing.T) {
	for _, c := range []struct {
		committed bool
		keys      []string
		want      engine.Verb
	}{
		{false, []string{"2", "r"}, engine.VerbRollback},
		{true, []string{"2", "r"}, engine.VerbFinish},
		{false, []string{"8", "b", "enter"}, engine.VerbRollback},
		{true, []string{"8", "f", "enter"}, engine.VerbFinish},
	} {
		d := drive(t, withCutOff(tuitest.Fleet(7), c.committed), options())
		d.keys(c.keys...)
		w := d.m.wizard()
		if w == nil || w.phase != phasePreview || w.plans[0].Verb != c.want || w.plans[0].Request.Target != "op-77" {
			t.Errorf("%v with committed %v: %s", c.keys, c.committed, d.text())
		}
	}
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("8", "f")
	if d.m.top() != nil || !strings.Contains(d.m.toast.text, "no operation was cut off") {
		t.Errorf("says %q", d.m.toast.text)
	}
}

// Each class of attention opens the wizard of the verb that its remedy names, or
// says why none does.
func TestAttentionOpensTheWizardOfItsRemedy(t *testing.T) {
	d := drive(t, tuitest.Fleet(13), options())
	want := map[string]engine.Verb{
		engine.AttnDead: engine.VerbSeatClean, engine.AttnLost: engine.VerbRestore, engine.AttnLimit: engine.VerbHandover,
		engine.AttnShared: engine.VerbSeatStop, engine.AttnIdentity: engine.VerbClearAttention,
		engine.AttnNotAudited: engine.VerbCompact, engine.AttnCompaction: engine.VerbCompact, engine.AttnSuspended: "",
		engine.AttnWaiting: "", engine.AttnGate: "", engine.AttnStartup: "", engine.AttnServer: "",
	}
	seat := d.m.fleet.Seats()[0]
	for class, verb := range want {
		it := &engine.AttentionItem{Class: class, SeatID: seat.ID}
		def := d.m.resolver(it)
		if verb == "" && def != nil || verb != "" && (def == nil || def.verb != verb) {
			t.Errorf("%s opens %+v", class, def)
		}
	}
	for _, c := range []struct {
		life engine.SeatLife
		want engine.Verb
	}{{engine.LifeRunning, engine.VerbClearAttention}, {engine.LifeStopped, engine.VerbRestore}} {
		seat.Life = c.life
		if def := d.m.resolver(&engine.AttentionItem{Class: engine.AttnOutcome, SeatID: seat.ID}); def == nil || def.verb != c.want {
			t.Errorf("an outcome of a seat that is %s opens %+v", c.life, def)
		}
	}
}

// What a stopped client needs is a line in a shell: the key copies it, as its pane answers
// nothing. A compaction that was not audited opens the audit alone.
func TestTheKeyLeadsToWhatHelps(t *testing.T) {
	f := tuitest.Fleet(7)
	seat := f.Seats()[0]
	stopped := engine.AttentionItem{
		Key: "s", Class: engine.AttnSuspended, Seat: seat.Address, SeatID: seat.ID, Weight: 99, Reason: "the client is stopped",
		Remedy: "`kill -CONT 7` in a shell lets it go on",
	}
	f.Attention = append([]engine.AttentionItem{stopped}, f.Attention...)
	d := drive(t, f, options())
	d.keys("2", "r")
	if got := strings.Join(d.copied, "|"); got != "kill -CONT 7" || !strings.Contains(d.text(), "r copies kill -CONT 7, to be run in a shell") {
		t.Errorf("copied %q\n%s", got, d.text())
	}

	f = tuitest.Fleet(7)
	seat = f.Seats()[0]
	seat.Compaction.Verdict = engine.NotAudited
	f.Attention = []engine.AttentionItem{{
		Key: "a", Class: engine.AttnNotAudited, Seat: seat.Address, SeatID: seat.ID, Reason: engine.NotAudited, Remedy: "rig compact " + seat.Address + " --audit",
	}}
	d = drive(t, f, options())
	d.keys("2")
	if text := d.text(); strings.Contains(text, "not_audited") || !strings.Contains(text, "opens the wizard: compact a seat") {
		t.Errorf("\n%s", text)
	}
	d.keys("r")
	if w := d.m.wizard(); w == nil || w.def.verb != engine.VerbCompact || !w.answers().yes("audit") {
		t.Errorf("opens\n%s", d.text())
	}
}

// The token is on no frame, and the model holds it only as long as a plan may
// still need it.
func TestTokenIsNeverDrawnNorKept(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	seen := func() bool { return strings.Contains(d.text(), "5e55") || strings.Contains(d.text(), "a041") }
	open := func() *wizard {
		d.run(d.m.openWizard(tokenDef()))
		d.keys(someToken)
		if seen() {
			t.Fatalf("the token is on screen:\n%s", d.text())
		}
		d.keys("tab", "typed by hand", "enter")
		return d.m.wizard()
	}
	w := open()
	if w.phase != phasePreview || w.plans[0].Request.Secret.Reveal() != someToken || w.plans[0].Request.Reason != "typed by hand" {
		t.Fatalf("phase %d\n%s", w.phase, d.text())
	}
	if w.fields[0].input.text() != "" || seen() {
		t.Error("the field still holds the token")
	}
	shown := w.plans[0]
	f := *tuitest.Fleet(7)
	f.Revision = 2
	d.send(fleetMsg{&f}) // a look at the facts plans again, with the same token
	d.fire(replanTime)
	if d.m.wizard().plans[0] != shown {
		t.Error("the silent look made another plan")
	}
	d.keys("a")
	d.fire(guardTime)
	d.keys("y")
	if got := applied(d); len(got) != 1 || !w.plans[0].Request.Secret.Empty() || seen() {
		t.Errorf("applied %v; the plan still holds the token: %v", got, !w.plans[0].Request.Secret.Empty())
	}
	d.fire(guardTime)
	d.keys("esc")

	w = open()
	p := w.plans[0]
	d.keys("esc")
	if w.phase != phaseAsk || w.fields[0].input.text() != "" || !p.Request.Secret.Empty() {
		t.Error("going back keeps the token")
	}
	if text := fmt.Sprintf("%+v %+v", *w, *w.fields[0]); strings.Contains(text, someToken) {
		t.Error("the wizard prints it")
	}
}

// A refused token goes to the audit log once, without the token, when somebody
// meant to apply it. A preview is a dry run: it leaves no trace, refused or not.
func TestRefusedTokenIsNoted(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.c.Refuse = true
	d.run(d.m.openWizard(tokenDef()))
	d.keys(someToken, "tab", "why", "enter")
	d.fire(replanTime)
	if sent, _, done := d.c.Did(); len(done) != 0 || len(sent) != 0 {
		t.Errorf("a preview: noted %q, applied %q", sent, done)
	}
	d = drive(t, tuitest.Fleet(7), options())
	d.c.Fail["Apply"] = engine.Errorf(engine.CodeInProgress, "a handover is under way").WithHint("wait")
	d.run(d.m.openWizard(tokenDef()))
	d.keys(someToken, "tab", "why", "enter", "a")
	d.fire(guardTime)
	d.keys("y")
	if sent, _, _ := d.c.Did(); len(sent) != 1 || sent[0] != "refused dev-impl@shop operation_in_progress" {
		t.Errorf("an apply: noted %q", sent)
	}
}

// The choices of a handover's source are live, and one that cannot be chosen says
// why.
func TestHandoverSourcesAreLive(t *testing.T) {
	d := drive(t, tuitest.Fleet(7), options())
	d.keys("H")
	d.has("2 missing", "fork:dev-impl@shop, generation 1", "discovered:work %3", "cannot: it is codex")
	d.keys("dev-qa", "tab", "full", "enter")
	if w := d.m.wizard(); w.phase != phaseAsk || !strings.Contains(d.m.toast.text, "it is codex, the seat is claude-code") {
		t.Errorf("says %q", d.m.toast.text)
	}
	d = drive(t, tuitest.Fleet(7), options())
	d.c.Fail["HandoverSources"] = engine.Errorf(engine.CodeTmuxProbeFailed, "tmux did not answer").WithHint("rig doctor")
	d.keys("H")
	d.has("tmux did not answer", "fresh", "rebuild")
}
