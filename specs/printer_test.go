package specs

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"rig/engine"
)

// printSpec writes a spec as YAML. Parsing the result gives the same spec again,
// defaults written out, which is how the tests know that no field is lost.
func printSpec(spec engine.RigSpec) ([]byte, error) {
	doc := newMap()
	doc.text("version", spec.Version).text("name", spec.Name).text("summary", spec.Summary)
	doc.text("culture_file", spec.CultureFile)
	if len(spec.Docs) > 0 {
		docs := newList()
		for _, d := range spec.Docs {
			docs.Content = append(docs.Content, newMap().text("path", d).node())
		}
		doc.put("docs", docs)
	}
	doc.put("startup", printStartup(spec.Startup)).put("workspace", printWorkspace(spec.Workspace))
	doc.text("permission_policy", spec.PermissionPolicy)
	if cc := spec.Policies.ClaudeCompaction; cc != nil {
		doc.put("policies", newMap().put("claude_compaction", printCompaction(cc)).node())
	}
	pods := newList()
	for _, p := range spec.Pods {
		pods.Content = append(pods.Content, printPod(p))
	}
	doc.put("pods", pods).put("edges", printEdges(spec.Edges, false))
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(doc.node()); err != nil {
		return nil, fmt.Errorf("print spec %s: %w", spec.Name, err)
	}
	if err := enc.Close(); err != nil {
		return nil, fmt.Errorf("print spec %s: %w", spec.Name, err)
	}
	return out.Bytes(), nil
}

func printPod(p engine.PodSpec) *yaml.Node {
	m := newMap().text("id", p.ID).text("label", p.Label).text("summary", p.Summary)
	m.put("continuity_policy", printContinuity(p.Continuity)).put("startup", printStartup(p.Startup))
	members := newList()
	for _, s := range p.Members {
		members.Content = append(members.Content, printMember(s))
	}
	return m.put("members", members).put("edges", printEdges(p.Edges, true)).node()
}

func printMember(s engine.MemberSpec) *yaml.Node {
	m := newMap().text("id", s.ID).text("label", s.Label).text("runtime", string(s.Runtime))
	m.text("agent_ref", s.AgentRef).text("profile", s.Profile).text("cwd", s.CwdWritten)
	m.text("model", s.Model).text("effort", s.Effort).text("codex_config_profile", s.CodexProfile).text("role", s.Role)
	m.text("restore_policy", string(s.RestorePolicy)).text("permission_policy", s.PermissionPolicy)
	if s.ReadinessMS > 0 {
		m.put("readiness_timeout_ms", plainNode(strconv.Itoa(s.ReadinessMS)))
	}
	if len(s.Env) > 0 {
		env := newMap()
		for _, k := range slices.Sorted(maps.Keys(s.Env)) {
			env.put(k, textNode(s.Env[k]))
		}
		m.put("env", env.node())
	}
	return m.put("startup", printStartup(s.Startup)).put("session_source", printSource(s.Source)).node()
}

func printSource(s engine.SessionSource) *yaml.Node {
	ref := newMap()
	switch s := s.(type) {
	case engine.ForkSource:
		ref.text("kind", "native_id").text("value", s.Parent.Reveal())
	case engine.RebuildSource:
		ref.text("kind", "artifact_set").put("value", textList(s.Artifacts))
	case engine.ImageSource:
		ref.text("kind", "image_name").text("value", s.Name).text("version", s.Version)
	default:
		return nil
	}
	return newMap().text("mode", s.Mode()).put("ref", ref.node()).node()
}

// printEdges writes edges; those inside a pod name their members without it.
func printEdges(edges []engine.EdgeSpec, local bool) *yaml.Node {
	if len(edges) == 0 {
		return nil
	}
	list := newList()
	for _, e := range edges {
		from, to := e.From, e.To
		if local {
			from, to = from[strings.IndexByte(from, '.')+1:], to[strings.IndexByte(to, '.')+1:]
		}
		edge := newMap().text("kind", string(e.Kind)).text("from", from).text("to", to).node()
		edge.Style = yaml.FlowStyle
		list.Content = append(list.Content, edge)
	}
	return list
}

