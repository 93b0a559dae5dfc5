package runtimes

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rig/engine"
)

func request(rt engine.RuntimeName, s engine.Start) engine.LaunchRequest {
	return engine.LaunchRequest{
		Seat:    engine.Seat{Runtime: rt, Cwd: "/home/op/project"},
		Address: "dev-impl@shop", Start: s,
		Env: []string{"HOME=/home/op", "PATH=/usr/bin"},
	}
}

func argv(t *testing.T, rt engine.Runtime, r engine.LaunchRequest) string {
	t.Helper()
	l, err := rt.Line(r)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(l.Argv, " ")
}

func TestClaudeLaunchLines(t *testing.T) {
	rt := NewClaude(Config{})
	fresh := request(engine.RuntimeClaude, engine.StartFresh{SessionID: id1})
	if got := argv(t, rt, fresh); got != "claude --session-id "+id1+" -n dev-impl@shop" {
		t.Errorf("fresh: %s", got)
	}
	resume := request(engine.RuntimeClaude, engine.StartResume{Token: engine.NewResumeToken(id1)})
	resume.Settings, resume.Prompt = `{"hooks":{}}`, "-x; $(touch /tmp/no)"
	resume.Seat.Model, resume.Seat.Effort, resume.Seat.PermissionPolicy = "opus", "high", "builtin:standard"
	want := "claude --resume " + id1 + ` --settings {"hooks":{}} --permission-mode acceptEdits --model opus --effort high -n dev-impl@shop -- -x; $(touch /tmp/no)`
	if got := argv(t, rt, resume); got != want {
		t.Errorf("resume: %s", got)
	}
	l, err := rt.Line(resume)
	if err != nil || l.Token.Reveal() != id1 || !l.Prompt || l.Argv[len(l.Argv)-1] != resume.Prompt || l.Homes.ClaudeDir != "/home/op/.claude" {
		t.Errorf("resume: %+v %v", l, err)
	}
	fork := request(engine.RuntimeClaude, engine.StartFork{Parent: engine.NewParentToken(id1), NewID: id2})
	if got := argv(t, rt, fork); got != "claude --resume "+id1+" --fork-session --session-id "+id2+" -n dev-impl@shop" {
		t.Errorf("fork: %s", got)
	}
	if l, _ := rt.Line(fork); l.Token.Reveal() != id2 {
		t.Error("a fork's token is its own id")
	}
	rt = NewClaude(Config{Claude: []string{"rig", "agentsim", "claude"}})
	if got := argv(t, rt, fresh); !strings.HasPrefix(got, "rig agentsim claude --session-id ") {
		t.Errorf("configured command: %s", got)
	}
}

func TestCodexLaunchLines(t *testing.T) {
	rt := NewCodex(Config{})
	const posture = " -a on-request -s workspace-write"
	r := request(engine.RuntimeCodex, engine.StartFresh{SessionID: id1})
	if got := argv(t, rt, r); got != "codex --no-daemon -C /home/op/project"+posture {
		t.Errorf("fresh: %s", got)
	}
	r.Start, r.Prompt = engine.StartResume{Token: engine.NewResumeToken(id1)}, "-go"
	if got := argv(t, rt, r); got != "codex --no-daemon -C /home/op/project"+posture+" resume "+id1+" -- -go" {
		t.Errorf("resume: %s", got)
	}
	r.Start, r.Prompt = engine.StartFork{Parent: engine.NewParentToken(id1)}, ""
	r.Seat.Model, r.Seat.CodexProfile = "gpt-5.5-codex", "team"
	if got := argv(t, rt, r); got != "codex --no-daemon -C /home/op/project -m gpt-5.5-codex -p team fork "+id1 {
		t.Errorf("a profile replaces the posture: %s", got)
	}
	r.Seat.PermissionPolicy = "locked"
	if got := argv(t, rt, r); !strings.Contains(got, "-p team -a on-request -s read-only fork") {
		t.Errorf("a policy that was asked for stays: %s", got)
	}
}

