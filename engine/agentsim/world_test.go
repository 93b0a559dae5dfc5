package agentsim

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// world is a private home, a project and a tmux server of its own.
type world struct {
	t                           *testing.T
	home, project, sock, hooked string
	env                         []string
}

const apiKey = "not-a-key-of-anyone-0123456789abcdef"

func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	dir, err := os.MkdirTemp("/tmp", "asim")
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, home: filepath.Join(dir, "home"), sock: filepath.Join(dir, "s")}
	w.project, w.hooked = filepath.Join(w.home, "project"), filepath.Join(w.home, "hooks.jsonl")
	for _, d := range []string{w.project, filepath.Join(w.home, ".codex"), filepath.Join(w.home, "other")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.env = []string{
		"HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LC_ALL=C", "SHELL=/bin/sh", "PS1=$ ", "TZ=UTC",
		"ANTHROPIC_API_KEY=" + apiKey, "AGENTSIM_START_MS=0", "AGENTSIM_WRITE_MS=0", "AGENTSIM_COMPACT_MS=20", "AGENTSIM_RETRY_MS=40",
	}
	w.write(".claude.json", fmt.Sprintf(`{"hasCompletedOnboarding":true,"customApiKeyResponses":{"approved":[%q],"rejected":[]},"projects":{%q:{"hasTrustDialogAccepted":true}}}`,
		apiKey[len(apiKey)-20:], w.home))
	w.write(".codex/config.toml", fmt.Sprintf("model = \"gpt-5.5-codex\"\nmodel_provider = \"mock\"\nnotify = [%q]\n[features]\ndaemon_auto_start = false\n", w.home+"/notify"))
	w.script("hook", `cat >>"$HOME/hooks.jsonl"; echo >>"$HOME/hooks.jsonl"`)
	w.script("notify", `printf '%s\n' "$1" >>"$HOME/notify.jsonl"`)
	w.script("status", `cat >>"$HOME/status.jsonl"; echo >>"$HOME/status.jsonl"; echo "SL ok"`)
	w.script("context", `cat >>"$HOME/hooks.jsonl"; echo >>"$HOME/hooks.jsonl"; printf '{"hookSpecificOutput":{"additionalContext":"the harbour code is teal-42"}}'`)
	t.Cleanup(func() {
		_ = w.command("kill-server").Run()
		w.emptied()
		_ = os.RemoveAll(dir)
	})
	w.tmux("new-session", "-d", "-s", "keep", "exec sleep 600") // a server whose last session ends may refuse the next
	return w
}

// emptied waits for the last process that lives in the home: one that is ending
// still writes there, and would bring a removed folder back.
func (w *world) emptied() {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	end := time.NewTimer(10 * time.Second)
	defer end.Stop()
	for w.inhabited() {
		select {
		case <-tick.C:
		case <-end.C:
			w.t.Errorf("a process still lives in %s", w.home)
			return
		}
	}
}

