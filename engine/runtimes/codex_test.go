package runtimes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rig/engine"
)

// codexProbe is a probe of a live process that holds the given files of its home
// open, as Codex does.
func codexProbe(t testing.TB, home string, files ...string) engine.Probe {
	t.Helper()
	p := claudeProbe(t, home)
	p.Seat.Runtime = engine.RuntimeCodex
	argv := []string{"/bin/sh", "-c", "for f; do eval \"exec $n<> \\\"$f\\\"\"; case $f in *.lock) ! command -v flock || flock -xn $n ;; esac; n=$((n+1)); done; exec sleep 600", "sh"}
	script := "n=3; " + argv[2]
	argv[2] = script
	for _, f := range files {
		path := filepath.Join(p.Session.Homes.CodexDir, f)
		if _, err := os.Stat(path); err != nil {
			write(t, path, "")
		}
		argv = append(argv, path)
	}
	pid := process(t, argv...).Process.Pid
	until(t, "the files are open", func() bool {
		i, ok, err := NewProcesses().Info(pid)
		return err == nil && ok && i.Comm == "sleep"
	})
	p.Run.PID, p.Run.PIDStart = pid, started(t, pid)
	return p
}

const (
	lock1    = "thread-writer-locks/" + thread + ".lock"
	rollout1 = "sessions/2026/03/03/rollout-2026-03-03T10-00-00-" + thread + ".jsonl"
)

func TestCodexIdentity(t *testing.T) {
	rt := NewCodex(testConfig(t))
	p := codexProbe(t, t.TempDir(), lock1)
	if id := rt.Identify(t.Context(), p); !id.Proven || id.Token.Reveal() != thread || id.PID != p.Run.PID {
		t.Errorf("by the lock: %+v", id)
	}
	p.Parent = engine.NewParentToken(thread)
	if id := rt.Identify(t.Context(), p); !id.Token.Empty() || id.Code != "awaiting_new_id" {
		t.Errorf("the parent's own: %+v", id)
	}
	home := t.TempDir()
	write(t, filepath.Join(home, ".codex", rollout1), sessionMeta(thread, parent, "/home/op/project"))
	p = codexProbe(t, home, lock1, rollout1)
	p.Parent = engine.NewParentToken(parent)
	if id := rt.Identify(t.Context(), p); !id.Proven || id.Token.Reveal() != thread || id.Evidence["forked_from_parent"] != true {
		t.Errorf("a fork: %+v", id)
	}
	p.Parent = engine.NewParentToken(id1)
	if id := rt.Identify(t.Context(), p); id.Proven || !id.Token.Empty() || id.Code != "not_the_fork" {
		t.Errorf("somebody else's fork: %+v", id)
	}
	p = codexProbe(t, t.TempDir(), lock1, "thread-writer-locks/"+parent+".lock")
	for range 2 { // looked up, and remembered
		if id := rt.Identify(t.Context(), p); id.Proven || !id.Token.Empty() || id.Code != engine.CodeSeveral {
			t.Errorf("two locks are ambiguous: %+v", id)
		}
		p.Now = p.Now.Add(time.Minute)
	}
	// The context of the one on record is not taken for that of the other.
	write(t, filepath.Join(p.Session.Homes.CodexDir, rollout1), sessionMeta(thread, "", "/home/op/project"))
	p.Session.Token = engine.NewResumeToken(thread)
	if u := rt.Usage(t.Context(), p); u.Known || !strings.Contains(u.Note, "holds several conversations") {
		t.Errorf("which is written cannot be told: %+v", u)
	}
	p = codexProbe(t, t.TempDir())
	p.Signals.Hooks = []engine.HookSignal{hook("SessionStart", p.Now, map[string]string{"session_id": thread, "source": "startup"})}
	if id := rt.Identify(t.Context(), p); id.Token.Reveal() != thread || id.Proven {
		t.Errorf("a hook alone: %+v", id)
	}
}

// Two Codex seats in one directory, with a home they share.
func TestTwoCodexSeats(t *testing.T) {
	home := t.TempDir()
	a := codexProbe(t, home, lock1)
	b := codexProbe(t, home, "thread-writer-locks/"+parent+".lock")
	rt := NewCodex(testConfig(t))
	for range 2 {
		if got := rt.Identify(t.Context(), a).Token.Reveal(); got != thread {
			t.Errorf("first: %s", got)
		}
		if got := rt.Identify(t.Context(), b).Token.Reveal(); got != parent {
			t.Errorf("second: %s", got)
		}
	}
}

