package runtimes

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rig/engine"
)

func hook(event string, at time.Time, fields map[string]string) engine.HookSignal {
	b, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return engine.HookSignal{Event: event, At: at, Payload: b}
}

func claudeDir(p engine.Probe) string { return p.Session.Homes.ClaudeDir }

func TestClaudeRegistryGivesStateAndID(t *testing.T) {
	for _, c := range []struct {
		fixture string
		state   engine.ActivityState
		code    engine.Code
	}{
		{"claude-session-registry-idle.json", engine.ActivityIdle, ""},
		{"claude-session-registry-busy.json", engine.ActivityBusy, ""},
		{"claude-session-registry-waiting.json", engine.ActivityWaiting, CodePermissionPrompt},
	} {
		t.Run(c.fixture, func(t *testing.T) {
			p := claudeProbe(t, t.TempDir())
			registryFile(t, claudeDir(p), c.fixture, p.Run.PID, p.Run.PIDStart, id1)
			before := treeSum(t, claudeDir(p))
			rt := NewClaude(testConfig(t))
			a := rt.Activity(t.Context(), p)
			if a.State != c.state || a.Code != c.code || a.Source != "registry" || a.Confidence != engine.ConfidenceHigh {
				t.Errorf("activity %+v", a)
			}
			id := rt.Identify(t.Context(), p)
			if !id.Proven || id.Token.Reveal() != id1 || id.PID != p.Run.PID {
				t.Errorf("identity %+v", id)
			}
			p.Session.Token = engine.NewResumeToken(id1)
			if r := rt.Ready(t.Context(), p); r.State != engine.ReadyYes || r.Evidence["session"] != nil {
				t.Errorf("ready %+v", r)
			}
			if treeSum(t, claudeDir(p)) != before {
				t.Error("the client's folder was written to")
			}
		})
	}
}

func TestStaleRegistryIsNoEvidence(t *testing.T) {
	p := claudeProbe(t, t.TempDir())
	rt := NewClaude(testConfig(t))
	registryFile(t, claudeDir(p), "claude-session-registry-idle.json", p.Run.PID, "77", id1)
	if a := rt.Activity(t.Context(), p); a.State != engine.ActivityUnknown {
		t.Errorf("another start time: %+v", a)
	}
	if id := rt.Identify(t.Context(), p); !id.Token.Empty() || id.Proven {
		t.Errorf("identity from a stale file: %+v", id)
	}
	if r := rt.Ready(t.Context(), p); r.State != engine.ReadyStarting {
		t.Errorf("ready from a stale file: %+v", r)
	}
}

// The registry follows /clear: the same process goes on under a new id.
func TestIdentifyFollowsClear(t *testing.T) {
	p := claudeProbe(t, t.TempDir())
	rt := NewClaude(testConfig(t))
	path := registryFile(t, claudeDir(p), "claude-session-registry-idle.json", p.Run.PID, p.Run.PIDStart, id1)
	if id := rt.Identify(t.Context(), p); id.Token.Reveal() != id1 {
		t.Fatalf("before: %+v", id)
	}
	write(t, path, strings.ReplaceAll(readFile(t, path), id1, id2))
	if id := rt.Identify(t.Context(), p); id.Token.Reveal() != id2 || !id.Proven {
		t.Errorf("after: %+v", id)
	}
}

// A half-written registry file leaves the last good reading standing.
func TestHalfWrittenRegistry(t *testing.T) {
	p := claudeProbe(t, t.TempDir())
	rt := NewClaude(testConfig(t))
	path := registryFile(t, claudeDir(p), "claude-session-registry-busy.json", p.Run.PID, p.Run.PIDStart, id1)
	if a := rt.Activity(t.Context(), p); a.State != engine.ActivityBusy {
		t.Fatalf("before: %+v", a)
	}
	write(t, path, readFile(t, path)[:90])
	if a := rt.Activity(t.Context(), p); a.State != engine.ActivityBusy {
		t.Errorf("half a file: %+v", a)
	}
}

