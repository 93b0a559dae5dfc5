package specs

import (
	"reflect"
	"strings"
	"testing"

	"rig/engine"
)

const srcPath = "pods[0].members[0].session_source"

func TestSourceRules(t *testing.T) {
	with := func(lines string) string { return head + agent + keys(lines) }
	inline := func(block string) string { return with("session_source: " + block) }
	fork := func(ref string) string { return inline("{mode: fork, ref: " + ref + "}") }
	runRules(t, []rule{
		{"no map", inline("fork"), []fault{{"12:25 wrong_type " + srcPath, "must be a map"}}},
		{"no mode", inline("{ref: {kind: native_id, value: x}}"), []fault{{"12:25 missing " + srcPath + ".mode", ""}}},
		{"mode null", inline("{mode: ~, ref: {kind: native_id, value: " + parentID + "}}"), []fault{{"12:32 missing " + srcPath + ".mode", ""}}},
		{"mode list", inline("{mode: [fork]}"), []fault{{"12:32 wrong_type " + srcPath + ".mode", "fork, rebuild, agent_image"}}},
		{"mode unknown", inline("{mode: resume}"), []fault{{"12:32 session_source " + srcPath + ".mode", "the modes are fork, rebuild, agent_image"}}},
		{"fork without ref", inline("{mode: fork}"), []fault{{"12:25 missing " + srcPath + ".ref", ""}}},
		{"fork ref text", fork("abc"), []fault{{"12:43 wrong_type " + srcPath + ".ref", "kind and value"}}},
		{"fork no kind", fork("{value: x}"), []fault{{"12:43 session_source " + srcPath + ".ref.kind", "needs kind: native_id"}}},
		{"fork kind unknown", fork("{kind: thread, value: x}"), []fault{{"12:50 session_source " + srcPath + ".ref.kind", `native_id, not "thread"`}}},
		{"fork kind map", fork("{kind: {a: b}, value: x}"), []fault{{"12:50 session_source " + srcPath + ".ref.kind", "not a map"}}},
		{"fork artifact_path", fork("{kind: artifact_path, value: x}"), []fault{{"12:50 session_source " + srcPath + ".ref.kind", "deferred"}}},
		{"fork name", fork("{kind: name, value: x}"), []fault{{"12:50 session_source " + srcPath + ".ref.kind", "weaker"}}},
		{"fork last", fork("{kind: last}"), []fault{{"12:50 session_source " + srcPath + ".ref.kind", "weaker"}}},
		{"fork artifact_set", fork("{kind: artifact_set, value: [x]}"), []fault{{"12:50 session_source " + srcPath + ".ref.kind", "mode: rebuild"}}},
		{"fork no value", fork("{kind: native_id}"), []fault{{"12:43 missing " + srcPath + ".ref.value", ""}}},
		{"fork blank value", fork(`{kind: native_id, value: " "}`), []fault{{"12:68 missing " + srcPath + ".ref.value", "blank"}}},
		{"fork list value", fork("{kind: native_id, value: [x]}"), []fault{{"12:68 wrong_type " + srcPath + ".ref.value", ""}}},
		{"fork value with quotes", fork(`{kind: native_id, value: "` + parentID + `"}`), nil},
		{"fork bare value", fork("{kind: native_id, value: " + parentID + "}"), nil},
		{"fork foreign keys", inline("{mode: fork, ref: {kind: native_id, value: " + parentID + ", version: 2}, cwd: .}"), []fault{
			{"12:106 unknown_key " + srcPath + ".ref.version", ""}, {"12:119 unknown_key " + srcPath + ".cwd", "a member"},
		}},
		{"fork typo", inline("{mode: fork, reff: {kind: native_id}}"), []fault{
			{"12:25 missing " + srcPath + ".ref", ""}, {"12:38 unknown_key " + srcPath + ".reff", "did you mean ref"},
		}},
		{"fork and starter", with("starter_ref: {name: a}\nsession_source: {mode: fork, ref: {kind: native_id, value: " + parentID + "}}"), []fault{
			{"12:22 bad_value pods[0].members[0].starter_ref", "exclude each other"},
		}},
		{"rebuild fork kind", inline("{mode: rebuild, ref: {kind: native_id, value: x}}"), []fault{{"12:53 session_source " + srcPath + ".ref.kind", "belongs to mode: fork"}}},
		{"rebuild other kind", inline("{mode: rebuild, ref: {kind: files, value: [x]}}"), []fault{{"12:53 session_source " + srcPath + ".ref.kind", "must be artifact_set"}}},
		{"rebuild empty", inline("{mode: rebuild, ref: {kind: artifact_set, value: []}}"), []fault{{"12:74 missing " + srcPath + ".ref.value", "at least one"}}},
		{"rebuild text", inline("{mode: rebuild, ref: {kind: artifact_set, value: a.md}}"), []fault{{"12:74 wrong_type " + srcPath + ".ref.value", "a list"}}},
		{"rebuild entries", inline("{mode: rebuild, ref: {kind: artifact_set, value: [a.md, 7, '', [b]]}}"), []fault{
			{"12:81 quote_it " + srcPath + ".ref.value[1]", ""},
			{"12:84 bad_value " + srcPath + ".ref.value[2]", "blank"},
			{"12:88 wrong_type " + srcPath + ".ref.value[3]", ""},
		}},
		{"image fork kind", inline("{mode: agent_image, ref: {kind: name, value: x}}"), []fault{{"12:57 session_source " + srcPath + ".ref.kind", "mode: fork"}}},
		{"image set kind", inline("{mode: agent_image, ref: {kind: artifact_set, value: x}}"), []fault{{"12:57 session_source " + srcPath + ".ref.kind", "mode: rebuild"}}},
		{"image name", inline("{mode: agent_image, ref: {kind: image_name, value: ../x}}"), []fault{{"12:76 bad_value " + srcPath + ".ref.value", "does not fit"}}},
		{"image version", inline("{mode: agent_image, ref: {kind: image_name, value: x, version: 1e5}}"), []fault{{"12:88 quote_it " + srcPath + ".ref.version", ""}}},
		{"terminal first", head + shell + keys("session_source: {mode: nonsense}"), []fault{{"12:25 session_source " + srcPath, "a terminal has no conversation"}}},
	})
}

