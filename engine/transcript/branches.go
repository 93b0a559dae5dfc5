package transcript

import "hash/maphash"

// maxPrompts bounds what is remembered of where prompts hang. A person goes back a few
// prompts, not thousands; a rewind beyond that is not noticed, and nothing is left out.
const maxPrompts = 8 << 10

// branches notices rewinds. A Claude Code conversation is a tree: each record names its
// parent. When a person takes it back to before an earlier prompt, or withdraws a prompt
// before it was answered, the file keeps what was said, and the next prompt hangs where
// that one hung (observed with 2.1.332). Two prompts of one parent are therefore the only
// sign that is trusted: results of parallel tool calls share parents too, and what
// descends from a record that is not known is left alone.
type branches struct {
	seed maphash.Seed
	at   map[uint64]prompt // by the parent
}

// prompt is where a prompt stands, and its own id.
type prompt struct {
	off int64
	id  uint64
}

func newBranches() *branches {
	return &branches{seed: maphash.MakeSeed(), at: map[uint64]prompt{}}
}

// hang takes a prompt in the order of the file and gives the offset of the one whose
// place it took, if there is one. A nil receiver notices nothing.
func (b *branches) hang(rec *claudeRecord) (to int64, rewound bool) {
	if b == nil || len(rec.parent) == 0 || len(rec.uuid) == 0 {
		return 0, false
	}
	parent, id := maphash.Bytes(b.seed, rec.parent), maphash.Bytes(b.seed, rec.uuid)
	was, taken := b.at[parent]
	if taken && was.id == id { // the same one, written again
		return 0, false
	}
	if taken {
		for key, p := range b.at { // what hung in the branch that was left
			if p.off > was.off {
				delete(b.at, key)
			}
		}
	}
	if len(b.at) >= maxPrompts {
		clear(b.at)
	}
	b.at[parent] = prompt{rec.off, id}
	return was.off, taken
}

// forget begins anew, as after a compaction.
func (b *branches) forget() {
	if b != nil {
		clear(b.at)
	}
}
