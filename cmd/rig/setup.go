package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rig/engine"
)

// setupItem is one thing that an installation wants.
type setupItem struct {
	Name    string `json:"item"`
	State   string `json:"state"` // there, missing (rig does it), yours (a person does it), done, failed
	What    string `json:"what"`
	Path    string `json:"path,omitempty"`
	Command string `json:"command,omitempty"` // what does it, when it is a person's
	Error   string `json:"error,omitempty"`

	do    func(ctx context.Context) error
	again func() check // nil, or looks once more at what do has brought
}

func (c *cli) setupCmd() *cobra.Command {
	var dry bool
	var install []string
	cmd := &cobra.Command{
		Use: "setup", Short: "Do what is missing on this machine: home, configuration, completion, man pages; --dry-run says it", Args: cobra.NoArgs,
		Long: "Writes only files of its own, into your own folders, and never over a configuration that is there. Programs are installed when you\n" +
			"name them: --install tmux,claude,codex runs the command that is shown beside them. Exit 1: something that rig needs is missing still.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range install {
				if !slices.Contains([]string{"tmux", "claude", "codex"}, name) {
					return engine.Errorf(engine.CodeInvalid, "%q is not something that rig installs", name).WithHint("tmux, claude or codex")
				}
			}
			items, err := c.setupItems(cmd.Context(), (&cli{}).root(), install)
			if err != nil {
				return err
			}
			if !dry {
				runSetup(cmd.Context(), items)
			}
			return c.showSetup(items, dry)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be done, and do nothing")
	cmd.Flags().StringSliceVar(&install, "install", nil, "also install these programs: tmux, claude, codex")
	return cmd
}

// runSetup does what is missing; what fails is told and stops nothing else.
func runSetup(ctx context.Context, items []setupItem) {
	for i := range items {
		it := &items[i]
		if it.State != "missing" {
			continue
		}
		it.State = "done"
		if err := it.do(ctx); err != nil {
			it.State, it.Error = "failed", err.Error()
		} else if it.again != nil {
			it.lookAgain(it.again())
		}
	}
}

// lookAgain believes the check, and not the installer.
func (it *setupItem) lookAgain(k check) {
	if it.What = k.Found; k.Status != "green" {
		it.State, it.Error = "failed", "the command ended well, and this is still so"
	}
}

func (c *cli) showSetup(items []setupItem, dry bool) error {
	for _, it := range items {
		if it.State == "failed" || it.Name == "tmux" && it.State == "yours" {
			c.code = 1
		}
	}
	if c.json {
		return c.print(map[string]any{"ok": c.code == 0, "dry_run": dry, "items": items})
	}
	rows := [][]string{}
	for _, it := range items {
		sign := map[string]string{"there": "✓", "missing": "+", "yours": "!", "done": "✓", "failed": "✗"}[it.State]
		state := map[string]string{"there": "", "missing": "would be made", "yours": "yours to do", "done": "made", "failed": "failed"}[it.State]
		rows = append(rows, []string{sign, it.Name, state, plain(it.What)})
		if it.State == "missing" || it.State == "yours" {
			if line := cmp.Or(it.Command, it.Path); line != "" {
				rows = append(rows, []string{"", "", "", "→ " + plain(line)})
			}
		}
		if it.Error != "" {
			rows = append(rows, []string{"", "", "", plain(it.Error)})
		}
	}
	table(c.out, rows)
	if dry {
		fmt.Fprintln(c.out, "No changes were made.")
	}
	return nil
}

