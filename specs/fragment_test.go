package specs

import (
	"testing"

	"rig/engine"
)

const newPod = `pod:
  id: ops
  label: Operations
  members:
    - {id: x, runtime: terminal, agent_ref: "builtin:terminal", profile: none, cwd: .}
`

func TestFragmentRules(t *testing.T) {
	rig := parse(twoPods("[{kind: delegates_to, from: a, to: b}]", "")).Spec
	member := "    - {id: new, runtime: codex, agent_ref: \"builtin:agent\", profile: default, cwd: .}\n"
	for _, tc := range []rule{
		{"a pod", newPod + "crossPodEdges: [{kind: can_observe, from: ops.x, to: dev.a}]\n", nil},
		{"a bare pod", "id: ops\nlabel: O\nmembers:\n" + member, nil},
		{"members of a pod that is there", "pod:\n  id: dev\n  members:\n" + member + "  edges: [{kind: can_observe, from: new, to: a}]\n", nil},
		{"a pod without label", "id: ops\nmembers:\n" + member, []fault{{"1:1 missing label", "a new pod needs label"}}},
		{
			"a member that is there", "pod:\n  id: dev\n  members:\n    - {id: a, runtime: terminal, agent_ref: \"builtin:terminal\", profile: none, cwd: .}\n",
			[]fault{{"4:12 duplicate pod.members[0].id", "has a member dev.a already"}},
		},
		{"an address that is taken", "id: dev-a\nlabel: D\nmembers:\n    - {id: b, runtime: terminal, agent_ref: \"builtin:terminal\", profile: none, cwd: .}\n", nil},
		{
			"a circle through the rig", newPod + "crossPodEdges: [{kind: delegates_to, from: dev.b, to: ops.x}, {kind: delegates_to, from: ops.x, to: dev.a}]\n",
			[]fault{{"6:17 cycle_error crossPodEdges[0]", "dev.a → dev.b → ops.x → dev.a"}},
		},
		{
			"an edge that is there", newPod + "crossPodEdges: [{kind: can_observe, from: ops.x, to: dev.gone}]\n",
			[]fault{{"6:54 bad_edge crossPodEdges[0].to", "no member"}},
		},
		{"edges under the name of a rig", newPod + "edges: []\n", []fault{{"6:1 unknown_key edges", "known here"}}},
		{"snake case", newPod + "cross_pod_edges: []\n", []fault{{"6:1 unknown_key cross_pod_edges", "crossPodEdges"}}},
		{"nothing", "{}\n", []fault{{"1:1 missing pod", ""}}},
		{"a list", "[]\n", []fault{{"1:1 wrong_type", "a fragment must be a map"}}},
		{
			"session source", "id: dev\nmembers:\n    - {id: new, runtime: codex, agent_ref: \"builtin:agent\", profile: default, cwd: ., session_source: {mode: fork, ref: {kind: last}}}\n",
			[]fault{{"3:128 session_source members[0].session_source.ref.kind", "weaker"}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res := ParseFragment([]byte(tc.text), rig, Options{File: "f.yaml", Root: "/srv/shop"})
			expect(t, res.Problems, tc.want)
			if (res.Err() == nil) != (len(tc.want) == 0) {
				t.Errorf("Err() = %v", res.Err())
			}
		})
	}
	clash := parse(twoPods("", "")).Spec
	clash.Pods[0].Members[0].ID = "b-c"
	res := ParseFragment([]byte("id: dev-b\nlabel: D\nmembers:\n  - {id: c, runtime: terminal, agent_ref: \"builtin:terminal\", profile: none, cwd: .}\n"), clash, Options{File: "f.yaml"})
	expect(t, res.Problems, []fault{{"4:10 address_collision members[0].id", "dev-b-c@shop"}})
}

func TestLoadFragment(t *testing.T) {
	dir := write(t, map[string]string{
		"f.yaml":    "id: dev\nmembers:\n  - {id: new, runtime: codex, agent_ref: \"builtin:agent\", profile: default, cwd: sub, session_source: {mode: fork, ref: {kind: native_id, value: " + parentID + "}}}\nedges: [{kind: delegates_to, from: a, to: new}]\n",
		"lost.yaml": "pod:\n  id: ops\n  label: O\n  startup: {files: [{path: gone.md}]}\n  members:\n    - {id: new, runtime: codex, agent_ref: \"builtin:agent\", profile: default, cwd: none}\n",
		"sub/x":     "",
	})
	rig := parse(twoPods("", "")).Spec
	l := Loader{Dir: dir}
	pod, edges, err := l.LoadFragment(t.Context(), "f.yaml", rig)
	if err != nil {
		t.Fatal(err)
	}
	m := pod.Members[0]
	if pod.ID != "dev" || len(edges) != 0 || len(pod.Edges) != 1 || m.Cwd != dir+"/sub" || m.RestorePolicy != engine.RestoreResume {
		t.Errorf("pod %+v, edges %v", pod, edges)
	}
	if f, ok := m.Source.(engine.ForkSource); !ok || f.Parent.Reveal() != parentID {
		t.Errorf("the source was lost: %#v", m.Source)
	}
	_, _, err = l.LoadFragment(t.Context(), "lost.yaml", rig)
	e := codeOf(t, err, engine.CodeValidationFailed)
	expect(t, e.Err.(*Problems).List(), []fault{
		{"4:28 not_found pod.startup.files[0].path", "does not exist"}, {"6:84 not_found pod.members[0].cwd", "does not exist"},
	})
	_, _, err = l.LoadFragment(t.Context(), "none.yaml", rig)
	codeOf(t, err, engine.CodeNotFound)
}
