package main

import (
	"testing"

	"rig/engine/runtimes"
)

// TestAPacketOfAHookNamesPodAndMember: a pod's name may hold a hyphen, so the address does not say where it ends. An occupant of an
// older build has nothing but that.
func TestAPacketOfAHookNamesPodAndMember(t *testing.T) {
	for _, c := range []struct{ env, pod, member string }{
		{"my-team", "my-team", "impl"}, {"", "my", "team-impl"},
	} {
		member := ""
		if c.env != "" {
			member = "impl"
		}
		pod, got := podMember(runtimes.Compaction{Seat: "my-team-impl@shop", Pod: c.env, Member: member})
		if pod != c.pod || got != c.member {
			t.Errorf("%q: %s %s", c.env, pod, got)
		}
	}
}
