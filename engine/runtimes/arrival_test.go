package runtimes

import (
	"path/filepath"
	"testing"
	"time"

	"rig/engine"
)

// Claude Code 2.1.332 writes a turn in parts, a tenth of a second one after the other, and
// reports the prompt and the end before them (observed). What is no turn is no news of one.
func TestTheLatestTurnIsTheOneOnFile(t *testing.T) {
	home := engine.Homes{ClaudeDir: filepath.Join(t.TempDir(), ".claude")}
	path := filepath.Join(home.ClaudeDir, "projects", "-home-op-project", id1+".jsonl")
	c := NewClaude(testConfig(t))
	s := engine.Session{Token: engine.NewResumeToken(id1), Homes: home}
	clock := func(second int) time.Time { return time.Date(2026, 12, 1, 0, 39, second, 0, time.UTC) }
	whole := ""
	for _, part := range []struct {
		name, lines string
		since       time.Time
		ended       bool
	}{
		{"no file", "", time.Time{}, false},
		{"the session's lines", `{"type":"custom-title","customTitle":"dev-impl","sessionId":"` + id1 + `"}` + "\n" +
			`{"type":"permission-mode","permissionMode":"default","sessionId":"` + id1 + `"}` + "\n", time.Time{}, false},
		{"the prompt", `{"type":"user","uuid":"a","timestamp":"2026-12-01T00:39:16Z","sessionId":"` + id1 + `","cwd":"/home/op/project","message":{"role":"user","content":"The codeword is heron-1."}}` + "\n", clock(16), false},
		{"an attachment", `{"type":"attachment","uuid":"b","timestamp":"2026-12-01T00:39:17Z","sessionId":"` + id1 + `","attachment":{"type":"skill_listing"}}` + "\n", clock(16), false},
		{"the answer", `{"type":"assistant","uuid":"c","timestamp":"2026-12-01T00:39:18Z","sessionId":"` + id1 + `","message":{"id":"m","model":"claude-sonnet-4-5","role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"Noted."}]}}` + "\n", clock(18), true},
		{"what follows a turn", `{"type":"system","subtype":"turn_duration","uuid":"d","timestamp":"2026-12-01T00:39:19Z","sessionId":"` + id1 + `"}` + "\n", clock(18), true},
	} {
		if whole += part.lines; whole != "" {
			write(t, path, whole)
		}
		since, ended := c.LatestTurn(t.Context(), s, "/home/op/project")
		if !since.Equal(part.since) || ended != part.ended {
			t.Errorf("%s: %v, ended %v", part.name, since, ended)
		}
	}
}
