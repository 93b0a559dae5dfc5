package transcript

import (
	"slices"
	"testing"
)

func TestInjectedLabel(t *testing.T) {
	tests := map[string]string{
		"fix the <b> tag":                      "",
		"<b>bold</b> is what I want":           "",
		"<skillful people> wanted":             "",
		"  <command-name>/x</command-name>":    labelCommand,
		"<bash-input>ls</bash-input>":          labelCommand,
		"<local-command-stdout></local>":       labelOutput,
		"<task-notification>\n<task-id>":       labelTask,
		"<system-reminder>\nx":                 labelReminder,
		"<environment_context>\n  <cwd>":       labelContext,
		"<user_instructions>\nbe nice":         labelContext,
		"<permissions instructions>\nno":       labelContext,
		"# AGENTS.md instructions for /home":   labelContext,
		"[Request interrupted by user]":        labelInterrupt,
		"[Request interrupted] was what I saw": "",
		"":                                     "",
	}
	for s, want := range tests {
		if got := injectedLabel(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

func TestRemindersAroundWordsAreStripped(t *testing.T) {
	const r = "<system-reminder>be careful</system-reminder>"
	tests := map[string]string{
		r + "\nreal words":                   "real words",
		"real words\n" + r:                   "real words",
		r + r + "real" + r:                   "real",
		"what does " + r + " mean here?":     "what does " + r + " mean here?",
		r:                                    "",
		"<system-reminder>never closed word": "<system-reminder>never closed word",
	}
	for s, want := range tests {
		if got := stripReminders(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

func TestClaudeWhoSaidIt(t *testing.T) {
	user := func(extra, content string) string {
		return `{"type":"user","message":{"role":"user","content":` + content + `}` + extra + "}\n"
	}
	tests := map[string]struct{ src, want string }{
		"typed":           {user(``, `"words"`), "operator: words\n"},
		"parts":           {user(``, `["one",{"type":"text","text":"two"}]`), "operator: one\ntwo\n"},
		"one block":       {user(``, `{"type":"text","text":"alone"}`), "operator: alone\n"},
		"meta":            {user(`,"isMeta":true`, `"words"`), ""},
		"task":            {user(`,"origin":{"kind":"task-notification"}`, `"words"`), ""},
		"system prompt":   {user(`,"promptSource":"system"`, `"words"`), ""},
		"human origin":    {user(`,"origin":{"kind":"human"},"promptSource":"typed"`, `"words"`), "operator: words\n"},
		"summary":         {user(`,"isCompactSummary":true`, `"words"`), "summary: words\n"},
		"reminder beside": {user(``, `[{"type":"text","text":"<system-reminder>x</system-reminder>"},{"type":"text","text":"words"}]`), "operator: words\n"},
		"tool result":     {user(``, `[{"type":"tool_result","content":"words"}]`), ""},
		"queued prompt":   {`{"type":"attachment","uuid":"q","attachment":{"type":"queued_command","prompt":"also this","commandMode":"prompt"}}` + "\n", "operator: also this\n"},
		"queued notice":   {`{"type":"attachment","uuid":"q","attachment":{"type":"queued_command","prompt":"<task-notification>x","commandMode":"task-notification"}}` + "\n", ""},
		"synthetic":       {`{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"No response requested."}]}}` + "\n", ""},
	}
	for name, tt := range tests {
		msgs, sum := claudeString(t, tt.src, Options{})
		if got := lines(msgs); got != tt.want || sum.SkippedTotal != 0 {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	msgs, _ := claudeString(t, tests["summary"].src, Options{})
	if _, sum := claudeString(t, tests["summary"].src, Options{}); sum.CompactionsTotal != 1 || len(msgs) != 1 {
		t.Errorf("a summary without a boundary is a compaction: %+v", sum.Compactions)
	}
}

func TestCodexOldShapes(t *testing.T) {
	src := `{"id":"019f0000-0000-7000-8000-0000000000aa","timestamp":"2025-05-07T17:24:21.597Z","instructions":null}
{"record_type":"state"}
{"type":"message","role":"user","content":[{"type":"input_text","text":"<user_instructions>\nbe nice\n</user_instructions>"}]}
{"type":"message","role":"user","content":[{"type":"input_text","text":"old words"}]}
{"type":"reasoning","summary":[]}
{"type":"function_call","name":"shell","arguments":"{\"command\":[\"cat\",\"src/main.go\"]}","call_id":"c"}
{"type":"function_call_output","call_id":"c","output":"x"}
{"type":"message","role":"assistant","content":[{"type":"output_text","text":"old answer"}]}
`
	msgs, sum := codexString(t, src, Options{Tools: true})
	wantLines(t, msgs, "operator: old words", "tool: cat src/main.go", "assistant: old answer")
	if sum.SessionID != "019f0000-0000-7000-8000-0000000000aa" || !sum.StartedAt.Equal(at("2025-05-07T17:24:21.597Z")) {
		t.Errorf("id %q started %v", sum.SessionID, sum.StartedAt)
	}
	if !slices.Equal(msgs[1].Paths, []string{"src/main.go"}) {
		t.Errorf("paths %q", msgs[1].Paths)
	}
	o := sum.Omitted
	if o.ToolCalls != 1 || o.ToolResults != 1 || o.Reasoning != 1 || o.Injected != 1 || sum.SkippedTotal != 0 {
		t.Errorf("omitted %+v", o)
	}
}

func TestCodexAnswerBeforeACompactionIsKept(t *testing.T) {
	item := func(text string) string {
		return `{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"` + text + `"}]}}` + "\n"
	}
	compacted := `{"type":"compacted","payload":{"message":"prefix\nthe summary"}}` + "\n"
	msgs, _ := codexString(t, item("a real answer")+compacted, Options{})
	wantLines(t, msgs, "assistant: a real answer", "summary: prefix\nthe summary")
	msgs, sum := codexString(t, item("the summary")+compacted, Options{})
	wantLines(t, msgs, "summary: prefix\nthe summary")
	if sum.Messages != 1 {
		t.Errorf("messages = %d", sum.Messages)
	}
}

func TestPathsInText(t *testing.T) {
	tests := map[string][]string{
		"see /home/op/project/a.go:12 and b":                      {"/home/op/project/a.go"},
		"in `web/footer.css`, please.":                            {"web/footer.css"},
		"(internal/q/chan.go)":                                    {"internal/q/chan.go"},
		"and/or 24/7 1/2.5 w/o client/server":                     nil,
		"https://example.invalid/a/b.html and example.com/x.html": nil,
		"git@github.com:org/repo.git":                             nil,
		"run /compact or /api/v1/users":                           nil,
		"under /tmp/build/out and ~/notes/x":                      {"/tmp/build/out", "~/notes/x"},
		"--config=/etc/rig/config.yaml":                           {"/etc/rig/config.yaml"},
		"./scripts/run.sh ../other/x.py":                          {"./scripts/run.sh", "../other/x.py"},
		"設計は /home/op/設計/注文.md です":                                {"/home/op/設計/注文.md"},
		"/opt/a/b.c.":             {"/opt/a/b.c"},
		"\"/srv/www/index.html\"": {"/srv/www/index.html"},
		"a//b///c.go":             nil,
	}
	for s, want := range tests {
		var got []string
		PathsInText(s, func(p string) { got = append(got, p) })
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

func TestToolInputsThatNamePaths(t *testing.T) {
	tests := map[string][]string{
		`{"file_path":"/a/b.go","old_string":"/not/this.go"}`:           {"/a/b.go"},
		`{"edits":[{"file_path":"x.go"},{"file_path":"y.go"}]}`:         {"x.go", "y.go"},
		`{"paths":["p.go","q.go",{"path":"r.go"}]}`:                     {"p.go", "q.go", "r.go"},
		`{"command":"cat src/main.go > /tmp/out.txt"}`:                  {"src/main.go", "/tmp/out.txt"},
		`{"command":["bash","-lc","rm /home/op/x.txt"]}`:                {"/home/op/x.txt"},
		`"*** Begin Patch\n*** Update File: a b.go\n*** Move to: c.go"`: {"a b.go", "c.go"},
		`{"content":"/home/op/secret.txt","prompt":"read src/a.go"}`:    nil,
		`{"file_path":"line\nbreak"}`:                                   nil,
		`17`:                                                            nil, `null`: nil, `[]`: nil, `{"path":null,"paths":17}`: nil,
	}
	var scratch []byte
	for input, want := range tests {
		if m := toolMessage("T", []byte(input), &scratch); !slices.Equal(m.Paths, want) {
			t.Errorf("%s: %q, want %q", input, m.Paths, want)
		}
	}
}