func printStartup(s engine.StartupSpec) *yaml.Node {
	if len(s.Files) == 0 && len(s.Actions) == 0 {
		return nil
	}
	m := newMap()
	files, actions := newList(), newList()
	for _, f := range s.Files {
		files.Content = append(files.Content, newMap().text("path", f.Path).text("delivery_hint", f.Hint).
			flag("required", &f.Required).put("applies_on", momentList(f.AppliesOn)).node())
	}
	for _, a := range s.Actions {
		actions.Content = append(actions.Content, newMap().text("type", a.Type).text("value", a.Value).
			text("phase", a.Phase).put("applies_on", momentList(a.AppliesOn)).flag("idempotent", &a.Idempotent).node())
	}
	if len(files.Content) > 0 {
		m.put("files", files)
	}
	if len(actions.Content) > 0 {
		m.put("actions", actions)
	}
	return m.node()
}

func printWorkspace(w *engine.WorkspaceSpec) *yaml.Node {
	if w == nil {
		return nil
	}
	m := newMap().text("workspace_root", w.Root)
	if len(w.Repos) > 0 {
		repos := newList()
		for _, r := range w.Repos {
			repos.Content = append(repos.Content, newMap().text("name", r.Name).text("path", r.Path).text("kind", r.Kind).node())
		}
		m.put("repos", repos)
	}
	return m.text("default_repo", w.DefaultRepo).text("knowledge_root", w.KnowledgeRoot).node()
}

func printContinuity(p *engine.ContinuityPolicy) *yaml.Node {
	if p == nil {
		return nil
	}
	m := newMap().flag("enabled", &p.Enabled)
	if len(p.SyncTriggers) > 0 {
		m.put("sync_triggers", textList(p.SyncTriggers))
	}
	a := newMap().flag("session_log", p.Artifacts.SessionLog).flag("restore_brief", p.Artifacts.RestoreBrief).flag("quiz", p.Artifacts.Quiz)
	r := newMap().flag("peer_driven", p.RestoreProtocol.PeerDriven).flag("verify_via_quiz", p.RestoreProtocol.VerifyViaQuiz)
	return m.some("artifacts", a).some("restore_protocol", r).node()
}

func printCompaction(cc *engine.ClaudeCompaction) *yaml.Node {
	m := newMap().flag("enabled", &cc.Enabled)
	if cc.ThresholdPercent != nil {
		m.put("threshold_percent", plainNode(strconv.Itoa(*cc.ThresholdPercent)))
	}
	if cc.ThresholdTokens != nil {
		m.put("threshold_tokens", plainNode(strconv.FormatInt(*cc.ThresholdTokens, 10)))
	}
	m.text("pre_compact_instruction", cc.PreCompactInstruction).text("compact_instruction", cc.CompactInstruction).
		text("message_inline", cc.MessageInline).text("message_file_path", cc.MessageFilePath).
		text("post_restore_audit_instruction", cc.PostRestoreAudit)
	if cc.TellNeighbours {
		m.flag("tell_neighbours", &cc.TellNeighbours)
	}
	return m.node()
}

// mapNode builds a YAML map; keys without a value are left out.
type mapNode struct{ n *yaml.Node }

func newMap() *mapNode { return &mapNode{&yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}} }

func newList() *yaml.Node { return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"} }

func (m *mapNode) node() *yaml.Node { return m.n }

func (m *mapNode) put(key string, v *yaml.Node) *mapNode {
	if v != nil {
		m.n.Content = append(m.n.Content, textNode(key), v)
	}
	return m
}

func (m *mapNode) some(key string, v *mapNode) *mapNode {
	if len(v.n.Content) == 0 {
		return m
	}
	return m.put(key, v.n)
}

func (m *mapNode) text(key, v string) *mapNode {
	if v == "" {
		return m
	}
	return m.put(key, textNode(v))
}

func (m *mapNode) flag(key string, v *bool) *mapNode {
	if v == nil {
		return m
	}
	return m.put(key, plainNode(strconv.FormatBool(*v)))
}

func plainNode(v string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: v} }

// bareRE is text that every YAML reader takes for text without quotes.
var bareRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z/.][A-Za-z0-9_./-]*(:[A-Za-z0-9_./-]+)*( [A-Za-z0-9_./-]+)*$`)
})

// textNode quotes whatever could be read as anything but this very text.
func textNode(v string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: v}
	if !bareRE().MatchString(v) || spelling(v) != "" {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

func textList(list []string) *yaml.Node {
	n := newList()
	for _, s := range list {
		n.Content = append(n.Content, textNode(s))
	}
	return n
}

func momentList(list []engine.Moment) *yaml.Node {
	n := newList()
	n.Style = yaml.FlowStyle
	for _, m := range list {
		n.Content = append(n.Content, textNode(string(m)))
	}
	return n
}
