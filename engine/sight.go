package engine

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// How long a running operation rests between two looks at the panes it waits for:
// less when they are few, so that a handover does not wait for its own eyes; more
// when a look takes long, because the clients that start need the processor.
const (
	sightEvery = 80 * time.Millisecond
	sightMost  = 400 * time.Millisecond
	sightShare = 3 // a rest is this many times as long as the look before it
	sightFew   = 5 * time.Millisecond
	fewPanes   = 4
)

// What a step waits for mostly appears in files, which cost far less to read than
// a look at tmux, which is a process: so it reads those several times for each
// look. The rests between are shorter when few wait.
const (
	glances     = 10
	glancesMany = 6
	glanceFew   = 5 * time.Millisecond
	glanceMany  = 40 * time.Millisecond
)

// glance is one waiting step's share of a look at tmux, and how often it has read
// its files since.
type glance struct {
	round int // the look; 0 = none
	times int
	now   bool // the next one does not rest: a step has just begun
	inv   Inventory
	shot  Screen
}

// fresh reports whether nothing was waited for since the look.
func (g *glance) fresh() bool { return g.times == 0 }

// spent makes the next look a new one.
func (g *glance) spent() { g.round = 0 }

// sight lets many waiting steps share one look at tmux: one inventory and one
// batch of captures a round, whatever the number of seats that start. What a
// round saw is told at once; the rest comes after it.
type sight struct {
	mux    Mux
	clock  Clock
	mu     sync.Mutex
	next   chan struct{} // closed when the next round ends
	panes  map[PaneID]int
	inv    Inventory
	shots  map[PaneID]Screen
	busy   bool // rounds are being made
	stop   context.CancelFunc
	idle   chan struct{} // closed when those rounds have ended
	wanted bool          // somebody waits for a round that has not begun
	began  int           // rounds that have begun, and of them
	ended  int           // those that have ended
	took   time.Duration // the last of those
}

func newSight(mux Mux, clock Clock) *sight {
	return &sight{mux: mux, clock: clock, next: make(chan struct{}), panes: map[PaneID]int{}, shots: map[PaneID]Screen{}}
}

// again gives a step its last look once more, after a rest, or a newer one that
// others have asked for; false when a new look is due.
func (s *sight) again(ctx context.Context, id PaneID, g *glance) bool {
	s.mu.Lock()
	limit, rest := glances, glanceFew
	if len(s.panes) > fewPanes {
		limit, rest = glancesMany, glanceMany
	}
	shot, seen := s.shots[id]
	switch {
	case g.round == 0:
		limit = 0
	case seen && s.ended > g.round && s.panes[id] > 0:
		*g = glance{round: s.ended, inv: s.inv, shot: shot}
		s.mu.Unlock()
		return true
	}
	s.mu.Unlock()
	if g.times >= limit {
		return false
	}
	g.times++
	if g.now {
		g.now = false
		return true
	}
	return pause(ctx, rest) == nil
}

// look waits for a round that began after the call, or for the next glance of one
// that this step has seen, and gives that pane's row and screen.
func (s *sight) look(ctx context.Context, id PaneID, g *glance) (Inventory, Screen, error) {
	if s.again(ctx, id, g) {
		return g.inv, g.shot, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.panes[id]++
	need := s.began + 1
	for s.ended < need {
		// Only a round that has yet to begin is asked for: otherwise one more would
		// be made after the last waiter has gone.
		s.wanted = s.wanted || s.began < need
		if !s.busy {
			s.start(ctx)
		}
		wait := s.next
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			s.mu.Lock()
			return Inventory{}, Screen{}, ctx.Err()
		case <-wait:
		}
		s.mu.Lock()
	}
	*g = glance{round: s.ended, inv: s.inv, shot: s.shots[id]}
	return g.inv, g.shot, nil
}

// start lets rounds be made from now on; the lock is held. They belong to all who
// wait, so they do not end with the context of one.
func (s *sight) start(ctx context.Context) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.busy, s.stop, s.idle = true, cancel, make(chan struct{})
	go func(idle chan struct{}) {
		defer close(idle)
		defer cancel()
		s.rounds(ctx)
	}(s.idle)
}

// settle ends the rounds when nobody waits any more, so that no look outlives
// its operation.
func (s *sight) settle() {
	s.mu.Lock()
	stop, idle := s.stop, s.idle
	s.mu.Unlock()
	if stop != nil {
		stop()
		<-idle
	}
}

// rest is the pause after a round.
func (s *sight) rest() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.panes) > fewPanes {
		return min(max(sightEvery, sightShare*s.took), sightMost)
	}
	return sightFew
}

// forget stops capturing a pane.
func (s *sight) forget(id PaneID) {
	s.mu.Lock()
	delete(s.panes, id)
	s.mu.Unlock()
}

// rounds looks as long as somebody waits, with a rest after each round.
func (s *sight) rounds(ctx context.Context) {
	for {
		s.round(ctx)
		timer := time.NewTimer(s.rest())
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
		s.mu.Lock()
		if !s.wanted || ctx.Err() != nil {
			s.busy = false
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
	}
}

func (s *sight) round(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	s.mu.Lock()
	s.began++
	s.wanted = false
	reqs := make([]CaptureRequest, 0, len(s.panes))
	for id := range s.panes {
		reqs = append(reqs, CaptureRequest{Pane: id})
	}
	s.mu.Unlock()
	slices.SortFunc(reqs, func(a, b CaptureRequest) int { return cmp.Compare(a.Pane, b.Pane) })
	asked := s.clock.Now()
	inv, got := s.mux.Look(ctx, reqs)
	took := s.clock.Now().Sub(asked)
	shots := map[PaneID]Screen{}
	for _, c := range got {
		if c.Err == nil {
			shots[c.Pane] = c.Screen
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inv, s.shots, s.ended, s.took = inv, shots, s.began, took
	close(s.next)
	s.next = make(chan struct{})
}
