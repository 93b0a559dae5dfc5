package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"rig/engine"
)

// config is config.yaml: every key is optional, and unknown ones are refused.
type config struct {
	Tmux struct {
		Socket string `yaml:"socket"`
	} `yaml:"tmux"`
	Claude struct {
		Command []string `yaml:"command"`
	} `yaml:"claude"`
	Codex struct {
		Command []string `yaml:"command"`
	} `yaml:"codex"`
	Terminal struct {
		Shell string `yaml:"shell"`
	} `yaml:"terminal"`
	Launch struct {
		ReadyTimeout time.Duration `yaml:"ready_timeout"`
		Parallel     int           `yaml:"parallel"`
		Width        int           `yaml:"width"`
		Height       int           `yaml:"height"`
	} `yaml:"launch"`
	Snapshots struct {
		Off   bool          `yaml:"off"`   // no periodic snapshots
		Every time.Duration `yaml:"every"` // default 5m
		Keep  int           `yaml:"keep"`  // newest per rig, default 10
	} `yaml:"snapshots"`
	Images struct {
		SpecRoots []string `yaml:"spec_roots"` // also searched for references to agent images
	} `yaml:"images"`
	Keys map[string]string `yaml:"keys"` // action id → key, for the console
}

// readConfig reads the file; a missing one is an empty one.
func readConfig(path string) (config, error) {
	var c config
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, engine.Errorf(engine.CodeInvalid, "the configuration cannot be read").On("config", path).Wrap(err).WithHint("correct its permissions, or set RIG_CONFIG")
	}
	d := yaml.NewDecoder(bytes.NewReader(b))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return c, engine.Errorf(engine.CodeInvalid, "the configuration has an error: %s", strings.TrimPrefix(err.Error(), "yaml: ")).
			On("config", path).WithHint("correct the line, or remove it; the README lists every key")
	}
	return c, nil
}
