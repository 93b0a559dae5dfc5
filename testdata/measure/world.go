//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// world is where the experiment lives: a home, a tmux server and a rig with the seats.
type world struct {
	options
	dir    string
	name   string // of the rig
	socket string
	env    []string
	server int // process id of the tmux server
}

// build makes the world and brings the rig up in it.
func build(ctx context.Context, o options) (*world, error) {
	dir, err := os.MkdirTemp("", "m")
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	w := &world{options: o, dir: dir, name: "measured", socket: filepath.Join(dir, "s")}
	w.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "SHELL=/bin/sh", "LANG=C.UTF-8", "TERM=xterm-256color", "COLORTERM=truecolor",
		"RIG_HOME=" + filepath.Join(dir, "r"), "RIG_CONFIG=" + filepath.Join(dir, "rig.yaml"), "RIG_TMUX_SOCKET=" + w.socket,
	}
	if err := w.populate(ctx); err != nil {
		w.remove()
		return nil, err
	}
	return w, nil
}

// populate brings up the seats, gives their panes something to show, and makes them busy if that is asked for.
func (w *world) populate(ctx context.Context) error {
	spec := filepath.Join(w.dir, "spec.yaml")
	if err := os.WriteFile(spec, []byte(w.spec()), 0o600); err != nil {
		return fmt.Errorf("write the spec: %w", err)
	}
	if _, err := w.run(ctx, w.rig, "up", spec, "--json"); err != nil {
		return err
	}
	pid, err := w.run(ctx, "tmux", "-S", w.socket, "display-message", "-p", "#{pid}")
	if err != nil {
		return err
	}
	if w.server, err = strconv.Atoi(strings.TrimSpace(pid)); err != nil {
		return fmt.Errorf("process id of the tmux server: %w", err)
	}
	body := `printf '\033[32m*\033[0m list the files\n\n  README.md main.go\n'`
	if w.kind == "busy" {
		self, err := os.Executable()
		if err != nil {
			return fmt.Errorf("find this program: %w", err)
		}
		body = "exec '" + self + "' -paint"
	}
	for i := range w.seats {
		target := fmt.Sprintf("=load-%s@%s:", member(i), w.name)
		if _, err := w.run(ctx, "tmux", "-S", w.socket, "send-keys", "-t", target, body, "Enter"); err != nil {
			return err
		}
	}
	return nil
}

// spec is a rig of terminal seats in one pod.
func (w *world) spec() string {
	var b strings.Builder
	fmt.Fprintf(&b, "version: \"0.2\"\nname: %s\npods:\n  - id: load\n    label: Load\n    members:\n", w.name)
	for i := range w.seats {
		fmt.Fprintf(&b, "      - {id: %s, runtime: terminal, agent_ref: \"builtin:terminal\", profile: none, cwd: .}\n", member(i))
	}
	b.WriteString("    edges: []\nedges: []\n")
	return b.String()
}

// member names the i-th member.
func member(i int) string { return fmt.Sprintf("s%03d", i) }

// run starts a program in the world and returns what it printed.
func (w *world) run(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Dir = w.env, w.dir
	var remarks bytes.Buffer
	cmd.Stderr = &remarks
	out, err := cmd.Output()
	if err != nil {
		said := remarks.String() + string(out)
		return "", fmt.Errorf("%s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), err, said[:min(len(said), 800)])
	}
	return string(out), nil
}

// timed is the median time of n runs of rig with the arguments.
func (w *world) timed(ctx context.Context, n int, args ...string) (time.Duration, error) {
	var times []time.Duration
	for range n {
		began := time.Now()
		if _, err := w.run(ctx, w.rig, args...); err != nil {
			return 0, err
		}
		times = append(times, time.Since(began))
	}
	return quantile(times, 0.5), nil
}

// remove ends the tmux server and deletes the folder; nobody needs what is left if that fails.
func (w *world) remove() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, _ = w.run(ctx, "tmux", "-S", w.socket, "kill-server")
	_ = os.RemoveAll(w.dir)
}
