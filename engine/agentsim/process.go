package agentsim

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Process runs a stand-in with the real world behind it: args are the client's name
// and its arguments. It gives the exit code, 2 without a name.
func Process(args []string) int {
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "usage: rig agentsim claude|codex [arguments of the client]")
		return 2
	}
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return Main(args[0], args[1:], Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Vars: os.Environ(), Dir: dir,
		Now: time.Now, Rand: rand.Reader, Run: runChild, Spawn: spawnChild,
	})
}

func childCommand(ctx context.Context, c Child) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.Dir, c.Env, bytes.NewReader(c.Stdin)
	return cmd
}

// runChild runs a child to its end in a group of its own; when ctx ends the whole
// group is killed.
func runChild(ctx context.Context, c Child) (Result, error) {
	cmd := childCommand(ctx, c)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	res := Result{Stdout: out.Bytes(), Stderr: errs.Bytes()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return res, ctx.Err()
	case errors.As(err, &exit):
		res.Code = exit.ExitCode()
		if st, ok := exit.Sys().(syscall.WaitStatus); ok && st.Signaled() {
			res.Code = 128 + int(st.Signal())
		}
		return res, nil
	}
	return res, err
}

// spawnChild starts a child in a session of its own and leaves it alone.
func spawnChild(c Child) (int, error) {
	cmd := childCommand(context.Background(), c)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go func() { _ = cmd.Wait() }() // its end is nobody's business
	return cmd.Process.Pid, nil
}
