package runtimes

import (
	"context"
	"path/filepath"
	"sort"
	"strings"

	"rig/engine"
	"rig/engine/transcript"
)

// Conversation looks for a stored Codex conversation in one home. A file of that
// id is never called missing, also when it is archived or compressed; what must
// happen before it can be resumed is a caveat. Live says that a process holds
// its writer lock.
func (c *Codex) Conversation(_ context.Context, token, cwd string, h engine.Homes) engine.ConversationState {
	h = c.cfg.homes(h)
	st := engine.ConversationState{Details: map[string]any{}}
	if err := validToken(engine.RuntimeCodex, token); err != nil {
		st.Exists, st.Why = engine.Absent, "there is no valid id to look for"
		return st
	}
	loc, err := findCodex(h.CodexDir, token)
	if err != nil {
		st.Why = "the conversations of " + h.CodexDir + " cannot be read: " + reason(err)
		return st
	}
	if loc.Path == "" {
		st.Exists, st.Why = engine.Absent, "no rollout of it in "+h.CodexDir+" (Codex writes it with the first prompt)"
		if other := c.elsewhere(h, token); other != "" {
			st.Details["found_in"] = other
			st.Why += "; one is in " + other + ", which is not this seat's home"
		}
		return st
	}
	st.LivePID, err = lockHolder(filepath.Join(h.CodexDir, lockDir, token+".lock"))
	st.Live = st.LivePID > 0
	if err != nil {
		st.Caveats = append(st.Caveats, "whether a process has it open cannot be told: "+reason(err))
	}
	st.Exists, st.Path, st.Why = engine.Present, loc.Path, "its rollout is there"
	st.Details["archived"], st.Details["compressed"] = loc.Archived, loc.Compressed
	if loc.RecordedCwd != "" {
		st.Details["recorded_cwd"] = loc.RecordedCwd
	}
	switch {
	case loc.Empty:
		st.Exists, st.Why = engine.Absent, "its rollout is empty"
	case loc.Archived:
		st.Details["blocks"] = true
		st.Why = "it is archived: `codex unarchive` makes it resumable"
		st.Caveats = append(st.Caveats, "archived: it must be unarchived first")
	}
	if loc.Compressed {
		st.Caveats = append(st.Caveats, "compressed: its text cannot be read here")
	}
	if loc.RecordedCwd != "" && cwd != "" && transcript.RealDir(loc.RecordedCwd) != transcript.RealDir(cwd) {
		st.Caveats = append(st.Caveats, "it began in "+loc.RecordedCwd+", not in "+cwd)
	}
	c.baseCaveat(&st, h, loc)
	return st
}

func findCodex(home, token string) (transcript.Location, error) {
	loc, err := transcript.FindCodex(home, token)
	if lower := strings.ToLower(token); err == nil && loc.Path == "" && lower != token {
		return transcript.FindCodex(home, lower)
	}
	return loc, err
}

// maxLineage bounds the forks of forks that are followed.
const maxLineage = 50

// baseCaveat follows what a fork refers to: it holds only what came after the
// fork, so it needs the rollout that it builds on, and every one that this builds
// on in turn. A fork of the older kind, which repeats its parent's history, needs
// none. A further file of a thread, begun when that was taken back to an earlier
// prompt, builds on the one before it. What cannot be read says nothing.
func (c *Codex) baseCaveat(st *engine.ConversationState, h engine.Homes, loc transcript.Location) {
	seen := map[string]bool{}
	for range maxLineage {
		if loc.Compressed || loc.Empty {
			return
		}
		head, err := c.heads.get(loc.Path)
		base := strings.ToLower(head.value.BaseID)
		if err != nil || base == "" || validToken(engine.RuntimeCodex, base) != nil {
			return
		}
		back := head.value.ParentID == "" // of the same thread
		if !back {
			st.Details["fork"] = true
		}
		why := ""
		switch loc, err = transcript.FindCodexBase(h.CodexDir, base); {
		case err != nil:
			return
		case loc.Path == "" || loc.Empty:
			why = "it is a fork, and the rollout it refers to is gone"
			switch {
			case back:
				why = "it was taken back to an earlier prompt, and the rollout from before that is gone"
			case len(seen) > 0:
				why = "it is a fork of a fork, and a rollout that it refers to is gone"
			}
		case seen[base]:
			why = "it is a fork whose rollouts refer to each other in a circle"
		}
		if why != "" {
			st.Details["blocks"], st.Why = true, why
			st.Caveats = append(st.Caveats, why)
			return
		}
		seen[base] = true
	}
}

// elsewhere looks in other homes that are likely.
func (c *Codex) elsewhere(h engine.Homes, token string) string {
	dirs := []string{c.cfg.Homes.CodexDir}
	for _, home := range []string{h.Home, filepath.Dir(h.CodexDir)} {
		if home == "" || home == "." {
			continue
		}
		if near, err := filepath.Glob(filepath.Join(globSafe(home), ".codex*")); err == nil {
			sort.Strings(near)
			dirs = append(dirs, near...)
		}
	}
	for _, d := range dirs {
		if d == "" || d == h.CodexDir {
			continue
		}
		if loc, err := findCodex(d, token); err == nil && loc.Path != "" && !loc.Empty {
			return d
		}
	}
	return ""
}
