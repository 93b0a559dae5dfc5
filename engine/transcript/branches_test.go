package transcript

import (
	"fmt"
	"strings"
	"testing"
)

// hangs is one record of a conversation as the client writes it: who, the ids, the text.
func hangs(kind, id, parent, text string) string {
	if parent != "null" {
		parent = `"` + parent + `"`
	}
	return fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"type":%q,"uuid":%q,"message":{"role":%q,"content":[{"type":"text","text":%q}]}}`, parent, kind, id, kind, text) + "\n"
}

// rewinds reads a conversation and gives, for each message that took the place of an
// earlier one, its text and the text that stands where it leads back to.
func rewinds(t *testing.T, file string) (pairs []string, total int) {
	t.Helper()
	at := map[int64]string{}
	sum, err := Claude(strings.NewReader(file), Options{}, func(m Message) {
		at[m.Offset] = m.Text
		if m.Rewound {
			pairs = append(pairs, m.Text+" for "+at[m.RewoundTo])
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return pairs, sum.Rewinds
}

// What the client wrote for a person who went back (Escape twice) before the second of
// three prompts: the next one hangs where that one hung. Observed with 2.1.332.
func TestRewind(t *testing.T) {
	turn := func(n int, parent string) string {
		p, a, s := fmt.Sprintf("p%d", n), fmt.Sprintf("a%d", n), fmt.Sprintf("s%d", n)
		return hangs("user", p, parent, "prompt "+p) + hangs("assistant", a, p, "answer "+a) +
			`{"parentUuid":"` + a + `","isSidechain":false,"type":"system","subtype":"turn_duration","uuid":"` + s + `"}` + "\n"
	}
	three := turn(1, "null") + turn(2, "s1") + turn(3, "s2")
	for name, c := range map[string]struct {
		file string
		want []string
	}{
		"straight on":           {three + turn(4, "s3"), nil},
		"before the second":     {three + turn(4, "s1"), []string{"prompt p4 for prompt p2"}},
		"before the first":      {three + turn(4, "null"), []string{"prompt p4 for prompt p1"}},
		"twice":                 {three + turn(4, "s2") + turn(5, "s1"), []string{"prompt p4 for prompt p3", "prompt p5 for prompt p2"}},
		"the same place twice":  {three + turn(4, "s1") + turn(5, "s1"), []string{"prompt p4 for prompt p2", "prompt p5 for prompt p4"}},
		"into what was left":    {three + turn(4, "s1") + turn(5, "s2"), []string{"prompt p4 for prompt p2"}}, // two clients, say: nobody can tell
		"a prompt written anew": {three + hangs("user", "p3", "s2", "prompt p3, once more") + turn(4, "s3"), nil},
		"results of two tools": {
			three + hangs("user", "p4", "s3", "go") + hangs("assistant", "a4", "p4", "one") + hangs("assistant", "a5", "a4", "two") +
				`{"parentUuid":"a4","type":"user","uuid":"r4","message":{"role":"user","content":[{"type":"tool_result","content":"x"}]}}` + "\n" +
				`{"parentUuid":"a4","type":"user","uuid":"r5","message":{"role":"user","content":[{"type":"tool_result","content":"y"},{"type":"text","text":"z"}]}}` + "\n", nil,
		},
		"a sub-agent":          {three + strings.ReplaceAll(turn(4, "s1"), `"isSidechain":false`, `"isSidechain":true`), nil},
		"what the client adds": {three + strings.ReplaceAll(hangs("user", "m", "s1", "x"), `"uuid"`, `"isMeta":true,"uuid"`) + turn(4, "s3"), nil},
		"without parents":      {strings.ReplaceAll(three+turn(4, "s1"), `"parentUuid"`, `"was"`), nil},
		"after a compaction": {
			three + `{"parentUuid":null,"type":"system","subtype":"compact_boundary","uuid":"c1"}` + "\n" + turn(4, "null"), nil,
		},
	} {
		got, total := rewinds(t, c.file)
		if fmt.Sprint(got) != fmt.Sprint(c.want) || total != len(c.want) {
			t.Errorf("%s: %q (%d), want %q", name, got, total, c.want)
		}
	}
}
