package tmuxctl

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"rig/engine"
)

// Floor is the oldest tmux this package works with.
const Floor = "3.2a"

// Caps says what a version of tmux can do and where it needs care.
type Caps struct {
	Version string // as tmux prints it, such as "3.3a"
	// DeadTime: pane_dead_time and pane_dead_signal exist (3.3).
	DeadTime bool
	// PasteDeadCrashes: pasting into a dead pane takes the whole server down
	// (before 3.4). The guard makes it unreachable on every version.
	PasteDeadCrashes bool
	// DollarEscaped: list output shows '$' as '\$' (3.4 only).
	DollarEscaped bool
}

// version is an ordered tmux version: 3.3a is {3, 3, 1}.
type version struct{ major, minor, letter int }

// versionRE is compiled at its first use: starting the program must stay cheap.
var versionRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:next-)?([0-9]{1,3})\.([0-9]{1,3})([a-z]?)(?:-rc[0-9]*)?$`)
})

func (v version) less(w version) bool {
	if v.major != w.major {
		return v.major < w.major
	}
	if v.minor != w.minor {
		return v.minor < w.minor
	}
	return v.letter < w.letter
}

// parseCaps reads the text of `tmux -V` or of #{version}. Development builds
// ("master", "openbsd-7.6") are taken as newer than every release. It refuses a
// version under the floor, naming both, and text that is no version.
func parseCaps(text string) (Caps, error) {
	s := strings.TrimPrefix(strings.TrimSpace(text), "tmux ")
	if s == "master" || strings.HasPrefix(s, "openbsd-") {
		return Caps{Version: s, DeadTime: true}, nil
	}
	m := versionRE().FindStringSubmatch(s)
	if m == nil {
		return Caps{}, engine.Errorf(engine.CodeTmuxProbeFailed, "tmux gives its version as %q, which cannot be read", clip(s, 40)).
			WithHint("install a released tmux, %s or newer", Floor)
	}
	v := version{}
	v.major, _ = strconv.Atoi(m[1]) // the pattern admits digits only
	v.minor, _ = strconv.Atoi(m[2])
	if m[3] != "" {
		v.letter = int(m[3][0]-'a') + 1
	}
	if v.less(version{3, 2, 1}) {
		return Caps{}, engine.Errorf(engine.CodeTmuxTooOld, "tmux %s is too old: %s or newer is needed", s, Floor).
			WithHint("install tmux %s or newer; a server started by the old one must be ended first", Floor)
	}
	return Caps{
		Version:          s,
		DeadTime:         !v.less(version{3, 3, 0}),
		PasteDeadCrashes: v.less(version{3, 4, 0}),
		DollarEscaped:    v.major == 3 && v.minor == 4,
	}, nil
}

// String names the version.
func (c Caps) String() string { return fmt.Sprintf("tmux %s", c.Version) }

// Supported says whether a tmux whose `tmux -V` prints this text is one that this
// package works with. CodeTmuxTooOld names both versions; CodeTmuxProbeFailed is
// for a text that is no version.
func Supported(text string) error {
	_, err := parseCaps(text)
	return err
}