// setupItems looks at everything and says what is there and what is not.
func (c *cli) setupItems(ctx context.Context, root *cobra.Command, install []string) ([]setupItem, error) {
	p, err := findPaths()
	if err != nil {
		return nil, err
	}
	conf, err := readConfig(p.config)
	if err != nil {
		return nil, err
	}
	items := []setupItem{
		program("tmux", func() check { return tmuxCheck(ctx) }, tmuxInstall(), install),
		program("claude", func() check { return clientCheck(ctx, "claude", "RIG_CLAUDE_COMMAND", conf.Claude.Command) }, []string{"npm", "install", "--global", "@anthropic-ai/claude-code"}, install),
		program("codex", func() check { return clientCheck(ctx, "codex", "RIG_CODEX_COMMAND", conf.Codex.Command) }, []string{"npm", "install", "--global", "@openai/codex"}, install),
	}
	for _, k := range terminalChecks(ctx) {
		it := setupItem{Name: k.Name, State: "there", What: k.Found, Command: k.Hint}
		if k.Status != "green" {
			it.State = "yours"
		}
		items = append(items, it)
	}
	home := setupItem{Name: "home", State: "there", What: "record, spools and logs", Path: p.home, do: func(context.Context) error { return os.MkdirAll(p.home, 0o700) }}
	if !onDisk(p.home) {
		home.State = "missing"
	}
	items = append(items, home)
	if repairable(recordError()) {
		items = append(items, setupItem{Name: "record", State: "missing", What: "the record, brought up to date with this rig and whole", Path: p.record(), do: func(context.Context) error { return repairRecord() }})
	}
	config := setupItem{
		Name: "config", State: "there", What: "every setting with its default, as comments", Path: p.config,
		do: func(context.Context) error { return writeNew(p.config, configTemplate()) },
	}
	if !onDisk(p.config) {
		config.State = "missing"
	}
	items = append(items, config)
	it, known, err := completionItem(root)
	if err != nil {
		return nil, err
	}
	if known {
		items = append(items, it)
	}
	return append(items, manItem(root)), nil
}

// recordError is why the record cannot be read, nil when it can.
func recordError() error {
	a, err := openApp(appRead)
	if err == nil {
		a.close()
	}
	return err
}

// repairRecord opens the record for writing, which brings an older one up to date
// and lets SQLite finish what a dead process left.
func repairRecord() error {
	a, err := openApp(appWrite)
	if err == nil {
		a.close()
	}
	return err
}

// program is an item that is a program of somebody else: shown with the command
// that installs it, which runs when a person asked for it.
func program(name string, look func() check, argv, install []string) setupItem {
	k := look()
	it := setupItem{Name: name, State: "there", What: k.Found, Command: engine.CommandLine(argv...), again: look}
	if k.Status == "green" {
		return it
	}
	if it.State = "yours"; len(argv) == 0 {
		it.Command = k.Hint
		return it
	}
	if _, err := exec.LookPath(argv[0]); err != nil {
		it.What += "; the command needs " + argv[0] + ", which is not here either"
	}
	if slices.Contains(install, name) {
		it.State = "missing"
		it.do = func(ctx context.Context) error {
			cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
			cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
			return cmd.Run()
		}
	}
	return it
}

// tmuxInstall is the command of this system's package manager, none when it is
// not known or this user may not run it.
func tmuxInstall() []string {
	for _, m := range []struct {
		name string
		root bool
		argv []string
	}{
		{"brew", false, []string{"brew", "install", "tmux"}},
		{"apt-get", true, []string{"apt-get", "install", "--yes", "tmux"}},
		{"dnf", true, []string{"dnf", "install", "--assumeyes", "tmux"}},
		{"apk", true, []string{"apk", "add", "tmux"}},
		{"pacman", true, []string{"pacman", "-S", "--noconfirm", "tmux"}},
	} {
		// brew refuses root; the others need it.
		if _, err := exec.LookPath(m.name); err != nil || !m.root && os.Geteuid() == 0 {
			continue
		}
		if m.root && os.Geteuid() != 0 {
			return append([]string{"sudo"}, m.argv...)
		}
		return m.argv
	}
	return nil
}

// configTemplate is a configuration that says nothing: every setting stands in it
// as a comment.
func configTemplate() []byte {
	var b bytes.Buffer
	b.WriteString("# Settings of rig; `rig config` shows what is in force. Take away the # of what you change.\n")
	group := ""
	for _, s := range settings() {
		name, key, below := strings.Cut(s.Key, ".")
		if !below {
			fmt.Fprintf(&b, "\n# %s\n# %s: %s\n", s.Help, name, s.Default)
			continue
		}
		if name != group {
			group = name
			fmt.Fprintf(&b, "\n# %s:\n", name)
		}
		fmt.Fprintf(&b, "#   %s: %s  # %s\n", key, s.Default, s.Help)
	}
	return b.Bytes()
}

// writeNew writes a file that is not there yet, with its folders.
func writeNew(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
