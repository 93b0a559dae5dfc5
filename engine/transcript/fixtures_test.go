package transcript

import (
	"slices"
	"strings"
	"testing"
)

// The recorded session of the real client: turns, tools, a background
// sub-agent, a compaction, an API error.
func TestClaudeRecordedSession(t *testing.T) {
	msgs, sum := readAll(t, fixture("claude-transcript.jsonl"), RuntimeClaude, Options{})
	if sum.SkippedTotal != 0 || sum.Records != 127 || sum.Lines != 127 {
		t.Errorf("records %d lines %d skipped %+v", sum.Records, sum.Lines, sum.Skipped)
	}
	var asked []string
	for _, m := range msgs {
		if m.Role == RoleOperator {
			asked = append(asked, m.Text)
		}
	}
	want := []string{
		"hello [[say:Hello from the mock.]]", "make a file [[write:/home/op/project/a.txt]]",
		"run it [[sh:mkdir build]]", "delegate [[task:look at a.txt]]", "big [[tokens:450000]]",
		"busy [[wait:5]]", "fail [[err:400]]",
	}
	if !slices.Equal(asked, want) {
		t.Errorf("operator said %q", asked)
	}
	if sum.SessionID != "11111111-1111-4111-8111-111111111111" || sum.StartCwd != "/home/op/project" {
		t.Errorf("id %q cwd %q", sum.SessionID, sum.StartCwd)
	}
	if sum.Model != "claude-opus-5-5" || sum.Version != "2.1.332" {
		t.Errorf("model %q version %q", sum.Model, sum.Version)
	}
	c := sum.Compactions
	if len(c) != 1 || c[0].Trigger != "manual" || c[0].PreTokens != 450_040 || c[0].PostTokens != 3067 {
		t.Errorf("compactions %+v", c)
	}
	if sum.Turn.State != TurnFailed || sum.Turn.ErrorCode != "unknown" || sum.Turn.Limit {
		t.Errorf("turn %+v", sum.Turn)
	}
	if sum.Usage == nil || sum.Usage.Tokens != 1200 || sum.Usage.Stale {
		t.Errorf("usage %+v", sum.Usage)
	}
}

func TestClaudeInjectedTextIsLabelled(t *testing.T) {
	msgs, sum := readAll(t, fixture("claude-transcript.jsonl"), RuntimeClaude, Options{Injected: true})
	labels := map[string]int{}
	for _, m := range msgs {
		if m.Role == RoleInjected {
			labels[m.Label]++
		}
	}
	for _, want := range []string{labelTask, labelMeta, labelCommand, labelOutput, labelAPIError} {
		if labels[want] != 1 {
			t.Errorf("%d messages labelled %q, want 1 (all: %v)", labels[want], want, labels)
		}
	}
	if sum.Omitted.Injected != 5 {
		t.Errorf("injected = %d", sum.Omitted.Injected)
	}
}

func TestClaudeToolCalls(t *testing.T) {
	msgs, _ := readAll(t, fixture("claude-transcript.jsonl"), RuntimeClaude, Options{Tools: true})
	var calls []string
	for _, m := range msgs {
		if m.Role == RoleTool {
			calls = append(calls, m.ToolName+" "+m.Text+" "+strings.Join(m.Paths, ","))
		}
	}
	want := []string{
		"Write /home/op/project/a.txt /home/op/project/a.txt",
		"Bash mkdir build ",
		"Agent Mock subagent ",
	}
	if !slices.Equal(calls, want) {
		t.Errorf("calls %q", calls)
	}
}

func TestClaudeForkKeepsItsOwnID(t *testing.T) {
	_, sum := readAll(t, fixture("claude-transcript-fork.jsonl"), RuntimeClaude, Options{})
	if sum.SessionID != "22222222-2222-4222-8222-222222222222" || sum.SkippedTotal != 0 {
		t.Errorf("id %q skipped %d", sum.SessionID, sum.SkippedTotal)
	}
	if sum.CompactionsTotal != 1 {
		t.Errorf("compactions %d", sum.CompactionsTotal)
	}
}

func TestClaudeSubagentFileHasNoConversation(t *testing.T) {
	msgs, sum := readAll(t, fixture("claude-subagent-sidechain.jsonl"), RuntimeClaude, Options{Tools: true})
	if len(msgs) != 0 || sum.Omitted.Sidechain == 0 || sum.Usage != nil {
		t.Errorf("messages %v sidechain %d usage %+v", msgs, sum.Omitted.Sidechain, sum.Usage)
	}
}

func TestClaudeUsageLimit(t *testing.T) {
	path := fixture("claude-transcript-usage-limit-record.jsonl")
	rc, err := ReadRecent(path, RuntimeClaude)
	if err != nil {
		t.Fatal(err)
	}
	if !rc.Turn.Limit || rc.Turn.State != TurnFailed || rc.Turn.LimitName != "five_hour" || rc.Turn.ErrorCode != "rate_limit" {
		t.Errorf("turn %+v", rc.Turn)
	}
	if rc.Turn.ResetsAt.Unix() != 1_768_484_118 || !strings.Contains(rc.Turn.ErrorText, "5-hour limit") {
		t.Errorf("resets %v text %q", rc.Turn.ResetsAt, rc.Turn.ErrorText)
	}
	if rc.Usage != nil || !rc.Complete {
		t.Errorf("usage %+v complete %v: the notice is no reply", rc.Usage, rc.Complete)
	}
}