func TestClientBehindAWrapperIsFound(t *testing.T) {
	p := claudeProbe(t, t.TempDir())
	wrapper := process(t, "sh", "-c", "sleep 600 & wait")
	p.Run.PID, p.Run.PIDStart = wrapper.Process.Pid, started(t, wrapper.Process.Pid)
	var child Process
	until(t, "the wrapper's child", func() bool {
		tree, err := NewProcesses().Tree(wrapper.Process.Pid)
		if err != nil || len(tree) != 2 || tree[1].Comm != "sleep" {
			return false
		}
		child = tree[1]
		return true
	})
	registryFile(t, claudeDir(p), "claude-session-registry-idle.json", child.PID, child.Start, id1)
	rt := NewClaude(testConfig(t))
	if id := rt.Identify(t.Context(), p); !id.Proven || id.PID != child.PID {
		t.Errorf("identity %+v", id)
	}
}

// B38: two seats in one directory keep their own ids, whatever files around them
// are newer.
func TestTwoSeatsInOneDirectory(t *testing.T) {
	home := t.TempDir()
	a, b := claudeProbe(t, home), claudeProbe(t, home)
	registryFile(t, claudeDir(a), "claude-session-registry-idle.json", a.Run.PID, a.Run.PIDStart, id1)
	registryFile(t, claudeDir(b), "claude-session-registry-idle.json", b.Run.PID, b.Run.PIDStart, id2)
	write(t, filepath.Join(claudeDir(a), "projects", "-home-op-project", "33333333-3333-4333-8333-333333333333.jsonl"), "{}\n")
	rt := NewClaude(testConfig(t))
	if got := rt.Identify(t.Context(), a).Token.Reveal(); got != id1 {
		t.Errorf("first seat: %s", got)
	}
	if got := rt.Identify(t.Context(), b).Token.Reveal(); got != id2 {
		t.Errorf("second seat: %s", got)
	}
}

