package specs

import (
	"strings"
	"testing"

	"rig/engine"
)

// twoPods is a rig with dev.a, dev.b and qa.c; edges of the first pod and of the
// rig are inserted.
func twoPods(local, cross string) string {
	member := func(id string) string {
		return `      - {id: ` + id + `, runtime: terminal, agent_ref: "builtin:terminal", profile: none, cwd: .}` + "\n"
	}
	text := head + member("a") + member("b")
	if local != "" {
		text += "    edges: " + local + "\n"
	}
	text += "  - id: qa\n    label: Quality\n    members:\n" + member("c")
	if cross != "" {
		text += "edges: " + cross + "\n"
	}
	return text
}

func TestEdgeRules(t *testing.T) {
	runRules(t, []rule{
		{"valid", twoPods("[{kind: can_observe, from: a, to: b}]", "[{kind: spawned_by, from: dev.a, to: qa.c}]"), nil},
		{"kind", twoPods("[{kind: delegate_to, from: a, to: b}]", ""), []fault{{"9:20 bad_value pods[0].edges[0].kind", "did you mean delegates_to"}}},
		{"no kind", twoPods("[{from: a, to: b}]", ""), []fault{{"9:13 missing pods[0].edges[0].kind", ""}}},
		{"qualified inside a pod", twoPods("[{kind: can_observe, from: dev.a, to: b}]", ""), []fault{{"9:39 bad_edge pods[0].edges[0].from", "without its pod"}}},
		{"unknown inside a pod", twoPods("[{kind: can_observe, from: a, to: c}]", ""), []fault{{"9:46 bad_edge pods[0].edges[0].to", `no member "c" in pod dev`}}},
		{"itself", twoPods("[{kind: collaborates_with, from: a, to: a}]", ""), []fault{{"9:13 bad_edge pods[0].edges[0]", "itself"}}},
		{"twice", twoPods("[{kind: can_observe, from: a, to: b}, {kind: can_observe, from: a, to: b}]", ""), []fault{{"9:50 duplicate pods[0].edges[1]", "first at line 9"}}},
		{"unqualified between pods", twoPods("", "[{kind: can_observe, from: a, to: qa.c}]"), []fault{{"13:35 bad_edge edges[0].from", "pod.member"}}},
		{"unknown between pods", twoPods("", "[{kind: can_observe, from: dev.a, to: qa.x}]"), []fault{{"13:46 bad_edge edges[0].to", `no member "qa.x"`}}},
		{"same pod", twoPods("", "[{kind: can_observe, from: dev.a, to: dev.b}]"), []fault{{"13:9 bad_edge edges[0]", "both ends are in pod dev"}}},
		{"dots", twoPods("", "[{kind: can_observe, from: dev.a.b, to: qa.c}]"), []fault{{"13:35 bad_edge edges[0].from", "no member"}}},
		{"unquoted end", twoPods("[{kind: can_observe, from: no, to: b}]", ""), []fault{{"9:39 quote_it pods[0].edges[0].from", ""}}},
		{
			"circle inside a pod", twoPods("[{kind: delegates_to, from: a, to: b}, {kind: spawned_by, from: a, to: b}]", ""),
			[]fault{{"9:13 cycle_error pods[0].edges[0]", "dev.a → dev.b → dev.a"}},
		},
		{
			"circle over pods", twoPods("[{kind: delegates_to, from: a, to: b}]",
				"[{kind: delegates_to, from: dev.b, to: qa.c}, {kind: spawned_by, from: dev.a, to: qa.c}]"),
			[]fault{{"9:13 cycle_error pods[0].edges[0]", "dev.a → dev.b → qa.c → dev.a"}},
		},
		{"no circle by other kinds", twoPods("[{kind: escalates_to, from: a, to: b}, {kind: escalates_to, from: b, to: a}]", ""), nil},
	})
	if e := codeOf(t, parse(twoPods("[{kind: delegates_to, from: a, to: b}, {kind: spawned_by, from: a, to: b}]", "")).Err(), engine.CodeCycle); !strings.Contains(e.Error(), "dev.b") {
		t.Errorf("the error does not name the members: %v", e)
	}
}

// TestFaultyIdsDoNotSpread: one unquoted id is one fault, not one for every edge.
func TestFaultyIdsDoNotSpread(t *testing.T) {
	text := strings.Replace(twoPods("[{kind: can_observe, from: b, to: \"007\"}]", "[{kind: can_observe, from: dev.007, to: qa.c}]"), "id: a,", "id: 007,", 1)
	expect(t, parse(text).Problems, []fault{{"7:14 quote_it pods[0].members[0].id", "007"}})
}

func TestSharedAddress(t *testing.T) {
	text := `version: "0.2"
name: shop
pods:
  - id: a-b
    label: A
    members: [{id: c, runtime: terminal, agent_ref: "builtin:terminal", profile: none, cwd: .}]
  - id: a
    label: B
    members: [{id: b-c, runtime: terminal, agent_ref: "builtin:terminal", profile: none, cwd: .}]
  - id: a
    label: C
    members: []
`
	expect(t, parse(text).Problems, []fault{
		{"9:20 address_collision pods[1].members[0].id", "member b-c of pod a and member c of pod a-b (line 6) would share the address a-b-c@shop"},
		{"10:9 duplicate pods[2].id", "first at line 7"},
	})
}
