package main

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

	"rig/engine/agentsim"
)

// simulate runs a stand-in of a client with the real world behind it.
func simulate(args []string) int {
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "usage: rig agentsim claude|codex [arguments of the client]")
		return 2
	}
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return agentsim.Main(args[0], args[1:], agentsim.Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Vars: os.Environ(), Dir: dir,
		Now: time.Now, Rand: rand.Reader, Run: simRun, Spawn: simSpawn,
	})
}

func simCommand(ctx context.Context, c agentsim.Child) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.Dir, c.Env, bytes.NewReader(c.Stdin)
	return cmd
}

// simRun runs a child to its end in a group of its own; when ctx ends the whole
// group is killed.
func simRun(ctx context.Context, c agentsim.Child) (agentsim.Result, error) {
	cmd := simCommand(ctx, c)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	res := agentsim.Result{Stdout: out.Bytes(), Stderr: errs.Bytes()}
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

// simSpawn starts a child in a session of its own and leaves it alone.
func simSpawn(c agentsim.Child) (int, error) {
	cmd := simCommand(context.Background(), c)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go func() { _ = cmd.Wait() }() // its end is nobody's business
	return cmd.Process.Pid, nil
}
