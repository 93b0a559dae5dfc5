package runtimes

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rig/engine"
)

func TestHookLeavesOneFileAnEvent(t *testing.T) {
	f := NewFiles(t.TempDir(), self(t), self(t))
	if _, err := f.WriteLaunch("S1", launchFile()); err != nil {
		t.Fatal(err)
	}
	env := []string{SpoolEnv + "=" + f.SpoolDir("S1")}
	rows := strings.Split(strings.TrimSpace(readFile(t, filepath.Join(fixtures, "claude-hooks-stdin.jsonl"))), "\n")
	var names []string
	for _, row := range rows {
		var ev struct {
			Event string `json:"hook_event_name"`
		}
		if err := json.Unmarshal([]byte(row), &ev); err != nil {
			t.Fatal(err)
		}
		names = append(names, ev.Event)
		if code := Hook(strings.NewReader(row), nil, env, []string{ev.Event}, nil); code != 0 {
			t.Errorf("%s: status %d", ev.Event, code)
		}
	}
	stored, err := eventNames(f.SpoolDir("S1"))
	if err != nil || len(stored) != len(rows) {
		t.Fatalf("%d events of %d: %v", len(stored), len(rows), err)
	}
	s, err := f.Signals("S1")
	if err != nil || len(s.Hooks) != spoolRead {
		t.Fatalf("%d events: %v", len(s.Hooks), err)
	}
	names = names[len(names)-spoolRead:]
	for i, h := range s.Hooks {
		if h.Event != names[i] || !json.Valid(h.Payload) || !strings.Contains(string(h.Payload), `"session_id":`) || i > 0 && !h.At.After(s.Hooks[i-1].At) {
			t.Errorf("event %d: %s %s", i, h.Event, h.Payload)
		}
	}
}

func TestHookIsHarmless(t *testing.T) {
	f := NewFiles(t.TempDir(), self(t), self(t))
	if _, err := f.WriteLaunch("S1", launchFile()); err != nil {
		t.Fatal(err)
	}
	spool := f.SpoolDir("S1")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(spool, link); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env, args []string
	}{
		"no spool":       {nil, []string{"Stop"}},
		"spool is gone":  {[]string{SpoolEnv + "=/nowhere/at/all"}, []string{"Stop"}},
		"relative":       {[]string{SpoolEnv + "=."}, []string{"Stop"}},
		"a link":         {[]string{SpoolEnv + "=" + link}, []string{"Stop"}},
		"no event":       {[]string{SpoolEnv + "=" + spool}, nil},
		"path as event":  {[]string{SpoolEnv + "=" + spool}, []string{"../../x"}},
		"two events":     {[]string{SpoolEnv + "=" + spool}, []string{"Stop", "Stop"}},
		"blank in event": {[]string{SpoolEnv + "=" + spool}, []string{"St op"}},
	} {
		if code := Hook(strings.NewReader("{}"), nil, c.env, c.args, nil); code != 0 {
			t.Errorf("%s: status %d", name, code)
		}
	}
	if s, err := f.Signals("S1"); err != nil || len(s.Hooks) != 0 {
		t.Errorf("something was stored: %+v %v", s, err)
	}
}

func TestEventsAreBounded(t *testing.T) {
	big := `{"session_id":"` + id1 + `","prompt":"` + strings.Repeat("é", 1<<20) + `","tool_input":{"content":"` + strings.Repeat("x", 1<<20) + `"}}`
	b := reduceEvent("UserPromptSubmit", []byte(big))
	if len(b) > maxEventFile || !json.Valid(b) || !strings.Contains(string(b), id1) || strings.Contains(string(b), "tool_input") {
		t.Errorf("%d bytes: %.200s", len(b), b)
	}
	for _, in := range []string{"", "[]", "null", "{", "\xff", strings.Repeat("[", 100_000)} {
		if b := reduceEvent("Stop", []byte(in)); !json.Valid(b) || !strings.Contains(string(b), "unreadable") {
			t.Errorf("%.20q: %s", in, b)
		}
	}
	var many strings.Builder
	many.WriteString(`{"session_id":"` + id1 + `"`)
	for i := range 5000 {
		fmt.Fprintf(&many, `,"k%d":"%s"`, i, strings.Repeat("v", 100))
	}
	many.WriteString("}")
	if b := reduceEvent("Stop", []byte(many.String())); len(b) > maxEventFile || !json.Valid(b) {
		t.Errorf("%d bytes", len(b))
	}
}

func TestSpoolIsPrunedAndOrdered(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1_700_000_000, 0)
	for i := range spoolPrune + 20 {
		when := at.Add(time.Duration(i) * time.Millisecond)
		if i%7 == 0 {
			when = when.Add(-time.Minute) // the clock was set back
		}
		if err := spoolEvent(dir, "Stop", []byte(fmt.Sprintf(`{"n":%d}`, i)), when); err != nil {
			t.Fatal(err)
		}
	}
	names, err := eventNames(dir)
	if err != nil || len(names) > spoolPrune || len(names) < spoolKeep {
		t.Fatalf("%d files, %v", len(names), err)
	}
	got, err := readSpool(dir, spoolCache{})
	if err != nil || len(got.signals.Hooks) != spoolRead {
		t.Fatalf("%d events, %v", len(got.signals.Hooks), err)
	}
	for i, h := range got.signals.Hooks {
		if want := fmt.Sprintf(`{"n":%d}`, spoolPrune+20-spoolRead+i); string(h.Payload) != want {
			t.Errorf("place %d: %s, want %s", i, h.Payload, want)
		}
	}
}

