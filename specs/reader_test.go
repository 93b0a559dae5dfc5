package specs

import (
	"strings"
	"testing"

	"rig/engine"
)

func TestHostileText(t *testing.T) {
	ok := head + agent
	var bomb strings.Builder
	bomb.WriteString("a: &a [x, x]\n")
	for c := 'b'; c < 'k'; c++ {
		bomb.WriteString(string(c) + ": &" + string(c) + " [*" + string(c-1) + ", *" + string(c-1) + "]\n")
	}
	runRules(t, []rule{
		{"empty", "", []fault{{"1:1 missing", "empty"}}},
		{"comments only", "# nothing\n\n", []fault{{"1:1 missing", "empty"}}},
		{"null", "~\n", []fault{{"1:1 wrong_type", "not nothing"}}},
		{"ten megabytes", strings.Repeat("a: b\n", 2<<20), []fault{{"1:1 too_large", "1 MiB"}}},
		{"not UTF-8", "version: \"0.2\"\nname: sh\xffop\n", []fault{{"2:9 encoding", "0xFF"}}},
		{"UTF-16", "\xff\xfea\x00", []fault{{"1:1 encoding", "UTF-8"}}},
		{"NUL", "name: a\x00b\n", []fault{{"1:8 encoding", "U+0000"}}},
		{"escape", "name: shop\nsummary: é\x1b[31m\n", []fault{{"2:11 encoding", "U+001B"}}},
		{"direction override", "name: a\u202eb\n", []fault{{"1:8 encoding", "U+202E"}}},
		{"line separator", "name: a\u2028b: c\n", []fault{{"1:8 encoding", "U+2028"}}},
		{"second document", ok + "---\nname: x\n", []fault{{"12:1 yaml_feature", "second YAML document"}}},
		{"second document, broken", ok + "---\n[\n", []fault{{"14:1 syntax", "not valid YAML"}}},
		{"alias", strings.Replace(ok, "label: Development", "label: &l D\n    summary: *l", 1), []fault{
			{"5:12 yaml_feature", "anchor &l"}, {"6:14 yaml_feature", "alias *l"},
		}},
		{"merge key", strings.Replace(ok, "label: Development", "label: D\n    <<: {summary: x}", 1), []fault{{"6:5 yaml_feature", "merge key"}}},
		{"tag", strings.Replace(ok, "shop", "!!str shop", 1), []fault{{"2:7 yaml_feature", `"!!str"`}}},
		{"own tag", strings.Replace(ok, "shop", "!env HOME", 1), []fault{{"2:7 yaml_feature", `"!env"`}}},
		{"unknown alias", "a: *nobody\n", []fault{{"1:1 syntax", "nobody"}}},
		{"tab", "version: \"0.2\"\npods:\n\t- id: x\n", []fault{{"3:2 syntax", "cannot start any token"}}},
		{"open bracket", "version: \"0.2\"\nname: shop\npods: [a, b\nedges: []\n", []fault{{"3:1 syntax", "did not find expected"}}},
		{"bad indent", "version: \"0.2\"\nname: shop\n  pods: []\n", []fault{{"3:3 syntax", "mapping values"}}},
		{"stray key", "pods:\n  - a\n  b: c\n", []fault{{"2:3 syntax", "did not find expected"}}},
	})
	if res := parse(bomb.String()); len(res.Problems) < 10 || res.Problems[0].Code != CodeYAMLFeature {
		t.Errorf("alias bomb: %v", res.Problems)
	}
}

func TestDeepAndLongText(t *testing.T) {
	deep := parse("name: " + strings.Repeat("[", 500) + strings.Repeat("]", 500) + "\n")
	if len(deep.Problems) != 1 || deep.Problems[0].Code != CodeTooLarge {
		t.Errorf("deep nesting: %v", deep.Problems)
	}
	for name, text := range map[string]string{
		"open brackets": strings.Repeat("[", 200_000), "dashes": strings.Repeat("- ", 200_000), "maps": strings.Repeat("{a: ", 200_000),
		"questions": strings.Repeat("? ", 200_000), "keys": strings.Repeat("a: ", 200_000),
	} {
		if res := parse(text); len(res.Problems) != 1 {
			t.Errorf("%s: %d problems", name, len(res.Problems))
		}
	}
	if res := parse("a: [" + strings.Repeat("b,", 200_000) + "]\n"); len(res.Problems) != 1 || res.Problems[0].Code != CodeTooLarge {
		t.Errorf("many values: %v", res.Problems)
	}
}

func TestReportIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(head + agent)
	for i := range 3000 {
		b.WriteString("key" + strings.Repeat("x", i%40) + "_" + string(rune('a'+i%26)) + strings.Repeat("y", i/100) + ": 1\n")
	}
	res := parse(b.String())
	if len(res.Problems) != maxProblems+1 {
		t.Fatalf("%d problems", len(res.Problems))
	}
	if last := res.Problems[maxProblems]; last.Code != CodeTooLarge || !strings.Contains(last.Msg, "more errors") {
		t.Errorf("the last line is %v", last)
	}
}

func TestBOMAndLineEnds(t *testing.T) {
	plainText := parse(head + agent)
	for name, text := range map[string]string{
		"BOM":         "\xef\xbb\xbf" + head + agent,
		"CRLF":        strings.ReplaceAll(head+agent, "\n", "\r\n"),
		"BOM, CRLF":   "\xef\xbb\xbf" + strings.ReplaceAll(head+agent, "\n", "\r\n"),
		"no last end": strings.TrimSuffix(head+agent, "\n"),
		"marks":       "---\n" + head + agent + "...\n",
	} {
		res := parse(text)
		if len(res.Problems) > 0 || len(res.Spec.Pods) != 1 || res.Spec.Pods[0].Members[0].Cwd != plainText.Spec.Pods[0].Members[0].Cwd {
			t.Errorf("%s: %v", name, res.Problems)
		}
	}
	res := parse("\xef\xbb\xbfversion: 0.2\r\nname: shop\r\npods: []\r\n")
	expect(t, res.Problems, []fault{{"1:10 quote_it version", ""}, {"3:7 missing pods", ""}})
}

func TestErrorCarriesEveryProblem(t *testing.T) {
	res := parse("name: \"a b\"\n")
	e := codeOf(t, res.Err(), engine.CodeValidationFailed)
	if list, ok := e.Details["problems"].([]Problem); !ok || len(list) != 3 {
		t.Errorf("details %v", e.Details)
	}
	list := e.Err.(*Problems).List()
	if len(list) != 3 || len(e.Err.(*Problems).Unwrap()) != 3 {
		t.Errorf("list %v", list)
	}
	for _, want := range []string{"rig.yaml:1:1: version", "rig.yaml:1:1: pods", "rig.yaml:1:7: name"} {
		if !strings.Contains(e.Error(), want) {
			t.Errorf("%q is not in %v", want, e)
		}
	}
	if parse(head+agent).Err() != nil {
		t.Error("a good spec has no error")
	}
}
