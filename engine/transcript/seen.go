package transcript

import "hash/maphash"

// seenBuckets and seenWays bound duplicate detection to the latest hundred
// thousand records or so, in one megabyte. Repeats come from resumes and forks
// that write history again, so they lie within such a distance.
const (
	seenBuckets = 32 << 10
	seenWays    = 4
)

// seenSet remembers fingerprints of recent records. Its size does not depend on
// the length of the file: a full bucket forgets its oldest entry.
type seenSet struct {
	seed  maphash.Seed
	table [][seenWays]uint64
}

func newSeenSet() *seenSet { return &seenSet{seed: maphash.MakeSeed()} }

// repeated reports whether a record with this id and content was here before,
// and remembers it. Records that merely share an id are different records.
// A nil set remembers nothing.
func (s *seenSet) repeated(id, content []byte) bool {
	if s == nil {
		return false
	}
	if s.table == nil {
		s.table = make([][seenWays]uint64, seenBuckets)
	}
	var h maphash.Hash
	h.SetSeed(s.seed)
	_, _ = h.Write(id)
	_ = h.WriteByte(0)
	_, _ = h.Write(content)
	sum := h.Sum64() | 1 // 0 marks a free place
	bucket := &s.table[sum>>1%seenBuckets]
	for _, have := range bucket {
		if have == sum {
			return true
		}
	}
	copy(bucket[1:], bucket[:seenWays-1])
	bucket[0] = sum
	return false
}
