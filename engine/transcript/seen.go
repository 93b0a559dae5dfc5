package transcript

import "hash/maphash"

// seenWindow is how many of the latest records are remembered for duplicate
// detection. Repeats come from resumes and forks that write history again, so
// the window spans long histories and is still only a few megabytes.
const seenWindow = 64 << 10

// seenSet remembers fingerprints of recent records in two generations, so that
// its size does not depend on the length of the file.
type seenSet struct {
	seed     maphash.Seed
	now, old map[uint64]struct{}
}

func newSeenSet() *seenSet {
	return &seenSet{seed: maphash.MakeSeed(), now: make(map[uint64]struct{})}
}

// repeated reports whether a record with this id and content was here before,
// and remembers it. Records that merely share an id are different records.
// A nil set remembers nothing.
func (s *seenSet) repeated(id, content []byte) bool {
	if s == nil {
		return false
	}
	var h maphash.Hash
	h.SetSeed(s.seed)
	_, _ = h.Write(id)
	_ = h.WriteByte(0)
	_, _ = h.Write(content)
	sum := h.Sum64()
	if _, ok := s.now[sum]; ok {
		return true
	}
	_, was := s.old[sum]
	if len(s.now) >= seenWindow {
		s.old, s.now = s.now, make(map[uint64]struct{}, seenWindow)
	}
	s.now[sum] = struct{}{}
	return was
}
