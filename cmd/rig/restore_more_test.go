package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"rig/engine"
)

// TestNeverPromptedSeatsNeedOneDecision brings agents back that nobody ever
// talked to: there is nothing to continue and nothing to lose, and one word
// decides for all of them.
func TestNeverPromptedSeatsNeedOneDecision(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("new", "a:claude-code", "b:claude-code"))
	w.know("dev.b", "OTTER")
	w.reboot()
	var rep engine.RestoreCheckReport
	if r := w.into(&rep, "restore-check", "--full"); r.code != 1 || rep.Verdict != engine.VerdictNotRestorable || rep.Seats != (engine.SeatCounts{Restorable: 1, Not: 1}) {
		t.Errorf("exit %d\n%s", r.code, r.out)
	}
	var rec restoreDoc
	r := w.into(&rec, "up", "new")
	if got := rec.outcomes(); r.code != 1 || !sameMap(got, map[string]string{"dev-a@new": "awaiting-decision", "dev-b@new": "resumed"}) {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	rec = restoreDoc{}
	w.into(&rec, "up", "new", "--fresh-unprompted")
	if got := rec.outcomes(); !sameMap(got, map[string]string{"dev-a@new": "fresh-primed", "dev-b@new": "already_running"}) {
		t.Fatalf("%v", got)
	}
	w.recalls("dev.b", "OTTER")
}

// TestRestoreCheckSaysWhatUpWillSay: seats that run and were never prompted have nothing to lose. The check says so while they
// run, after they stopped, and the restore says the same.
func TestRestoreCheckSaysWhatUpWillSay(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("new", "a:claude-code", "b:codex", "c:codex", "sh:terminal"))
	w.know("dev.c", "OTTER")
	lost := w.conversationFile(".codex/sessions/*/*/*/rollout-*.jsonl")
	check := func(when string, c engine.Code) {
		t.Helper()
		var rep engine.RestoreCheckReport
		r := w.into(&rep, "restore-check")
		if r.code != 1 || rep.Verdict != engine.VerdictNotRestorable || len(rep.Rigs) != 1 {
			t.Fatalf("%s: exit %d\n%s", when, r.code, r.out)
		}
		for _, s := range rep.Rigs[0].Seats {
			if want := map[string]engine.Code{"dev-a@new": engine.CodeNeverAsked, "dev-b@new": engine.CodeNeverAsked, "dev-c@new": c}[s.Seat]; s.Code != want || want != "" && s.Remedy == "" {
				t.Errorf("%s: %s: %q %s, want %q", when, s.Seat, s.Code, s.Why, want)
			}
		}
	}
	check("they run", "")
	if err := os.Remove(lost); err != nil {
		t.Fatal(err)
	}
	check("a rollout was deleted under its client", engine.CodeLost)
	w.must("down", "new")
	check("they were stopped", engine.CodeLost)
	var rec restoreDoc
	r := w.into(&rec, "up", "new")
	want := map[string]string{"dev-a@new": "awaiting-decision", "dev-b@new": "awaiting-decision", "dev-c@new": "awaiting-decision", "dev-sh@new": "fresh-primed"}
	if got := rec.outcomes(); r.code != 1 || !sameMap(got, want) {
		t.Fatalf("exit %d, %v", r.code, got)
	}
}

// TestForkThatNobodyPromptedIsNotYetResumable: Claude Code writes a fork's own conversation with its first prompt. Until then there
// is nothing to bring back and nothing was lost, and one prompt later there is.
func TestForkThatNobodyPromptedIsNotYetResumable(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("kid", "a:claude-code", "b:claude-code"))
	w.know("dev.a", "HERON")
	w.must("handover", "dev.b", "--source", "fork:dev.a", "--reason", "r")
	w.must("down", "kid")
	var rep engine.RestoreCheckReport
	w.into(&rep, "restore-check", "--rig", "kid")
	if n := len(rep.Rigs); n != 1 {
		t.Fatalf("%d rigs", n)
	}
	for _, s := range rep.Rigs[0].Seats {
		if want := map[string]engine.Code{"dev-b@kid": engine.CodeNotYet}[s.Seat]; s.Code != want {
			t.Errorf("%s: %q %s, want %q", s.Seat, s.Code, s.Why, want)
		}
	}
	var rec restoreDoc
	w.into(&rec, "up", "kid", "--fresh-unprompted")
	if got := rec.outcomes(); !sameMap(got, map[string]string{"dev-a@kid": "resumed", "dev-b@kid": "awaiting-decision"}) {
		t.Fatalf("%v: a fork was passed off as something else", got)
	}
	w.must("seat", "launch", "dev.b", "--fresh", "--reason", "r")
	w.must("handover", "dev.b", "--source", "fork:dev.a", "--reason", "again")
	w.recalls("dev.b", "HERON")
	w.must("down", "kid")
	rec = restoreDoc{}
	w.into(&rec, "up", "kid")
	if got := rec.outcomes(); !sameMap(got, map[string]string{"dev-a@kid": "resumed", "dev-b@kid": "resumed"}) {
		t.Fatalf("%v", got)
	}
	w.recalls("dev.b", "HERON")
}

