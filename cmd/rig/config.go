package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"rig/engine"
	"rig/tui"
)

// config is config.yaml: every key is optional, and unknown ones are refused. The
// tags are the page about it: `rig config` and docs/config.md are made of them.
type config struct {
	Tmux struct {
		Socket string `yaml:"socket" env:"RIG_TMUX_SOCKET" default:"rig" help:"the tmux server of the seats, a name or a path; the name default is the server that you work in"`
	} `yaml:"tmux"`
	Claude struct {
		Command []string `yaml:"command" env:"RIG_CLAUDE_COMMAND" default:"[claude]" help:"how Claude Code is started: program and arguments"`
	} `yaml:"claude"`
	Codex struct {
		Command []string `yaml:"command" env:"RIG_CODEX_COMMAND" default:"[codex]" help:"how Codex is started: program and arguments"`
	} `yaml:"codex"`
	Terminal struct {
		Shell string `yaml:"shell" default:"\"\"" help:"the shell of terminal seats; empty: your own $SHELL"`
	} `yaml:"terminal"`
	Launch struct {
		ReadyTimeout time.Duration `yaml:"ready_timeout" default:"30s" help:"how long a client may take to become ready"`
		Parallel     int           `yaml:"parallel" default:"24" help:"seats that start at once"`
		Width        int           `yaml:"width" default:"160" help:"columns of a new seat's pane"`
		Height       int           `yaml:"height" default:"48" help:"lines of a new seat's pane"`
	} `yaml:"launch"`
	Handover struct {
		UndoWindow time.Duration `yaml:"undo_window" default:"10m" help:"how long the incumbent of a handover is kept for rig op undo; -1s: not at all"`
		GateWait   time.Duration `yaml:"gate_wait" default:"1m" help:"how long a prompt of a successor waits for you before the handover is rolled back"`
	} `yaml:"handover"`
	Snapshots struct {
		Off   bool          `yaml:"off" default:"false" help:"no periodic snapshots"`
		Every time.Duration `yaml:"every" default:"5m" help:"how often running rigs are saved while a console or rig watch is open"`
		Keep  int           `yaml:"keep" default:"10" help:"periodic snapshots that are kept of a rig, the newest ones"`
	} `yaml:"snapshots"`
	Console struct {
		Bell   bool `yaml:"bell" default:"false" help:"ring the terminal's bell when something new waits for you"`
		Notify bool `yaml:"notify" default:"false" help:"also ask the terminal for a desktop notification (OSC 9 and OSC 777)"`
	} `yaml:"console"`
	Recorder struct {
		Off bool `yaml:"off" default:"false" help:"keep no screens around the changes of a seat's state"`
	} `yaml:"recorder"`
	Images struct {
		SpecRoots []string `yaml:"spec_roots" default:"[]" help:"folders that are also searched for specs that refer to agent images"`
	} `yaml:"images"`
	Projects struct {
		Roots []string `yaml:"roots" default:"[]" help:"folders with a rig-project.yaml, beside those around a seat"`
	} `yaml:"projects"`
	Keys map[string]keyList `yaml:"keys" default:"{}" help:"action: key or list of keys of the console; rig config keys lists the actions"`
}

// keyList is one key or several.
type keyList []string

// UnmarshalYAML reads a single key as a list of one.
func (k *keyList) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return n.Decode((*[]string)(k))
	}
	var one string
	err := n.Decode(&one)
	*k = keyList{one}
	return err
}

// keys are the operator's own keys, as the console takes them.
func (c config) keys() map[string][]string {
	out := map[string][]string{}
	for action, list := range c.Keys {
		out[action] = list
	}
	return out
}

// readConfig reads the file; a missing one is an empty one.
func readConfig(path string) (config, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return config{}, nil
	}
	if err != nil {
		return config{}, engine.Errorf(engine.CodeInvalid, "the configuration cannot be read").On("config", path).Wrap(err).WithHint("correct its permissions, or set RIG_CONFIG")
	}
	return parseConfig(path, b)
}

// parseConfig reads the text of a configuration: unknown keys and values that
// cannot be meant are refused.
func parseConfig(path string, b []byte) (config, error) {
	var c config
	d := yaml.NewDecoder(bytes.NewReader(b))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return c, engine.Errorf(engine.CodeInvalid, "the configuration has an error: %s", strings.TrimPrefix(err.Error(), "yaml: ")).
			On("config", path).WithHint("correct the line, or remove it; `rig config` lists every key")
	}
	if err := c.check(); err != nil {
		return c, engine.Errorf(engine.CodeInvalid, "the configuration has an error: %s", err.Error()).
			On("config", path).WithHint("correct the value, or remove it; `rig config` lists every key with its default")
	}
	return c, nil
}

// check refuses values that no one can mean. 0 and "" stand for the default.
func (c config) check() error {
	for _, n := range []struct {
		key       string
		have, low int
	}{
		{"launch.parallel", c.Launch.Parallel, 1},
		{"launch.width", c.Launch.Width, 40},
		{"launch.height", c.Launch.Height, 10},
		{"snapshots.keep", c.Snapshots.Keep, 1},
	} {
		if n.have != 0 && n.have < n.low {
			return fmt.Errorf("%s is %d, and must be at least %d", n.key, n.have, n.low)
		}
	}
	for _, d := range []struct {
		key       string
		have, low time.Duration
	}{
		{"launch.ready_timeout", c.Launch.ReadyTimeout, time.Second},
		{"snapshots.every", c.Snapshots.Every, time.Second},
		{"handover.gate_wait", c.Handover.GateWait, time.Second},
	} {
		if d.have != 0 && d.have < d.low {
			return fmt.Errorf("%s is %s, and must be at least %s", d.key, d.have, d.low)
		}
	}
	for key, words := range map[string][]string{"claude.command": c.Claude.Command, "codex.command": c.Codex.Command} {
		if len(words) > 0 && strings.TrimSpace(words[0]) == "" {
			return fmt.Errorf("%s names no program", key)
		}
	}
	return nil
}

// checkKeys refuses keys that the console would refuse: an action that does not
// exist, a key that would mean two things, a key that must not confirm. It is not
// part of reading the file, because a wrong key must not stop a verb.
func (c config) checkKeys() error {
	_, err := tui.KeyTable(c.keys())
	return err
}
