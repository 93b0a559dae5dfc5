package runtimes

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"rig/engine"
)

// Holders lists which conversation each client of a home has open, by lower-case
// id, from one reading of the client's registry. Files that killed clients left
// behind are among them: pid and start time decide. Codex needs none: its writer
// lock keeps a second client out.
func (c *Claude) Holders(_ context.Context, h engine.Homes) map[string][]engine.Holder {
	sessions := filepath.Join(c.cfg.homes(h).ClaudeDir, "sessions")
	entries, err := os.ReadDir(sessions)
	if err != nil {
		return map[string][]engine.Holder{}
	}
	out := make(map[string][]engine.Holder, len(entries))
	for _, f := range entries {
		if !strings.HasSuffix(f.Name(), ".json") {
			continue
		}
		got, err := c.registry.get(filepath.Join(sessions, f.Name()))
		if (err != nil && !got.good) || got.value.SessionID == "" {
			continue
		}
		id := strings.ToLower(got.value.SessionID)
		out[id] = append(out[id], engine.Holder{PID: got.value.PID, Start: got.value.ProcStart})
	}
	return out
}
