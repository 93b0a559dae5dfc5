package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

type psDoc struct {
	Rigs []struct {
		Name  string    `json:"name"`
		Life  string    `json:"lifecycle"`
		Seats []seatDoc `json:"seats"`
	} `json:"rigs"`
	Attention []map[string]any `json:"attention"`
}

// TestWalkingPath is the main job without any agent: spec, up, look, type, jump
// target, down, up again by name, forget.
func TestWalkingPath(t *testing.T) {
	w := newWorld(t)
	spec := w.spec("walk", "a:terminal", "b:terminal", "c:terminal")
	w.must("spec", "validate", spec)
	w.must("up", spec)
	var ps psDoc
	w.into(&ps, "ps")
	if len(ps.Rigs) != 1 || len(ps.Rigs[0].Seats) != 3 || ps.Rigs[0].Life != "running" {
		t.Fatalf("ps: %+v", ps)
	}
	for _, s := range ps.Rigs[0].Seats {
		if s.Life != "running" || s.Continuity != "fresh" || s.Generation != 1 || s.Activity.State != "idle" {
			t.Errorf("%+v", s)
		}
		if got := w.tmux("display-message", "-p", "-t", s.Pane, "#{session_name} #{@rig_seat} #{@rig_gen}"); got != s.Seat+" "+s.ID+" 1" {
			t.Errorf("tags of %s: %q", s.Seat, got)
		}
	}
	w.must("send", "dev.a", "echo one-$((40+2))", "--verify")
	w.eventually("the answer is on the screen", func() (bool, string) {
		out := w.must("capture", "dev.a")
		return strings.Contains(out, "one-42"), out
	})
	w.refuse("no_client", 1, "seat", "switch-client", "dev.a")
	w.refuse("rig_name_running", 1, "up", spec)
	has(t, w.must("down", "walk"), "snapshot ", "complete")
	w.into(&ps, "ps")
	if ps.Rigs[0].Life != "stopped" || len(ps.Attention) != 0 {
		t.Errorf("after down: %+v", ps)
	}
	w.refuse("rig_name_taken", 1, "up", spec)
	w.must("up", "walk")
	if s := w.seat("dev-b@walk"); s.Life != "running" || s.Generation != 2 || s.Continuity != "fresh-primed" {
		t.Errorf("after up by name: %+v", s)
	}
	has(t, w.must("down", "walk", "--delete"), "snapshot ", "complete", "the rig is forgotten; its history and its snapshots stay")
	w.into(&ps, "ps")
	if len(ps.Rigs) != 0 {
		t.Errorf("after delete: %+v", ps)
	}
}

// TestDryRunsLeaveNoTrace compares the record, tmux and the home folder before
// and after the dry run of every verb.
func TestDryRunsLeaveNoTrace(t *testing.T) {
	w := newWorld(t)
	spec := w.spec("dry", "a:terminal", "b:claude-code")
	if r := w.run("up", spec, "--dry-run"); r.code != 0 {
		t.Fatalf("%s%s", r.out, r.err)
	}
	if exists(w.dir + "/rig") {
		t.Fatal("a dry run made RIG_HOME")
	}
	w.must("up", spec)
	other := w.spec("other", "x:terminal")
	before := w.trace()
	for _, args := range [][]string{
		{"up", other, "--plan"},
		{"down", "dry", "--dry-run"},
		{"down", "dry", "--delete", "--dry-run"},
		{"launch", "dry", "--dry-run"},
		{"up", "dry", "--dry-run"},
		{"handover", "dev.b", "--reason", "r", "--dry-run"},
		{"context", "recap-write", "--seat", "dev.b", "--file", spec, "--dry-run"},
	} {
		r := w.run(append(args, "--json")...)
		var doc struct {
			DryRun bool `json:"dry_run"`
			Plan   struct {
				Fingerprint string `json:"fingerprint"`
			} `json:"plan"`
		}
		if err := json.Unmarshal([]byte(r.out), &doc); err != nil || !doc.DryRun || doc.Plan.Fingerprint == "" {
			t.Errorf("%v: exit %d\n%s%s", args, r.code, r.out, r.err)
		}
		if after := w.trace(); after != before {
			t.Errorf("%v left a trace:\n%s\n---\n%s", args, before, after)
		}
	}
}

func TestApplyNeedsTheFingerprintThatWasShown(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("fp", "a:terminal"))
	var doc struct {
		Plan struct {
			Fingerprint string `json:"fingerprint"`
		} `json:"plan"`
	}
	w.into(&doc, "down", "fp", "--dry-run")
	w.refuse("plan_stale", 1, "down", "fp", "--apply", "0000000000000000")
	for _, args := range [][]string{{"down", "fp", "--apply", ""}, {"work", "add", "dev.sh", "x", "--apply", " "}} { // of a script whose own look failed
		if r := w.run(args...); r.code != 2 || !strings.Contains(r.err, "it is empty") {
			t.Errorf("%q: exit %d %s", args, r.code, r.err)
		}
	}
	if s := w.seat("dev.a"); s.Life != "running" {
		t.Fatalf("a stale plan stopped the seat: %+v", s)
	}
	w.must("down", "fp", "--apply", doc.Plan.Fingerprint)
}

// TestAgentsComeUpProven brings simulated agents up and reads what the picture
// says of them.
func TestAgentsComeUpProven(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("team", "impl:claude-code", "qa:codex", "sh:terminal"))
	for _, ref := range []string{"dev.impl", "dev.qa"} {
		s := w.seat(ref)
		if s.Life != "running" || s.Startup != "ready" || s.Continuity != "fresh" || !s.Token {
			t.Errorf("%s: %+v", ref, s)
		}
	}
	w.must("send", "dev.impl", "[[slow:30]] work", "--verify")
	w.must("wait", "dev.impl", "--until", "busy", "--timeout", "20s")
	w.must("send", "dev.qa", "[[slow:30]] work", "--verify")
	w.must("wait", "dev.qa", "--until", "busy", "--timeout", "20s")
}

func TestPermissionPromptIsAttention(t *testing.T) {
	w := newWorld(t)
	spec := w.spec("perm", "impl:claude-code")
	b, err := os.ReadFile(spec)
	if err != nil {
		t.Fatal(err)
	}
	w.must("up", w.write("perm.yaml", strings.Replace(string(b), "name: perm", "name: perm\npermission_policy: builtin:standard", 1)))
	w.must("send", "dev.impl", "[[sh:make made]] go", "--verify")
	w.must("wait", "dev.impl", "--until", "waiting", "--timeout", "20s")
	s := w.seat("dev.impl")
	if len(s.Attention) != 1 || s.Activity.Why == "" {
		t.Errorf("%+v", s)
	}
	w.refuse("target_needs_input", 1, "send", "dev.impl", "yes")
}
