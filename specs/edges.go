package specs

import (
	"slices"
	"strings"

	"rig/engine"
)

// graph resolves the edges of a spec and judges them together.
type graph struct {
	c       *checker
	members []declared
	pods    map[string][]string // member ids by pod, faulty ones as written
	edges   []engine.EdgeSpec
	at      map[engine.EdgeSpec]edgePlace
}

type edgePlace struct {
	place
	path string
}

func newGraph(c *checker) *graph {
	return &graph{c: c, pods: map[string][]string{}, at: map[engine.EdgeSpec]edgePlace{}}
}

// declare makes a member known to edges. A member whose id is faulty is known by
// what was written, so that its edges are not reported as well.
func (g *graph) declare(pod, id string, m mapping) {
	if pod == "" {
		return
	}
	if id == "" {
		if n := m.raw("id"); n != nil && n.Value != "" {
			g.pods[pod] = append(g.pods[pod], n.Value)
		}
		return
	}
	g.pods[pod] = append(g.pods[pod], id)
	g.members = append(g.members, declared{pod: pod, id: id, path: m.at("id"), at: g.c.places[m.at("id")]})
}

// existing makes a member of the running rig known to the edges of a fragment.
func (g *graph) existing(pod, id string) {
	g.pods[pod] = append(g.pods[pod], id)
	g.members = append(g.members, declared{pod: pod, id: id, path: "the rig"})
}

// local resolves an edge inside a pod. Ends that were reported already end it.
func (g *graph) local(pod string, owner, m mapping) (engine.EdgeSpec, bool) {
	kind, from, to := m.text("kind"), m.text("from"), m.text("to")
	ok := kind != ""
	for _, key := range []string{"from", "to"} {
		id := m.text(key)
		switch {
		case id == "":
			ok = false
		case strings.Contains(id, "."):
			m.fault(key, CodeBadEdge, "name the member without its pod; relations between pods go into the rig's own edges",
				"%s is not a member id of this pod", show(id))
			ok = false
		case pod != "" && owner.get("members") != nil && !slices.Contains(g.pods[pod], id):
			m.fault(key, CodeBadEdge, near(id, g.pods[pod]), "no member %s in pod %s", show(id), pod)
			ok = false
		}
	}
	if !ok || pod == "" {
		return engine.EdgeSpec{}, false
	}
	return g.keep(m, engine.EdgeSpec{Kind: engine.EdgeKind(kind), From: engine.Logical(pod, from), To: engine.Logical(pod, to)})
}

// cross resolves an edge between pods.
func (g *graph) cross(m mapping) (engine.EdgeSpec, bool) {
	e := engine.EdgeSpec{Kind: engine.EdgeKind(m.text("kind")), From: m.text("from"), To: m.text("to")}
	ok := e.Kind != ""
	for _, key := range []string{"from", "to"} {
		end := m.text(key)
		pod, id, qualified := strings.Cut(end, ".")
		switch {
		case end == "":
			ok = false
		case !qualified || pod == "" || id == "":
			m.fault(key, CodeBadEdge, "write pod.member", "%s must name a member as pod.member", show(end))
			ok = false
		case !slices.Contains(g.pods[pod], id):
			m.fault(key, CodeBadEdge, near(end, g.logicals()), "no member %s in this rig", show(end))
			ok = false
		}
	}
	if !ok {
		return engine.EdgeSpec{}, false
	}
	fromPod, _, _ := strings.Cut(e.From, ".")
	toPod, _, _ := strings.Cut(e.To, ".")
	if fromPod == toPod {
		g.c.add(m.n, m.path, CodeBadEdge, "move it to the edges of that pod, with plain member ids", "both ends are in pod %s", fromPod)
		return engine.EdgeSpec{}, false
	}
	return g.keep(m, e)
}

// keep refuses an edge from a member to itself and an edge given twice.
func (g *graph) keep(m mapping, e engine.EdgeSpec) (engine.EdgeSpec, bool) {
	if e.From == e.To {
		g.c.add(m.n, m.path, CodeBadEdge, "remove it", "%s has an edge to itself", e.From)
		return e, false
	}
	if prior, twice := g.at[e]; twice {
		g.c.add(m.n, m.path, CodeDuplicate, "remove one of them", "this edge is given twice, first at line %d", prior.line)
		return e, false
	}
	g.at[e] = edgePlace{place{m.n.Line, m.n.Column}, m.path}
	g.edges = append(g.edges, e)
	return e, true
}

// near suggests a member for one that does not exist. Faulty ids are known to
// edges as they were written; they are never shown.
func near(id string, ids []string) string {
	ids = slices.DeleteFunc(slices.Clone(ids), func(s string) bool { return !wordText(s) })
	if n := nearest(id, ids); n != "" {
		return "did you mean " + n + "?"
	}
	const most = 12
	if len(ids) == 0 || len(ids) > most {
		return "name a member that is declared"
	}
	return "members: " + strings.Join(ids, ", ")
}

func (g *graph) logicals() []string {
	ids := make([]string, len(g.members))
	for i, m := range g.members {
		ids[i] = engine.Logical(m.pod, m.id)
	}
	return ids
}

// finish judges all members and edges together: shared addresses and circles.
func (g *graph) finish(rig string) {
	g.c.addresses(rig, g.members)
	for _, ring := range engine.FindCycles(g.logicals(), g.edges) {
		g.circle(ring)
	}
}

// circle reports one circle at the first of its edges in the file.
func (g *graph) circle(ring []string) {
	var at edgePlace
	for _, e := range g.edges {
		first, then, ordered := e.Precedence()
		if !ordered {
			continue
		}
		i := slices.Index(ring, first)
		if i < 0 || ring[(i+1)%len(ring)] != then {
			continue
		}
		if p := g.at[e]; p.line > 0 && (at.line == 0 || p.line < at.line) {
			at = p
		}
	}
	g.c.at(at.place, at.path, engine.CodeCycle,
		"remove one delegates_to or spawned_by edge of the circle; the other kinds order nothing",
		"launch edges form a circle: %s", engine.CycleText(ring))
}
