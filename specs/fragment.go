package specs

import (
	"gopkg.in/yaml.v3"

	"rig/engine"
)

// FragmentResult is what came of an expand fragment: a pod, or more members for a
// pod of the rig, with the new relations. Use it only without Problems.
type FragmentResult struct {
	Pod        engine.PodSpec
	Edges      []engine.EdgeSpec // between pods
	Problems   []Problem
	Advisories []Problem

	report *report
	rig    engine.RigSpec // the fragment as a rig of one pod, for the loader
}

// Err is nil for a fragment without faults, else an *engine.Error that carries
// all of them.
func (r FragmentResult) Err() error { return failure(r.report.file, r.Problems) }

// ParseFragment checks a fragment against the running rig: members, edges and
// names of both are judged together. A member that the rig has already is
// refused. The fragment is {pod: …, crossPodEdges: …} or a bare pod.
func ParseFragment(data []byte, rig engine.RigSpec, o Options) FragmentResult {
	c := &checker{report: newReport(o.File), t: theTables()}
	res := FragmentResult{report: c.report}
	if root := c.read(data); root != nil {
		c.fragment(root, rig, o, &res)
	}
	res.rig = engine.RigSpec{
		Name: rig.Name, Root: o.Root, Path: o.File, PermissionPolicy: rig.PermissionPolicy,
		Pods: []engine.PodSpec{res.Pod}, Edges: res.Edges,
	}
	res.Problems, res.Advisories = c.sorted()
	return res
}

func (c *checker) fragment(root *yaml.Node, rig engine.RigSpec, o Options, res *FragmentResult) {
	top := mapping{c: c, n: root}
	pod := top
	if root.Kind == yaml.MappingNode && top.raw("pod") == nil && (top.raw("id") != nil || top.raw("members") != nil) {
		c.object(root, "", c.t.barePod)
	} else {
		c.object(root, "", c.t.fragment)
		pod = top.sub("pod")
	}
	if !pod.present() {
		return
	}
	g := newGraph(c)
	known := false
	for _, p := range rig.Pods {
		known = known || p.ID == pod.text("id")
		for _, m := range p.Members {
			g.existing(p.ID, m.ID)
		}
	}
	g.edges = append(g.edges, rig.AllEdges()...)
	for _, e := range g.edges {
		g.at[e] = edgePlace{path: "the rig"}
	}
	if !known && pod.raw("label") == nil {
		c.at(place{pod.n.Line, pod.n.Column}, pod.at("label"), CodeMissing, "name of the pod for people", "a new pod needs label")
	}
	c.newMembers(pod, rig)
	res.Pod = c.pod(pod, o, g)
	if pod.path != "" {
		for _, e := range top.subs("crossPodEdges") {
			if edge, ok := g.cross(e); ok {
				res.Edges = append(res.Edges, edge)
			}
		}
	}
	g.finish(rig.Name)
}

// newMembers refuses members that the rig has already.
func (c *checker) newMembers(pod mapping, rig engine.RigSpec) {
	id := pod.text("id")
	for _, m := range pod.subs("members") {
		if _, taken := rig.Member(engine.Logical(id, m.text("id"))); taken {
			m.fault("id", CodeDuplicate, "choose another id; `rig launch` starts a member that is down",
				"the rig %s has a member %s already", rig.Name, engine.Logical(id, m.text("id")))
		}
	}
}
