package runtimes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rig/engine"
)

// B34, and the same failure as the present client shows it.
func TestCompactErrorOnThePane(t *testing.T) {
	for path, want := range map[string]string{
		filepath.Join(cases, "B34-compact-too-long.pane.txt"):      "Conversation too long",
		filepath.Join(fixtures, "claude-pane-compact-failed.txt"):  "mock compaction failure",
		filepath.Join(fixtures, "claude-pane-compacted.txt"):       "",
		filepath.Join(fixtures, "claude-pane-compacting.txt"):      "",
		filepath.Join(fixtures, "claude-pane-idle-after-turn.txt"): "",
		filepath.Join(fixtures, "claude-pane-api-error.txt"):       "",
	} {
		got := compactError(strings.Split(readFile(t, path), "\n"), "")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q", path, got)
		}
	}
	full := []string{"❯ /compact [c1] x", "  ⎿  Compaction failed · conversation could not be reduced below the context limit", "", "❯ "}
	if got := compactError(full, "[c1]"); !strings.Contains(got, "could not be reduced") {
		t.Errorf("got %q", got)
	}
	old := []string{"❯ /compact [c1] x", "  ⎿  Error during compaction: too long", "", "❯ /compact [c2] x"}
	if got := compactError(old, "[c2]"); got != "" {
		t.Errorf("an older attempt's error counts: %q", got)
	}
	if got := compactError(append(old, "  ⎿  Error during compaction: again"), "[c2]"); !strings.Contains(got, "again") {
		t.Errorf("got %q", got)
	}
	if got := compactError(append(old[:2:2], "❯ go on", "● done"), ""); strings.Contains(got, "again") {
		t.Errorf("got %q", got)
	}
}

