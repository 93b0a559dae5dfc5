package engine

import (
	"context"
	"slices"
	"sync"
	"time"
)

// sightEvery is how often a running operation looks at the panes it waits for.
const sightEvery = 80 * time.Millisecond

// sight lets many waiting steps share one look at tmux: one inventory and one
// batch of captures a round, whatever the number of seats that start.
type sight struct {
	mux   Mux
	mu    sync.Mutex
	next  chan struct{} // closed when the round under way ends
	panes map[PaneID]int
	inv   Inventory
	shots map[PaneID][]string
	busy  bool
}

func newSight(mux Mux) *sight {
	return &sight{mux: mux, next: make(chan struct{}), panes: map[PaneID]int{}, shots: map[PaneID][]string{}}
}

// look waits for a round that began after the call and gives that pane's row and
// screen. The second value is false when the pane is not there.
func (s *sight) look(ctx context.Context, id PaneID) (Inventory, []string, error) {
	s.mu.Lock()
	s.panes[id]++
	wait := s.next
	if !s.busy {
		s.busy = true
		go s.round(context.WithoutCancel(ctx))
	} else { // the round under way may have begun before us: take the one after it
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			return Inventory{}, nil, ctx.Err()
		case <-wait:
		}
		s.mu.Lock()
		wait = s.next
		if !s.busy {
			s.busy = true
			go s.round(context.WithoutCancel(ctx))
		}
	}
	s.mu.Unlock()
	select {
	case <-ctx.Done():
		return Inventory{}, nil, ctx.Err()
	case <-wait:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inv, s.shots[id], nil
}

// forget stops capturing a pane.
func (s *sight) forget(id PaneID) {
	s.mu.Lock()
	delete(s.panes, id)
	s.mu.Unlock()
}

func (s *sight) round(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	inv := s.mux.Inventory(ctx)
	s.mu.Lock()
	reqs := make([]CaptureRequest, 0, len(s.panes))
	for id := range s.panes {
		reqs = append(reqs, CaptureRequest{Pane: id})
	}
	s.mu.Unlock()
	slices.SortFunc(reqs, func(a, b CaptureRequest) int { return cmpString(string(a.Pane), string(b.Pane)) })
	shots := map[PaneID][]string{}
	if inv.Server == Present {
		if got, err := s.mux.Capture(ctx, reqs); err == nil {
			for _, c := range got {
				if c.Err == nil {
					shots[c.Pane] = c.Lines
				}
			}
		}
	}
	timer := time.NewTimer(sightEvery)
	defer timer.Stop()
	<-timer.C
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inv, s.shots, s.busy = inv, shots, false
	close(s.next)
	s.next = make(chan struct{})
}

func cmpString(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