// TestTheOrderOfEventsSurvivesAnyClock: an event that came while the clock was years ahead is not the newest for years, and nothing is
// dated in the future once the clock is right.
func TestTheOrderOfEventsSurvivesAnyClock(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for i, when := range []time.Time{now, now.AddDate(3, 0, 0), now, now.Add(time.Millisecond)} {
		if err := spoolEvent(dir, []string{"SessionStart", "StopFailure", "UserPromptSubmit", "Stop"}[i], []byte(`{}`), when); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readSpool(dir, spoolCache{})
	if err != nil || len(got.signals.Hooks) != 4 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, h := range got.signals.Hooks {
		if want := []string{"SessionStart", "StopFailure", "UserPromptSubmit", "Stop"}[i]; h.Event != want || time.Until(h.At) > time.Minute {
			t.Errorf("place %d: %s at %s, want %s", i, h.Event, h.At, want)
		}
	}
	if r, ok := hookReading(newHookMemo().of(engine.Probe{Signals: got.signals}, "")); !ok || r.State != engine.ActivityIdle {
		t.Errorf("read as %+v", r)
	}
}

// Many hooks at once, each a process of its own: no event is lost or half.
func TestHooksInParallel(t *testing.T) {
	f := NewFiles(t.TempDir(), self(t), self(t))
	if _, err := f.WriteLaunch("S1", launchFile()); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	const n = 24
	for i := range n {
		wg.Go(func() {
			cmd := exec.Command(self(t), HookVerb, "Stop")
			cmd.Env = []string{SpoolEnv + "=" + f.SpoolDir("S1")}
			cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"n":%d,"text":"%s"}`, i, strings.Repeat("x", 4000)))
			if out, err := cmd.CombinedOutput(); err != nil || len(out) != 0 {
				t.Errorf("hook: %v %q", err, out)
			}
		})
	}
	wg.Wait()
	s, err := f.Signals("S1")
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range s.Hooks {
		if !json.Valid(h.Payload) {
			t.Errorf("half an event: %.60s", h.Payload)
		}
	}
	if len(s.Hooks) != n {
		t.Errorf("%d events of %d", len(s.Hooks), n)
	}
}

func TestStatusLineSamplesAndRunsTheUsers(t *testing.T) {
	root := t.TempDir()
	f := NewFiles(filepath.Join(root, "rig"), self(t), self(t))
	if _, err := f.WriteLaunch("S1", launchFile()); err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(root, "project")
	report := strings.ReplaceAll(readFile(t, filepath.Join(fixtures, "claude-statusline-full-45pct.json")), "/home/op/project\",\n  \"added_dirs", project+"\",\n  \"added_dirs")
	env := []string{"HOME=" + root, "PATH=/usr/bin:/bin", SpoolEnv + "=" + f.SpoolDir("S1")}
	run := func() string {
		t.Helper()
		var out strings.Builder
		if code := StatusLine(strings.NewReader(report), &out, env); code != 0 {
			t.Errorf("status %d", code)
		}
		return out.String()
	}
	if out := run(); out != "" {
		t.Errorf("no status line of the user's: %q", out)
	}
	s, err := f.Signals("S1")
	if err != nil || string(s.StatusLine) != report || s.StatusAt.IsZero() {
		t.Errorf("sample: %.40s %v", s.StatusLine, err)
	}
	write(t, filepath.Join(root, ".claude", "settings.json"), "\ufeff{ // mine\n\"statusLine\": {\"type\":\"command\",\"command\":\"grep -c session_id; echo user\",},}")
	if out := run(); out != "1\nuser\n" {
		t.Errorf("the user's, with the same input: %q", out)
	}
	write(t, filepath.Join(project, ".claude", "settings.local.json"), `{"statusLine":{"type":"command","command":"`+self(t)+` statusline; printf local"}}`)
	if out := run(); out != "local" {
		t.Errorf("the project's wins, and ours inside it does nothing: %q", out)
	}
	write(t, filepath.Join(project, ".claude", "settings.local.json"), `{"statusLine":{"type":"command","command":"printf half; exit 3"}}`)
	if out := run(); out != "half" {
		t.Errorf("one that fails: %q", out)
	}
}

func FuzzHookInput(f *testing.F) {
	f.Add([]byte(`{"session_id":"x","prompt":"p","tool_input":{"a":[1]}}`))
	f.Add([]byte(`{"a":"\ud800"}`))
	f.Add([]byte(`{`))
	f.Fuzz(func(t *testing.T, b []byte) {
		out := reduceEvent("Stop", b)
		if !json.Valid(out) || len(out) > maxEventFile {
			t.Errorf("%q gives %q", b, out)
		}
		p := engine.Probe{Signals: engine.Signals{Hooks: []engine.HookSignal{{Event: "Stop", Payload: b}, {Event: "SessionStart", Payload: out}}}}
		hookReading(newHookMemo().of(p, ""))
	})
}

func FuzzSettings(f *testing.F) {
	f.Add([]byte(readFile(f, filepath.Join(cases, "B69-claude-settings.json"))))
	f.Add([]byte(`{"a":"// no /* comment","b":1,}`))
	f.Add([]byte(`/*`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if json.Valid(b) && !json.Valid(plainJSON(b)) {
			t.Errorf("valid JSON was broken: %q", b)
		}
	})
}
