package main

import (
	"fmt"
	"strings"
	"testing"
)

type compactEntryDoc struct {
	Seat      string   `json:"seat"`
	Percent   *float64 `json:"used_percentage"`
	Tokens    *int64   `json:"estimated_used_tokens"`
	Sampled   string   `json:"sampled_at"`
	Freshness string   `json:"context_freshness"`
	Status    string   `json:"status"`
	Reason    string   `json:"reason"`
	Threshold string   `json:"threshold_reason"`
}

type compactPlanDoc struct {
	OK         bool              `json:"ok"`
	Order      []string          `json:"recommended_order"`
	Candidates []compactEntryDoc `json:"candidates"`
	Blocked    []compactEntryDoc `json:"blocked"`
	Skipped    []compactEntryDoc `json:"skipped"`
}

// fill has a stand-in answer with a full context.
func (w *world) fill(ref string, tokens int) {
	w.t.Helper()
	w.must("send", ref, fmt.Sprintf("[[tokens:%d]] remember the codeword is HERON", tokens), "--verify")
	w.eventually("the gauge of "+ref+" follows", func() (bool, string) {
		out := w.run("explain", ref, "context").out
		return strings.Contains(out, fmt.Sprint(tokens)+" tokens"), out
	})
	w.must("wait", ref, "--until", "idle")
}

// TestCompactPlanOfLivingSeats fills the contexts of stand-ins and reads the plan.
func TestCompactPlanOfLivingSeats(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("cp", "impl:claude-code", "low:claude-code", "qa:codex"))
	w.fill("dev.impl", 900_000)
	w.fill("dev.low", 1500)
	var p compactPlanDoc
	if r := w.into(&p, "compact-plan", "--rig", "cp", "--refresh"); r.code != 0 || !p.OK {
		t.Fatalf("exit %d: %s%s", r.code, r.out, r.err)
	}
	if len(p.Candidates) != 1 || p.Order[0] != "dev-impl@cp" || *p.Candidates[0].Percent != 90 || *p.Candidates[0].Tokens != 900_000 ||
		p.Candidates[0].Threshold != "above_percent_threshold" || p.Candidates[0].Freshness != "fresh" {
		t.Errorf("candidates %+v", p.Candidates)
	}
	reasons := map[string]string{}
	for _, s := range p.Skipped {
		reasons[s.Seat] = s.Reason
	}
	if reasons["dev-low@cp"] != "below_threshold" || reasons["dev-qa@cp"] != "codex_not_managed_by_claude_compact_in_place" {
		t.Errorf("skipped %v, blocked %+v", reasons, p.Blocked)
	}
	var status struct {
		Context struct {
			Tokens  int64   `json:"tokens"`
			Percent float64 `json:"percent"`
			Sampled string  `json:"sampled_at"`
		} `json:"context"`
	}
	w.into(&status, "seat", "status", "dev.impl")
	if c := p.Candidates[0]; status.Context.Tokens != *c.Tokens || status.Context.Percent != *c.Percent || status.Context.Sampled != c.Sampled {
		t.Errorf("the plan says %+v, the seat %+v", c, status.Context)
	}
	screen := w.run("capture", "dev.impl").out
	text := w.must("compact-plan")
	for _, want := range []string{"read-only", "1 candidate | 0 blocked | 2 skipped (below_threshold=1,codex_not_managed_by_claude_compact_in_place=1)", "1. dev-impl@cp", "900000 tokens, 90 % of 1000000", "no forecast", "claude-compaction-restore"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if now := w.run("capture", "dev.impl").out; now != screen {
		t.Errorf("a plan touched the pane:\n%s\n%s", screen, now)
	}
	w.into(&p, "compact-plan", "--threshold-percent", "0", "--threshold-tokens", "1")
	if len(p.Candidates) != 2 {
		t.Errorf("with a threshold of nought: %v", p.Order)
	}
}

func TestCompactPlanRefusals(t *testing.T) {
	w := newWorld(t)
	for _, bad := range [][]string{
		{"--threshold-tokens", "0"},
		{"--threshold-tokens", "4e5"},
		{"--threshold-tokens", "-1"},
		{"--threshold-percent", "101"},
		{"--threshold-percent", "NaN"},
		{"--threshold-percent", "-0.1"},
		{"--threshold-percent", "80%"},
	} {
		w.refuse("invalid_threshold", 1, append([]string{"compact-plan"}, bad...)...)
	}
	w.must("up", w.spec("cp", "sh:terminal"))
	w.refuse("not_found", 1, "compact-plan", "--rig", "nope", "--refresh")
	if r := w.run("compact-plan"); r.code != 0 || !strings.Contains(r.out, "none") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
}
