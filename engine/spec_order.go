package engine

import (
	"slices"
	"sort"
	"strings"
)

// LaunchGraph is the order in which members may start. Both edges that order a
// launch are in it, the other three are not.
type LaunchGraph struct {
	// Order lists every member once, predecessors first, ties alphabetical.
	Order []string `json:"order"`
	// After lists the direct predecessors of a member, sorted. Members without
	// one are absent: they may start at once.
	After map[string][]string `json:"after,omitempty"`
}

// Layers groups the order into waves: every member of a wave may start as soon
// as the waves before it are up.
func (g LaunchGraph) Layers() [][]string {
	depth := make(map[string]int, len(g.Order))
	var layers [][]string
	for _, id := range g.Order {
		d := 0
		for _, p := range g.After[id] {
			d = max(d, depth[p]+1)
		}
		depth[id] = d
		if d == len(layers) {
			layers = append(layers, nil)
		}
		layers[d] = append(layers[d], id)
	}
	for _, l := range layers {
		sort.Strings(l)
	}
	return layers
}

// LaunchOrder orders the members of a spec. A circle is an error of CodeCycle
// that names its members; Details["cycles"] holds every circle.
func LaunchOrder(spec RigSpec) (LaunchGraph, error) {
	return OrderMembers(spec.Logicals(), spec.AllEdges())
}

// OrderMembers orders members by the edges between them: delegates_to starts its
// source first, spawned_by its target. Edges of other kinds, and edges to members
// that are not listed, order nothing. A circle is an error of CodeCycle.
func OrderMembers(ids []string, edges []EdgeSpec) (LaunchGraph, error) {
	g, cycles := order(ids, edges)
	if len(cycles) == 0 {
		return g, nil
	}
	rings := make([]string, len(cycles))
	for i, c := range cycles {
		rings[i] = CycleText(c)
	}
	return LaunchGraph{}, Errorf(CodeCycle, "launch edges form a circle: %s", strings.Join(rings, "; ")).
		WithHint("remove one delegates_to or spawned_by edge of the circle; can_observe, collaborates_with and escalates_to order nothing").
		With("cycles", cycles)
}

// FindCycles lists the circles of launch edges, each from its alphabetically
// first member on, in the order in which they would have to start. Circles that
// share a member with one already listed are found after that one is mended.
func FindCycles(ids []string, edges []EdgeSpec) [][]string {
	_, cycles := order(ids, edges)
	return cycles
}

// CycleText writes a circle as "a → b → a".
func CycleText(cycle []string) string {
	if len(cycle) == 0 {
		return ""
	}
	return strings.Join(cycle, " → ") + " → " + cycle[0]
}

// Precedence gives the two ends of an edge in launch order, and false for a kind
// that orders nothing.
func (e EdgeSpec) Precedence() (first, then string, ordered bool) {
	switch e.Kind {
	case EdgeDelegatesTo:
		return e.From, e.To, true
	case EdgeSpawnedBy:
		return e.To, e.From, true
	case EdgeCanObserve, EdgeCollaborates, EdgeEscalatesTo:
	}
	return "", "", false
}

// order is Kahn's algorithm. When it is stuck it takes one circle out and goes
// on, so that every disjoint circle is found in one run.
func order(ids []string, edges []EdgeSpec) (LaunchGraph, [][]string) {
	before, after := adjacency(ids, edges)
	left := make(map[string]int, len(ids)) // predecessors that have not started
	var ready []string
	for _, id := range ids {
		if _, dup := left[id]; dup {
			continue
		}
		left[id] = len(before[id])
		if left[id] == 0 {
			ready = append(ready, id)
		}
	}
	sort.Strings(ready)
	g := LaunchGraph{Order: make([]string, 0, len(ids)), After: before}
	var cycles [][]string
	release := func(id string) {
		delete(left, id)
		for _, next := range after[id] {
			n, waiting := left[next]
			if !waiting {
				continue
			}
			if left[next] = n - 1; n == 1 {
				at, _ := slices.BinarySearch(ready, next)
				ready = slices.Insert(ready, at, next)
			}
		}
	}
	for len(left) > 0 {
		if len(ready) == 0 {
			ring := findCycle(left, before)
			cycles = append(cycles, ring)
			for _, id := range ring {
				release(id)
			}
			ready = slices.DeleteFunc(ready, func(id string) bool { return slices.Contains(ring, id) })
			continue
		}
		id := ready[0]
		ready = ready[1:]
		g.Order = append(g.Order, id)
		release(id)
	}
	return g, cycles
}

// adjacency lists the direct predecessors and successors of each member.
func adjacency(ids []string, edges []EdgeSpec) (before, after map[string][]string) {
	known := make(map[string]bool, len(ids))
	for _, id := range ids {
		known[id] = true
	}
	before, after = map[string][]string{}, map[string][]string{}
	seen := make(map[[2]string]bool, len(edges))
	for _, e := range edges {
		first, then, ok := e.Precedence()
		if !ok || !known[first] || !known[then] || seen[[2]string{first, then}] {
			continue
		}
		seen[[2]string{first, then}] = true
		before[then] = append(before[then], first)
		after[first] = append(after[first], then)
	}
	for _, l := range before {
		sort.Strings(l)
	}
	for _, l := range after {
		sort.Strings(l)
	}
	return before, after
}

// findCycle walks predecessors from the first waiting member until it meets
// itself. Every waiting member has a waiting predecessor, so the walk ends.
func findCycle(left map[string]int, before map[string][]string) []string {
	start := ""
	for id := range left {
		if start == "" || id < start {
			start = id
		}
	}
	at := map[string]int{}
	var walk []string
	for id := start; ; {
		if i, met := at[id]; met {
			walk = walk[i:]
			break
		}
		at[id] = len(walk)
		walk = append(walk, id)
		for _, p := range before[id] {
			if _, waiting := left[p]; waiting {
				id = p
				break
			}
		}
	}
	slices.Reverse(walk) // predecessors first
	low := slices.Index(walk, slices.Min(walk))
	return append(slices.Clone(walk[low:]), walk[:low]...)
}
