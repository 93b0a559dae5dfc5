package main

import (
	"context"
	"strings"

	"rig/engine"
	"rig/engine/packet"
	"rig/engine/runtimes"
)

// hookPacket writes the restore packet of a compaction from inside the client's
// PreCompact hook: without the record, from what the occupant's environment and
// the event say.
func hookPacket(c runtimes.Compaction) (dir string, gaps []string, err error) {
	pod, member := podMember(c)
	in := engine.PacketInput{
		OpID: c.Attempt, Address: c.Seat, Operator: "PreCompact hook", Now: c.At, Transcript: c.Transcript,
		TranscriptW: "the event names no transcript of this conversation",
		Seat:        engine.Seat{Pod: pod, Member: member, Runtime: engine.RuntimeClaude, Cwd: c.Cwd},
		Session:     engine.Session{ID: c.Session, Generation: c.Generation, Runtime: engine.RuntimeClaude},
	}
	h, err := packet.Seats{Home: c.Home}.WritePacket(context.Background(), in)
	return h.Dir, h.Gaps, err
}

// podMember gives the names of a seat's pod and member as its environment has them. An
// occupant that an older build launched has the address alone, which does not say where
// a pod's name with a hyphen ends.
func podMember(c runtimes.Compaction) (pod, member string) {
	if c.Pod != "" && c.Member != "" {
		return c.Pod, c.Member
	}
	name, _, _ := strings.Cut(c.Seat, "@")
	pod, member, _ = strings.Cut(name, "-")
	return pod, member
}
