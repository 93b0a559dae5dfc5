package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rig/engine/runtimes"
)

// TestMain lets the test binary be the program: started without a flag of the
// testing package it runs the command line, so that panes, hooks and detached
// operations of a test run this very code, with the race detector when the test
// has it. The flag decides, not the environment, which a launch cleans: a test
// binary that took itself for a test run there would start the tests again.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || !strings.HasPrefix(os.Args[1], "-test.") {
		hooks()
		os.Exit(Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// world is one installation of the product with a home, a record and a tmux
// server of its own, and stand-ins for the clients.
type world struct {
	t       testing.TB
	dir     string
	home    string
	project string
	socket  string
	program string // what runs as rig: this test program, unless a test says otherwise
	env     []string
}

// newWorld makes a world and removes it, with every process in it, at the end.
func newWorld(t testing.TB) *world {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "rw-") // short: a socket path has about a hundred bytes
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project"), socket: filepath.Join(dir, "s"), program: self}
	for _, d := range []string{w.project, filepath.Join(w.home, ".codex"), filepath.Join(w.home, ".claude")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.write("home/.claude.json", fmt.Sprintf(`{"hasCompletedOnboarding":true,"projects":{%q:{"hasTrustDialogAccepted":true}}}`, w.project))
	w.write("home/.codex/config.toml", fmt.Sprintf("model = \"gpt-5.5-codex\"\n[features]\ndaemon_auto_start = false\n[projects.%q]\ntrust_level = \"trusted\"\n", w.project))
	w.env = []string{
		"HOME=" + w.home, "RIG_HOME=" + filepath.Join(dir, "rig"), "RIG_TMUX_SOCKET=" + w.socket,
		"RIG_CONFIG=" + filepath.Join(dir, "config.yaml"), "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8",
		"SHELL=/bin/sh", "PS1=$ ", "AGENTSIM_START_MS=1",
		"AGENTSIM_WRITE_MS=0", // most tests look into a conversation when its turn is over; written_test.go has the delay
		fmt.Sprintf(`RIG_CLAUDE_COMMAND=[%q,"agentsim","claude"]`, self), fmt.Sprintf(`RIG_CODEX_COMMAND=[%q,"agentsim","codex"]`, self),
	}
	t.Cleanup(w.remove)
	return w
}

// write puts a file below the world's folder.
func (w *world) write(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// setenv replaces a variable for what is started from now on.
func (w *world) setenv(key, value string) {
	for i, kv := range w.env {
		if strings.HasPrefix(kv, key+"=") {
			w.env[i] = key + "=" + value
			return
		}
	}
	w.env = append(w.env, key+"="+value)
}

// result is how a command line ended.
type result struct {
	out, err string
	code     int
}

// run runs one command line and waits for it.
func (w *world) run(args ...string) result {
	w.t.Helper()
	return w.runIn(w.project, nil, args...)
}

func (w *world) runIn(dir string, stdin []byte, args ...string) result {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.program, args...)
	var out, errs bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Stdin = w.env, dir, &out, &errs, bytes.NewReader(stdin)
	err := cmd.Run()
	r := result{out: out.String(), err: errs.String()}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		r.code = exit.ExitCode()
	case err != nil:
		w.t.Fatalf("rig %v: %v", args, err)
	}
	return r
}

// must runs a command line that has to exit 0.
func (w *world) must(args ...string) string {
	w.t.Helper()
	r := w.run(args...)
	if r.code != 0 {
		w.t.Fatalf("rig %s: exit %d\n%s%s", strings.Join(args, " "), r.code, r.out, r.err)
	}
	return r.out
}

// refuse runs a command line that has to be refused with a code, a hint and the
// exit code.
func (w *world) refuse(code string, exit int, args ...string) map[string]any {
	w.t.Helper()
	r := w.run(append(args, "--json")...)
	var doc map[string]any
	if err := json.Unmarshal([]byte(r.out), &doc); err != nil {
		w.t.Fatalf("rig %s: no JSON: %v\n%s%s", strings.Join(args, " "), err, r.out, r.err)
	}
	if doc["code"] != code || r.code != exit {
		w.t.Fatalf("rig %s: want %s, exit %d; got exit %d and\n%s%s", strings.Join(args, " "), code, exit, r.code, r.out, r.err)
	}
	if doc["hint"] == "" || doc["hint"] == nil {
		w.t.Errorf("rig %s: %s has no hint", strings.Join(args, " "), code)
	}
	return doc
}

// into runs a command line with --json and reads its document.
func (w *world) into(v any, args ...string) result {
	w.t.Helper()
	r := w.run(append(args, "--json")...)
	if err := json.Unmarshal([]byte(r.out), v); err != nil {
		w.t.Fatalf("rig %s: exit %d, no JSON: %v\n%s%s", strings.Join(args, " "), r.code, err, r.out, r.err)
	}
	return r
}

