package transcript

import (
	"os"
	"strings"
	"testing"
)

func recentOf(t *testing.T, src string, rt Runtime) Recent {
	t.Helper()
	rc, err := ReadRecent(writeFile(t, t.TempDir(), "x.jsonl", src), rt)
	if err != nil {
		t.Fatal(err)
	}
	return rc
}

const (
	askRecord   = `{"type":"user","uuid":"1","timestamp":"2026-03-03T10:00:00.000Z","message":{"role":"user","content":"go"}}` + "\n"
	toolRecord  = `{"type":"assistant","uuid":"2","timestamp":"2026-03-03T10:00:05.000Z","message":{"model":"m1","content":[{"type":"tool_use","name":"Bash","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":10,"cache_read_input_tokens":90}}}` + "\n"
	resRecord   = `{"type":"user","uuid":"3","timestamp":"2026-03-03T10:00:06.000Z","message":{"content":[{"type":"tool_result","content":"ok"}]}}` + "\n"
	doneRecord  = `{"type":"assistant","uuid":"4","timestamp":"2026-03-03T10:00:09.000Z","message":{"model":"m1","content":"done","stop_reason":"end_turn","usage":{"input_tokens":10,"cache_read_input_tokens":190}}}` + "\n"
	stopRecord  = `{"type":"user","uuid":"5","timestamp":"2026-03-03T10:00:10.000Z","message":{"content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]}}` + "\n"
	sideRecord  = `{"type":"assistant","uuid":"6","isSidechain":true,"timestamp":"2026-03-03T10:00:11.000Z","message":{"content":"sub","stop_reason":"end_turn","usage":{"input_tokens":7}}}` + "\n"
	quietRecord = `{"type":"last-prompt","lastPrompt":"go"}` + "\n"
)

func TestClaudeTurnStates(t *testing.T) {
	tests := map[string]struct {
		src   string
		state TurnState
	}{
		"nothing yet":     {quietRecord, TurnUnknown},
		"prompt sent":     {askRecord + quietRecord, TurnOpen},
		"tool running":    {askRecord + toolRecord, TurnOpen},
		"tool answered":   {askRecord + toolRecord + resRecord, TurnOpen},
		"finished":        {askRecord + toolRecord + resRecord + doneRecord + quietRecord, TurnDone},
		"interrupted":     {askRecord + toolRecord + resRecord + stopRecord, TurnInterrupted},
		"sub-agent after": {askRecord + toolRecord + sideRecord, TurnOpen},
	}
	for name, tt := range tests {
		if rc := recentOf(t, tt.src, RuntimeClaude); rc.Turn.State != tt.state || !rc.Complete && rc.Usage == nil {
			t.Errorf("%s: %+v, want %s", name, rc.Turn, tt.state)
		}
		if _, sum := claudeString(t, tt.src, Options{}); sum.Turn.State != tt.state {
			t.Errorf("%s in the stream: %+v, want %s", name, sum.Turn, tt.state)
		}
	}
}

func TestClaudeRecentFacts(t *testing.T) {
	rc := recentOf(t, askRecord+toolRecord+resRecord+doneRecord+sideRecord+quietRecord, RuntimeClaude)
	if rc.Usage == nil || rc.Usage.Tokens != 200 || rc.Usage.Stale || rc.Model != "m1" {
		t.Errorf("usage %+v model %q", rc.Usage, rc.Model)
	}
	if !rc.LastReplyAt.Equal(at("2026-03-03T10:00:09Z")) || rc.AwaitingReply || rc.Compaction != nil {
		t.Errorf("reply at %v awaiting %v", rc.LastReplyAt, rc.AwaitingReply)
	}
	if rc = recentOf(t, "", RuntimeClaude); rc.Usage != nil || !rc.Complete || rc.Turn.State != TurnUnknown {
		t.Errorf("an empty file: %+v", rc)
	}
}

func codexEvent(payload string) string {
	return `{"timestamp":"2026-03-03T10:00:00.000Z","type":"event_msg","payload":` + payload + "}\n"
}