func TestTerminalLaunchLines(t *testing.T) {
	rt := NewTerminal(Config{})
	r := request(engine.RuntimeTerminal, engine.StartFresh{})
	r.Prompt = "never given"
	if got := argv(t, rt, r); got != "/bin/sh" {
		t.Errorf("no SHELL: %s", got)
	}
	r.Env = append(r.Env, "SHELL=/bin/bash")
	if got := argv(t, rt, r); got != "/bin/bash" {
		t.Errorf("SHELL: %s", got)
	}
	r.Env = append(r.Env, "SHELL=/etc/passwd")
	if got := argv(t, rt, r); got != "/bin/sh" {
		t.Errorf("SHELL is no program: %s", got)
	}
	for _, s := range []engine.Start{engine.StartResume{Token: engine.NewResumeToken(id1)}, engine.StartFork{Parent: engine.NewParentToken(id1)}} {
		r.Start = s
		if _, err := rt.Line(r); engine.CodeOf(err) != "runtime_unsupported" {
			t.Errorf("%T: %v", s, err)
		}
	}
}

func TestLaunchLinesRefuse(t *testing.T) {
	fresh := engine.StartFresh{SessionID: id1}
	for name, change := range map[string]func(*engine.LaunchRequest){
		"relative cwd":    func(r *engine.LaunchRequest) { r.Seat.Cwd = "project" },
		"option as model": func(r *engine.LaunchRequest) { r.Seat.Model = "--dangerously-skip-permissions" },
		"line in model":   func(r *engine.LaunchRequest) { r.Seat.Model = "a\nb" },
		"option as name":  func(r *engine.LaunchRequest) { r.Address = "-n" },
		"unknown policy":  func(r *engine.LaunchRequest) { r.Seat.PermissionPolicy = "free" },
		"empty policy":    func(r *engine.LaunchRequest) { r.Seat.PermissionPolicy = "builtin:" },
		"NUL in prompt":   func(r *engine.LaunchRequest) { r.Prompt = "a\x00b" },
		"huge prompt":     func(r *engine.LaunchRequest) { r.Prompt = strings.Repeat("x", maxPrompt+1) },
		"no start":        func(r *engine.LaunchRequest) { r.Start = nil },
		"bad new id":      func(r *engine.LaunchRequest) { r.Start = engine.StartFresh{SessionID: "none"} },
		"bad token":       func(r *engine.LaunchRequest) { r.Start = engine.StartResume{Token: engine.NewResumeToken("--last")} },
		"fork of itself": func(r *engine.LaunchRequest) {
			r.Start = engine.StartFork{Parent: engine.NewParentToken(id1), NewID: strings.ToUpper(id1)}
		},
	} {
		r := request(engine.RuntimeClaude, fresh)
		change(&r)
		_, err := NewClaude(Config{}).Line(r)
		var e *engine.Error
		if !errors.As(err, &e) || e.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
		if bl := NewClaude(Config{}).Preflight(t.Context(), r); len(bl) == 0 || bl[0].Hint == "" {
			t.Errorf("%s: preflight %+v", name, bl)
		}
	}
}

// B41: what is no id is refused, and the refusal does not quote it.
func TestTokenForms(t *testing.T) {
	rows := strings.Split(strings.TrimSuffix(readFile(t, filepath.Join(cases, "B41-token-inputs.tsv")), "\n"), "\n")[1:]
	checked := 0
	for _, row := range rows {
		in, want, ok := strings.Cut(row, "\t")
		if !ok {
			t.Fatalf("row %q", row)
		}
		in = strings.ReplaceAll(in, `\n`, "\n")
		accept := strings.HasPrefix(want, "accept")
		for _, rt := range []engine.Runtime{NewClaude(Config{}), NewCodex(Config{})} {
			err := rt.ValidToken(strings.TrimSuffix(in, "\n"))
			if accept != (err == nil) {
				t.Errorf("%q: %v, want %s", in, err, want)
			}
			if err != nil && len(in) > 6 && strings.Contains(err.Error(), in) {
				t.Errorf("the refusal quotes the input: %v", err)
			}
			checked++
		}
	}
	if checked < 20 {
		t.Errorf("only %d checks", checked)
	}
	if NewClaude(Config{}).ValidToken(id1+"\n") == nil {
		t.Error("a token with a line end was accepted as it stands")
	}
	if NewTerminal(Config{}).ValidToken(id1) == nil {
		t.Error("a terminal has no ids")
	}
}