// B37: an id equal to the fork's parent is never the new seat's.
func TestForkNeverTakesItsParentsID(t *testing.T) {
	parent := "5e550037-0000-4000-8000-00000000a037"
	child := "5e550097-0000-4000-8000-00000000a097"
	p := claudeProbe(t, t.TempDir())
	p.Parent = engine.NewParentToken(parent)
	rt := NewClaude(testConfig(t))
	p.Signals.Hooks = []engine.HookSignal{{Event: "SessionStart", At: p.Now, Payload: []byte(readFile(t, filepath.Join(cases, "B37-hook-parent-id.json")))}}
	if id := rt.Identify(t.Context(), p); !id.Token.Empty() || id.Proven {
		t.Fatalf("the parent's id from the hook: %+v", id)
	}
	path := registryFile(t, claudeDir(p), "claude-session-registry-idle.json", p.Run.PID, p.Run.PIDStart, strings.ToUpper(parent))
	if id := rt.Identify(t.Context(), p); !id.Token.Empty() || id.Code != "awaiting_new_id" {
		t.Fatalf("the parent's id from the registry: %+v", id)
	}
	if r := rt.Ready(t.Context(), p); r.State != engine.ReadyStarting {
		t.Errorf("ready as its own parent: %+v", r)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	p.Signals.Hooks = append(p.Signals.Hooks, hook("SessionStart", p.Now, map[string]string{"session_id": child, "source": "fork"}))
	if id := rt.Identify(t.Context(), p); id.Token.Reveal() != child || id.Proven {
		t.Errorf("a hook alone names it but proves nothing: %+v", id)
	}
	p.Session.Token = engine.NewResumeToken(child)
	if id := rt.Identify(t.Context(), p); id.Token.Reveal() != child || !id.Proven {
		t.Errorf("a hook with the id that was chosen: %+v", id)
	}
	registryFile(t, claudeDir(p), "claude-session-registry-idle.json", p.Run.PID, p.Run.PIDStart, child)
	if id := rt.Identify(t.Context(), p); id.Token.Reveal() != child || !id.Proven {
		t.Errorf("the registry: %+v", id)
	}
}

func TestClaudeReadiness(t *testing.T) {
	rt := NewClaude(testConfig(t))
	home := t.TempDir()
	for _, c := range []struct {
		screen string
		exited bool
		state  engine.ReadyState
		code   engine.Code
	}{
		{"claude-pane-trust-dialog.txt", false, engine.ReadyGate, CodeTrustGate},
		{"claude-2.1.197-pane-trust-dialog.txt", false, engine.ReadyGate, CodeTrustGate},
		{"claude-pane-bypass-dialog.txt", false, engine.ReadyGate, CodeBypassGate},
		{"claude-pane-apikey-dialog.txt", false, engine.ReadyGate, CodeAPIKeyGate},
		{"claude-pane-settings-error.txt", false, engine.ReadyGate, CodeSettingsError},
		{"claude-pane-resume-picker-no-match.txt", false, engine.ReadyGate, CodeResumePicker},
		{"../cases/B45-resume-summary.pane.txt", false, engine.ReadyGate, CodeResumeSelection},
		{"claude-pane-resume-wrong-id.txt", true, engine.ReadyFailed, CodeNoConversation},
		{"claude-pane-onboarding-offline.txt", true, engine.ReadyFailed, CodeUnreachable},
		{"claude-pane-after-exit.txt", true, engine.ReadyFailed, CodeClientExited},
		{"claude-pane-idle-fresh.txt", false, engine.ReadyYes, ""},
	} {
		t.Run(c.screen, func(t *testing.T) {
			p := claudeProbe(t, home)
			p.Screen = engine.Screen{Lines: pane(t, fixtures, c.screen)}
			p.Run.Exited, p.Run.ExitCode = c.exited, 1
			r := rt.Ready(t.Context(), p)
			if r.State != c.state || r.Code != c.code || r.Why == "" {
				t.Fatalf("got %+v", r)
			}
			if c.state == engine.ReadyGate || c.state == engine.ReadyFailed {
				ev := strings.Join(r.Evidence["pane"].([]string), "\n")
				if ev == "" || strings.Contains(ev, "0000-0000000000e4") {
					t.Errorf("evidence %q", ev)
				}
			}
			if c.exited && r.Evidence["exit_code"] != 1 {
				t.Errorf("no exit code: %+v", r)
			}
		})
	}
	p := claudeProbe(t, home)
	p.Screen = engine.Screen{Lines: pane(t, cases, "B45-resume-summary.pane.txt")}
	ev := strings.Join(rt.Ready(t.Context(), p).Evidence["pane"].([]string), "\n")
	for _, option := range []string{"Resume from summary", "Resume full session as-is", "Don't ask me again"} {
		if !strings.Contains(ev, option) {
			t.Errorf("the evidence lacks %q: %q", option, ev)
		}
	}
}

func TestNotStartedClientFails(t *testing.T) {
	for _, rt := range All(testConfig(t)) {
		p := engine.Probe{RunKnown: true, Run: engine.RunState{Exited: true, ExitCode: 127, Error: "claude: executable file not found in $PATH"}}
		if r := rt.Ready(t.Context(), p); r.State != engine.ReadyFailed || r.Code != CodeClientNotStarted || !strings.Contains(r.Why, "not found") {
			t.Errorf("%s: %+v", rt.Name(), r)
		}
		if a := rt.Activity(t.Context(), p); a.State != engine.ActivityExited {
			t.Errorf("%s: %+v", rt.Name(), a)
		}
	}
}

func TestClaudeLimitBehindAnIdleRegistry(t *testing.T) {
	home := t.TempDir()
	p := claudeProbe(t, home)
	registryFile(t, claudeDir(p), "claude-session-registry-idle.json", p.Run.PID, p.Run.PIDStart, id1)
	rt := NewClaude(testConfig(t))

	byPane := p
	byPane.Screen = engine.Screen{Lines: pane(t, fixtures, "claude-pane-usage-limit.txt")}
	a := rt.Activity(t.Context(), byPane)
	if a.State != engine.ActivityLimit || a.Source != "pane" || !strings.Contains(a.Why, "1:35pm") || len(a.Competing) == 0 {
		t.Errorf("by the pane: %+v", a)
	}

	byHook := p
	byHook.Signals.Hooks = []engine.HookSignal{
		hook("UserPromptSubmit", p.Now.Add(-time.Minute), map[string]string{"session_id": id1}),
		hook("StopFailure", p.Now.Add(-50*time.Second), map[string]string{
			"session_id": id1, "error": "rate_limit", "last_assistant_message": "You've hit your 5-hour limit · resets 1:35pm (UTC)",
		}),
	}
	if a := rt.Activity(t.Context(), byHook); a.State != engine.ActivityLimit || a.Source != "hook" || a.Code != CodeUsageLimit {
		t.Errorf("by the hook: %+v", a)
	}
	byHook.Signals.Hooks = append(byHook.Signals.Hooks, hook("UserPromptSubmit", p.Now, map[string]string{"session_id": id1}),
		hook("Stop", p.Now, map[string]string{"session_id": id1}))
	if a := rt.Activity(t.Context(), byHook); a.State != engine.ActivityIdle {
		t.Errorf("a later turn ends it: %+v", a)
	}

	record := strings.ReplaceAll(readFile(t, filepath.Join(fixtures, "claude-transcript-usage-limit-record.jsonl")), "\n", "") + "\n"
	write(t, filepath.Join(claudeDir(p), "projects", "-home-op-project", id1+".jsonl"), record)
	resets := time.Unix(1768484118, 0)
	p.Now = resets.Add(-time.Hour)
	if a := rt.Activity(t.Context(), p); a.State != engine.ActivityLimit || a.Source != "transcript" || !a.Wake.Equal(resets) {
		t.Errorf("by the transcript: %+v", a)
	}
	p.Now = resets.Add(time.Hour)
	if a := rt.Activity(t.Context(), p); a.State != engine.ActivityIdle || a.Confidence != engine.ConfidenceLow {
		t.Errorf("after the reset: %+v", a)
	}
}

// Claude Code reports a prompt before its registry says busy: 40 to 60 ms, and seconds on
// a loaded machine (observed). A seat in between is not at rest.
func TestClaudeHasTakenAPromptThatItsRegistryDoesNotKnowYet(t *testing.T) {
	p := claudeProbe(t, t.TempDir())
	registryFile(t, claudeDir(p), "claude-session-registry-idle.json", p.Run.PID, p.Run.PIDStart, id1)
	idle := time.UnixMilli(1768481843783).UTC() // the fixture's statusUpdatedAt
	p.Started = idle.Add(-time.Minute)
	rt := NewClaude(testConfig(t))
	of := map[string]string{"session_id": id1}
	at := func(now time.Time, hooks ...engine.HookSignal) engine.Activity {
		p.Now, p.Signals.Hooks = now, hooks
		return rt.Activity(t.Context(), p)
	}
	prompted := hook("UserPromptSubmit", idle.Add(time.Second), of)
	a := at(idle.Add(2*time.Second), prompted)
	if a.State != engine.ActivityBusy || a.Source != "hook" || !a.Wake.Equal(prompted.At.Add(promptGap)) || len(a.Competing) == 0 || a.Competing[0].State != engine.ActivityIdle {
		t.Errorf("a prompt after the status: %+v", a)
	}
	if a := at(prompted.At.Add(promptGap+time.Millisecond), prompted); a.State != engine.ActivityIdle || !a.Wake.IsZero() {
		t.Errorf("a prompt that became no turn: %+v", a)
	}
	if a := at(idle.Add(2*time.Second), hook("UserPromptSubmit", idle.Add(-time.Second), of)); a.State != engine.ActivityIdle {
		t.Errorf("a prompt before the status: %+v", a)
	}
	if a := at(idle.Add(2*time.Second), prompted, hook("Stop", idle.Add(1500*time.Millisecond), of)); a.State != engine.ActivityIdle {
		t.Errorf("its turn has ended: %+v", a)
	}
	if a := at(idle.Add(-time.Hour), prompted); a.State != engine.ActivityIdle {
		t.Errorf("a report from the future: %+v", a)
	}
}

func TestClaudeBusyKinds(t *testing.T) {
	p := claudeProbe(t, t.TempDir())
	registryFile(t, claudeDir(p), "claude-session-registry-busy.json", p.Run.PID, p.Run.PIDStart, id1)
	rt := NewClaude(testConfig(t))
	for screen, code := range map[string]engine.Code{
		"claude-pane-retrying.txt": CodeRetrying, "claude-pane-compacting.txt": CodeCompacting, "claude-pane-busy.txt": "",
	} {
		p.Screen = engine.Screen{Lines: pane(t, fixtures, screen)}
		if a := rt.Activity(t.Context(), p); a.State != engine.ActivityBusy || a.Code != code || a.Source != "registry" {
			t.Errorf("%s: %+v", screen, a)
		}
	}
	// Without a registry file the screen decides.
	other := claudeProbe(t, t.TempDir())
	other.Screen = engine.Screen{Lines: pane(t, fixtures, "claude-pane-busy.txt")}
	if a := rt.Activity(t.Context(), other); a.State != engine.ActivityBusy || a.Source != "pane" {
		t.Errorf("by the pane alone: %+v", a)
	}
	other.Screen = engine.Screen{}
	if a := rt.Activity(t.Context(), other); a.State != engine.ActivityUnknown || a.Confidence != engine.ConfidenceNone {
		t.Errorf("nothing known: %+v", a)
	}
}

// Signals of an earlier occupant, of a sub-agent or of another conversation never
// colour this one.
func TestForeignSignalsDoNotCount(t *testing.T) {
	p := claudeProbe(t, t.TempDir())
	p.Signals.Hooks = []engine.HookSignal{
		hook("StopFailure", p.Started.Add(-time.Minute), map[string]string{"session_id": id1, "error": "rate_limit"}),
		hook("Stop", p.Now, map[string]string{"session_id": id1, "agent_id": "a1"}),
		hook("SubagentStop", p.Now, map[string]string{"session_id": id1}),
	}
	rt := NewClaude(testConfig(t))
	if a := rt.Activity(t.Context(), p); a.State != engine.ActivityUnknown {
		t.Errorf("got %+v", a)
	}
	registryFile(t, claudeDir(p), "claude-session-registry-idle.json", p.Run.PID, p.Run.PIDStart, id1)
	p.Signals.Hooks = append(p.Signals.Hooks, hook("StopFailure", p.Now, map[string]string{"session_id": id2, "error": "rate_limit"}))
	if a := rt.Activity(t.Context(), p); a.State != engine.ActivityIdle {
		t.Errorf("another conversation's limit: %+v", a)
	}
}

func TestHookFixtureSequence(t *testing.T) {
	want := map[string]engine.ActivityState{
		"SessionStart": engine.ActivityIdle, "UserPromptSubmit": engine.ActivityBusy, "Stop": engine.ActivityIdle,
		"PermissionRequest": engine.ActivityWaiting, "PreCompact": engine.ActivityBusy,
	}
	seen := 0
	for _, name := range []string{"claude-hooks-stdin.jsonl", "codex-hooks-stdin.jsonl"} {
		for _, row := range strings.Split(strings.TrimSpace(readFile(t, filepath.Join(fixtures, name))), "\n") {
			var f struct {
				Event  string `json:"hook_event_name"`
				Source string `json:"source"`
			}
			if err := json.Unmarshal([]byte(row), &f); err != nil {
				t.Fatal(err)
			}
			if f.Source == "compact" {
				continue
			}
			p := engine.Probe{Signals: engine.Signals{Hooks: []engine.HookSignal{{Event: f.Event, Payload: []byte(row)}}}}
			r, ok := hookReading(newHookMemo().of(p, ""))
			if state, known := want[f.Event]; known {
				seen++
				if !ok || r.State != state {
					t.Errorf("%s %s: %+v %v", name, f.Event, r, ok)
				}
			}
		}
	}
	if seen < 12 {
		t.Errorf("only %d events were judged", seen)
	}
}

func TestStoppedClientIsSuspended(t *testing.T) {
	p := claudeProbe(t, t.TempDir())
	registryFile(t, claudeDir(p), "claude-session-registry-busy.json", p.Run.PID, p.Run.PIDStart, id1)
	procs := NewProcesses()
	stopped, refused, err := procs.Stop(t.Context(), p.Run.PID)
	if err != nil || len(refused) != 0 || len(stopped) != 1 {
		t.Fatalf("stop: %v %v %v", stopped, refused, err)
	}
	rt := NewClaude(testConfig(t))
	if a := rt.Activity(t.Context(), p); a.Code != engine.CodeSuspended || a.State != engine.ActivityWaiting {
		t.Errorf("got %+v", a)
	}
	if err := procs.Continue(t.Context(), stopped); err != nil {
		t.Fatal(err)
	}
	until(t, "busy again", func() bool { return rt.Activity(t.Context(), p).State == engine.ActivityBusy })
}

func TestDraftIsShownRedacted(t *testing.T) {
	p := claudeProbe(t, t.TempDir())
	s := pane(t, fixtures, "claude-pane-idle-after-turn.txt")
	for i, l := range s {
		if strings.HasPrefix(l, inputMark) {
			s[i] = inputMark + "deploy with token=supersecretvalue now"
		}
	}
	p.Screen = engine.Screen{Lines: s}
	if a := NewClaude(testConfig(t)).Activity(t.Context(), p); !strings.Contains(a.Draft, "deploy with") || strings.Contains(a.Draft, "supersecret") {
		t.Errorf("draft %q", a.Draft)
	}
}