func TestSourcesAreKept(t *testing.T) {
	for block, want := range map[string]engine.SessionSource{
		"{mode: fork, ref: {kind: native_id, value: " + parentID + "}}":                  engine.ForkSource{Parent: engine.NewParentToken(parentID)},
		"{mode: rebuild, ref: {kind: artifact_set, value: [b.md, a.md, /abs/c.md]}}":     engine.RebuildSource{Artifacts: []string{"b.md", "a.md", "/abs/c.md"}},
		"{mode: agent_image, ref: {kind: image_name, value: img}}":                       engine.ImageSource{Name: "img"},
		"{mode: agent_image, ref: {kind: image_name, value: img, version: 2}}":           engine.ImageSource{Name: "img", Version: "2"},
		"{mode: agent_image, ref: {kind: image_name, value: img, version: 1.10}}":        engine.ImageSource{Name: "img", Version: "1.10"},
		"{mode: agent_image, ref: {kind: image_name, value: img, version: \"v2-beta\"}}": engine.ImageSource{Name: "img", Version: "v2-beta"},
	} {
		res := parse(head + agent + keys("session_source: "+block))
		if len(res.Problems) > 0 {
			t.Errorf("%s: %v", block, res.Problems)
			continue
		}
		if got := res.Spec.Pods[0].Members[0].Source; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %#v, want %#v", block, got, want)
		}
	}
}

// TestSeedMember checks the example of the documents word by word: its agent_ref
// is a bare relative path.
func TestSeedMember(t *testing.T) {
	const example = `      - id: reviewer-2
        runtime: claude-code            # or "codex"; not valid on terminal
        agent_ref: specs/agents/reviewer.yaml
        profile: reviewer
        cwd: .
        session_source:
          mode: fork
          ref:
            kind: native_id             # v1 fork mode supports native_id only
            value: "0b0165d7-cb4d-4650-90de-15c0a1ede9e6"
`
	for _, runtime := range []string{"claude-code", "codex"} {
		res := parse(head + strings.Replace(example, "claude-code", runtime, 1))
		expect(t, res.Problems, nil)
		m := res.Spec.Pods[0].Members[0]
		if m.AgentRef != "local:specs/agents/reviewer.yaml" || m.Cwd != "/srv/shop" || m.CwdWritten != "." {
			t.Errorf("member %+v", m)
		}
		if f, ok := m.Source.(engine.ForkSource); !ok || f.Parent.Reveal() != parentID {
			t.Errorf("source %#v", m.Source)
		}
	}
}

func TestSmallestRig(t *testing.T) {
	res := parse(`version: "0.2"
name: my-rig
pods:
  - id: dev
    label: Development
    members:
      - {id: impl, runtime: claude-code, agent_ref: "builtin:agent", profile: default, cwd: .}
      - {id: qa, runtime: codex, agent_ref: "builtin:agent", profile: default, cwd: .}
      - {id: sh, runtime: terminal, agent_ref: "builtin:terminal", profile: none, cwd: .}
    edges: [{kind: delegates_to, from: impl, to: qa}]
edges: []
`)
	expect(t, res.Problems, nil)
	expect(t, res.Advisories, nil)
	if want := []string{"dev.impl", "dev.qa", "dev.sh"}; !reflect.DeepEqual(res.Spec.Logicals(), want) {
		t.Errorf("members %v", res.Spec.Logicals())
	}
	g, err := engine.LaunchOrder(res.Spec)
	if err != nil || !reflect.DeepEqual(g.Order, []string{"dev.impl", "dev.qa", "dev.sh"}) {
		t.Errorf("order %v, %v", g.Order, err)
	}
}
