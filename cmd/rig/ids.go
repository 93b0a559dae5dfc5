package main

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"
)

// wallClock is the engine's clock outside tests.
type wallClock struct{}

// Now is the time of this moment, to the millisecond that the record keeps.
func (wallClock) Now() time.Time {
	return time.Now().Add(clockShift()).UTC().Truncate(time.Millisecond)
}

// ids makes monotonic ULIDs and random UUIDs.
type ids struct {
	mu      sync.Mutex
	entropy *ulid.MonotonicEntropy
}

func newIDs() *ids { return &ids{entropy: ulid.Monotonic(rand.Reader, 0)} }

// New gives an id that sorts after every one before it in this process.
func (i *ids) New() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return ulid.MustNew(ulid.Timestamp(wallClock{}.Now()), i.entropy).String()
}

// UUID gives a random version 4 UUID.
func (*ids) UUID() string { return uuid.NewString() }
