package agentsim

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// openKeys are members whose content differs from session to session.
var openKeys = []string{
	"snapshot", "input", "toolUseResult", "changes", "modelUsage", "state", "shape", "params", "tool_input", "replacement_history",
	"permission_profile", "trackedFileBackups", "rendered", "identity", "iterations", "tool_response", "miss_causes",
}

// shape lists the paths of all members of a JSON value.
func shape(v any, at string, into map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			into[at+"."+k] = true
			if !slices.Contains(openKeys, k) {
				shape(x, at+"."+k, into)
			}
		}
	case []any:
		for _, x := range v {
			shape(x, at+"[]", into)
		}
	}
}

// shapes groups records by kind and gives, for each, what all of them have and
// what any of them has.
func shapes(recs []map[string]any, kind func(m map[string]any) string) map[string][2]map[string]bool {
	out := map[string][2]map[string]bool{}
	for _, m := range recs {
		s := map[string]bool{}
		shape(m, "", s)
		k := kind(m)
		have, seen := out[k]
		if !seen {
			out[k] = [2]map[string]bool{clone(s), clone(s)}
			continue
		}
		for p := range have[0] {
			if !s[p] {
				delete(have[0], p)
			}
		}
		for p := range s {
			have[1][p] = true
		}
	}
	return out
}

func clone(m map[string]bool) map[string]bool {
	c := map[string]bool{}
	for k := range m {
		c[k] = true
	}
	return c
}

// compare demands that each kind of record of ours has what all recorded ones of
// the kind have, and nothing that none of them has.
func compare(t *testing.T, recorded, ours []map[string]any, kind func(m map[string]any) string, forgive ...string) {
	t.Helper()
	want, got := shapes(recorded, kind), shapes(ours, kind)
	both := 0
	for k, g := range got {
		r, ok := want[k]
		if !ok {
			continue
		}
		both++
		for p := range r[0] {
			if !g[1][p] && !slices.Contains(forgive, p) {
				t.Errorf("%s: %s is missing", k, p)
			}
		}
		for p := range g[0] {
			if !r[1][p] && !slices.Contains(forgive, p) {
				t.Errorf("%s: the real client has no %s", k, p)
			}
		}
	}
	t.Logf("%d kinds of record compared", both)
	if both < 3 {
		t.Errorf("only %d kinds of record compared", both)
	}
}

func str(v any) string { s, _ := v.(string); return s }

func sub(m map[string]any, key string) map[string]any { s, _ := m[key].(map[string]any); return s }

func claudeKind(m map[string]any) string {
	content := "text"
	if list, ok := sub(m, "message")["content"].([]any); ok && len(list) > 0 {
		b, _ := list[0].(map[string]any)
		content = str(b["type"])
	}
	return strings.Join([]string{str(m["type"]), str(m["subtype"]), str(sub(m, "attachment")["type"]), content, str(m["promptSource"]), str(m["rowSource"]), str(m["error"])}, "/")
}

func codexKind(m map[string]any) string {
	p := sub(m, "payload")
	return strings.Join([]string{str(m["type"]), str(p["type"]), str(sub(p, "item")["type"]), str(p["role"]), map[bool]string{true: "error"}[p["error"] != nil]}, "/")
}

