package runtimes

import (
	"bytes"

	"rig/engine"
)

// parentEnv tells the hooks of a forked occupant which conversation is its
// source: a digest, so that they know the id when they see it and can keep
// nothing of it.
const parentEnv = "RIG_FORK_SOURCE"

// parentWord stands in a stored event where the client named the source of the
// fork. It is no id, so nobody can take it for the occupant's own.
const parentWord = "the-fork-source"

// idLen is the length of a native id.
const idLen = 36

// forkEnv is what a launch adds to the environment for its hooks: nothing but
// for a fork.
func forkEnv(s engine.Start) []string {
	if f, ok := s.(engine.StartFork); ok && !f.Parent.Empty() {
		return []string{parentEnv + "=" + engine.ConversationDigest(f.Parent.Reveal())}
	}
	return nil
}

// withoutParent takes the id of a fork's source out of what a client reports. An
// older Claude Code names the source in the event of the fork's own start, id and
// transcript; nothing of that may stay in a file of the new seat.
func withoutParent(input []byte, env []string) []byte {
	digest := lookup(env, parentEnv)
	if digest == "" {
		return input
	}
	var out []byte
	from := 0
	for at := 0; at+idLen <= len(input); at++ {
		if input[at+8] != '-' || input[at+13] != '-' {
			continue
		}
		id := input[at : at+idLen]
		if bytes.IndexByte(id, '"') >= 0 || engine.ConversationDigest(string(id)) != digest {
			continue
		}
		out = append(append(out, input[from:at]...), parentWord...)
		at += idLen - 1
		from = at + 1
	}
	if out == nil {
		return input
	}
	return append(out, input[from:]...)
}
