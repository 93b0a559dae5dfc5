package engine

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func edge(kind EdgeKind, from, to string) EdgeSpec { return EdgeSpec{Kind: kind, From: from, To: to} }

func TestOrderMembers(t *testing.T) {
	ids := []string{"qa.b", "dev.z", "dev.a", "ops.m"}
	for name, tc := range map[string]struct {
		edges []EdgeSpec
		order []string
		waves [][]string
	}{
		"no edges: alphabetical": {
			nil,
			[]string{"dev.a", "dev.z", "ops.m", "qa.b"},
			[][]string{{"dev.a", "dev.z", "ops.m", "qa.b"}},
		},
		"delegates_to starts the source first": {
			[]EdgeSpec{edge(EdgeDelegatesTo, "qa.b", "dev.a")},
			[]string{"dev.z", "ops.m", "qa.b", "dev.a"},
			[][]string{{"dev.z", "ops.m", "qa.b"}, {"dev.a"}},
		},
		"spawned_by starts the target first": {
			[]EdgeSpec{edge(EdgeSpawnedBy, "dev.a", "ops.m")},
			[]string{"dev.z", "ops.m", "dev.a", "qa.b"},
			[][]string{{"dev.z", "ops.m", "qa.b"}, {"dev.a"}},
		},
		"the other kinds order nothing": {
			[]EdgeSpec{
				edge(EdgeCanObserve, "qa.b", "dev.a"), edge(EdgeCollaborates, "dev.a", "qa.b"),
				edge(EdgeEscalatesTo, "qa.b", "dev.z"),
			},
			[]string{"dev.a", "dev.z", "ops.m", "qa.b"},
			[][]string{{"dev.a", "dev.z", "ops.m", "qa.b"}},
		},
		"a freed member takes its alphabetical place": {
			[]EdgeSpec{edge(EdgeDelegatesTo, "dev.a", "dev.z"), edge(EdgeDelegatesTo, "dev.a", "dev.z")},
			[]string{"dev.a", "dev.z", "ops.m", "qa.b"},
			[][]string{{"dev.a", "ops.m", "qa.b"}, {"dev.z"}},
		},
		"an edge to a member that is not listed orders nothing": {
			[]EdgeSpec{edge(EdgeDelegatesTo, "gone.x", "dev.a")},
			[]string{"dev.a", "dev.z", "ops.m", "qa.b"},
			[][]string{{"dev.a", "dev.z", "ops.m", "qa.b"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := OrderMembers(ids, tc.edges)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(g.Order, tc.order) {
				t.Errorf("order %v, want %v", g.Order, tc.order)
			}
			if !reflect.DeepEqual(g.Layers(), tc.waves) {
				t.Errorf("waves %v, want %v", g.Layers(), tc.waves)
			}
		})
	}
}

func TestOrderMembersNamesEveryCircle(t *testing.T) {
	ids := []string{"p.a", "p.b", "p.c", "p.d", "p.e"}
	edges := []EdgeSpec{
		edge(EdgeDelegatesTo, "p.c", "p.a"), edge(EdgeDelegatesTo, "p.a", "p.b"), edge(EdgeSpawnedBy, "p.c", "p.b"),
		edge(EdgeDelegatesTo, "p.d", "p.e"), edge(EdgeDelegatesTo, "p.e", "p.d"),
	}
	_, err := OrderMembers(ids, edges)
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeCycle || e.Hint == "" {
		t.Fatalf("want a cycle error with a hint, got %v", err)
	}
	for _, ring := range []string{"p.a → p.b → p.c → p.a", "p.d → p.e → p.d"} {
		if !strings.Contains(e.Msg, ring) {
			t.Errorf("%q does not name %q", e.Msg, ring)
		}
	}
	if got := FindCycles(ids, edges); len(got) != 2 {
		t.Errorf("circles %v", got)
	}
}

func TestLaunchOrderReadsPodAndCrossEdges(t *testing.T) {
	spec := RigSpec{
		Pods: []PodSpec{
			{ID: "dev", Members: []MemberSpec{{ID: "a"}, {ID: "b"}}, Edges: []EdgeSpec{edge(EdgeDelegatesTo, "dev.b", "dev.a")}},
			{ID: "qa", Members: []MemberSpec{{ID: "x"}}},
		},
		Edges: []EdgeSpec{edge(EdgeSpawnedBy, "dev.b", "qa.x")},
	}
	g, err := LaunchOrder(spec)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"qa.x", "dev.b", "dev.a"}; !reflect.DeepEqual(g.Order, want) {
		t.Errorf("order %v, want %v", g.Order, want)
	}
	if want := map[string][]string{"dev.b": {"qa.x"}, "dev.a": {"dev.b"}}; !reflect.DeepEqual(g.After, want) {
		t.Errorf("after %v, want %v", g.After, want)
	}
	if m, ok := spec.Member("qa.x"); !ok || m.ID != "x" {
		t.Errorf("Member(qa.x) = %v %v", m, ok)
	}
	if _, ok := spec.Member("qa"); ok {
		t.Error("a pod is not a member")
	}
}

