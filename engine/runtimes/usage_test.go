package runtimes

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rig/engine"
)

// statusProbe is a probe with a status line report and nothing else.
func statusProbe(report string, at time.Time, id string) engine.Probe {
	return engine.Probe{
		Session: engine.Session{ID: "S1", Generation: 2, Token: engine.NewResumeToken(id), Homes: engine.Homes{Home: "/nowhere", ClaudeDir: "/nowhere/.claude"}},
		Signals: engine.Signals{StatusLine: []byte(report), StatusAt: at},
		Now:     at.Add(time.Second),
	}
}

func TestUsageFromStatusLine(t *testing.T) {
	at := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	for name, want := range map[string]engine.Usage{
		"claude-statusline-fresh.json":         {},
		"claude-statusline-after-compact.json": {},
		"claude-statusline-after-turn.json":    {Known: true, Tokens: 1200, Window: 1_000_000, Percent: 0.12},
		"claude-statusline-full-45pct.json":    {Known: true, Tokens: 450_000, Window: 1_000_000, Percent: 45},
		"claude-statusline-subscriber.json":    {Known: true, Tokens: 1200, Window: 1_000_000, Percent: 0.12},
	} {
		u := NewClaude(testConfig(t)).Usage(t.Context(), statusProbe(readFile(t, filepath.Join(fixtures, name)), at, id1))
		if u.Known != want.Known || u.Tokens != want.Tokens || u.Window != want.Window || u.Percent != want.Percent || u.Generation != 2 {
			t.Errorf("%s: %+v", name, u)
		}
		if u.Known != (u.Confidence == engine.ConfidenceHigh) || !u.Known && u.Note == "" {
			t.Errorf("%s: confidence and note: %+v", name, u)
		}
	}
}

// B29: more tokens than the window holds. The tokens stand, the share does not.
func TestUsageWindowTooSmall(t *testing.T) {
	at := time.Date(2026, 3, 3, 10, 30, 0, 0, time.UTC)
	u := NewClaude(testConfig(t)).Usage(t.Context(), statusProbe(readFile(t, filepath.Join(cases, "B29-window-too-small.json")), at, "5e550029-0000-4000-8000-00000000a029"))
	if !u.Known || u.Tokens != 360_236 || u.Percent != 0 || u.Window != 0 || u.Confidence != engine.ConfidenceLow || !strings.Contains(u.Note, "200000") {
		t.Errorf("got %+v", u)
	}
}

// B27: the report was written after the compaction but speaks of the time before.
func TestUsageOlderThanCompaction(t *testing.T) {
	const id = "5e550027-0000-4000-8000-00000000a027"
	home := t.TempDir()
	path := filepath.Join(home, ".claude", "projects", "-home-op-project", id+".jsonl")
	write(t, path, readFile(t, filepath.Join(cases, "B27-stale-after-compact", "transcript.jsonl")))
	p := statusProbe(readFile(t, filepath.Join(cases, "B27-stale-after-compact", "status.json")), time.Date(2026, 3, 3, 10, 30, 10, 0, time.UTC), id)
	p.Session.Homes = engine.Homes{Home: home, ClaudeDir: filepath.Join(home, ".claude")}
	p.Now = time.Date(2026, 3, 3, 10, 31, 0, 0, time.UTC)
	rt := NewClaude(testConfig(t))
	u := rt.Usage(t.Context(), p)
	if u.Known || u.Percent != 0 || !strings.Contains(u.Note, "compaction at 10:29") {
		t.Fatalf("got %+v", u)
	}
	write(t, path, readFile(t, path)+`{"type":"assistant","sessionId":"`+id+`","uuid":"5eed0000-0000-4000-8000-0000000000ff","timestamp":"2026-03-03T10:32:00.000Z","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"ok"}],"usage":{"input_tokens":5,"cache_creation_input_tokens":100,"cache_read_input_tokens":895,"output_tokens":2}}}`+"\n")
	p.Now = p.Now.Add(2 * time.Minute)
	if u := rt.Usage(t.Context(), p); !u.Known || u.Tokens != 1000 || u.Source != "transcript" || u.Percent != 0.5 {
		t.Errorf("after the first reply: %+v", u)
	}
}

// B30: half a report, then none at all: the last good reading stands with its age.
func TestUsageHalfWrittenReport(t *testing.T) {
	at := time.Date(2026, 3, 3, 10, 0, 0, 0, time.UTC)
	rt := NewClaude(testConfig(t))
	good := strings.ReplaceAll(readFile(t, filepath.Join(fixtures, "claude-statusline-full-45pct.json")), id1, id2)
	if u := rt.Usage(t.Context(), statusProbe(good, at, id2)); !u.Known || u.Tokens != 450_000 {
		t.Fatalf("poll 1: %+v", u)
	}
	for i, broken := range []string{readFile(t, filepath.Join(cases, "B30-half-written.json")), ""} {
		p := statusProbe(broken, at.Add(time.Minute), id2)
		u := rt.Usage(t.Context(), p)
		if !u.Known || u.Tokens != 450_000 || !u.SampledAt.Equal(at) || u.Confidence != engine.ConfidenceLow || u.Note == "" {
			t.Errorf("poll %d: %+v", i+2, u)
		}
	}
	if u := NewClaude(testConfig(t)).Usage(t.Context(), statusProbe("{", at, id2)); u.Known || u.Note == "" {
		t.Errorf("never a good one: %+v", u)
	}
}

func TestUsageOfOthersDoesNotCount(t *testing.T) {
	at := time.Date(2026, 3, 3, 10, 0, 0, 0, time.UTC)
	report := readFile(t, filepath.Join(fixtures, "claude-statusline-full-45pct.json"))
	rt := NewClaude(testConfig(t))
	if u := rt.Usage(t.Context(), statusProbe(report, at, id2)); u.Known || !strings.Contains(u.Note, "another conversation") {
		t.Errorf("foreign: %+v", u)
	}
	p := statusProbe(report, at, id1)
	p.Started = at.Add(time.Hour)
	if u := rt.Usage(t.Context(), p); u.Known || !strings.Contains(u.Note, "older than this occupant") {
		t.Errorf("earlier occupant: %+v", u)
	}
	p = statusProbe(report, at, id1)
	p.Now = at.Add(-time.Hour)
	if u := rt.Usage(t.Context(), p); !u.Known || u.Confidence != engine.ConfidenceLow || !strings.Contains(u.Note, "future") {
		t.Errorf("future clock: %+v", u)
	}
}

func FuzzStatusLine(f *testing.F) {
	f.Add(readFile(f, filepath.Join(cases, "B29-window-too-small.json")))
	f.Add(readFile(f, filepath.Join(cases, "B30-half-written.json")))
	f.Add(`{"context_window":{"current_usage":{"input_tokens":-1e300},"context_window_size":1e300}}`)
	f.Fuzz(func(t *testing.T, s string) {
		at := time.Unix(1_700_000_000, 0)
		u := NewClaude(Config{}).Usage(t.Context(), statusProbe(s, at, ""))
		if u.Tokens < 0 || u.Window < 0 || u.Percent < 0 || u.Percent > 100 || u.Known && u.Tokens == 0 {
			t.Errorf("got %+v", u)
		}
	})
}
