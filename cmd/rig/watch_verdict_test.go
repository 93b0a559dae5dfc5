package main

import (
	"bytes"
	"strings"
	"testing"

	"rig/engine"
)

// TestWatchCallsOnlyAnAuditedSeatAudited: a seat that lost the verdict because it was
// stopped, or has another occupant, was not audited.
func TestWatchCallsOnlyAnAuditedSeatAudited(t *testing.T) {
	seat := func(life engine.SeatLife, generation int64, verdict string) *engine.Fleet {
		s := engine.SeatView{ID: "1", Address: "dev-a@x", Life: life, Generation: generation}
		s.Compaction.Verdict = verdict
		return &engine.Fleet{Rigs: []engine.RigView{{Seats: []engine.SeatView{s}}}}
	}
	for name, c := range map[string]struct {
		then *engine.Fleet
		says string
	}{
		"audited":          {seat(engine.LifeRunning, 2, ""), "audited"},
		"stopped":          {seat(engine.LifeStopped, 2, ""), ""},
		"lost":             {seat(engine.LifeLost, 2, ""), ""},
		"another occupant": {seat(engine.LifeRunning, 3, ""), ""},
		"as it was":        {seat(engine.LifeRunning, 2, engine.NotAudited), ""},
	} {
		var out bytes.Buffer
		cli, told := &cli{out: &out}, map[string]toldVerdict{}
		for _, f := range []*engine.Fleet{seat(engine.LifeRunning, 2, engine.NotAudited), c.then} {
			if err := cli.tellVerdicts(f, told); err != nil {
				t.Fatal(err)
			}
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if !strings.Contains(lines[0], engine.NotAudited) || (c.says == "") != (len(lines) == 1) || c.says != "" && !strings.HasSuffix(lines[1], ": "+c.says) {
			t.Errorf("%s: %q", name, lines)
		}
	}
}
