package runtimes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"rig/engine"
	"rig/engine/transcript"
)

const (
	cleanupDays = 30 // the client's own default for removing old transcripts
	cleanupWarn = 7  // days ahead of which we warn
)

// Conversation looks for a stored Claude Code conversation in one home. It
// exists if its transcript is there, has content, and began in cwd; a folder of
// that name or an id in some index does not count. Live says that a client has
// it open, which Claude Code itself would not notice.
func (c *Claude) Conversation(_ context.Context, token, cwd string, h engine.Homes) engine.ConversationState {
	h = c.cfg.homes(h)
	st := engine.ConversationState{Details: map[string]any{}}
	if err := validToken(engine.RuntimeClaude, token); err != nil {
		st.Exists, st.Why = engine.Absent, "there is no valid id to look for"
		return st
	}
	loc, err := findClaude(h.ClaudeDir, token, cwd)
	if err != nil {
		st.Why = "the conversations of " + h.ClaudeDir + " cannot be read: " + reason(err)
		return st
	}
	if st.LivePID, err = c.liveIn(h.ClaudeDir, token); err != nil {
		st.Why = "whether a client has it open cannot be told: " + reason(err)
		return st
	}
	st.Live = st.LivePID > 0
	switch {
	case loc.Path == "":
		st.Exists, st.Why = engine.Absent, "no transcript of it in "+h.ClaudeDir
		if other := c.elsewhere(h, token, cwd); other != "" {
			st.Details["found_in"] = other
			st.Why += "; one is in " + other + ", which is not this seat's home"
		}
		return st
	case loc.Empty:
		st.Exists, st.Why = engine.Absent, "its transcript is empty: it was never prompted"
	case loc.CwdMismatch:
		st.Exists, st.Why = engine.Absent, loc.Reason
		st.Details["recorded_cwd"] = loc.RecordedCwd
	default:
		st.Exists, st.Path, st.Why = engine.Present, loc.Path, "its transcript is there"
		st.Details["recorded_cwd"] = loc.RecordedCwd
		if loc.FoundElsewhere {
			st.Caveats = append(st.Caveats, "found by its id in another project folder than the directory's name leads to")
		}
		c.cleanupCaveat(&st, h)
	}
	return st
}

// findClaude also finds an id that was written in other letters than the file's.
func findClaude(dir, token, cwd string) (transcript.Location, error) {
	loc, err := transcript.FindClaude(dir, token, cwd)
	if lower := strings.ToLower(token); err == nil && loc.Path == "" && lower != token {
		return transcript.FindClaude(dir, lower, cwd)
	}
	return loc, err
}

// elsewhere looks for the conversation in other homes that are likely: the
// configured one, the usual one, and folders beside it that begin like it.
func (c *Claude) elsewhere(h engine.Homes, token, cwd string) string {
	dirs := []string{c.cfg.Homes.ClaudeDir}
	for _, home := range []string{h.Home, filepath.Dir(h.ClaudeDir)} {
		if home == "" || home == "." {
			continue
		}
		near, err := filepath.Glob(filepath.Join(globSafe(home), ".claude*"))
		if err == nil {
			sort.Strings(near)
			dirs = append(dirs, near...)
		}
	}
	for _, d := range dirs {
		if d == "" || d == h.ClaudeDir {
			continue
		}
		if loc, err := findClaude(d, token, cwd); err == nil && loc.Path != "" && !loc.Empty {
			return d
		}
	}
	return ""
}

// globSafe escapes what Glob would take as a pattern.
func globSafe(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// liveIn gives the pid of a living client that has the conversation open, 0 for
// none. Files that killed clients left behind do not count. An error says that it
// cannot be told.
func (c *Claude) liveIn(dir, token string) (int, error) {
	sessions := filepath.Join(dir, "sessions")
	entries, err := os.ReadDir(sessions)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	for _, f := range entries {
		if !strings.HasSuffix(f.Name(), ".json") {
			continue
		}
		got, err := c.registry.get(filepath.Join(sessions, f.Name()))
		if err != nil && !got.good || !engine.SameNativeID(got.value.SessionID, token) {
			continue
		}
		if alive, err := c.cfg.Procs.Alive(got.value.PID, got.value.ProcStart); err != nil || alive {
			return got.value.PID, err
		}
	}
	return 0, nil
}

// cleanupCaveat warns when the client will soon remove the transcript by itself.
func (c *Claude) cleanupCaveat(st *engine.ConversationState, h engine.Homes) {
	info, err := os.Stat(st.Path)
	if err != nil {
		return
	}
	keep := cleanupDays
	s, err := readClaudeSettings(filepath.Join(h.ClaudeDir, "settings.json"))
	if err != nil {
		st.Caveats = append(st.Caveats, "how long transcripts are kept cannot be told: "+err.Error())
		return
	}
	if s.CleanupDays != nil && *s.CleanupDays > 0 && *s.CleanupDays < 36500 {
		keep = int(*s.CleanupDays)
	}
	due := info.ModTime().AddDate(0, 0, keep)
	now := c.cfg.Now()
	if left := due.Sub(now); left < cleanupWarn*24*time.Hour {
		st.Details["removal_due"] = due.UTC().Format(time.RFC3339)
		st.Caveats = append(st.Caveats, fmt.Sprintf("the client removes transcripts %s after their last change: this one from %s on",
			days(keep), due.UTC().Format("2006-01-02")))
	}
}

// Hint guesses whether a foreign pane runs Claude Code: by its processes, by the
// pane's command, or by the input box on its screen.
func (*Claude) Hint(pane engine.Pane, screen, procs []string) (engine.Confidence, string) {
	if runs(append([]string{pane.Command}, procs...), "claude", "/claude-code/") {
		return engine.ConfidenceHigh, "a process named claude runs in it"
	}
	if screen == nil {
		return engine.ConfidenceNone, ""
	}
	v := readClaude(screen)
	if v.kind == screenBox || v.kind == screenDialog && v.code != CodeDialog {
		return engine.ConfidenceLow, "its screen looks like Claude Code: " + v.rule
	}
	return engine.ConfidenceNone, ""
}

// runs reports whether one of the command lines is the named program: directly,
// or as a script of an interpreter, by its name or below the given folder.
func runs(procs []string, name, folder string) bool {
	for _, line := range procs {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if programName(words[0]) == name || strings.Contains(words[0], folder) {
			return true
		}
		switch programName(words[0]) {
		case "node", "bun", "deno", "sh", "bash", "env":
			if len(words) > 1 && (programName(words[1]) == name || strings.Contains(words[1], folder)) {
				return true
			}
		}
	}
	return false
}

func programName(word string) string { return strings.TrimSuffix(filepath.Base(word), ".exe") }