func TestCodexTurnStates(t *testing.T) {
	started := codexEvent(`{"type":"task_started","turn_id":"t1"}`)
	count := codexEvent(`{"type":"token_count","info":{"last_token_usage":{"input_tokens":5,"output_tokens":1},"model_context_window":100},"rate_limits":{"primary":{"used_percent":"42.5","window_minutes":300,"resets_at":1772539200}}}`)
	onlyLimits := codexEvent(`{"type":"token_count","info":null,"rate_limits":{"primary":{"used_percent":250}}}`)
	tests := map[string]struct {
		src  string
		want Turn
	}{
		"open":        {started + count, Turn{State: TurnOpen, ID: "t1"}},
		"done":        {started + count + codexEvent(`{"type":"task_complete","turn_id":"t1"}`), Turn{State: TurnDone, ID: "t1"}},
		"interrupted": {started + codexEvent(`{"type":"turn_aborted","turn_id":"t1","reason":"interrupted"}`), Turn{State: TurnInterrupted, ID: "t1"}},
		"limit":       {started + codexEvent(`{"type":"task_complete","turn_id":"t1","error":{"message":"no more","codex_error_info":"usage_limit_exceeded"}}`), Turn{State: TurnFailed, ID: "t1", Limit: true, ErrorCode: "usage_limit_exceeded", ErrorText: "no more"}},
		"error as an object": {
			started + codexEvent(`{"type":"task_complete","turn_id":"t1","error":{"codex_error_info":{"http_error":{"code":500}}}}`),
			Turn{State: TurnFailed, ID: "t1", ErrorCode: "http_error"},
		},
		"reopened": {started + codexEvent(`{"type":"task_complete","turn_id":"t1"}`) + codexEvent(`{"type":"task_started","turn_id":"t2"}`), Turn{State: TurnOpen, ID: "t2"}},
	}
	for name, tt := range tests {
		rc := recentOf(t, tt.src, RuntimeCodex)
		got := rc.Turn
		got.Since, got.Offset = tt.want.Since, 0
		if got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
	rc := recentOf(t, started+count+onlyLimits, RuntimeCodex)
	if rc.Usage == nil || rc.Usage.Tokens != 6 || rc.Usage.Window != 100 {
		t.Errorf("usage %+v", rc.Usage)
	}
	if len(rc.RateLimits) != 1 || rc.RateLimits[0].UsedPercent != 100 {
		t.Errorf("the newest limits, within 0 to 100: %+v", rc.RateLimits)
	}
	if rc = recentOf(t, started+count, RuntimeCodex); rc.RateLimits[0].UsedPercent != 42.5 || rc.RateLimits[0].ResetsAt.Unix() != 1_772_539_200 {
		t.Errorf("limits %+v", rc.RateLimits)
	}
}

func TestCodexUsageAfterCompaction(t *testing.T) {
	count := codexEvent(`{"type":"token_count","info":{"last_token_usage":{"total_tokens":9000,"output_tokens":9},"model_context_window":10000}}`)
	compacted := `{"timestamp":"2026-03-03T10:01:00.000Z","type":"compacted","payload":{"message":"short"}}` + "\n"
	estimate := codexEvent(`{"type":"token_count","info":{"last_token_usage":{"total_tokens":800,"output_tokens":0},"model_context_window":10000}}`)
	rc := recentOf(t, count+compacted, RuntimeCodex)
	if rc.Usage == nil || !rc.Usage.Stale || !rc.AwaitingReply {
		t.Errorf("before the estimate: %+v", rc.Usage)
	}
	rc = recentOf(t, count+compacted+estimate, RuntimeCodex)
	if rc.Usage == nil || rc.Usage.Stale || rc.Usage.Tokens != 800 {
		t.Errorf("with the estimate: %+v", rc.Usage)
	}
}

// A huge line at the end must not hide what stands before it, nor cost its size
// in memory.
func TestRecentLooksPastAHugeLine(t *testing.T) {
	src := askRecord + doneRecord + hugeRecord("look", 10<<20) + "\n"
	rc := recentOf(t, src, RuntimeClaude)
	if rc.Usage == nil || rc.Usage.Tokens != 200 || rc.Turn.State != TurnOpen {
		t.Errorf("usage %+v turn %+v", rc.Usage, rc.Turn)
	}
	path := writeFile(t, t.TempDir(), "x.jsonl", src)
	msgs, complete, err := LastMessages(path, RuntimeClaude, 10, Options{})
	if err != nil || !complete {
		t.Fatalf("complete %v, %v", complete, err)
	}
	wantLines(t, msgs, "operator: go", "assistant: done", "operator: look")
}

func TestRecentGivesUpHonestly(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "big")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(askRecord + doneRecord); err != nil {
		t.Fatal(err)
	}
	chunk := strings.Repeat(quietRecord, 1<<20/len(quietRecord))
	for range 40 {
		if _, err := f.WriteString(chunk); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	rc, err := ReadRecent(f.Name(), RuntimeClaude)
	if err != nil || rc.Usage != nil || rc.Complete || rc.Scanned > 1<<20 {
		t.Errorf("%+v, %v", rc, err)
	}
}

func TestRecentSeesAFileThatShrinks(t *testing.T) {
	r := strings.NewReader(doneRecord)
	if _, err := RecentFrom(r, int64(len(doneRecord))+100, RuntimeClaude); err == nil {
		t.Error("the missing bytes were not noticed")
	}
}
