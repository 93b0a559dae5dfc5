package engine

import (
	"context"
	"time"
)

// Shot is a seat's screen at a moment around a change of its state, redacted and
// without colours.
type Shot struct {
	SeatID     string        `json:"seat_id"`
	Generation int64         `json:"generation"`
	At         time.Time     `json:"at"`   // when the screen was read
	From       ActivityState `json:"from"` // the state before the change
	To         ActivityState `json:"to"`   // the state after it; "exited" also when the pane is gone
	Moment     string        `json:"moment"`
	Why        string        `json:"why,omitempty"` // of the state after the change
	Source     string        `json:"source,omitempty"`
	Cols       int           `json:"cols"`
	Rows       int           `json:"rows"`
	Lines      []string      `json:"lines"` // without blank rows at the end
}

// The moments of a shot.
const (
	ShotBefore = "before" // the last look before the change
	ShotAfter  = "after"  // the look that noticed the change
	ShotRest   = "rest"   // a little later, when the client has drawn what it does now
)

// Recorder keeps shots in a ring for each seat, bounded on disk. Of several
// processes one records; Keep in the others does nothing and gives no error.
type Recorder interface {
	// Keep adds a shot to its seat's ring and drops the oldest ones over the bound.
	Keep(s Shot) error
	// Shots gives a seat's ring, oldest first; an empty one is no error.
	Shots(ctx context.Context, seatID string) ([]Shot, error)
	// Forget drops the rings of seats that are not among those named.
	Forget(seatIDs []string) error
}
