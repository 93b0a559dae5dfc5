package runtimes

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rig/engine"
)

// Config is what the runtimes need from outside. The zero value works: the
// clients' usual program names, the caller's home folder, the wall clock.
type Config struct {
	Claude []string // words of the Claude Code command; nil = "claude"
	Codex  []string // words of the Codex command; nil = "codex"
	Shell  string   // program of a terminal seat; "" = $SHELL of the launch, then /bin/sh
	// Homes are used for sessions that have none on record, such as adopted
	// ones; empty = those of this process.
	Homes engine.Homes
	Procs *Processes       // nil = a new one
	Now   func() time.Time // nil = time.Now
}

func (c Config) filled() Config {
	if len(c.Claude) == 0 {
		c.Claude = []string{"claude"}
	}
	if len(c.Codex) == 0 {
		c.Codex = []string{"codex"}
	}
	if c.Procs == nil {
		c.Procs = NewProcesses()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Homes == (engine.Homes{}) {
		c.Homes = HomesOf(os.Environ())
	}
	return c
}

// homes completes what a session has on record with the configured ones.
func (c Config) homes(h engine.Homes) engine.Homes {
	if h.Home == "" && h.ClaudeDir == "" && h.CodexDir == "" {
		return c.Homes
	}
	if h.ClaudeDir == "" && h.Home != "" {
		h.ClaudeDir = filepath.Join(h.Home, ".claude")
	}
	if h.CodexDir == "" && h.Home != "" {
		h.CodexDir = filepath.Join(h.Home, ".codex")
	}
	return h
}

// All makes the three runtimes from one configuration.
func All(c Config) map[engine.RuntimeName]engine.Runtime {
	c = c.filled()
	return map[engine.RuntimeName]engine.Runtime{
		engine.RuntimeClaude:   NewClaude(c),
		engine.RuntimeCodex:    NewCodex(c),
		engine.RuntimeTerminal: NewTerminal(c),
	}
}

// HomesOf gives the folders in which clients started with env would keep their
// conversations: CLAUDE_CONFIG_DIR and CODEX_HOME where set, else the usual ones
// below HOME. A relative folder counts as unset, since the client would resolve
// it in a directory we do not know.
func HomesOf(env []string) engine.Homes {
	h := engine.Homes{Home: lookup(env, "HOME")}
	if d := lookup(env, "CLAUDE_CONFIG_DIR"); filepath.IsAbs(d) {
		h.ClaudeDir = filepath.Clean(d)
	} else if h.Home != "" {
		h.ClaudeDir = filepath.Join(h.Home, ".claude")
	}
	if d := lookup(env, "CODEX_HOME"); filepath.IsAbs(d) {
		h.CodexDir = filepath.Clean(d)
	} else if h.Home != "" {
		h.CodexDir = filepath.Join(h.Home, ".codex")
	}
	return h
}

// ParseCommand reads a command setting such as RIG_CLAUDE_COMMAND: a JSON array
// of words, or the name or path of a single program (which may hold blanks). An
// empty setting gives fallback. No shell is ever involved. Errors: CodeInvalid.
func ParseCommand(setting, fallback string) ([]string, error) {
	s := strings.TrimSpace(setting)
	if s == "" {
		return []string{fallback}, nil
	}
	if !strings.HasPrefix(s, "[") {
		return []string{s}, nil
	}
	var words []string
	if err := json.Unmarshal([]byte(s), &words); err != nil {
		return nil, engine.Errorf(engine.CodeInvalid, "the command setting is not a JSON array of words").Wrap(err).
			WithHint(`write ["program","argument"] or the path of one program`)
	}
	if len(words) == 0 || strings.TrimSpace(words[0]) == "" {
		return nil, engine.Errorf(engine.CodeInvalid, "the command setting names no program").
			WithHint(`write ["program","argument"] or the path of one program`)
	}
	for _, w := range words {
		if strings.IndexByte(w, 0) >= 0 {
			return nil, engine.Errorf(engine.CodeInvalid, "a word of the command setting holds a NUL byte").
				WithHint("remove it")
		}
	}
	return words, nil
}
