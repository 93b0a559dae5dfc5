package specs

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"gopkg.in/yaml.v3"

	"rig/engine"
)

// Options say where a text comes from. The zero value checks a text alone.
type Options struct {
	File string // name of the file in messages
	Root string // absolute folder that relative paths start from
	Cwd  string // absolute folder that relative cwds start from; "" = Root
}

// cwdBase is the folder that relative working directories start from.
func (o Options) cwdBase() string {
	if o.Cwd != "" {
		return o.Cwd
	}
	return o.Root
}

// Result is what came of a RigSpec. Spec may be used only when there are no
// Problems.
type Result struct {
	Spec       engine.RigSpec
	Problems   []Problem // every fault, in the order of the file
	Advisories []Problem // remarks that stop nothing

	report *report
}

// Err is nil for a spec without faults, else an *engine.Error that carries all of
// them.
func (r Result) Err() error { return failure(r.report.file, r.Problems) }

// ParseRig checks a RigSpec and collects every fault. It reads no file, and the
// same bytes always give the same answer.
func ParseRig(data []byte, o Options) Result {
	c := &checker{report: newReport(o.File), t: theTables()}
	res := Result{report: c.report}
	if root := c.read(data); root != nil {
		c.object(root, "", c.t.rig)
		if !c.bad[root] {
			res.Spec = c.rig(root, o)
		}
	}
	sum := sha256.Sum256(data)
	res.Spec.Digest = hex.EncodeToString(sum[:])
	res.Spec.Path, res.Spec.Root = o.File, o.Root
	res.Problems, res.Advisories = c.sorted()
	res.Spec.Advisories = asAdvisories(res.Advisories)
	return res
}

// notLegacy recognises the flat form of older rigs, which lists nodes instead of
// pods.
func notLegacy(c *checker, n *yaml.Node, path string) bool {
	m := mapping{c: c, n: n, path: path}
	if m.raw("pods") != nil {
		return true
	}
	for _, key := range []string{"nodes", "schema_version"} {
		if old := m.raw(key); old != nil {
			c.add(old, key, engine.CodeNotSupported, "write pods with members; `rig spec schema` has the form",
				"this is a flat spec of nodes, which this version does not read")
			c.bad[n] = true
			return false
		}
	}
	return true
}

// rig builds the domain form and applies the rules that no table can say.
func (c *checker) rig(root *yaml.Node, o Options) engine.RigSpec {
	m := mapping{c: c, n: root}
	spec := engine.RigSpec{
		Version:          m.text("version"),
		Name:             m.text("name"),
		Summary:          m.text("summary"),
		CultureFile:      m.text("culture_file"),
		PermissionPolicy: c.permission(m),
		Startup:          c.startup(m.sub("startup")),
		Workspace:        c.workspace(m.sub("workspace")),
		Policies:         c.policies(m.sub("policies")),
	}
	if spec.Version != "" && spec.Version != "0.2" {
		c.advise(c.places["version"], "version", CodeInert, `write version: "0.2"`,
			"this version reads the dialect 0.2, and reads %s as if it were that", show(spec.Version))
	}
	for _, d := range m.subs("docs") {
		if p := d.text("path"); p != "" {
			spec.Docs = append(spec.Docs, p)
		}
	}
	g := newGraph(c)
	seen := map[string]place{}
	for _, p := range m.subs("pods") {
		if id := p.text("id"); id != "" {
			c.once(seen, id, p.at("id"), "pod")
		}
		spec.Pods = append(spec.Pods, c.pod(p, o, g))
	}
	for _, e := range m.subs("edges") {
		if edge, ok := g.cross(e); ok {
			spec.Edges = append(spec.Edges, edge)
		}
	}
	g.finish(spec.Name)
	return spec
}

// once reports an id that was declared before.
func (c *checker) once(seen map[string]place, id, path, what string) {
	at := c.places[path]
	if prior, twice := seen[id]; twice {
		c.at(at, path, CodeDuplicate, "rename one of them", "%s %s is declared twice, first at line %d", what, show(id), prior.line)
		return
	}
	seen[id] = at
}

func (c *checker) pod(m mapping, o Options, g *graph) engine.PodSpec {
	pod := engine.PodSpec{
		ID:         m.text("id"),
		Label:      m.text("label"),
		Summary:    m.text("summary"),
		Continuity: c.continuity(m.sub("continuity_policy")),
		Startup:    c.startup(m.sub("startup")),
	}
	seen := map[string]place{}
	members := m.subs("members")
	if n := m.get("members"); n != nil && n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		c.advise(c.places[m.at("members")], m.at("members"), CodeInert, "add a member or remove the pod", "the pod has no members")
	}
	for _, e := range members {
		member := c.member(e, o)
		if member.ID != "" {
			c.once(seen, member.ID, e.at("id"), "member")
		}
		g.declare(pod.ID, member.ID, e)
		pod.Members = append(pod.Members, member)
	}
	for _, e := range m.subs("edges") {
		if edge, ok := g.local(pod.ID, m, e); ok {
			pod.Edges = append(pod.Edges, edge)
		}
	}
	return pod
}

// resolve makes a written directory absolute where there is a base for it.
func resolve(base, dir string) string {
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(base, dir)
}
