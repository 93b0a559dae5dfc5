package specs

import (
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"rig/engine"
)

const (
	agentBuiltin    = "builtin:agent"
	terminalBuiltin = "builtin:terminal"
	noProfile       = "none"
)

var (
	runtimes = []string{string(engine.RuntimeClaude), string(engine.RuntimeCodex), string(engine.RuntimeTerminal)}
	// otherRuntimes are known to the wider world of rigs and not to this product.
	otherRuntimes = []string{
		"pi", "omp", "gemini", "opencode", "copilot", "cursor", "qwen", "kilo", "cline", "grok", "aider", "goose", "antigravity",
	}
	efforts = map[engine.RuntimeName][]string{
		engine.RuntimeClaude: {"low", "medium", "high", "xhigh", "max"},
		engine.RuntimeCodex:  {"none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra"},
	}
	modelAliases = []string{"opus", "sonnet", "haiku", "fable", "opusplan", "default", "best", "latest"}
)

// member builds one seat and applies the rules between its keys.
func (c *checker) member(m mapping, o Options) engine.MemberSpec {
	rt := c.runtime(m)
	s := engine.MemberSpec{
		ID:               m.text("id"),
		Label:            m.text("label"),
		AgentRef:         c.agentRef(m),
		Profile:          m.text("profile"),
		Runtime:          rt,
		CwdWritten:       m.text("cwd"),
		Model:            m.text("model"),
		Effort:           m.text("effort"),
		Role:             m.text("role"),
		CodexProfile:     m.text("codex_config_profile"),
		RestorePolicy:    engine.RestorePolicy(m.text("restore_policy")),
		PermissionPolicy: c.permission(m),
		Env:              c.env(m),
		Startup:          c.startup(m.sub("startup")),
		Source:           c.source(m, rt),
	}
	if ms, ok := m.number("readiness_timeout_ms"); ok {
		s.ReadinessMS = int(ms)
	}
	if strings.HasPrefix(s.CwdWritten, "~") {
		m.fault("cwd", CodeBadValue, "write the whole path, or one relative to this file", "~ is not expanded")
	} else if s.CwdWritten != "" {
		s.Cwd = resolve(o.cwdBase(), s.CwdWritten)
	}
	c.sentinels(m, s)
	c.agentKeys(m, s)
	c.starter(m, s)
	c.compactionStrategy(m)
	return s
}

// runtime reads the runtime, "" when it is not one of ours.
func (c *checker) runtime(m mapping) engine.RuntimeName {
	rt := m.text("runtime")
	switch {
	case rt == "":
		return ""
	case slices.Contains(runtimes, rt):
		return engine.RuntimeName(rt)
	case slices.Contains(otherRuntimes, rt):
		m.fault("runtime", engine.CodeNotSupported, "this version runs "+strings.Join(runtimes, ", "),
			"runtime %s is known, but this version cannot run it", rt)
	default:
		c.oneOf(m.raw("runtime"), m.at("runtime"), runtimes)
	}
	return ""
}

// agentRef reads the reference in its full form; a bare relative path means
// local:.
func (c *checker) agentRef(m mapping) string { return c.agentRefOf(m, "agent_ref") }

func (c *checker) agentRefOf(m mapping, key string) string {
	const hint = "write builtin:agent, builtin:terminal, local:FOLDER (relative to this file) or path:/FOLDER"
	ref := m.text(key)
	if ref == "" {
		return ""
	}
	scheme, rest, has := strings.Cut(ref, ":")
	if !has {
		scheme, rest = "local", ref
	}
	why := ""
	switch scheme {
	case "builtin":
		if ref != agentBuiltin && ref != terminalBuiltin {
			why = "names no built-in agent"
		}
	case "local":
		if strings.TrimSpace(rest) == "" || filepath.IsAbs(rest) || strings.HasPrefix(rest, "~") {
			why = "needs a relative path"
		}
	case "path":
		if !filepath.IsAbs(rest) {
			why = "needs an absolute path after path:"
		}
	default:
		why = "has an unknown form"
	}
	if why != "" {
		m.fault(key, CodeBadValue, hint, "%s %s", show(ref), why)
		return ""
	}
	return scheme + ":" + rest
}

// sentinels keep a terminal's three keys together.
func (c *checker) sentinels(m mapping, s engine.MemberSpec) {
	if s.Runtime == "" {
		return
	}
	terminal := s.Runtime == engine.RuntimeTerminal
	const hint = "a terminal is runtime: terminal, agent_ref: builtin:terminal and profile: none, all three"
	switch {
	case terminal && s.AgentRef != "" && s.AgentRef != terminalBuiltin:
		m.fault("agent_ref", CodeBadValue, hint, "a terminal needs agent_ref: builtin:terminal, not %s", show(m.text("agent_ref")))
	case !terminal && s.AgentRef == terminalBuiltin:
		m.fault("agent_ref", CodeBadValue, hint, "builtin:terminal belongs to runtime: terminal, and this is %s", s.Runtime)
	}
	switch {
	case terminal && s.Profile != "" && s.Profile != noProfile:
		m.fault("profile", CodeBadValue, hint, "a terminal needs profile: none, not %s", show(s.Profile))
	case !terminal && s.Profile == noProfile:
		m.fault("profile", CodeBadValue, hint, "profile: none belongs to runtime: terminal, and this is %s", s.Runtime)
	case !terminal && s.AgentRef == agentBuiltin && s.Profile != "" && s.Profile != "default":
		m.fault("profile", CodeBadValue, "write profile: default, or name an agent with agent_ref",
			"builtin:agent has one profile, default, and not %s", show(s.Profile))
	}
}

