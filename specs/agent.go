package specs

import (
	"path/filepath"
	"sort"

	"gopkg.in/yaml.v3"

	"rig/engine"
)

// AgentSpec is an agent.yaml: how one kind of member is started.
type AgentSpec struct {
	Name     string             `json:"name"`
	Version  string             `json:"version"`
	Summary  string             `json:"summary,omitempty"`
	Defaults Preferences        `json:"defaults,omitzero"`
	Profiles map[string]Profile `json:"profiles,omitempty"`
	Startup  engine.StartupSpec `json:"startup,omitzero"`
	Path     string             `json:"path"` // the file
}

// Profile is one way to use an agent.
type Profile struct {
	Summary string             `json:"summary,omitempty"`
	Prefers Preferences        `json:"preferences,omitzero"`
	Startup engine.StartupSpec `json:"startup,omitzero"`
}

// Preferences are what a member gets where it says nothing itself.
type Preferences struct {
	Runtime       engine.RuntimeName   `json:"runtime,omitempty"`
	Model         string               `json:"model,omitempty"`
	RestorePolicy engine.RestorePolicy `json:"restore_policy,omitempty"`
}

// AgentResult is what came of an AgentSpec. Agent may be used only when there are
// no Problems.
type AgentResult struct {
	Agent      AgentSpec
	Problems   []Problem
	Advisories []Problem

	report *report
}

// ParseAgent checks an AgentSpec and collects every fault. It reads no file.
func ParseAgent(data []byte, file string) AgentResult {
	c := &checker{report: newReport(file), t: theTables()}
	res := AgentResult{report: c.report}
	if root := c.read(data); root != nil {
		c.object(root, "", c.t.agent)
		if !c.bad[root] {
			res.Agent = c.agent(root)
		}
	}
	res.Agent.Path = file
	res.Problems, res.Advisories = c.sorted()
	return res
}

func (c *checker) agent(root *yaml.Node) AgentSpec {
	m := mapping{c: c, n: root}
	a := AgentSpec{
		Name: m.text("name"), Version: m.text("version"), Summary: m.text("summary"),
		Startup: c.startup(m.sub("startup")),
	}
	if a.Summary == "" {
		a.Summary = m.text("description")
	}
	defaults := m.sub("defaults")
	a.Defaults = c.preferences(defaults, defaults)
	for _, imp := range m.subs("imports") {
		c.importRef(imp)
	}
	profiles := m.sub("profiles")
	if !profiles.present() {
		return a
	}
	a.Profiles = map[string]Profile{}
	for i := 0; i+1 < len(profiles.n.Content); i += 2 {
		name := profiles.n.Content[i].Value
		if _, twice := a.Profiles[name]; twice {
			continue // reported
		}
		p := mapping{c: c, n: profiles.n.Content[i+1], path: profiles.at(name)}
		if p.present() {
			a.Profiles[name] = c.profile(p, a.Defaults)
		}
	}
	return a
}

func (c *checker) profile(m mapping, defaults Preferences) Profile {
	p := Profile{Summary: m.text("summary"), Prefers: c.preferences(m.sub("preferences"), m), Startup: c.startup(m.sub("startup"))}
	if p.Prefers.RestorePolicy != "" && wider(p.Prefers.RestorePolicy, defaults.RestorePolicy) {
		life := m.sub("lifecycle")
		life.fault("restore_policy", CodePolicyWider, widerHint,
			"%s allows more than the agent's default %s", p.Prefers.RestorePolicy, defaults.RestorePolicy)
	}
	return p
}

// preferences read runtime and model from one map and the lifecycle from its
// owner.
func (c *checker) preferences(m, owner mapping) Preferences {
	var p Preferences
	if m.present() {
		p.Runtime, p.Model = c.runtime(m), m.text("model")
	}
	life := owner.sub("lifecycle")
	if !life.present() {
		return p
	}
	p.RestorePolicy = engine.RestorePolicy(life.text("restore_policy"))
	c.compactionStrategy(life)
	switch mode := life.text("execution_mode"); mode {
	case "", "interactive_resident":
	case "wake_on_demand":
		life.fault("execution_mode", engine.CodeNotSupported, "write interactive_resident or leave it out",
			"wake_on_demand is known, but this version keeps agents running")
	default:
		c.oneOf(life.raw("execution_mode"), life.at("execution_mode"), []string{"interactive_resident"})
	}
	return p
}

// importRef checks the form of an import; its resources are never used.
func (c *checker) importRef(m mapping) {
	if ref := c.agentRefOf(m, "ref"); ref == agentBuiltin || ref == terminalBuiltin {
		m.fault("ref", CodeBadValue, "write local:FOLDER or path:/FOLDER", "a built-in agent has nothing to import")
	}
}

// wider reports whether p allows more than limit does. No limit allows all.
func wider(p, limit engine.RestorePolicy) bool {
	return limit == engine.RestoreFresh && p != engine.RestoreFresh
}

const widerHint = "a restore policy may only narrow: leave it out or write relaunch_fresh"

// profileNames lists the profiles of an agent in alphabetical order.
func (a AgentSpec) profileNames() []string {
	names := make([]string, 0, len(a.Profiles))
	for n := range a.Profiles {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// dir is the folder that the agent's own files start from.
func (a AgentSpec) dir() string { return filepath.Dir(a.Path) }