// B81: nothing of the launcher's own agent or pane reaches a seat.
func TestOccupantEnvironment(t *testing.T) {
	r := request(engine.RuntimeClaude, engine.StartFresh{SessionID: id1})
	r.Env = []string{
		"CLAUDECODE=1", "CLAUDE_CODE_CHILD_SESSION=x", "CLAUDE_CODE_SESSION_ID=y", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_PID=7",
		"CLAUDE_PROJECT_DIR=/x", "TMUX=/tmp/s,1,0", "TMUX_PANE=%7", "TERM=xterm-kitty", "TERM_PROGRAM=kitty", "RIG_SEAT=other@rig",
		"RIG_HOME=/elsewhere", "HOME=/home/op", "PATH=/usr/bin", "ANTHROPIC_API_KEY=k", "DISABLE_AUTO_COMPACT=1", "LANG=C", "broken", "=x", "NUL=a\x00b",
	}
	r.Seat.Env = map[string]string{"LANG": "de_DE.UTF-8", "EXTRA": "1", "RIG_SEAT": "forged", "TMUX_PANE": "%9"}
	r.RigEnv = []string{"RIG_SEAT=dev-impl@shop", "RIG_SESSION=S1", "PATH=/forged"}
	want := []string{
		"ANTHROPIC_API_KEY=k", "DISABLE_AUTO_COMPACT=1", "EXTRA=1", "HOME=/home/op", "LANG=de_DE.UTF-8", "PATH=/usr/bin",
		"RIG_SEAT=dev-impl@shop", "RIG_SESSION=S1",
	}
	for _, rt := range All(Config{}) {
		l, err := rt.Line(r)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(l.Env, want) {
			t.Errorf("%s: %q", rt.Name(), l.Env)
		}
	}
}

func TestCommandSetting(t *testing.T) {
	for in, want := range map[string][]string{
		"": {"claude"}, "  ": {"claude"}, "/opt/my claude": {"/opt/my claude"},
		`["rig","agentsim","claude"]`: {"rig", "agentsim", "claude"}, `["a b"]`: {"a b"},
	} {
		if got, err := ParseCommand(in, "claude"); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q %v", in, got, err)
		}
	}
	for _, in := range []string{"[", "[]", `[""]`, `[1]`, `["a\u0000b"]`} {
		if _, err := ParseCommand(in, "claude"); engine.CodeOf(err) != engine.CodeInvalid {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestPreflight(t *testing.T) {
	home := t.TempDir()
	cwd := filepath.Join(home, "project")
	if err := os.Mkdir(cwd, 0o755); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(home, "bin", "claude")
	write(t, bin, "#!/bin/sh\n")
	r := request(engine.RuntimeClaude, engine.StartFresh{SessionID: id1})
	r.Env = []string{"HOME=" + home, "PATH=" + filepath.Dir(bin)}
	r.Seat.Cwd = cwd
	rt := NewClaude(Config{})
	codes := func() []engine.Code {
		var out []engine.Code
		for _, b := range rt.Preflight(t.Context(), r) {
			if b.Hint == "" || b.Seat != "dev-impl@shop" {
				t.Errorf("blocker %+v", b)
			}
			out = append(out, b.Code)
		}
		return out
	}
	expect := func(what string, want ...engine.Code) {
		t.Helper()
		if got := codes(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	expect("not executable", engine.CodeRuntimeMissing)
	if err := os.Chmod(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	expect("all there")
	r.Start = engine.StartResume{Token: engine.NewResumeToken(id1)}
	r.Seat.Cwd = filepath.Join(home, "gone")
	expect("everything wrong at once", "cwd_missing", CodeNoConversation)
	r.Seat.Cwd = cwd
	slug := strings.NewReplacer("/", "-", ".", "-", "_", "-").Replace(cwd)
	write(t, filepath.Join(home, ".claude", "projects", slug, id1+".jsonl"), `{"type":"user","sessionId":"`+id1+`","cwd":"`+cwd+`","message":{"role":"user","content":"x"}}`+"\n")
	expect("a transcript")
	live := process(t, "sleep", "600").Process.Pid
	registryFile(t, filepath.Join(home, ".claude"), "claude-session-registry-idle.json", live, started(t, live), id1)
	expect("open elsewhere", "conversation_live")
	r.Start = engine.StartFork{Parent: engine.NewParentToken(id1), NewID: id2}
	expect("a living parent may be forked")
	r.Start = engine.StartFresh{SessionID: id1}
	expect("a taken id", CodeSessionInUse)
}
