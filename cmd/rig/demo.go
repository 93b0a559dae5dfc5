package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rig/engine"
	"rig/engine/runtimes"
	"rig/specs"
)

func (c *cli) demoCmd() *cobra.Command {
	var keep, headless bool
	cmd := &cobra.Command{
		Use: "demo", Short: "A rig of simulated agents on a private tmux server, and the console on it", Args: cobra.NoArgs,
		Long: "Three simulated Claude Code seats, three simulated Codex seats and a shell come up on a tmux server of their own, with a home folder of their own.\nNo account and no agent is needed. Everything is removed at the end.",
		RunE: func(cmd *cobra.Command, _ []string) error { return c.demo(cmd.Context(), keep, headless) },
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "leave everything running and say where")
	cmd.Flags().BoolVar(&headless, "headless", false, "no console: say what came up and went away, and exit")
	return cmd
}

// demoReport is what `rig demo --headless --json` prints.
type demoReport struct {
	OK     bool        `json:"ok"`
	Seats  []demoSeat  `json:"seats"`
	Ready  int         `json:"ready"`
	Gone   bool        `json:"gone"` // nothing is left: no process, no socket, no folder
	Left   []string    `json:"left,omitempty"`
	Launch interface{} `json:"receipt,omitempty"`
	Millis int64       `json:"milliseconds"`
}

type demoSeat struct {
	Seat     string `json:"seat"`
	Runtime  string `json:"runtime"`
	Outcome  string `json:"outcome"`
	Activity string `json:"activity"`
	Source   string `json:"source"`
}

func (c *cli) demo(ctx context.Context, keep, headless bool) (err error) {
	start := time.Now()
	d, err := newDemo()
	if err != nil {
		return err
	}
	report := demoReport{}
	unguard := func() {}
	defer func() { unguard() }()
	defer func() {
		if keep && err == nil {
			fmt.Fprintf(c.err, "kept: RIG_HOME=%s RIG_TMUX_SOCKET=%s\n", d.rigHome, d.socket)
			return
		}
		report.Left = d.remove()
		report.Gone = len(report.Left) == 0
		if headless && err == nil {
			report.OK = report.Gone && report.Ready == len(report.Seats) && report.Ready > 0
			report.Millis = time.Since(start).Milliseconds()
			err = c.demoPrint(report)
		}
	}()
	if err := d.enter(); err != nil {
		return err
	}
	if !keep {
		unguard = d.guard()
	}
	if !headless {
		fmt.Fprintln(c.err, "bringing up seven simulated seats …")
	}
	rec, err := d.up(ctx)
	if err != nil {
		return err
	}
	if headless {
		report.Launch = rec
		return d.look(ctx, &report)
	}
	d.liven(ctx)
	return c.tui(ctx, tuiFlags{})
}

func (c *cli) demoPrint(r demoReport) error {
	if !r.OK {
		c.code = 1
	}
	if c.json {
		return c.print(r)
	}
	rows := [][]string{}
	for _, s := range r.Seats {
		rows = append(rows, []string{"  " + s.Seat, s.Runtime, s.Outcome, s.Activity, "proven by " + s.Source})
	}
	table(c.out, rows)
	fmt.Fprintf(c.out, "%d of %d ready in %d ms", r.Ready, len(r.Seats), r.Millis)
	if r.Gone {
		fmt.Fprintln(c.out, "; everything is gone again")
	} else {
		fmt.Fprintf(c.out, "; LEFT BEHIND: %v\n", r.Left)
	}
	return nil
}

// demoRig is a world of its own: a folder, a home, a tmux server.
type demoRig struct {
	dir, home, rigHome, project, socket, self string
}

// demoPrefix begins the name of a demo's folder in /tmp: a socket path has about
// a hundred bytes.
const demoPrefix = "rig-demo-"

// demoIn is the demo whose folder is dir.
func demoIn(dir, self string) *demoRig {
	return &demoRig{
		dir: dir, self: self, home: filepath.Join(dir, "home"), rigHome: filepath.Join(dir, "rig"),
		project: filepath.Join(dir, "project"), socket: filepath.Join(dir, "tmux.sock"),
	}
}

func newDemo() (*demoRig, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		return nil, engine.Errorf(engine.CodeRuntimeMissing, "tmux is not installed").WithHint("install tmux 3.2a or newer: apt-get install tmux, or brew install tmux")
	}
	dir, err := os.MkdirTemp("/tmp", demoPrefix)
	if err != nil {
		return nil, err
	}
	d := demoIn(dir, self)
	for _, sub := range []string{d.home, d.project, filepath.Join(d.home, ".codex")} {
		if err := os.MkdirAll(sub, 0o700); err != nil {
			return d, err
		}
	}
	return d, d.answerDialogs()
}

// answerDialogs writes what a first run of the clients would ask, into the demo's
// own home.
func (d *demoRig) answerDialogs() error {
	claude, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true,
		"projects":               map[string]any{d.project: map[string]any{"hasTrustDialogAccepted": true}},
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(d.home, ".claude.json"), claude, 0o600); err != nil {
		return err
	}
	codex := fmt.Sprintf("model = \"gpt-5.5-codex\"\n[features]\ndaemon_auto_start = false\n[projects.%q]\ntrust_level = \"trusted\"\n", d.project)
	return os.WriteFile(filepath.Join(d.home, ".codex", "config.toml"), []byte(codex), 0o600)
}