// tmux runs tmux on the world's server.
func (w *world) tmux(args ...string) string {
	w.t.Helper()
	out, err := w.tryTmux(args...)
	if err != nil {
		w.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return out
}

func (w *world) tryTmux(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-u", "-f", "/dev/null", "-S", w.socket}, args...)...)
	cmd.Env, cmd.Dir = w.env, w.project
	out, err := cmd.CombinedOutput()
	return strings.TrimRight(string(out), "\n"), err
}

// eventually waits until a condition holds; it fails the test after a while with
// what was last seen.
func (w *world) eventually(what string, holds func() (bool, string)) {
	w.t.Helper()
	deadline := time.NewTimer(30 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, seen := holds()
		if ok {
			return
		}
		select {
		case <-deadline.C:
			w.t.Fatalf("never: %s; last seen: %s", what, seen)
		case <-tick.C:
		}
	}
}

// livePIDs is the format of the server's and the living panes' processes: the number
// of a dead one may be another process by now, of another test.
const livePIDs = "#{pid} #{?pane_dead,,#{pane_pid}}"

// remove ends the world's server and every process in it.
func (w *world) remove() {
	pids, err := w.tryTmux("list-panes", "-a", "-F", livePIDs)
	if err == nil {
		ps := runtimes.NewProcesses()
		procs := identify(ps, pids)
		if out, err := w.tryTmux("kill-server"); err != nil && !strings.Contains(out, "no server") {
			w.t.Logf("kill-server: %v %s", err, out)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		for _, p := range procs {
			if !waitGone(ctx, ps, p) {
				w.t.Errorf("process %d is left", p.PID)
			}
		}
	}
	w.killLeft()
	w.lastWords()
	if err := os.RemoveAll(w.dir); err != nil {
		w.t.Logf("remove %s: %v", w.dir, err)
	}
}

// lastWords logs, of a test that failed, what the detached processes wrote: one that
// dies says why only there.
func (w *world) lastWords() {
	if !w.t.Failed() {
		return
	}
	logs, err := filepath.Glob(filepath.Join(w.dir, "rig", "logs", "*.log"))
	if err != nil {
		return
	}
	for _, path := range logs {
		if b, err := os.ReadFile(path); err == nil && len(b) > 0 {
			w.t.Logf("%s:\n%s", filepath.Base(path), b[max(0, len(b)-8<<10):])
		}
	}
}

// killLeft ends what a stand-in started in a session of its own, as tools do: it
// is known by the world's folder in its command line.
func (w *world) killLeft() {
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return
	}
	for _, path := range lines {
		b, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(b, []byte(w.dir+"/")) {
			continue
		}
		var pid int
		if _, err := fmt.Sscan(filepath.Base(filepath.Dir(path)), &pid); err == nil && pid != os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// seatDoc is what the tests read of `rig seat status --json`.
type seatDoc struct {
	Seat       string `json:"address"`
	ID         string `json:"seat_id"`
	Life       string `json:"lifecycle"`
	Generation int64  `json:"generation"`
	Continuity string `json:"continuity_outcome"`
	Binding    string `json:"binding_outcome"`
	Startup    string `json:"startup_status"`
	Pane       string `json:"pane"`
	PanePID    int    `json:"pane_pid"`
	Session    string `json:"session_name"`
	Token      bool   `json:"resume_token_present"`
	Delivered  bool   `json:"context_delivered"`
	Previous   string `json:"previous_occupant"`
	Activity   struct {
		State  string `json:"state"`
		Why    string `json:"why"`
		Code   string `json:"code"`
		Source string `json:"source"`
	} `json:"activity"`
	Attention []string `json:"attention"`
}

func (w *world) seat(ref string) seatDoc {
	w.t.Helper()
	var d seatDoc
	w.into(&d, "seat", "status", ref)
	return d
}

// spec writes a rig of the given members, "id:runtime", in one pod named dev.
func (w *world) spec(name string, members ...string) string {
	w.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "version: \"0.2\"\nname: %s\npods:\n  - id: dev\n    label: Development\n    members:\n", name)
	for _, m := range members {
		id, runtime, _ := strings.Cut(m, ":")
		agent, profile := "builtin:agent", "default"
		if runtime == "terminal" {
			agent, profile = "builtin:terminal", "none"
		}
		fmt.Fprintf(&b, "      - {id: %s, runtime: %s, agent_ref: %q, profile: %s, cwd: %q}\n", id, runtime, agent, profile, w.project)
	}
	return w.write(name+".yaml", b.String())
}
