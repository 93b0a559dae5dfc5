package runtimes

import (
	"sort"
	"strings"
)

// droppedEnv is the closed list of variables an occupant never inherits. The
// CLAUDE ones would make a new client believe that it is a child of the one we
// were started from; the TMUX ones name the caller's pane, not the seat's.
//
// An occupant has no TMUX and no TMUX_PANE at all, not even its own pane's: the
// supervisor gives it RIG_PANE instead. A client that knew the server would open
// panes on it by itself.
var droppedEnv = map[string]bool{
	"CLAUDECODE":                true,
	"CLAUDE_CODE_SESSION_ID":    true,
	"CLAUDE_CODE_CHILD_SESSION": true,
	"CLAUDE_CODE_ENTRYPOINT":    true,
	"CLAUDE_PID":                true,
	"CLAUDE_PROJECT_DIR":        true,
	"TMUX":                      true,
	"TMUX_PANE":                 true,
}

// paneEnv are the variables that describe a terminal. Those of the caller's
// terminal are dropped and the supervisor takes the pane's own.
var paneEnv = []string{"TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION"}

const rigPrefix = "RIG_"

// occupantEnv builds the complete environment of an occupant: the caller's
// without the closed list, without what describes the caller's terminal and
// without any RIG_ variable, then what the spec adds, then our own RIG_ ones.
// Later values win. The result is sorted, so that equal inputs give equal launch
// lines. Entries that are not KEY=value are left out.
func occupantEnv(caller []string, spec map[string]string, rig []string) []string {
	vars := make(map[string]string, len(caller)+len(spec)+len(rig))
	for _, kv := range caller {
		k, v, ok := cutEnv(kv)
		if ok && !droppedEnv[k] && !strings.HasPrefix(k, rigPrefix) {
			vars[k] = v
		}
	}
	for _, k := range paneEnv {
		delete(vars, k)
	}
	for k, v := range spec {
		if _, _, ok := cutEnv(k + "=" + v); ok && !strings.HasPrefix(k, rigPrefix) && !droppedEnv[k] {
			vars[k] = v
		}
	}
	for _, kv := range rig {
		if k, v, ok := cutEnv(kv); ok && strings.HasPrefix(k, rigPrefix) {
			vars[k] = v
		}
	}
	out := make([]string, 0, len(vars))
	for k, v := range vars {
		out = append(out, k+"="+v)
	}
	sort.Strings(out)
	return out
}

// cutEnv splits KEY=value; the key must not be empty and neither part may hold a
// NUL byte, which no process environment can carry.
func cutEnv(kv string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(kv, "=")
	return key, value, ok && key != "" && strings.IndexByte(kv, 0) < 0
}

// lookup gives the last value of a variable, "" when it is not there.
func lookup(env []string, key string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if k, v, ok := cutEnv(env[i]); ok && k == key {
			return v
		}
	}
	return ""
}

// withEnv sets variables in an environment, replacing those of the same name.
func withEnv(env []string, set ...string) []string {
	keys := make(map[string]bool, len(set))
	for _, kv := range set {
		if k, _, ok := cutEnv(kv); ok {
			keys[k] = true
		}
	}
	out := make([]string, 0, len(env)+len(set))
	for _, kv := range env {
		if k, _, ok := cutEnv(kv); ok && !keys[k] {
			out = append(out, kv)
		}
	}
	return append(out, set...)
}
