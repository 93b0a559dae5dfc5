package engine

import "time"

// compactionSeenKey is where the time of an occupant's last known compaction is
// kept, so that each is told once, whoever sees it first.
func compactionSeenKey(sessionID string) string { return "compact/seen/" + sessionID }

func stampOf(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
