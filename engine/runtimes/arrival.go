package runtimes

import (
	"context"
	"strings"
	"time"

	"rig/engine"
	"rig/engine/transcript"
)

// arrivalMessages is how far back an opening prompt is looked for: it is among
// the first things of a new conversation.
const arrivalMessages = 40

// Transcript finds the file of an occupant's conversation; path is empty and why
// says the reason when there is none.
func (c *Claude) Transcript(_ context.Context, s engine.Session, cwd string) (path, why string) {
	if s.Token.Empty() {
		return "", "no native id is on record"
	}
	loc, err := findClaude(c.cfg.homes(s.Homes).ClaudeDir, s.Token.Reveal(), cwd)
	return found(loc, err)
}

// LatestTurn says when the latest turn that Claude Code has written came to its state,
// and whether it ended; the zero time says that none is on file.
func (c *Claude) LatestTurn(ctx context.Context, s engine.Session, cwd string) (since time.Time, ended bool) {
	path, _ := c.Transcript(ctx, s, cwd)
	return latestTurn(c.recent, path)
}

// LatestTurn says when the latest turn that Codex has written came to its state, and
// whether it ended; the zero time says that none is on file.
func (c *Codex) LatestTurn(ctx context.Context, s engine.Session, cwd string) (since time.Time, ended bool) {
	path, _ := c.Transcript(ctx, s, cwd)
	return latestTurn(c.recent, path)
}

func latestTurn(files *fileCache[transcript.Recent], path string) (since time.Time, ended bool) {
	if path == "" {
		return time.Time{}, false
	}
	got, err := files.get(path)
	if err != nil || got.value.Turn.State == transcript.TurnUnknown {
		return time.Time{}, false
	}
	return got.value.Turn.Since, got.value.Turn.State != transcript.TurnOpen
}

// Transcript finds the rollout of an occupant's conversation; path is empty and
// why says the reason when there is none.
func (c *Codex) Transcript(_ context.Context, s engine.Session, cwd string) (path, why string) {
	if s.Token.Empty() {
		return "", "no native id is on record"
	}
	loc, err := findCodex(c.cfg.homes(s.Homes).CodexDir, s.Token.Reveal())
	if loc.Compressed {
		return "", "its rollout is compressed and cannot be read here"
	}
	return found(loc, err)
}

func found(loc transcript.Location, err error) (path, why string) {
	switch {
	case err != nil:
		return "", err.Error()
	case loc.Path == "" || loc.Empty:
		return "", "it was never prompted: there is no transcript"
	}
	return loc.Path, ""
}

// Arrived reports whether the occupant's own transcript shows a user turn that
// holds the marker. The id is the one that its registry file names now.
func (c *Claude) Arrived(ctx context.Context, p engine.Probe, marker string) (bool, string) {
	p.Session.Token = c.Identify(ctx, p).Token
	path, why := c.Transcript(ctx, p.Session, p.Seat.Cwd)
	return arrived(path, why, transcript.RuntimeClaude, marker)
}

// Arrived reports whether the occupant's own rollout shows a user turn that holds
// the marker.
func (c *Codex) Arrived(ctx context.Context, p engine.Probe, marker string) (bool, string) {
	p.Session.Token = c.Identify(ctx, p).Token
	path, why := c.Transcript(ctx, p.Session, p.Seat.Cwd)
	return arrived(path, why, transcript.RuntimeCodex, marker)
}

func arrived(path, why string, rt transcript.Runtime, marker string) (bool, string) {
	if path == "" {
		return false, why
	}
	msgs, _, err := transcript.LastMessages(path, rt, arrivalMessages, transcript.Options{})
	if err != nil {
		return false, err.Error()
	}
	for _, m := range msgs {
		if m.Role == transcript.RoleOperator && !m.Inherited && strings.Contains(m.Text, marker) {
			return true, "a user turn of its own transcript"
		}
	}
	return false, "no user turn of its transcript holds it yet"
}

// InputBox gives the text that stands in the client's input box, and whether a
// box is on the screen at all.
func (c *Claude) InputBox(screen engine.Screen) (text string, shown bool) {
	v := readClaudeScreen(screen)
	return v.draft, v.kind == screenBox
}

// InputBox gives the text that stands in the client's composer, and whether one
// is on the screen at all.
func (c *Codex) InputBox(screen engine.Screen) (text string, shown bool) {
	v := readCodexScreen(screen)
	return v.draft, v.kind == screenBox
}