// agentKeys check the keys that depend on the runtime.
func (c *checker) agentKeys(m mapping, s engine.MemberSpec) {
	if s.CodexProfile != "" && s.Runtime != "" && s.Runtime != engine.RuntimeCodex {
		m.fault("codex_config_profile", CodeBadValue, "remove it, or set runtime: codex",
			"codex_config_profile belongs to runtime: codex, and this is %s", s.Runtime)
	}
	if s.Runtime == engine.RuntimeTerminal {
		for _, key := range []string{"role", "permission_policy"} {
			if m.get(key) != nil {
				m.fault(key, CodeBadValue, "remove it", "%s means nothing for a terminal", key)
			}
		}
		for _, key := range []string{"model", "effort"} {
			if m.get(key) != nil {
				c.advise(c.places[m.at(key)], m.at(key), CodeInert, "remove it", "%s has no effect on a terminal", key)
			}
		}
		return
	}
	if s.Effort != "" && s.Runtime != "" {
		c.oneOf(m.raw("effort"), m.at("effort"), efforts[s.Runtime])
	}
	if slices.Contains(modelAliases, strings.ToLower(s.Model)) {
		c.advise(c.places[m.at("model")], m.at("model"), CodeModelAlias, "name the full model to pin it",
			"%s is an alias: the model behind it may change", s.Model)
	}
}

// starter checks a named starting point, which this version can only refuse.
func (c *checker) starter(m mapping, s engine.MemberSpec) {
	n := m.get("starter_ref")
	if n == nil {
		return
	}
	mode := mapping{c: c, n: m.raw("session_source"), path: m.at("session_source")}.text("mode")
	switch {
	case s.Runtime == engine.RuntimeTerminal:
		m.fault("starter_ref", CodeBadValue, "remove it", "starter_ref means nothing for a terminal")
	case mode == "fork":
		m.fault("starter_ref", CodeBadValue, "keep one of them", "starter_ref and a fork exclude each other: a fork brings its own conversation")
	case !c.bad[n]:
		m.fault("starter_ref", engine.CodeNotSupported, "list its files under startup, or use session_source with mode: rebuild",
			"starter_ref is known, but this version cannot do it")
	}
}

// permission reads a permission policy; only the built-in ones exist.
func (c *checker) permission(m mapping) string {
	p := m.text("permission_policy")
	if p == "" || slices.Contains(permissionPolicies, p) {
		return p
	}
	if strings.HasSuffix(p, ".policy.md") {
		m.fault("permission_policy", engine.CodeNotSupported, "one of: "+strings.Join(permissionPolicies, ", "),
			"policy files are known, but this version cannot read them")
		return ""
	}
	c.oneOf(m.raw("permission_policy"), m.at("permission_policy"), permissionPolicies)
	return ""
}

// compactionStrategy accepts the one strategy that changes nothing.
func (c *checker) compactionStrategy(m mapping) {
	const key, ours = "compaction_strategy", "use policies.claude_compaction of the rig for managed compaction"
	switch v := m.text(key); v {
	case "":
	case "default-compaction", "harness_native":
		c.advise(c.places[m.at(key)], m.at(key), CodeInert, ours, "%s is what happens anyway", v)
	case "managed-compaction", "pod_continuity", "handover", "apprentice-handover", "custom_prompt":
		m.fault(key, engine.CodeNotSupported, ours, "%s is known, but this version cannot do it per seat", v)
	default:
		c.oneOf(m.raw(key), m.at(key), []string{"default-compaction"})
	}
}

// env reads the variables of a seat and refuses those that are not the author's.
func (c *checker) env(m mapping) map[string]string {
	block := m.sub("env")
	if !block.present() {
		return nil
	}
	for i := 0; i+1 < len(block.n.Content); i += 2 {
		key := block.n.Content[i]
		if key.Kind != yaml.ScalarNode || c.bad[key] {
			continue
		}
		if why := EnvFault(key.Value); why != "" {
			c.add(key, block.at(key.Value), CodeBadName, "choose another name", "%s", why)
		}
	}
	return m.pairs("env")
}

// EnvFault says why a spec or a flag may not set a variable of this name, ""
// when it may.
func EnvFault(name string) string {
	for i, r := range name {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return show(name) + " is not a variable name: letters, digits and _, no digit first"
		}
	}
	switch {
	case name == "":
		return "a variable name is empty"
	case engine.ReservedEnv(name):
		return name + " is set by the product itself or kept from occupants"
	}
	return ""
}
