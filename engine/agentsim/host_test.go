package agentsim

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// simKind makes the test binary act as a stand-in: the tests start it the way a
// person would start the client.
const simKind = "AGENTSIM_TEST_KIND"

func TestMain(m *testing.M) {
	if kind := os.Getenv(simKind); kind != "" {
		os.Exit(Main(kind, os.Args[1:], hostEnv()))
	}
	os.Exit(m.Run())
}

// hostEnv is the real world, as the command wires it.
func hostEnv() Env {
	dir, err := os.Getwd()
	if err != nil {
		dir = "/"
	}
	var vars []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, simKind+"=") {
			vars = append(vars, v)
		}
	}
	return Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Vars: vars, Dir: dir,
		Now: time.Now, Rand: rand.Reader, Run: hostRun, Spawn: hostSpawn,
	}
}

func hostRun(ctx context.Context, c Child) (Result, error) {
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.Dir, c.Env, bytes.NewReader(c.Stdin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	r := Result{Stdout: out.Bytes(), Stderr: errOut.Bytes()}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		r.Code = exit.ExitCode()
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			r.Code = 128 + int(ws.Signal())
		}
		return r, ctx.Err()
	case errors.Is(err, exec.ErrWaitDelay):
		return r, nil
	}
	return r, err
}

func hostSpawn(c Child) (int, error) {
	cmd := exec.Command(c.Argv[0], c.Argv[1:]...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go func() { _ = cmd.Wait() }()
	return cmd.Process.Pid, nil
}
