package runtimes

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"

	"rig/engine"
)

// maxPrompt is the most an opening prompt may have: Linux refuses arguments of
// 128 KiB, and the engine keeps prompts far below this.
const maxPrompt = 100 << 10

// posture is how a runtime spells one permission policy.
type posture struct {
	claude string
	codex  []string
}

// postures is the closed list of permission policies: ask before everything, ask
// before what is not an edit, ask seldom, never ask. "operator" leaves the choice
// to the client's own configuration, like no policy at all. Claude Code's mode
// "default" is the one that newer clients also call "manual".
var postures = map[string]posture{
	"locked":   {"default", []string{"-a", "on-request", "-s", "read-only"}},
	"standard": {"acceptEdits", []string{"-a", "on-request", "-s", "workspace-write"}},
	"open":     {"auto", []string{"-a", "never", "-s", "workspace-write"}},
	"yolo":     {"bypassPermissions", []string{"-a", "never", "-s", "danger-full-access"}},
	"operator": {"", nil},
}

// postureOf looks a policy up; the word may carry the prefix "builtin:".
func postureOf(policy string) (posture, error) {
	word := strings.TrimPrefix(policy, "builtin:")
	if word == "" && policy == "" {
		return posture{}, nil
	}
	p, ok := postures[word]
	if !ok {
		return posture{}, engine.Errorf(engine.CodeNotSupported, "permission policy %q is not one of this build's", printable(policy, 60)).
			WithHint("use one of %s, or leave it out for the client's own default", strings.Join(policyNames(), ", "))
	}
	return p, nil
}

func policyNames() []string {
	names := make([]string, 0, len(postures))
	for n := range postures {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// checkWord refuses what cannot be one argument or would be read as an option.
func checkWord(what, word string) error {
	if strings.IndexByte(word, 0) >= 0 || strings.ContainsAny(word, "\r\n") {
		return engine.Errorf(engine.CodeInvalid, "the %s has a line end or NUL byte in it", what).
			WithHint("write it on one line")
	}
	if strings.HasPrefix(word, "-") {
		return engine.Errorf(engine.CodeInvalid, "the %s %q looks like an option", what, printable(word, 40)).
			WithHint("give a value that does not start with a dash")
	}
	return nil
}

// checkRequest refuses what no runtime can launch.
func checkRequest(r engine.LaunchRequest) error {
	if !filepath.IsAbs(r.Seat.Cwd) || strings.IndexByte(r.Seat.Cwd, 0) >= 0 {
		return engine.Errorf(engine.CodeInvalid, "the directory %q is not absolute", printable(r.Seat.Cwd, 120)).
			On("launch", r.Address).WithHint("give the seat an absolute cwd")
	}
	if len(r.Prompt) > maxPrompt {
		return engine.Errorf(engine.CodeInvalid, "the opening prompt has %d bytes, more than %d", len(r.Prompt), maxPrompt).
			On("launch", r.Address).WithHint("name a file in the prompt instead")
	}
	if strings.IndexByte(r.Prompt, 0) >= 0 {
		return engine.Errorf(engine.CodeInvalid, "the opening prompt holds a NUL byte").
			On("launch", r.Address).WithHint("remove it")
	}
	for what, word := range map[string]string{
		"model": r.Seat.Model, "effort": r.Seat.Effort, "Codex profile": r.Seat.CodexProfile, "address": r.Address,
	} {
		if err := checkWord(what, word); err != nil {
			return err
		}
	}
	return nil
}

// base fills what every launch line has.
func base(r engine.LaunchRequest) engine.LaunchLine {
	env := occupantEnv(r.Env, r.Seat.Env, append(forkEnv(r.Start), r.RigEnv...))
	return engine.LaunchLine{Env: env, Dir: r.Seat.Cwd, Homes: HomesOf(env)}
}

// resolve finds a program as the launch will: by the PATH of the launch's own
// environment, which may differ from ours.
func resolve(program string, env []string, dir string) (string, error) {
	if strings.ContainsRune(program, '/') {
		if !filepath.IsAbs(program) {
			program = filepath.Join(dir, program)
		}
		return program, executable(program)
	}
	for _, d := range filepath.SplitList(lookup(env, "PATH")) {
		if !filepath.IsAbs(d) {
			continue // a relative entry would run whatever the project has put there
		}
		if p := filepath.Join(d, program); executable(p) == nil {
			return p, nil
		}
	}
	return "", exec.ErrNotFound
}

func executable(path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	if st.IsDir() || st.Mode()&0o111 == 0 {
		return fmt.Errorf("%s is not a program", path)
	}
	return nil
}

// preflight holds the checks that all runtimes share.
func preflight(r engine.LaunchRequest, line engine.LaunchLine, program string) []engine.Blocker {
	var out []engine.Blocker
	add := func(code engine.Code, hint, format string, args ...any) {
		out = append(out, engine.Blocker{Code: code, Seat: r.Address, Message: fmt.Sprintf(format, args...), Hint: hint})
	}
	if _, err := resolve(program, line.Env, line.Dir); err != nil {
		add(engine.CodeRuntimeMissing, "install it, put it on PATH, or name it in the command setting (see `rig doctor`)",
			"the program %s cannot be found", program)
	}
	st, err := os.Stat(line.Dir)
	switch {
	case err != nil:
		add("cwd_missing", "create the directory, or change the seat's cwd", "the directory %s cannot be entered: %s", line.Dir, reason(err))
	case !st.IsDir():
		add("cwd_missing", "change the seat's cwd", "%s is not a directory", line.Dir)
	}
	return out
}

// reason gives the words of a system error without the path around them.
func reason(err error) string {
	for {
		u, ok := err.(interface{ Unwrap() error })
		if !ok || u.Unwrap() == nil {
			return err.Error()
		}
		err = u.Unwrap()
	}
}