func event(at time.Time, kind, more string) string {
	return `{"timestamp":"` + at.UTC().Format(time.RFC3339Nano) + `","type":"event_msg","payload":{"type":"` + kind + `"` + more + `}}` + "\n"
}

func TestCodexActivity(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".codex", rollout1)
	write(t, path, sessionMeta(thread, "", "/home/op/project"))
	p := codexProbe(t, home, lock1, rollout1)
	rt := NewCodex(testConfig(t))
	check := func(name string, state engine.ActivityState, code engine.Code, source string) {
		t.Helper()
		a := rt.Activity(t.Context(), p)
		if a.State != state || a.Code != code || a.Source != source || a.Why == "" || a.Rule == "" {
			t.Errorf("%s: %+v", name, a)
		}
	}
	check("no turn yet, no screen", engine.ActivityUnknown, "", "none")
	p.Screen = engine.Screen{Lines: pane(t, fixtures, "codex-pane-idle-fresh.txt")}
	check("at the prompt", engine.ActivityIdle, "", "pane")
	if !rt.NeedsScreen(p) {
		t.Error("without a turn on record the screen is needed")
	}
	p.Screen = engine.Screen{}
	log := readFile(t, path)
	log += event(p.Now.Add(-time.Minute), "task_started", `,"turn_id":"t1","model_context_window":258400`)
	write(t, path, log)
	check("a turn runs", engine.ActivityBusy, "", "rollout")
	if !rt.NeedsScreen(p) {
		t.Error("an open turn may hide an approval")
	}
	p.Screen = engine.Screen{Lines: pane(t, fixtures, "codex-pane-approval.txt")}
	check("an approval leaves no record", engine.ActivityWaiting, CodePermissionPrompt, "pane")
	p.Screen = engine.Screen{Lines: pane(t, fixtures, "codex-pane-reconnecting.txt")}
	check("retrying", engine.ActivityBusy, CodeRetrying, "rollout")
	p.Screen = engine.Screen{}
	log += event(p.Now, "task_complete", `,"turn_id":"t1","last_agent_message":"ok","duration_ms":5`)
	write(t, path, log)
	check("done", engine.ActivityIdle, "", "rollout")
	if rt.NeedsScreen(p) {
		t.Error("a turn that is done needs no screen")
	}
	p.Pane.Title = "⠏ Mock title | project"
	check("the spinner is ahead of the file", engine.ActivityBusy, "", "title")
	p.Pane.Title = "Mock title | project"
	write(t, path, log+event(p.Now, "turn_aborted", `,"turn_id":"t2","reason":"interrupted"`))
	check("interrupted", engine.ActivityIdle, CodeInterrupted, "rollout")
	log += event(p.Now, "task_started", `,"turn_id":"t3"`) + event(p.Now, "task_complete", `,"turn_id":"t3","error":{"message":"You have hit your usage limit","codex_error_info":"usage_limit_exceeded"}`)
	write(t, path, log)
	check("limit", engine.ActivityLimit, CodeUsageLimit, "rollout")
}

// A turn that a killed client left open is not this client's.
func TestCodexOldOpenTurn(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".codex", rollout1)
	p := codexProbe(t, home, lock1, rollout1)
	for _, before := range []time.Duration{time.Hour, 400 * time.Millisecond} { // also one that was stopped in the moment in which its turn began
		write(t, path, sessionMeta(thread, "", "/x")+event(p.Started.Add(-before), "task_started", `,"turn_id":"t1"`))
		if a := NewCodex(testConfig(t)).Activity(t.Context(), p); a.State != engine.ActivityUnknown {
			t.Errorf("%s before: %+v", before, a)
		}
	}
	p.Session.Origin = engine.OriginClaimed // it was at work when somebody claimed it
	if a := NewCodex(testConfig(t)).Activity(t.Context(), p); a.State != engine.ActivityBusy || a.Source != "rollout" {
		t.Errorf("claimed in mid-turn: %+v", a)
	}
}

func TestCodexUsage(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".codex", rollout1)
	p := codexProbe(t, home, lock1, rollout1)
	rt := NewCodex(testConfig(t))
	if u := rt.Usage(t.Context(), p); u.Known || u.Note == "" {
		t.Errorf("nothing yet: %+v", u)
	}
	write(t, path, readFile(t, filepath.Join(fixtures, "codex-rollout-fork.jsonl")))
	u := rt.Usage(t.Context(), p)
	if !u.Known || u.Tokens != 1240 || u.Window != 258_400 || u.Source != "rollout" || u.Percent > 1 || u.Generation != 3 {
		t.Errorf("the last call, not the total: %+v", u)
	}
}

