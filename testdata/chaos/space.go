//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

// plainUser is the user id of the run when root starts it: limits on processes and permissions on files bind everybody but root.
const plainUser = 47011

// diskSize is the room of the small disk that holds RIG_HOME and the clients' files.
const diskSize = "size=96m,mode=0755"

// Stages of a start: outside, as the first process of the namespaces, and in the world as a plain user.
const (
	stageSpace = "space"
	stageWorld = "world"
	stagePlain = "plain" // as a plain user where there can be no namespaces
	stageLimit = "limit" // not part of the start: set limits, then become a program
)

// start goes one stage further, or runs the experiment.
func start(ctx context.Context, o options) (int, error) {
	switch o.stage {
	case stageLimit:
		return 1, limited(o.args)
	case stageWorld, stagePlain:
		return run(ctx, o)
	case stageSpace:
		return inSpace(ctx, o)
	}
	dir, err := os.MkdirTemp("/tmp", "ch")
	if err != nil {
		return 1, fmt.Errorf("make a folder: %w", err)
	}
	for name, path := range map[string]string{"chaos": "/proc/self/exe", "rig": o.rig, "check": o.check} {
		if err := copyProgram(path, filepath.Join(dir, "bin", name)); err != nil {
			return 1, err
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return 1, err
	}
	o.dir = dir
	stage := first
	if os.Getuid() != 0 {
		stage = run
	}
	code, err := stage(ctx, o)
	if code == 0 && err == nil && !o.keep {
		return 0, os.RemoveAll(dir)
	}
	fmt.Printf("what rig printed, and a copy of the record: %s\n", dir)
	return code, err
}

// again is the command line of the next stage.
func again(ctx context.Context, o options, stage string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(o.dir, "bin", "chaos"), "-stage", stage, "-dir", o.dir,
		"-seed", strconv.FormatInt(o.seed, 10), "-rounds", strconv.Itoa(o.rounds), "-ops", strconv.Itoa(o.ops),
		"-faults", strconv.Itoa(o.faults), "-limit", o.limit.String(), "-keep="+strconv.FormatBool(o.keep))
	cmd.Stdout, cmd.Stderr, cmd.Dir = os.Stdout, os.Stderr, "/"
	return cmd
}

// noSpace is how the first process of the namespaces says that it cannot prepare them.
const noSpace = 97

// first starts the first process of new process and mount namespaces, and goes on without them where they are not allowed, as in
// many containers.
func first(ctx context.Context, o options) (int, error) {
	cmd := again(ctx, o, stageSpace)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return plain(ctx, o, err)
	}
	code, err := ended(cmd)
	if code == noSpace {
		return plain(ctx, o, errors.New("they cannot be prepared"))
	}
	return code, err
}

// plain runs the experiment as a plain user among everybody's processes.
func plain(ctx context.Context, o options, why error) (int, error) {
	fmt.Printf("no namespaces of its own: %v\n", why)
	if err := os.Chown(o.dir, plainUser, plainUser); err != nil {
		return 1, err
	}
	cmd := again(ctx, o, stagePlain)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: plainUser, Gid: plainUser}, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return 1, fmt.Errorf("start as a plain user: %w", err)
	}
	return ended(cmd)
}

// ended waits for a stage and gives its exit code; one that was killed gives 1.
func ended(cmd *exec.Cmd) (int, error) {
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 1, err
	}
	return max(cmd.ProcessState.ExitCode(), -cmd.ProcessState.ExitCode()), nil
}

// inSpace prepares the world and lets a plain user run in it. It is process 1: whatever loses its parent ends up here.
func inSpace(ctx context.Context, o options) (int, error) {
	disk := filepath.Join(o.dir, "d")
	err := errors.Join(
		syscall.Mount("", "/", "", syscall.MS_PRIVATE|syscall.MS_REC, ""),
		syscall.Mount("proc", "/proc", "proc", 0, ""),
		os.MkdirAll(disk, 0o755),
	)
	if err == nil {
		err = syscall.Mount("disk", disk, "tmpfs", 0, diskSize)
	}
	if err := errors.Join(err, os.Chown(disk, plainUser, plainUser), os.Chown(o.dir, plainUser, plainUser)); err != nil {
		fmt.Fprintln(os.Stderr, "chaos: prepare the world:", err)
		return noSpace, nil
	}
	cmd := again(ctx, o, stageWorld)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: plainUser, Gid: plainUser}}
	if err := cmd.Start(); err != nil {
		return 1, fmt.Errorf("start as a plain user: %w", err)
	}
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 1, err
		case pid == cmd.Process.Pid:
			return status.ExitStatus(), nil
		}
	}
}

// copyProgram puts a program where the plain user may run it.
func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// limited sets a limit and becomes a program: "nproc 12 program argument…".
func limited(args []string) error {
	if len(args) < 3 {
		return errors.New("want a limit, its value and a program")
	}
	which, ok := map[string]int{"nproc": rlimitNproc, "fsize": syscall.RLIMIT_FSIZE}[args[0]]
	n, err := strconv.ParseUint(args[1], 10, 63)
	if !ok || err != nil {
		return fmt.Errorf("no limit %s %s", args[0], args[1])
	}
	if err := syscall.Setrlimit(which, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
		return err
	}
	return syscall.Exec(args[2], args[2:], os.Environ())
}