// TestNeverPromptedCodexIsKnownByItsStop: a Codex has no hooks that tell of its start, but one that holds its conversation open
// and has written nothing was never asked. One whose rollout was deleted under it was.
func TestNeverPromptedCodexIsKnownByItsStop(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("new", "a:codex", "b:codex", "c:codex"))
	w.know("dev.b", "OTTER")
	lost := w.conversationFile(".codex/sessions/*/*/*/rollout-*.jsonl")
	w.know("dev.c", "HERON")
	if err := os.Remove(lost); err != nil {
		t.Fatal(err)
	}
	w.must("down", "new")
	var rec restoreDoc
	w.into(&rec, "up", "new")
	if got := rec.outcomes(); !sameMap(got, map[string]string{"dev-a@new": "awaiting-decision", "dev-b@new": "awaiting-decision", "dev-c@new": "resumed"}) {
		t.Fatalf("%v", got)
	}
	rec = restoreDoc{}
	w.into(&rec, "up", "new", "--fresh-unprompted")
	if got := rec.outcomes(); !sameMap(got, map[string]string{"dev-a@new": "fresh-primed", "dev-b@new": "awaiting-decision", "dev-c@new": "already_running"}) {
		t.Fatalf("%v", got)
	}
	w.must("seat", "stop", "dev.a", "--reason", "r")
	if r := w.run("up", "new", "--fresh-unprompted", "--json"); !strings.Contains(r.out, `"fresh-primed"`) {
		t.Errorf("after a stop of the seat alone: %s", r.out)
	}
}

// TestRestoreJudgesFilesAndDirectories takes away a working directory, empties
// a transcript and archives a rollout: each seat says what is wrong with it.
func TestRestoreJudgesFilesAndDirectories(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("dirs", "a:claude-code", "b:codex"))
	w.know("dev.a", "HERON")
	w.know("dev.b", "OTTER")
	w.reboot()
	rollout := w.conversationFile(".codex/sessions/*/*/*/rollout-*.jsonl")
	shelf := w.home + "/.codex/archived_sessions"
	if err := os.MkdirAll(shelf, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(rollout, shelf+rollout[strings.LastIndex(rollout, "/"):]); err != nil {
		t.Fatal(err)
	}
	var rec restoreDoc
	r := w.into(&rec, "up", "dirs")
	if got := rec.outcomes(); r.code != 1 || !sameMap(got, map[string]string{"dev-a@dirs": "resumed", "dev-b@dirs": "awaiting-decision"}) || !strings.Contains(r.out, "archived") {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	if err := os.Rename(shelf+rollout[strings.LastIndex(rollout, "/"):], rollout); err != nil {
		t.Fatal(err)
	}
	w.reboot()
	aside := w.project + ".aside"
	if err := os.Rename(w.project, aside); err != nil {
		t.Fatal(err)
	}
	r = w.runIn(w.dir, nil, "up", "dirs", "--json")
	if r.code != 1 || strings.Count(r.out, `"cwd_missing"`) < 2 || strings.Count(r.out, `"outcome":"failed"`) < 2 {
		t.Errorf("a missing directory: exit %d\n%s%s", r.code, r.out, r.err)
	}
	if !strings.Contains(r.out, "put it back: its conversation belongs to that directory") || strings.Contains(r.out, "correct cwd in the spec") {
		t.Errorf("a spec that is not read again is no remedy: %s", r.out)
	}
	if err := os.Rename(aside, w.project); err != nil {
		t.Fatal(err)
	}
	w.must("up", "dirs")
	w.recalls("dev.a", "HERON")
	w.recalls("dev.b", "OTTER")
}

// TestWatchSavesAndTells runs the loop without a screen: it saves a running rig,
// tells of a seat that is lost, and ends at once when it is asked to.
func TestWatchSavesAndTells(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("loop", "a:terminal", "b:terminal"))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(w.dir + "/watch.out")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command(self, "watch")
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = w.env, w.project, out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.eventually("a periodic snapshot", func() (bool, string) {
		r := w.run("snapshot", "list", "loop")
		return strings.Contains(r.out, engine.SnapshotPeriodic), r.out
	})
	w.tmux("kill-session", "-t", "=dev-a@loop")
	w.eventually("the lost seat is told", func() (bool, string) {
		b, err := os.ReadFile(w.dir + "/watch.out")
		return strings.Contains(string(b), "dev-a@loop"), fmt.Sprint(string(b), err)
	})
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("watch ended with %v", err)
	}
}

