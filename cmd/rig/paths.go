package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"rig/engine"
	"rig/specs"
)

// paths are where this installation keeps things.
type paths struct {
	home   string // RIG_HOME
	config string // RIG_CONFIG
	socket string // of the tmux server, absolute
	self   string // this binary
	seat   string // the part of it that runs beside an agent: rig-seat where that lies beside it
}

// settingVars are the variables that say which installation is meant and what its
// clients are started with. A `rig` that another one starts where it does not inherit
// them, such as that of an agent in its seat, needs them to be the same one.
var settingVars = []string{"RIG_HOME", "RIG_CONFIG", "RIG_TMUX_SOCKET", "RIG_CLAUDE_COMMAND", "RIG_CODEX_COMMAND"}

// settingEnv gives those of settingVars, and of the names that follow, that are set,
// as NAME=value.
func settingEnv(more ...string) (env []string) {
	for _, name := range append(slices.Clone(settingVars), more...) {
		if v := os.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// rigEnv is settingEnv for an occupant, whose directory may be another one.
func (p paths) rigEnv() []string {
	env := append(settingEnv(), "RIG_HOME="+p.home, "RIG_TMUX_SOCKET="+p.socket)
	if os.Getenv("RIG_CONFIG") != "" {
		env = append(env, "RIG_CONFIG="+p.config)
	}
	return env
}

// record is the database file.
func (p paths) record() string { return filepath.Join(p.home, "rig.db") }

// shots is the folder of recorded screens.
func (p paths) shots() string { return filepath.Join(p.home, "recorder") }

// logs is the folder of log files.
func (p paths) logs() string { return filepath.Join(p.home, "logs") }

// findPaths reads the environment. It creates nothing.
func findPaths() (paths, error) {
	p := paths{home: os.Getenv("RIG_HOME"), config: os.Getenv("RIG_CONFIG")}
	if p.home == "" {
		p.home = filepath.Join(xdg("XDG_STATE_HOME", ".local/state"), "rig")
	}
	if p.config == "" {
		p.config = filepath.Join(xdg("XDG_CONFIG_HOME", ".config"), "rig", "config.yaml")
	}
	var err error
	if p.home, err = filepath.Abs(p.home); err != nil {
		return p, engine.Errorf(engine.CodeInvalid, "RIG_HOME cannot be made absolute").Wrap(err).WithHint("set it to an absolute path")
	}
	if p.config, err = filepath.Abs(p.config); err != nil {
		return p, engine.Errorf(engine.CodeInvalid, "RIG_CONFIG cannot be made absolute").Wrap(err).WithHint("set it to an absolute path")
	}
	if p.self, err = os.Executable(); err != nil {
		return p, engine.Errorf(engine.CodeInternal, "this program's own path is not known").Wrap(err).WithHint("start rig by its path")
	}
	p.self = keptPath(p.self)
	p.seat = besideAgents(p.self)
	return p, nil
}

// keptPath is the path by which this program goes on being found: where the one that
// the shell finds is a link to it, the link, because a package manager removes what
// it pointed to with the next version, and seats that run go on calling it.
func keptPath(self string) string {
	link, err := exec.LookPath(filepath.Base(os.Args[0]))
	if err != nil || !filepath.IsAbs(link) {
		return self
	}
	if real, err := filepath.EvalSymlinks(link); err != nil || real != self {
		return self
	}
	return link
}

// besideAgents finds rig-seat beside this binary, also behind the link by which a
// package manager shows it. Without it this binary does the same, more slowly.
func besideAgents(self string) string {
	at := []string{self}
	if real, err := filepath.EvalSymlinks(self); err == nil && real != self {
		at = append(at, real)
	}
	for _, path := range at {
		seat := filepath.Join(filepath.Dir(path), "rig-seat")
		if info, err := os.Stat(seat); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return seat
		}
	}
	return self
}

func xdg(env, below string) string {
	if d := os.Getenv(env); filepath.IsAbs(d) {
		return d
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = os.TempDir()
	}
	return filepath.Join(home, below)
}

// socketPath turns a socket setting into a path: a name means what `tmux -L`
// makes of it.
func socketPath(setting string) string {
	if setting == "" {
		setting = "rig"
	}
	if filepath.IsAbs(setting) {
		return filepath.Clean(setting)
	}
	dir := os.Getenv("TMUX_TMPDIR")
	if dir == "" {
		dir = "/tmp"
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	name := filepath.Base(setting)
	if name == "." || name == ".." { // no names: they would lead out of the folder
		name = "rig"
	}
	return filepath.Join(dir, fmt.Sprintf("tmux-%d", os.Getuid()), name)
}

// loader reads specs named by a path from where the shell stands: relative
// directories in them start at the spec's own folder, which must be absolute.
func loader() specs.Loader {
	dir, err := os.Getwd()
	if err != nil {
		return specs.Loader{} // paths that are absolute already still work
	}
	return specs.Loader{Dir: dir}
}