func decode(t *testing.T, text string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for _, l := range strings.Split(strings.TrimSpace(text), "\n") {
		m := map[string]any{}
		if err := json.Unmarshal([]byte(l), &m); err != nil {
			t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

func decodeOne(t *testing.T, text string) []map[string]any {
	t.Helper()
	m := map[string]any{}
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return []map[string]any{m}
}

func TestClaudeRecordsAreTheRecordedOnes(t *testing.T) {
	w := newWorld(t)
	s := w.start("c", KindClaude, "--session-id", idA, "--settings", w.settings("context", everyEvent...), "--permission-mode", "acceptEdits", "hello")
	s.sees("Canned answer 1.")
	for _, step := range [][2]string{
		{"[[write:a.txt]] w", "Done after the tool."},
		{"[[sh:mkdir made]] run", "Ran 1 shell command"},
		{"[[task:look]] d", "Agent \"Mock subagent\" finished"},
		{"/compact keep it", "Compacted (ctrl+o"},
		{"[[err:400]] e", "API Error: 400 mock error 400"},
	} {
		s.types(step[0])
		s.sees(step[1])
		w.status("idle")
	}
	w.until("the task's own turn is over", func() bool { return strings.Count(w.events(), "Stop ") >= 5 })
	r := w.registry()
	s.types("/exit")
	s.sees("EXIT=0")
	noted := []string{
		".attachment.note", ".attachment.addedLines", ".attachment.addedTypes", ".attachment.builtInPluginTypes", ".attachment.builtInTypes", ".attachment.isInitial", ".attachment.removedTypes",
		".attachment.showConcurrencyNote", ".attachment.content", ".attachment.digests", ".attachment.names", ".attachment.skillCount", ".attachment.contextRendering", ".attachment.echoWireToolInputs",
		".attachment.reminderFold", ".attachment.systemPrompt", ".message.content[].content[]", ".message.content[].content[].type", ".message.content[].content[].text",
	} // the fixtures hold a note in place of vendor text
	compare(t, decode(t, fixture(t, "claude-transcript.jsonl")), lines(t, w.transcript(idA)), claudeKind, noted...)
	compare(t, decode(t, fixture(t, "claude-hooks-stdin.jsonl")), lines(t, w.hooked),
		func(m map[string]any) string {
			return str(m["hook_event_name"]) + str(m["source"]) + str(m["tool_name"])
		})
	files, _ := filepath.Glob(strings.TrimSuffix(w.transcript(idA), ".jsonl") + "/subagents/*.jsonl")
	if len(files) != 1 {
		t.Fatalf("subagent files: %v", files)
	}
	side := func(m map[string]any) string { return str(m["type"]) }
	want, got := shapes(decode(t, fixture(t, "claude-subagent-sidechain.jsonl")), side), shapes(lines(t, files[0]), side)
	for _, k := range []string{"user", "assistant"} {
		for p := range want[k][0] {
			if !got[k][1][p] {
				t.Errorf("sidechain %s: %s is missing", k, p)
			}
		}
	}
	same(t, "registry", decodeOne(t, fixture(t, "claude-session-registry-idle.json")), r)
	status := lines(t, w.home+"/status.jsonl")
	same(t, "first status line", decodeOne(t, fixture(t, "claude-statusline-fresh.json")), status[:1])
	same(t, "later status line", decodeOne(t, fixture(t, "claude-statusline-after-turn.json")), status[1:2])
}

// same demands equal shapes.
func same(t *testing.T, what string, want, got []map[string]any) {
	t.Helper()
	a, b := map[string]bool{}, map[string]bool{}
	shape(want[0], "", a)
	shape(got[0], "", b)
	for p := range a {
		if !b[p] {
			t.Errorf("%s: %s is missing", what, p)
		}
	}
	for p := range b {
		if !a[p] {
			t.Errorf("%s: the real client has no %s", what, p)
		}
	}
}

func TestCodexRecordsAreTheRecordedOnes(t *testing.T) {
	w := newWorld(t)
	w.codexHooks("context", "SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PermissionRequest", "PreCompact", "PostCompact", "Stop")
	s := w.start("x", KindCodex, append(codexArgs, "hello")...)
	s.sees("Canned answer 1.")
	s.sees("Worked for")
	for _, step := range [][2]string{{"[[sh:ls]] l", "Explored"}, {"[[write:a.txt]] w", "Added a.txt"}, {"/compact", "Context compacted"}, {"[[limit]] x", "usage limit"}} {
		s.types(step[0])
		s.sees(step[1])
		s.lacks("esc to interrupt")
	}
	path := w.rollouts()[0]
	s.keys("C-c")
	s.sees("EXIT=0")
	fork := w.start("f", KindCodex, append([]string{"fork", idOf(path)}, codexArgs...)...)
	fork.sees("Ask Codex to do anything")
	w.until("the fork is on disk", func() bool { return len(w.rollouts()) == 2 })
	synthetic := []string{".payload.retained_context", ".payload.replacement_history_metadata", ".payload.resume_metadata"} // cut from the fixture, seen live
	for p := range shapesOf(t, path, "compacted////") {
		for _, f := range synthetic[:3] {
			if strings.HasPrefix(p, f+".") || strings.HasPrefix(p, f+"[") {
				synthetic = append(synthetic, p)
			}
		}
	}
	compare(t, decode(t, fixture(t, "codex-rollout.jsonl")), lines(t, path), codexKind, synthetic...)
	same(t, "head of a fork", decode(t, fixture(t, "codex-rollout-fork.jsonl"))[:1], lines(t, w.rollouts()[1])[:1])
	compare(t, decode(t, fixture(t, "codex-hooks-stdin.jsonl")), lines(t, w.hooked), func(m map[string]any) string { return str(m["hook_event_name"]) + str(m["source"]) })
	same(t, "notify", decode(t, fixture(t, "codex-notify-argv1.jsonl"))[:1], lines(t, w.home+"/notify.jsonl")[:1])
}

func shapesOf(t *testing.T, path, kind string) map[string]bool {
	t.Helper()
	return shapes(lines(t, path), codexKind)[kind][1]
}