// The recorded rollout of the real client: tools, an escalation, a compaction,
// an interrupt, a usage limit.
func TestCodexRecordedSession(t *testing.T) {
	path := fixture("codex-rollout.jsonl")
	msgs, sum := readAll(t, path, RuntimeCodex, Options{})
	if sum.SkippedTotal != 0 || sum.Records != 115 {
		t.Errorf("records %d skipped %+v", sum.Records, sum.Skipped)
	}
	var asked, summaries []string
	for _, m := range msgs {
		switch m.Role {
		case RoleOperator:
			asked = append(asked, m.Text)
		case RoleSummary:
			summaries = append(summaries, m.Text)
		case RoleAssistant:
			if strings.Contains(m.Text, "MOCK SUMMARY") {
				t.Error("the summary was handed out as an answer")
			}
		}
	}
	want := []string{
		"hello [[say:Hello from the mock.]]", "list [[sh:ls -la]]", "make [[write:a.txt]]",
		"outside [[esc:touch /home/op/outside.txt]]", "big [[tokens:150000]]",
	}
	if len(asked) < len(want) || !slices.Equal(asked[:len(want)], want) {
		t.Errorf("operator said %q", asked)
	}
	if len(summaries) != 1 || !strings.HasSuffix(summaries[0], "SYNTHETIC SUMMARY") {
		t.Errorf("summaries %q", summaries)
	}
	if sum.CompactionsTotal != 1 || sum.SessionID != "01990000-0000-7000-8000-00000000aaaa" || sum.ParentID != "" {
		t.Errorf("compactions %d id %q parent %q", sum.CompactionsTotal, sum.SessionID, sum.ParentID)
	}
	if sum.Turn.State != TurnFailed || !sum.Turn.Limit || sum.Turn.ErrorCode != "usage_limit_exceeded" {
		t.Errorf("turn %+v", sum.Turn)
	}
	rc, err := ReadRecent(path, RuntimeCodex)
	if err != nil || !rc.Turn.Limit || rc.Turn.Offset != sum.Turn.Offset {
		t.Errorf("recent turn %+v, %v", rc.Turn, err)
	}
	if rc.Usage == nil || sum.Usage == nil || rc.Usage.Tokens != sum.Usage.Tokens || rc.Usage.Window != 258_400 {
		t.Errorf("usage %+v and %+v", rc.Usage, sum.Usage)
	}
}

func TestCodexToolPaths(t *testing.T) {
	msgs, _ := readAll(t, fixture("codex-rollout.jsonl"), RuntimeCodex, Options{Tools: true})
	var paths []string
	for _, m := range msgs {
		if m.Role == RoleTool {
			paths = append(paths, m.Paths...)
		}
	}
	for _, want := range []string{"a.txt", "/home/op/project/a.txt", "/home/op/outside.txt"} {
		if !slices.Contains(paths, want) {
			t.Errorf("%s is missing from %q", want, paths)
		}
	}
}

func TestCodexForkByReference(t *testing.T) {
	msgs, sum := readAll(t, fixture("codex-rollout-fork.jsonl"), RuntimeCodex, Options{})
	wantLines(t, msgs, "operator: first in fork", "assistant: Canned answer 178.")
	if sum.SessionID != "01990000-0000-7000-8000-00000000bbbb" || sum.ParentID != "01990000-0000-7000-8000-00000000aaaa" {
		t.Errorf("id %q parent %q", sum.SessionID, sum.ParentID)
	}
	if msgs[0].Inherited || sum.Turn.State != TurnDone {
		t.Errorf("inherited %v turn %+v", msgs[0].Inherited, sum.Turn)
	}
}

func TestDetect(t *testing.T) {
	for name, want := range map[string]Runtime{
		fixture("claude-transcript.jsonl"):         RuntimeClaude,
		fixture("codex-rollout.jsonl"):             RuntimeCodex,
		casePath("B07-late-cwd.jsonl"):             RuntimeClaude,
		casePath("B22-dual-encoding.jsonl"):        RuntimeCodex,
		casePath("B14-bom-crlf.jsonl"):             RuntimeClaude,
		fixture("claude-subagent-sidechain.jsonl"): RuntimeClaude,
	} {
		src, err := open(name)
		if err != nil {
			t.Fatal(err)
		}
		rt, ok, err := Detect(src.f)
		src.close()
		if err != nil || !ok || rt != want {
			t.Errorf("%s: %q %v, %v", name, rt, ok, err)
		}
	}
	if _, ok, err := Detect(strings.NewReader("plain text\n[1,2]\n\"user\"\n")); ok || err != nil {
		t.Errorf("text was detected: %v, %v", ok, err)
	}
}

// Every line's effect read from the end must agree with the stream.
func TestRecentAgreesWithTheStream(t *testing.T) {
	for name, rt := range map[string]Runtime{
		"claude-transcript.jsonl": RuntimeClaude, "claude-transcript-fork.jsonl": RuntimeClaude,
		"codex-rollout.jsonl": RuntimeCodex, "codex-rollout-fork.jsonl": RuntimeCodex,
	} {
		_, sum := readAll(t, fixture(name), rt, Options{})
		rc, err := ReadRecent(fixture(name), rt)
		if err != nil {
			t.Fatal(err)
		}
		if rc.Turn != sum.Turn || rc.Usage.Tokens != sum.Usage.Tokens || rc.Usage.Stale != sum.Usage.Stale || rc.Usage.Offset != sum.Usage.Offset {
			t.Errorf("%s: turn %+v and %+v, usage %+v and %+v", name, rc.Turn, sum.Turn, rc.Usage, sum.Usage)
		}
		all, _ := readAll(t, fixture(name), rt, Options{})
		for _, n := range []int{1, 3, 7, 100} {
			last, complete, err := LastMessages(fixture(name), rt, n, Options{})
			want := all[max(len(all)-n, 0):]
			if err != nil || lines(last) != lines(want) || complete != (len(all) <= n) {
				t.Errorf("%s: last %d (complete %v, %v):\n%s\nwant\n%s", name, n, complete, err, lines(last), lines(want))
			}
		}
	}
}