func (w *world) inhabited() bool {
	envs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range envs {
		if b, err := os.ReadFile(f); err == nil && strings.Contains("\x00"+string(b), "\x00HOME="+w.home+"\x00") {
			return true
		}
	}
	return false
}

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.home, name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) script(name, body string) {
	w.t.Helper()
	w.write(name, "#!/bin/sh\n"+body+"\n")
	if err := os.Chmod(filepath.Join(w.home, name), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

// settings writes a settings file with the hook on every named event.
func (w *world) settings(start string, events ...string) string {
	hooks := map[string]any{}
	for _, e := range events {
		cmd := "hook"
		if e == "SessionStart" && start != "" {
			cmd = start
		}
		hooks[e] = []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": filepath.Join(w.home, cmd)}}}}
	}
	b, err := json.Marshal(map[string]any{"hooks": hooks, "statusLine": map[string]any{"type": "command", "command": filepath.Join(w.home, "status")}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.write("settings.json", string(b))
	return filepath.Join(w.home, "settings.json")
}

func (w *world) command(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", append([]string{"-u", "-f", "/dev/null", "-S", w.sock}, args...)...)
	cmd.Env, cmd.Dir = w.env, w.project
	return cmd
}

func (w *world) tmux(args ...string) string {
	w.t.Helper()
	out, err := w.command(args...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// seat is a pane with a stand-in in it.
type seat struct {
	*world
	name string
}

// start opens a session that runs a stand-in, and stays open after its end.
func (w *world) start(name, kind string, args ...string) seat {
	w.t.Helper()
	return w.startIn(w.project, nil, name, kind, args...)
}

func (w *world) startIn(dir string, env []string, name, kind string, args ...string) seat {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	quoted := append([]string{"env"}, env...)
	quoted = append(quoted, simKind+"="+kind, self)
	for _, a := range args {
		quoted = append(quoted, "'"+strings.ReplaceAll(a, "'", `'\''`)+"'")
	}
	w.tmux("new-session", "-d", "-s", name, "-x", "120", "-y", "40", "-c", dir, "cd "+dir+"; "+strings.Join(quoted, " ")+"; echo EXIT=$?; exec sleep 600")
	return seat{w, name}
}

func (s seat) screen() string { return s.tmux("capture-pane", "-p", "-t", "="+s.name+":") }

// sees waits until the screen has a text.
func (s seat) sees(text string) {
	s.t.Helper()
	s.until("the screen shows "+text, func() bool { return strings.Contains(s.screen(), text) })
}

// lacks waits until the screen does not have a text any more.
func (s seat) lacks(text string) {
	s.t.Helper()
	s.until("the screen is without "+text, func() bool { return !strings.Contains(s.screen(), text) })
}

func (s seat) keys(keys ...string) {
	s.t.Helper()
	s.tmux(append([]string{"send-keys", "-t", "=" + s.name + ":"}, keys...)...)
}

// types sends text as a person would, and Enter once the box has it.
func (s seat) types(text string) {
	s.t.Helper()
	s.keys("-l", text)
	s.sees(text[:min(len(text), 40)])
	s.t.Helper()
	s.settle()
	s.keys("Enter")
}

// settle lets the time pass that Codex wants between text and Enter: until the
// screen has stood still for a moment.
func (s seat) settle() {
	s.t.Helper()
	since, last := time.Now(), ""
	s.until("the screen stands still", func() bool {
		if now := s.screen(); now != last {
			since, last = time.Now(), now
		}
		return time.Since(since) > 320*time.Millisecond
	})
}

// until polls a condition, at most half a minute.
func (w *world) until(what string, cond func() bool) {
	w.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	end := time.NewTimer(30 * time.Second)
	defer end.Stop()
	for {
		if cond() {
			return
		}
		select {
		case <-tick.C:
		case <-end.C:
			all := ""
			for _, s := range strings.Fields(w.tmux("list-sessions", "-F", "#{session_name}")) {
				all += "--- " + s + "\n" + w.tmux("capture-pane", "-p", "-t", "="+s+":")
			}
			w.t.Fatalf("waited in vain until %s\n%s", what, all)
		}
	}
}

// sim runs a stand-in without a terminal.
func (w *world) sim(kind string, args ...string) (code int, stdout, stderr string) {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env, cmd.Dir = append(w.env[:len(w.env):len(w.env)], simKind+"="+kind), w.project
	var out, errOut strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	if _, isExit := err.(*exec.ExitError); err != nil && !isExit {
		w.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errOut.String()
}

// lines reads a JSONL file; a missing one has none.
func lines(t *testing.T, path string) []map[string]any {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var out []map[string]any
	for _, l := range strings.Split(string(b), "\n") {
		if strings.TrimSpace(l) == "" {
			continue
		}
		m := map[string]any{}
		if json.Unmarshal([]byte(l), &m) == nil { // a line may be half written
			out = append(out, m)
		}
	}
	return out
}

// events lists what the hooks were told: event, and its source, reason or trigger.
func (w *world) events() string {
	var out []string
	for _, m := range lines(w.t, w.hooked) {
		e := fmt.Sprint(m["hook_event_name"])
		for _, k := range []string{"source", "reason", "trigger"} {
			if v, ok := m[k].(string); ok {
				e += ":" + v
			}
		}
		out = append(out, e)
	}
	return strings.Join(out, " ")
}

// registry reads the registry files of live and dead sessions.
func (w *world) registry() []map[string]any {
	files, _ := filepath.Glob(filepath.Join(w.home, ".claude", "sessions", "*.json"))
	var out []map[string]any
	for _, f := range files {
		b, err := os.ReadFile(f)
		m := map[string]any{}
		if err == nil && json.Unmarshal(b, &m) == nil {
			out = append(out, m)
		}
	}
	return out
}

// status waits for the one registry file to say so.
func (w *world) status(want string) {
	w.t.Helper()
	w.until("the registry says "+want, func() bool {
		r := w.registry()
		return len(r) == 1 && r[0]["status"] == want
	})
}

func (w *world) transcript(id string) string {
	return filepath.Join(w.home, ".claude", "projects", claudeSlug(w.project), id+".jsonl")
}

func fixture(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "fixtures", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func (w *world) registryPath(pid int) string {
	return filepath.Join(w.home, ".claude", "sessions", fmt.Sprintf("%d.json", pid))
}
