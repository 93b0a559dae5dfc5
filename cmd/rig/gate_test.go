package main

import (
	"strings"
	"testing"
)

// answeredGate brings up a rig of one Claude Code and one Codex seat whose clients ask for trust when they start, lets a person
// answer both, and gives each seat a fact. Nobody says `rig seat clear-attention`.
func answeredGate(t *testing.T, rig string) *world {
	t.Helper()
	w := newWorld(t)
	w.shell("git", "init", "-q", w.project) // Codex asks in a checkout alone
	w.write("home/.claude.json", `{"hasCompletedOnboarding":true,"projects":{}}`)
	w.write("home/.codex/config.toml", "model = \"gpt-5.5-codex\"\n[features]\ndaemon_auto_start = false\n")
	if r := w.run("up", w.spec(rig, "a:claude-code", "b:codex")); r.code != 1 {
		t.Fatalf("a start at a gate: exit %d\n%s%s", r.code, r.out, r.err)
	}
	for ref, keys := range map[string][]string{"dev.a": {"Down", "Enter"}, "dev.b": {"Enter"}} {
		s := w.seat(ref)
		if s.Token || s.Startup != "attention_required" {
			t.Fatalf("%s: %+v", ref, s)
		}
		w.tmux(append([]string{"send-keys", "-t", s.Pane}, keys...)...)
		w.must("wait", ref, "--until", "idle") // the client takes a moment to take the answer
	}
	w.know("dev.a", "HERON")
	w.know("dev.b", "OTTER")
	return w
}

// TestDownLearnsTheIDBehindAGate: a client that asked for a person when it started had no conversation to record. It has one
// by the time that it is stopped, and that is the one which comes back.
func TestDownLearnsTheIDBehindAGate(t *testing.T) {
	w := answeredGate(t, "late")
	w.must("down", "late")
	for _, ref := range []string{"dev.a", "dev.b"} {
		if s := w.seat(ref); !s.Token {
			t.Errorf("%s has no conversation on record: %+v", ref, s)
		}
	}
	if out := w.must("events", "--json"); strings.Count(out, `"seat.conversation_learned"`) != 2 {
		t.Errorf("the audit log does not say so twice:\n%s", out)
	}
	w.comesBack("late")
}

// TestSnapshotLearnsTheIDBehindAGate: the same after a crash, when a snapshot was the last to look.
func TestSnapshotLearnsTheIDBehindAGate(t *testing.T) {
	w := answeredGate(t, "crash")
	w.must("snapshot", "create", "crash")
	w.reboot()
	w.comesBack("crash")
}

// comesBack brings a rig of answeredGate up again and asks both for their facts.
func (w *world) comesBack(rig string) {
	w.t.Helper()
	var rec restoreDoc
	r := w.into(&rec, "up", rig)
	if got := rec.outcomes(); r.code != 0 || !sameMap(got, map[string]string{"dev-a@" + rig: "resumed", "dev-b@" + rig: "resumed"}) {
		w.t.Fatalf("exit %d, %v\n%s%s", r.code, got, r.out, r.err)
	}
	w.recalls("dev.a", "HERON")
	w.recalls("dev.b", "OTTER")
}

// TestStopLearnsTheIDBehindAGate: also when one seat is stopped alone.
func TestStopLearnsTheIDBehindAGate(t *testing.T) {
	w := answeredGate(t, "one")
	w.must("seat", "stop", "dev.b", "--reason", "r")
	if s := w.seat("dev.b"); !s.Token {
		t.Errorf("%+v", s)
	}
	if s := w.seat("dev.a"); s.Token {
		t.Errorf("a seat that was not touched: %+v", s)
	}
}

// TestAGateInStagingIsOffered: the successor of a handover asks for trust in a session that no seat has. Every place leads there,
// nobody is told to let the incumbent go on, and the handover is done once a person has answered.
func TestAGateInStagingIsOffered(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("staged", "a:claude-code"))
	w.write("home/.claude.json", `{"hasCompletedOnboarding":true,"projects":{}}`)
	s := w.outside(120, 40)
	s.on("fleet")
	shell := w.terminal(120, 40, "handover", "dev.a", "--reason", "r")
	shell.shows("▲ the successor waits at a gate: ", "`rig attach dev-a@staged`", " leads there, until ")
	var doc struct {
		Gate     *struct{ Why, Session string }           `json:"staged_gate"`
		Activity struct{ State, Why string }              `json:"activity"`
		Items    []struct{ Class, Reason, Remedy string } `json:"attention_items"`
	}
	w.eventually("the gate is told", func() (bool, string) {
		r := w.into(&doc, "seat", "status", "dev.a")
		return doc.Gate != nil, r.out
	})
	if len(doc.Items) != 1 || doc.Items[0].Class != "gate" || !strings.Contains(doc.Items[0].Reason, "the successor waits at a gate: ") || doc.Items[0].Remedy != "rig attach dev-a@staged and answer it there" {
		t.Errorf("attention: %+v", doc.Items)
	}
	if doc.Activity.State != "busy" || doc.Activity.Why != "stopped while the handover is under way" {
		t.Errorf("the incumbent reads %+v", doc.Activity)
	}
	if out := w.must("attach", "dev.a"); !strings.Contains(out, doc.Gate.Session) {
		t.Errorf("attach opens %s, want session %s", out, doc.Gate.Session)
	}
	s.keys("2")
	s.shows("dev-a@staged", "the successor waits at a gate")
	s.lacks("kill -CONT")
	s.keys("Enter")
	s.shows("Yes, I trust this folder")
	s.keys("Down", "Enter")
	shell.shows("done · operation", "ended 0")
	s.shows("The handover of dev-a@staged") // the successor, which is no longer in that session
	if got := w.seat("dev.a"); got.Generation != 2 {
		t.Errorf("%+v", got)
	}
}
