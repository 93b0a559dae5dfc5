package main

import (
	"strings"
	"testing"
)

type workDoc struct {
	Seat string `json:"seat"`
	Item struct {
		ID    string `json:"id"`
		State string `json:"state"`
		Gen   int64  `json:"generation"`
		Note  string `json:"note"`
	} `json:"item"`
	Next *struct {
		ID    string `json:"id"`
		State string `json:"state"`
	} `json:"next"`
	To     string `json:"to"`
	DryRun bool   `json:"dry_run"`
	Plan   struct {
		Fingerprint string `json:"fingerprint"`
		Command     string `json:"command"`
	} `json:"plan"`
}

// TestInboundWork takes a piece of work through its life and through a change of
// the occupant.
func TestInboundWork(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("wk", "impl:claude-code", "sh:terminal"))
	w.refuse("seat_not_found", 1, "work", "add", "dev.nobody", "x")
	w.refuse("invalid", 2, "work", "add", "dev.impl", " ")
	var d workDoc
	if r := w.into(&d, "work", "add", "dev.impl", "rename", "the", "cart", "--dry-run"); r.code != 0 || d.Item.State != "pending" {
		t.Fatalf("dry run: %d %s", r.code, r.out)
	}
	if out := w.must("work", "list"); out != "No seat has open work.\n" {
		t.Errorf("of all seats: %q", out)
	}
	if out := w.must("work", "list", "dev.impl"); !strings.Contains(out, "no open work") {
		t.Errorf("the dry run recorded: %s", out)
	}
	if d.Plan.Command != "rig work add dev.impl rename the cart" {
		t.Errorf("the plan's command: %q", d.Plan.Command)
	}
	// What was shown is what is applied, once.
	add := []string{"work", "add", "dev.impl", "rename", "the", "cart", "--body", "All of it."}
	w.refuse("plan_stale", 1, append(add, "--apply", d.Plan.Fingerprint)...) // that one had no body
	w.into(&d, append(add, "--dry-run")...)
	shown := d.Plan.Fingerprint
	w.into(&d, append(add, "--apply", shown)...)
	id := d.Item.ID
	w.refuse("plan_stale", 1, append(add, "--apply", shown)...)
	w.into(&d, "work", "claim", id, "--dry-run")
	shown = d.Plan.Fingerprint
	w.must("work", "block", id, "--note", "meanwhile")
	w.refuse("plan_stale", 1, "work", "claim", id, "--apply", shown)
	w.must("work", "release", id)
	if w.into(&d, "work", "claim", id); d.Item.State != "claimed" || d.Item.Gen != 1 || d.Seat != "dev-impl@wk" {
		t.Errorf("claim: %+v", d)
	}
	w.refuse("work_claimed", 1, "work", "claim", id)
	w.refuse("invalid", 2, "work", "block", id)
	w.refuse("not_found", 1, "work", "done", "nothing")
	if out := w.must("seat", "status", "dev.impl"); !strings.Contains(out, "1 claimed") {
		t.Errorf("status does not show the work:\n%s", out)
	}
	w.must("send", "dev.impl", "the codeword is HERON", "--verify")
	w.must("wait", "dev.impl", "--until", "idle")
	w.must("handover", "dev.impl", "--reason", "test")
	out := w.must("work", "show", id)
	for _, want := range []string{"pending", "its occupant was replaced", "rename the cart", "All of it."} {
		if !strings.Contains(out, want) {
			t.Errorf("after the handover %q is missing:\n%s", want, out)
		}
	}
	if w.into(&d, "work", "claim", id); d.Item.Gen != 2 {
		t.Errorf("the successor's claim: %+v", d)
	}
	if w.into(&d, "work", "handoff", id, "dev.sh"); d.Item.State != "done" || d.Next == nil || d.To != "dev-sh@wk" || !strings.Contains(d.Item.Note, d.Next.ID) {
		t.Errorf("handoff: %+v", d)
	}
	w.refuse("work_done", 1, "work", "release", id)
	if out := w.must("work", "list"); !strings.Contains(out, d.Next.ID) || !strings.Contains(out, "dev-sh@") || strings.Count(out, "\n") != 1 {
		t.Errorf("of all seats: %q", out)
	}
	if out := w.must("work", "list", "dev.sh"); !strings.Contains(out, d.Next.ID) || !strings.Contains(out, "rename the cart") {
		t.Errorf("list of the other seat:\n%s", out)
	}
}