// The proof is a boundary past the attempt's offset, never an older one, and a
// failure beats it.
func TestCompactionSince(t *testing.T) {
	const id = id1
	home := t.TempDir()
	path := filepath.Join(home, ".claude", "projects", "-p", id+".jsonl")
	boundary := `{"parentUuid":null,"isSidechain":false,"type":"system","subtype":"compact_boundary","content":"Conversation compacted","sessionId":"` + id + `","uuid":"5eed0000-0000-4000-8000-0000000000b1","timestamp":"2026-03-03T10:00:00.000Z","compactMetadata":{"trigger":"manual","preTokens":900000,"postTokens":4000}}` + "\n"
	said := func(role, uuid, text string) string {
		body := `"role":"` + role + `","content":"` + text + `"`
		if role == "assistant" {
			body = `"role":"assistant","id":"m` + uuid + `","type":"message","model":"m","content":[{"type":"text","text":"` + text + `"}],"usage":{"input_tokens":5}`
		}
		return `{"type":"` + role + `","sessionId":"` + id + `","uuid":"5eed0000-0000-4000-8000-0000000000` + uuid + `","timestamp":"2026-03-03T10:01:00.000Z","message":{` + body + "}}\n"
	}
	write(t, path, said("user", "01", "hello")+boundary)
	now := time.Now()
	p := engine.Probe{
		Address: "dev-impl@shop", Seat: engine.Seat{Cwd: "/p"}, Now: now,
		Session: engine.Session{ID: "S1", Generation: 1, Token: engine.NewResumeToken(id), Homes: engine.Homes{Home: home, ClaudeDir: filepath.Join(home, ".claude")}},
	}
	rt := NewClaude(testConfig(t))
	m, err := rt.CompactionMark(t.Context(), p)
	if err != nil || m.Path != path {
		t.Fatalf("%+v %v", m, err)
	}
	if got := rt.CompactionSince(t.Context(), p, m); got.State != engine.CompactionPending {
		t.Errorf("an old boundary proves nothing: %+v", got)
	}
	post := engine.HookSignal{Event: "PostCompact", At: now.Add(time.Second), Payload: []byte(`{"session_id":"` + id + `","trigger":"manual"}`)}
	p.Signals.Hooks = []engine.HookSignal{post}
	if got := rt.CompactionSince(t.Context(), p, m); got.State != engine.CompactionDone || got.Source != "hook" {
		t.Errorf("PostCompact: %+v", got)
	}
	write(t, path, readFile(t, path)+boundary+said("user", "02", "restore [mark] now")+said("assistant", "03", "restored; next owner: dev-qa@shop"))
	if got := rt.CompactionSince(t.Context(), p, m); got.State != engine.CompactionDone || got.Source != "transcript" || got.PreTokens != 900_000 {
		t.Errorf("boundary: %+v", got)
	}
	if asked, text := rt.AnswerTo(t.Context(), p, m, "[mark]"); !asked || !strings.Contains(text, "next owner") {
		t.Errorf("answer %q %v", text, asked)
	}
	if asked, text := rt.AnswerTo(t.Context(), p, m, "[other]"); asked || text != "" {
		t.Errorf("answer to nothing: %v %q", asked, text)
	}
	fail := engine.HookSignal{Event: "StopFailure", At: now.Add(2 * time.Second), Payload: []byte(`{"session_id":"` + id + `","error":"unknown","last_assistant_message":"too long"}`)}
	p.Signals.Hooks = []engine.HookSignal{post, fail}
	if got := rt.CompactionSince(t.Context(), p, m); got.State != engine.CompactionFailed || !strings.Contains(got.Why, "too long") {
		t.Errorf("StopFailure does not beat it: %+v", got)
	}
	// Without any hook, the client's own record of a command that it gave up; one
	// of another attempt does not count.
	p.Signals.Hooks, m.Tag = nil, "[c9]"
	gaveUp := func(tag string) string {
		return `{"type":"system","subtype":"local_command","content":"<local-command-stderr>Compaction failed · no room</local-command-stderr>","timestamp":"2026-03-03T10:02:00.000Z",` +
			`"commandRun":{"command":"compact","args":"` + tag + ` keep"},"commandOutcome":{"kind":"failed"}}` + "\n"
	}
	write(t, path, said("user", "01", "hello")+boundary+gaveUp("[c8]"))
	if got := rt.CompactionSince(t.Context(), p, m); got.State != engine.CompactionPending {
		t.Errorf("another attempt's failure counts: %+v", got)
	}
	write(t, path, readFile(t, path)+gaveUp("[c9]"))
	if got := rt.CompactionSince(t.Context(), p, m); got.State != engine.CompactionFailed || got.Source != "transcript" || got.Why != "Compaction failed · no room" {
		t.Errorf("the client's record: %+v", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := NewClaude(testConfig(t)).CompactionMark(t.Context(), p); engine.CodeOf(err) != engine.CodeUnavailable {
		t.Errorf("no transcript: %v", err)
	}
}

// TestCompactionSinceAClockThatWasSetBack: which reports came before the attempt, and which since, is told by their order in the spool.
// A failure of an earlier turn is dated after the attempt then, and its proof before it.
func TestCompactionSinceAClockThatWasSetBack(t *testing.T) {
	home, spool := t.TempDir(), t.TempDir()
	if err := os.Chmod(spool, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(home, ".claude", "projects", "-p", id1+".jsonl"), `{"type":"user","sessionId":"`+id1+`","uuid":"5eed0000-0000-4000-8000-000000000001","timestamp":"2026-03-03T10:01:00.000Z","message":{"role":"user","content":"hello"}}`+"\n")
	was := time.Now()
	report := func(event, body string, at time.Time) {
		t.Helper()
		if err := spoolEvent(spool, event, []byte(`{"session_id":"`+id1+`",`+body+`}`), at); err != nil {
			t.Fatal(err)
		}
	}
	look := func(now time.Time) engine.Probe {
		t.Helper()
		c, err := readSpool(spool, spoolCache{})
		if err != nil {
			t.Fatal(err)
		}
		return engine.Probe{
			Address: "dev-impl@shop", Seat: engine.Seat{Cwd: "/p"}, Now: now, Signals: c.signals,
			Session: engine.Session{ID: "S1", Generation: 1, Token: engine.NewResumeToken(id1), Homes: engine.Homes{Home: home, ClaudeDir: filepath.Join(home, ".claude")}},
		}
	}
	rt := NewClaude(testConfig(t))
	report("StopFailure", `"last_assistant_message":"overloaded"`, was)
	back := was.Add(-time.Hour)
	m, err := rt.CompactionMark(t.Context(), look(back))
	if err != nil {
		t.Fatal(err)
	}
	if got := rt.CompactionSince(t.Context(), look(back), m); got.State != engine.CompactionPending {
		t.Errorf("an older failure counts: %+v", got)
	}
	report("PostCompact", `"trigger":"manual"`, back.Add(time.Second))
	if got := rt.CompactionSince(t.Context(), look(back), m); got.State != engine.CompactionDone || got.Source != "hook" {
		t.Errorf("its own proof does not: %+v", got)
	}
	report("StopFailure", `"last_assistant_message":"too long"`, back.Add(2*time.Second))
	m.At = was.Add(time.Hour) // and a clock that was ahead at the attempt
	if got := rt.CompactionSince(t.Context(), look(back), m); got.State != engine.CompactionFailed || !strings.Contains(got.Why, "too long") {
		t.Errorf("its own failure does not: %+v", got)
	}
}

func TestACompactionKnowsItsPodAndMember(t *testing.T) {
	c, _ := compactionOf(hookPayload{}, []string{"RIG_SEAT=my-team-impl@shop", engine.EnvPod + "=my-team", engine.EnvMember + "=impl"}, time.Now())
	if c.Pod != "my-team" || c.Member != "impl" {
		t.Errorf("%+v", c)
	}
}
