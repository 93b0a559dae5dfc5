package specs

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rig/engine"
)

// resolver follows the references of a spec that has no faults of its own. It
// reports at the place in the rig spec that refers, and lists the faults of an
// agent at their places in the agent's file, once.
type resolver struct {
	*report
	agents map[string]*AgentResult // by file; nil for one that could not be read
	files  []string                // of the agents, in the order of first use
}

func newResolver(r *report) *resolver {
	return &resolver{report: r, agents: map[string]*AgentResult{}}
}

// all gives the faults and remarks of the spec, then those of its agents.
func (r *resolver) all() (problems, advisories []Problem) {
	reports := []*report{r.report}
	for _, f := range r.files {
		reports = append(reports, r.agents[f].report)
	}
	for _, rep := range reports {
		p, a := rep.sorted()
		// Two members with one profile find the same fault twice.
		problems = append(problems, slices.Compact(slices.Clone(p))...)
		advisories = append(advisories, slices.Compact(slices.Clone(a))...)
	}
	return problems, advisories
}

// rig resolves every member of the spec in place.
func (r *resolver) rig(spec *engine.RigSpec, env map[string]string) {
	var culture engine.StartupSpec
	if spec.CultureFile != "" {
		culture = r.layer(engine.StartupSpec{Files: []engine.StartupFile{{
			Path: spec.CultureFile, Hint: "auto", Required: true, AppliesOn: slices.Clone(engine.Moments),
		}}}, spec.Root, func(int) string { return "culture_file" })
	}
	rigLayer := r.layer(spec.Startup, spec.Root, filesAt("startup"))
	fragment := r.places["pods"] == place{}
	for i := range spec.Pods {
		pod := &spec.Pods[i]
		at := "pods[" + strconv.Itoa(i) + "]"
		if fragment {
			at = ""
			if _, wrapped := r.places["pod"]; wrapped {
				at = "pod"
			}
		}
		podLayer := r.layer(pod.Startup, spec.Root, filesAt(join2(at, "startup")))
		for j := range pod.Members {
			m := &pod.Members[j]
			mAt := join2(at, "members["+strconv.Itoa(j)+"]")
			r.directory(m, mAt)
			if m.PermissionPolicy == "" && m.Runtime != engine.RuntimeTerminal {
				m.PermissionPolicy = spec.PermissionPolicy
			}
			if len(env) > 0 {
				merged := maps.Clone(env)
				maps.Copy(merged, m.Env)
				maps.Copy(merged, env) // what the caller says now wins
				m.Env = merged
			}
			agent := r.agent(m, spec.Root, mAt)
			own := r.layer(m.Startup, spec.Root, filesAt(mAt+".startup"))
			m.Launch = merge(agent, culture, rigLayer, podLayer, own)
			r.artifacts(m, spec.Root, mAt)
		}
	}
}

