//go:build !chaos

package main

import (
	"time"

	"rig/engine"
)

// clockShift is how far this process's clock stands from the machine's. Only the
// build for the chaos suite (tag "chaos") has clocks that jump.
func clockShift() time.Duration { return 0 }

// chaosConfig changes nothing outside the chaos suite.
func chaosConfig(*engine.Config) {}