func TestCodexReadiness(t *testing.T) {
	rt := NewCodex(testConfig(t))
	home := t.TempDir()
	for _, c := range []struct {
		screen string
		exited bool
		state  engine.ReadyState
		code   engine.Code
	}{
		{"codex-pane-trust-dialog.txt", false, engine.ReadyGate, CodeTrustGate},
		{"codex-pane-login.txt", false, engine.ReadyGate, CodeLoginRequired},
		{"codex-pane-hooks-review.txt", false, engine.ReadyGate, CodeHookTrustGate},
		{"codex-pane-resume-other-cwd.txt", false, engine.ReadyGate, CodeOtherCwd},
		{"codex-pane-resume-locked.txt", false, engine.ReadyGate, CodeLocked},
		{"codex-pane-resume-wrong-id.txt", true, engine.ReadyFailed, CodeNoSavedSession},
		{"codex-pane-fork-parent-missing.txt", true, engine.ReadyFailed, CodeSourceMissing},
		{"../cases/B47-codex-no-rollout.pane.txt", true, engine.ReadyFailed, CodeNoRollout},
		{"codex-pane-after-quit.txt", true, engine.ReadyFailed, CodeClientExited},
		{"codex-pane-idle-fresh.txt", false, engine.ReadyYes, ""},
		{"codex-pane-approval.txt", false, engine.ReadyYes, ""},
	} {
		p := codexProbe(t, home)
		p.Screen = engine.Screen{Lines: pane(t, fixtures, c.screen)}
		p.Run.Exited, p.Run.ExitCode = c.exited, 1
		r := rt.Ready(t.Context(), p)
		if r.State != c.state || r.Code != c.code || r.Why == "" {
			t.Errorf("%s: %+v", c.screen, r)
		}
		if ev, _ := r.Evidence["pane"].([]string); c.state != engine.ReadyYes && (len(ev) == 0 || strings.Contains(strings.Join(ev, ""), "-7000-8000-")) {
			t.Errorf("%s: evidence %q", c.screen, ev)
		}
	}
	p := codexProbe(t, home)
	if r := rt.Ready(t.Context(), p); r.State != engine.ReadyUnknown {
		t.Errorf("no screen: %+v", r)
	}
	p.Screen = engine.Screen{Lines: []string{""}}
	if r := rt.Ready(t.Context(), p); r.State != engine.ReadyStarting {
		t.Errorf("empty screen: %+v", r)
	}
}

func TestCodexLockHolder(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, ".codex", rollout1), sessionMeta(thread, "", "/home/op/project"))
	p := codexProbe(t, home, lock1)
	rt := NewCodex(testConfig(t))
	st := rt.Conversation(t.Context(), thread, "/home/op/project", p.Session.Homes)
	if !st.Live || st.LivePID != p.Run.PID {
		t.Errorf("held: %+v", st)
	}
	if err := NewProcesses().Kill(t.Context(), p.Run.PID); err != nil {
		t.Fatal(err)
	}
	if st := rt.Conversation(t.Context(), thread, "/home/op/project", p.Session.Homes); st.Live {
		t.Errorf("a lock file that was left behind: %+v", st)
	}
}

// TestCodexThatEndsUnderTheLook: the process was there a moment ago and its tree is
// not any more. That is an answer, not a fault.
func TestCodexThatEndsUnderTheLook(t *testing.T) {
	rt := NewCodex(testConfig(t))
	p := codexProbe(t, t.TempDir(), lock1)
	gone, err := os.FindProcess(p.Run.PID)
	if err != nil {
		t.Fatal(err)
	}
	before, ok, err := rt.cfg.Procs.Info(p.Run.PID)
	if err != nil || !ok {
		t.Fatalf("%v %v", ok, err)
	}
	if err := gone.Kill(); err != nil {
		t.Fatal(err)
	}
	until(t, "it has ended", func() bool {
		_, there, err := readProcess(p.Run.PID)
		return err == nil && !there
	})
	rt.cfg.Procs.seen.put(p.Run.PID, sighting{before, true, time.Now().Add(time.Hour)}) // the look of a moment ago
	if id := rt.Identify(t.Context(), p); id.Proven || id.Why == "" {
		t.Errorf("identity: %+v", id)
	}
	if got := rt.Ready(t.Context(), p); got.State == engine.ReadyYes {
		t.Errorf("readiness: %+v", got)
	}
}