func join2(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func filesAt(block string) func(i int) string {
	return func(i int) string { return block + ".files[" + strconv.Itoa(i) + "].path" }
}

// layer makes the files of one startup block absolute and looks for them.
func (r *resolver) layer(s engine.StartupSpec, dir string, at func(i int) string) engine.StartupSpec {
	out := engine.StartupSpec{Files: slices.Clone(s.Files), Actions: s.Actions}
	for i := range out.Files {
		f := &out.Files[i]
		if f.OfSeat() {
			continue // the seat's own file, found when the prompt is made
		}
		f.Abs = filepath.Join(dir, f.Path)
		if why := fileFault(f.Abs); why != "" {
			path := at(i)
			if f.Required {
				r.at(r.places[path], path, engine.CodeNotFound, "create it; a startup file may be marked required: false", "the startup file %s %s", showPath(f.Abs), why)
			} else {
				r.advise(r.places[path], path, engine.CodeNotFound, "", "the optional startup file %s %s", showPath(f.Abs), why)
			}
		}
	}
	return out
}

func merge(layers ...engine.StartupSpec) engine.StartupSpec {
	var all engine.StartupSpec
	for _, l := range layers {
		all.Files = append(all.Files, l.Files...)
		all.Actions = append(all.Actions, l.Actions...)
	}
	return all
}

// fileFault says why a file cannot be given to an agent, "" when it can.
func fileFault(path string) string {
	info, err := os.Stat(path)
	switch {
	case os.IsNotExist(err):
		return "does not exist"
	case err != nil:
		return "cannot be read"
	case !info.Mode().IsRegular():
		return "is not a file"
	}
	return ""
}

func (r *resolver) directory(m *engine.MemberSpec, at string) {
	info, err := os.Stat(m.Cwd)
	path := at + ".cwd"
	switch {
	case os.IsNotExist(err):
		r.at(r.places[path], path, engine.CodeNotFound, "create it, or start with --cwd", "the directory %s does not exist", showPath(m.Cwd))
	case err != nil:
		r.at(r.places[path], path, engine.CodeUnavailable, "check its permissions", "the directory %s cannot be read", showPath(m.Cwd))
	case !info.IsDir():
		r.at(r.places[path], path, CodeBadValue, "name a directory", "%s is not a directory", showPath(m.Cwd))
	}
}

// artifacts makes the files of a rebuild absolute; every one must be there.
func (r *resolver) artifacts(m *engine.MemberSpec, root, at string) {
	src, ok := m.Source.(engine.RebuildSource)
	if !ok {
		return
	}
	files := slices.Clone(src.Artifacts)
	for i, f := range files {
		files[i] = resolve(root, f)
		if why := fileFault(files[i]); why != "" {
			path := at + ".session_source.ref.value[" + strconv.Itoa(i) + "]"
			r.at(r.places[path], path, engine.CodeNotFound, "a rebuild needs every one of its files; create it or take it off the list",
				"the file %s %s", showPath(files[i]), why)
		}
	}
	m.Source = engine.RebuildSource{Artifacts: files}
}

// agent resolves agent_ref and profile, settles model and restore policy, and
// gives the startup layers of the agent.
func (r *resolver) agent(m *engine.MemberSpec, root, at string) engine.StartupSpec {
	limit := engine.RestorePolicy("")
	var layers engine.StartupSpec
	if scheme, rest, _ := strings.Cut(m.AgentRef, ":"); scheme != "builtin" {
		a := r.read(resolve(root, rest), at+".agent_ref")
		if a == nil {
			return layers
		}
		profile, ok := a.Profiles[m.Profile]
		if !ok {
			path := at + ".profile"
			r.at(r.places[path], path, engine.CodeNotFound, near(m.Profile, a.profileNames()),
				"the agent %s (%s) has no profile %s", a.Name, a.Path, show(m.Profile))
			return layers
		}
		limit = r.prefer(m, a, profile, at)
		layers = merge(r.agentLayer(a, a.Startup, "startup"), r.agentLayer(a, profile.Startup, "profiles."+m.Profile+".startup"))
	}
	if m.RestorePolicy == "" {
		if m.RestorePolicy = limit; limit == "" {
			m.RestorePolicy = engine.RestoreResume
		}
	}
	if wider(m.RestorePolicy, limit) {
		path := at + ".restore_policy"
		r.at(r.places[path], path, CodePolicyWider, widerHint, "%s allows more than the agent's %s", m.RestorePolicy, limit)
	}
	return layers
}

// prefer settles what the member leaves open. A model that the agent prefers for
// another runtime is not taken over.
func (r *resolver) prefer(m *engine.MemberSpec, a *AgentSpec, p Profile, at string) (limit engine.RestorePolicy) {
	for _, pref := range []Preferences{p.Prefers, a.Defaults} {
		same := pref.Runtime == "" || pref.Runtime == m.Runtime
		if !same {
			path := at + ".runtime"
			r.advise(r.places[path], path, CodeInert, "", "the agent %s prefers %s; the member's %s counts", a.Name, pref.Runtime, m.Runtime)
		}
		if m.Model == "" && same {
			m.Model = pref.Model
		}
		if limit == "" {
			limit = pref.RestorePolicy
		}
	}
	return limit
}

// agentLayer resolves a startup block of an agent against the agent's folder.
func (r *resolver) agentLayer(a *AgentSpec, s engine.StartupSpec, block string) engine.StartupSpec {
	sub := &resolver{report: r.agents[a.Path].report}
	return sub.layer(s, a.dir(), filesAt(block))
}

// read reads an agent once. The reference is a folder with agent.yaml, or a file.
func (r *resolver) read(path, at string) *AgentSpec {
	file := path
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		file = filepath.Join(path, "agent.yaml")
	}
	if known, ok := r.agents[file]; ok {
		if known == nil || len(known.Problems) > 0 {
			return nil
		}
		return &known.Agent
	}
	data, err := readFile(file, file)
	if err != nil {
		r.agents[file] = nil
		r.at(r.places[at], at, engine.CodeOf(err), "create the agent there, or write builtin:agent with profile: default",
			"the agent %s cannot be read: %s", showPath(file), engine.BlockerFrom(err).Message)
		return nil
	}
	res := ParseAgent(data, file)
	r.agents[file] = &res
	r.files = append(r.files, file)
	if len(res.Problems) > 0 {
		return nil
	}
	return &res.Agent
}
