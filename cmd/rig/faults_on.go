//go:build chaos

package main

import (
	"os"
	"strings"
	"time"

	"rig/engine"
)

// clockShift reads how far the clock of every process of the suite stands from
// the machine's: a duration in the file that RIG_CHAOS_CLOCK names. It is read at
// each look at the clock, so that a jump reaches processes that run already.
func clockShift() time.Duration {
	b, err := os.ReadFile(os.Getenv("RIG_CHAOS_CLOCK"))
	if err != nil {
		return 0
	}
	d, err := time.ParseDuration(strings.TrimSpace(string(b)))
	if err != nil {
		return 0
	}
	return d
}

// chaosConfig shortens the undo window, so that windows close within the run.
func chaosConfig(c *engine.Config) {
	if d, err := time.ParseDuration(os.Getenv("RIG_CHAOS_UNDO")); err == nil {
		c.UndoWindow = d
	}
}