func TestSessionSourceJSONHidesTheParent(t *testing.T) {
	const id = "0b0165d7-cb4d-4650-90de-15c0a1ede9e6"
	spec := RigSpec{Pods: []PodSpec{{ID: "p", Members: []MemberSpec{
		{ID: "f", Source: ForkSource{Parent: NewParentToken(id)}},
		{ID: "r", Source: RebuildSource{Artifacts: []string{"a.md", "b.md"}}},
		{ID: "i", Source: ImageSource{Name: "img", Version: "1.10"}},
	}}}}
	raw, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	if strings.Contains(text, id) {
		t.Errorf("the parent's id is in %s", text)
	}
	for _, want := range []string{
		`"mode":"fork","ref":{"kind":"native_id","value":"tok_…e9e6"`,
		`"mode":"rebuild","ref":{"kind":"artifact_set","value":["a.md","b.md"]`,
		`"mode":"agent_image","ref":{"kind":"image_name","value":"img","version":"1.10"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
}

func TestCheckNativeID(t *testing.T) {
	const id = "5e550041-0000-4000-8000-00000000a041"
	for in, want := range map[string]string{
		id: "", id + "\n": "", strings.ToUpper(id): "", id + "\r\n": "",
		"": "empty", "   \n": "blank", id + "\n" + id + "\n": "more than one line",
		"none": "not the form", "local_" + id: "more around", "5e550041": "shortened",
		"--dangerously-skip-permissions": "option", "$(touch /tmp/pwned)": "path",
		"/home/op/.claude/projects/-home-op-project/" + id + ".jsonl": "path",
		"My nice session title": "not the form", id + " ": "more around",
	} {
		for _, rt := range []RuntimeName{RuntimeClaude, RuntimeCodex} {
			got, err := CheckNativeID(rt, in)
			if want == "" {
				if err != nil || got != strings.TrimRight(in, "\r\n") {
					t.Errorf("%q: %q, %v", in, got, err)
				}
				continue
			}
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(e.Msg, want) || e.Hint == "" {
				t.Errorf("%q: got %v, want %q with a hint", in, err, want)
			} else if strings.Contains(e.Error()+e.Hint, id) {
				t.Errorf("%q: the refusal quotes the id", in)
			}
		}
	}
	if _, err := CheckNativeID(RuntimeTerminal, id); CodeOf(err) != CodeNotSupported {
		t.Errorf("terminal: %v", err)
	}
	if !SameNativeID(id, strings.ToUpper(id)) || SameNativeID("", "") {
		t.Error("SameNativeID must ignore case and never match nothing")
	}
}

func TestClaudeCompactionActive(t *testing.T) {
	pct, tok := func(n int) *int { return &n }, func(n int64) *int64 { return &n }
	for name, tc := range map[string]struct {
		c       *ClaudeCompaction
		percent int
		tokens  int64
	}{
		"none":                    {nil, 0, 0},
		"disabled":                {&ClaudeCompaction{ThresholdPercent: pct(50)}, 0, 0},
		"enabled, default":        {&ClaudeCompaction{Enabled: true}, DefaultCompactPercent, 0},
		"percent":                 {&ClaudeCompaction{Enabled: true, ThresholdPercent: pct(100)}, 100, 0},
		"tokens":                  {&ClaudeCompaction{Enabled: true, ThresholdTokens: tok(5)}, 0, 5},
		"percent 0 is off":        {&ClaudeCompaction{Enabled: true, ThresholdPercent: pct(0)}, 0, 0},
		"percent 101 is off":      {&ClaudeCompaction{Enabled: true, ThresholdPercent: pct(101)}, 0, 0},
		"tokens 0 is off":         {&ClaudeCompaction{Enabled: true, ThresholdTokens: tok(0)}, 0, 0},
		"one invalid one is off":  {&ClaudeCompaction{Enabled: true, ThresholdPercent: pct(50), ThresholdTokens: tok(-1)}, 0, 0},
		"both: each has its part": {&ClaudeCompaction{Enabled: true, ThresholdPercent: pct(50), ThresholdTokens: tok(7)}, 50, 7},
	} {
		percent, tokens := tc.c.Thresholds()
		if percent != tc.percent || tokens != tc.tokens {
			t.Errorf("%s: %d %d", name, percent, tokens)
		}
		on, why := tc.c.Active()
		if on != (percent+int(tokens) > 0) || on == (why != "") {
			t.Errorf("%s: active %v, %q", name, on, why)
		}
	}
}

func TestReservedEnv(t *testing.T) {
	for name, want := range map[string]bool{"RIG_HOME": true, "TMUX": true, "CLAUDECODE": true, "ANTHROPIC_API_KEY": false, "TMUXINATOR": false} {
		if ReservedEnv(name) != want {
			t.Errorf("ReservedEnv(%s) = %v", name, !want)
		}
	}
}
