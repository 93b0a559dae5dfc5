package runtimes

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// nestedEnv marks the user's status line as run by us, so that a status line
// that is ours again does not run itself for ever.
const nestedEnv = "RIG_STATUSLINE"

// userStatusTimeout bounds the user's own status line. Its time is not ours; the
// client itself cancels one that is overtaken by the next.
const userStatusTimeout = 10 * time.Second

// StatusLine is the body of the hidden verb "statusline". It stores its input as
// the occupant's newest context sample, then runs the status line that the user
// has configured, with the same input, and prints what that printed: the
// --settings value that put us here has replaced it. It returns 0 always.
func StatusLine(stdin io.Reader, stdout io.Writer, env []string) int {
	input := readInput(stdin)
	if lookup(env, nestedEnv) != "" {
		return 0
	}
	if dir := lookup(env, SpoolEnv); dir != "" && len(input) <= maxStatusFile && checkSpool(dir) == nil {
		_ = writeAtomic(filepath.Join(dir, statusName), withoutParent(input, env)) // a lost sample is no reason to disturb the client
	}
	if command := userStatusLine(input, env); command != "" {
		runStatusLine(command, input, stdout, env)
	}
	return 0
}

// userStatusLine finds the user's own status line command in the order in which
// the client itself looks: the project's local settings, the project's, the
// user's. Files that cannot be read are passed over.
func userStatusLine(input []byte, env []string) string {
	var in struct {
		Workspace struct {
			Project string `json:"project_dir"`
		} `json:"workspace"`
	}
	var files []string
	if json.Unmarshal(input, &in) == nil && filepath.IsAbs(in.Workspace.Project) {
		files = append(files,
			filepath.Join(in.Workspace.Project, ".claude", "settings.local.json"),
			filepath.Join(in.Workspace.Project, ".claude", "settings.json"))
	}
	if dir := HomesOf(env).ClaudeDir; dir != "" {
		files = append(files, filepath.Join(dir, "settings.json"))
	}
	for _, path := range files {
		s, err := readClaudeSettings(path)
		if err != nil || len(s.StatusLine) == 0 {
			continue
		}
		var line statusLineSetting
		if json.Unmarshal(s.StatusLine, &line) == nil && line.Command != "" && (line.Type == "command" || line.Type == "") {
			return line.Command
		}
	}
	return ""
}

// runStatusLine runs a status line command the way the client does: by a shell,
// with the report on stdin.
func runStatusLine(command string, input []byte, stdout io.Writer, env []string) {
	ctx, cancel := context.WithTimeout(context.Background(), userStatusTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	cmd.Env = withEnv(env, nestedEnv+"=1")
	cmd.Stdin = bytes.NewReader(input)
	cmd.WaitDelay = time.Second
	cmd.Stdout, cmd.Stderr = stdout, os.Stderr
	_ = cmd.Run() // what it printed stands; how it ended is between it and the user
}
