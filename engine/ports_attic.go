package engine

import (
	"context"
	"time"
)

// RelicKind is a class of files that the product leaves behind.
type RelicKind string

// Kinds of relics.
const (
	RelicOccupant  RelicKind = "occupant"  // launch file, report and hook spool of one occupant; Name is its session id
	RelicTicket    RelicKind = "ticket"    // request of a detached operation that was never taken up
	RelicLog       RelicKind = "log"       // of the program, or of one operation
	RelicTemporary RelicKind = "temporary" // a file that was being written when its writer ended
	RelicPacket    RelicKind = "packet"    // restore packet in a seat's directory; Series is whose
	RelicMap       RelicKind = "map"       // restore map of a compaction in a seat's directory
)

// Relic is a file or folder of ours that may be of no use any more.
type Relic struct {
	Kind   RelicKind `json:"kind"`
	Name   string    `json:"name"`
	Series string    `json:"series,omitempty"` // relics of one series replace each other
	Path   string    `json:"path"`             // the folder or the most telling file
	Bytes  int64     `json:"bytes"`
	At     time.Time `json:"at"` // newest change in it
}

// Attic knows where the product keeps files, and nothing about what they mean.
type Attic interface {
	// Relics lists what is there, below RIG_HOME and in the directories of these
	// seats. What cannot be read is left out.
	Relics(ctx context.Context, seats []Seat) ([]Relic, error)
	// Discard removes one. It refuses what has become something else since it was
	// listed: a link, or a file of another user.
	Discard(ctx context.Context, r Relic) error
}