// BenchmarkRestoreSeats brings one seat and twenty back after a reboot, with the
// programs as they are shipped. The stand-ins take half a second to start, which is less than the clients do. No
// restore can be faster than one start and the processor time that all processes
// of it need together, on all cores: s/bound, and x-bound what it takes against
// that. The processor time is the whole machine's, so it holds on a quiet one.
func BenchmarkRestoreSeats(b *testing.B) {
	const start = 500 * time.Millisecond
	bin := buildRig(b)
	for _, n := range []int{1, 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newWorld(b)
			w.ships(bin)
			w.setenv("AGENTSIM_START_MS", fmt.Sprint(start.Milliseconds()))
			var members []string
			for i := range n {
				members = append(members, fmt.Sprintf("m%d:claude-code", i))
			}
			w.must("up", w.spec("many", members...))
			for i := range n {
				w.know(fmt.Sprintf("dev.m%d", i), "HERON")
			}
			var spent, worked time.Duration
			for b.Loop() {
				w.reboot()
				began, busy := time.Now(), machineBusy(b)
				w.must("up", "many")
				spent += time.Since(began)
				worked += machineBusy(b) - busy
			}
			each, bound := spent.Seconds()/float64(b.N), start.Seconds()+worked.Seconds()/float64(b.N)/float64(runtime.NumCPU())
			b.ReportMetric(each, "s/restore")
			b.ReportMetric(worked.Seconds()/float64(b.N*n), "cpu-s/seat")
			b.ReportMetric(bound, "s/bound")
			b.ReportMetric(each/bound, "x-bound")
		})
	}
}

// machineBusy gives the processor time that all processes have used since the
// machine started, 0 where it does not tell (Linux only).
func machineBusy(b *testing.B) time.Duration {
	b.Helper()
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	var user, nice, system int64
	if _, err := fmt.Sscanf(string(text), "cpu %d %d %d", &user, &nice, &system); err != nil {
		b.Fatal(err)
	}
	const tick = 10 * time.Millisecond // USER_HZ
	return time.Duration(user+nice+system) * tick
}

// TestRestoreCheckSpeaksInWords: a reason that is a code is said in words, as the console says it; the JSON keeps the code.
func TestRestoreCheckSpeaksInWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("up", w.spec("words", "sh:terminal"))
	out := w.must("restore-check", "--full")
	if strings.Count(out, "no conversation by nature") != 2 || strings.Contains(out, "by_nature") {
		t.Errorf("said:\n%s", out)
	}
	if out := w.must("restore-check", "--json"); !strings.Contains(out, `"no_conversation_by_nature"`) {
		t.Errorf("JSON:\n%s", out)
	}
}

// TestRestoreCheckNamesNoToken: clients name the file of a conversation after its id, and where the evidence comes from is shown.
func TestRestoreCheckNamesNoToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("up", w.spec("ids", "a:claude-code", "b:codex"))
	for _, ref := range []string{"dev.a", "dev.b"} {
		w.must("send", ref, "hello", "--verify")
		w.must("wait", ref, "--until", "idle")
	}
	out := w.must("restore-check", "--full") + w.must("restore-check", "--full", "--json")
	if got := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`).FindString(out); got != "" {
		t.Errorf("the token %s is shown in:\n%s", got, out)
	}
	if strings.Count(out, ".jsonl") == 0 {
		t.Errorf("no source is named in:\n%s", out)
	}
}
