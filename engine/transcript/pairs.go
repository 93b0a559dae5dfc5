package transcript

import (
	"hash/maphash"
	"time"
)

// The record shapes in which Codex releases write one and the same message.
const (
	shapeItem      uint8 = 1 << iota // response_item
	shapeEvent                       // event_msg user_message, agent_message
	shapeCompleted                   // event_msg item_completed
)

const (
	pairWindow = 8               // messages that may stand between two shapes
	pairGap    = 2 * time.Minute // and the time
)

// pairs recognises the second shape of a message that was already handed out.
// A message in a shape it was already seen in is a genuine repeat.
type pairs struct {
	seed   maphash.Seed
	seeded bool
	ring   [pairWindow]pair
	next   int
}

type pair struct {
	sum    uint64
	at     time.Time
	shapes uint8
}

// known reports whether this is another shape of a recent message; otherwise
// it remembers it as new.
func (ps *pairs) known(role Role, s string, shape uint8, at time.Time) bool {
	if !ps.seeded {
		ps.seed, ps.seeded = maphash.MakeSeed(), true
	}
	sum := maphash.String(ps.seed, string(role)+"\x00"+s)
	for i := range ps.ring {
		p := &ps.ring[(ps.next+i)%pairWindow] // oldest first
		if p.shapes == 0 || p.sum != sum || p.shapes&shape != 0 {
			continue
		}
		if !at.IsZero() && !p.at.IsZero() && at.Sub(p.at).Abs() > pairGap {
			continue
		}
		p.shapes |= shape
		return true
	}
	ps.ring[ps.next] = pair{sum: sum, at: at, shapes: shape}
	ps.next = (ps.next + 1) % pairWindow
	return false
}