// enter makes this process, and whatever it starts, live in the demo's world.
func (d *demoRig) enter() error {
	sim := func(kind ...string) string {
		b, err := json.Marshal(append([]string{d.self, "agentsim"}, kind...))
		if err != nil {
			return ""
		}
		return string(b)
	}
	for k, v := range map[string]string{
		"HOME": d.home, "RIG_HOME": d.rigHome, "RIG_TMUX_SOCKET": d.socket, "RIG_CONFIG": filepath.Join(d.dir, "config.yaml"),
		"RIG_CLAUDE_COMMAND": sim("claude", "--permission-mode", "acceptEdits"), "RIG_CODEX_COMMAND": sim("codex"), "PS1": "$ ", "SHELL": "/bin/sh",
	} {
		if err := os.Setenv(k, v); err != nil {
			return err
		}
	}
	for _, k := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "RIG_SEAT", "RIG_GENERATION", "RIG_SESSION", "ENV"} {
		if err := os.Unsetenv(k); err != nil {
			return err
		}
	}
	return nil
}

// demoPolicy is what the seats of the demo are told around a compaction. A real one
// needs no such words: these are directives of the stand-ins, so that a compaction
// goes through its restore map and its audit as one with a model does.
const demoPolicy = `policies:
  claude_compaction:
    enabled: true
    threshold_percent: 80
    pre_compact_instruction: "[[map]]"
    message_inline: "[[tokens:42000]] [[say:I have restored from packet at .rig; resumed at step 2]]"
    post_restore_audit_instruction: "[[say:FULL: the restore map and notes.md. Current work: the migration in both directions. Next owner: qa-review@demo.]]"
`

// spec writes the starter with the demo's own policy, and gives its path.
func (d *demoRig) spec() (string, error) {
	text, ok := specs.Open("demo")
	if !ok {
		return "", engine.Errorf(engine.CodeInternal, "this build has no starter demo").WithHint("use another build")
	}
	var out strings.Builder
	skip := false
	for line := range strings.Lines(string(text)) {
		switch {
		case line == "policies:\n":
			skip = true
			out.WriteString(demoPolicy)
		case !strings.HasPrefix(line, " "):
			skip = false
		}
		if !skip {
			out.WriteString(line)
		}
	}
	path := filepath.Join(d.dir, "demo.yaml")
	return path, os.WriteFile(path, []byte(out.String()), 0o600)
}

func (d *demoRig) up(ctx context.Context) (*engine.Receipt, error) {
	a, err := openApp(appWrite)
	if err != nil {
		return nil, err
	}
	defer a.close()
	m := mutation{reason: "demo"}
	spec, err := d.spec()
	if err != nil {
		return nil, err
	}
	req, err := m.request(engine.VerbUp, "demo", engine.UpArgs{Spec: spec, Cwd: d.project})
	if err != nil {
		return nil, err
	}
	p, err := a.engine().Plan(ctx, req)
	if err != nil {
		return nil, err
	}
	return a.engine().Apply(ctx, p, nil)
}

// look reports each seat as the picture shows it.
func (d *demoRig) look(ctx context.Context, r *demoReport) error {
	a, err := openApp(appRead)
	if err != nil {
		return err
	}
	defer a.close()
	f, err := a.engine().Fleet(ctx)
	if err != nil {
		return err
	}
	for _, s := range f.Seats() {
		r.Seats = append(r.Seats, demoSeat{s.Address, string(s.Runtime), string(s.Continuity), string(s.Activity.State), s.Activity.Source})
		if s.Life == engine.LifeRunning && s.Startup == engine.StartupReady && s.Activity.State == engine.ActivityIdle {
			r.Ready++
		}
	}
	return nil
}

// liven gives the seats something to do, so that the console has something to
// show: work under way, a permission prompt, a full context, a usage limit.
func (d *demoRig) liven(ctx context.Context) {
	a, err := openApp(appWrite)
	if err != nil {
		return
	}
	defer a.close()
	f, err := a.engine().Fleet(ctx)
	if err != nil {
		return
	}
	lines := map[engine.RuntimeName][]string{
		engine.RuntimeClaude: {
			"[[tokens:760000]] [[say:The migration is reversible: both directions ran on a copy.]] check the migration",
			"[[sh:make test]] run the tests", "[[tokens:610000]] [[slow:900]] write the report",
		},
		engine.RuntimeCodex: {"[[slow:900]] review the parser", "[[tokens:192000]] [[say:Two findings, both in the retry loop.]] review it", "[[limit]] go on"},
	}
	used := map[engine.RuntimeName]int{}
	for _, s := range f.Seats() {
		if n := used[s.Runtime]; n < len(lines[s.Runtime]) {
			used[s.Runtime]++
			if _, err := a.engine().Send(ctx, s.Address, lines[s.Runtime][n], false); err != nil {
				a.deps.Log.Warn("demo", "seat", s.Address, "err", err)
			}
		}
	}
}

// remove ends the demo's own tmux server and deletes its folder. It gives what
// could not be removed.
func (d *demoRig) remove() []string {
	if filepath.Dir(d.dir) != "/tmp" || !strings.HasPrefix(filepath.Base(d.dir), demoPrefix) {
		return []string{d.dir}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var left []string
	procs := append(d.endDetached(ctx), d.processes(ctx)...)
	if err := exec.CommandContext(ctx, "tmux", "-S", d.socket, "kill-server").Run(); err != nil && !errors.Is(err, exec.ErrNotFound) {
		_ = err // no server is as good as a killed one; the processes below decide
	}
	ps := runtimes.NewProcesses()
	for _, p := range procs {
		if !waitGone(ctx, ps, p) {
			left = append(left, fmt.Sprintf("process %d", p.PID))
		}
	}
	if err := removeFolder(ctx, d.dir); err != nil {
		left = append(left, d.dir+": "+err.Error())
	}
	return left
}
