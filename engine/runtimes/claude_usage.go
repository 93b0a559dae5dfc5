package runtimes

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"rig/engine"
	"rig/engine/transcript"
)

// statusReport are the fields of the status line's input that count. Everything
// may be null, and before the first answer much is.
type statusReport struct {
	SessionID string `json:"session_id"`
	Path      string `json:"transcript_path"`
	Window    *struct {
		Size    *float64 `json:"context_window_size"`
		Percent *float64 `json:"used_percentage"`
		Input   *float64 `json:"total_input_tokens"`
		Current *struct {
			Input  float64 `json:"input_tokens"`
			Create float64 `json:"cache_creation_input_tokens"`
			Read   float64 `json:"cache_read_input_tokens"`
		} `json:"current_usage"`
	} `json:"context_window"`
}

func decodeStatus(b []byte) (statusReport, bool) {
	var s statusReport
	if len(b) == 0 || json.Unmarshal(b, &s) != nil {
		return statusReport{}, false
	}
	return s, true
}

// sample is the last status line report that could be read. from is the report's
// first byte: the same signals are not decoded twice.
type sample struct {
	report statusReport
	at     time.Time
	from   *byte
}

// tokens is the context in use: what the newest request sent, cached or not.
func (s statusReport) tokens() int64 {
	if s.Window == nil {
		return 0
	}
	if u := s.Window.Current; u != nil {
		return count(u.Input) + count(u.Create) + count(u.Read)
	}
	if s.Window.Input != nil {
		return count(*s.Window.Input)
	}
	return 0
}

func (s statusReport) size() int64 {
	if s.Window == nil || s.Window.Size == nil {
		return 0
	}
	return count(*s.Window.Size)
}

// share is the client's own percentage, for when there is nothing better.
func (s statusReport) share() float64 {
	if s.Window == nil || s.Window.Percent == nil || !(*s.Window.Percent > 0) || *s.Window.Percent > 100 {
		return 0
	}
	return *s.Window.Percent
}

// count turns a JSON number into a token count; nonsense counts as nothing.
func count(f float64) int64 {
	if math.IsNaN(f) || f <= 0 || f > 1e12 {
		return 0
	}
	return int64(f)
}

// futureSlack is how far a sample may be ahead of our clock.
const futureSlack = 2 * time.Minute

// Usage gives the newest context sample that can be trusted. The status line
// knows the window, the transcript knows whether a compaction or a later answer
// made the sample void; each covers for the other.
func (c *Claude) Usage(_ context.Context, p engine.Probe) engine.Usage {
	id := p.Session.Token.Reveal()
	if e, ok, _ := c.entry(p); ok {
		id = e.SessionID
	}
	u := engine.Usage{Generation: p.Session.Generation, Confidence: engine.ConfidenceNone}
	s, note := c.statusSample(p, id)
	rc, have := c.tailOf(p, id)
	switch {
	case have && rc.AwaitingReply:
		u.Note = engine.NoteAwaitingReply
		if rc.Compaction != nil && !rc.Compaction.At.IsZero() {
			u.Note += " at " + rc.Compaction.At.UTC().Format("15:04")
		}
		return u
	case s.report.tokens() > 0 && !(have && rc.Compaction != nil && s.at.Before(rc.Compaction.At)):
		fillUsage(&u, s.report.tokens(), s.report.size(), "statusline", s.at, p.Now)
		if have && rc.Usage != nil && rc.Usage.Tokens > 0 && rc.Usage.At.After(s.at.Add(5*time.Second)) {
			fillUsage(&u, rc.Usage.Tokens, s.report.size(), "transcript", rc.Usage.At, p.Now)
		}
	case have && rc.Usage != nil && rc.Usage.Tokens > 0 && !rc.Usage.Stale:
		fillUsage(&u, rc.Usage.Tokens, s.report.size(), "transcript", rc.Usage.At, p.Now)
	case s.report.share() > 0 && !(have && rc.Compaction != nil && s.at.Before(rc.Compaction.At)):
		u.Known, u.Percent, u.Source, u.SampledAt, u.Confidence = true, s.report.share(), "statusline", s.at, engine.ConfidenceLow
		u.Note = "the client gives a share but neither tokens nor the window"
	case note == "":
		note = "no answer yet"
	}
	if note != "" {
		u.Note = strings.TrimPrefix(u.Note+"; "+note, "; ")
		u.Stale = u.Known && u.Source == "statusline"
		if u.Confidence == engine.ConfidenceHigh {
			u.Confidence = engine.ConfidenceLow
		}
	}
	return u
}

// fillUsage judges one pair of numbers. A share is only given for a window that
// can be right.
func fillUsage(u *engine.Usage, tokens, window int64, source string, at, now time.Time) {
	u.Known, u.Tokens, u.Window, u.Source, u.SampledAt = true, tokens, window, source, at
	u.Confidence, u.Note, u.Percent = engine.ConfidenceHigh, "", 0
	occ := transcript.Occupy(tokens, window)
	if occ.Reliable {
		u.Percent = occ.Percent
	} else {
		u.Confidence, u.Note = engine.ConfidenceLow, occ.Caveat
		if window > 0 {
			u.Window = 0
		}
	}
	if at.After(now.Add(futureSlack)) {
		u.Confidence = engine.ConfidenceLow
		u.Note = strings.TrimPrefix(u.Note+"; the sample is dated in the future", "; ")
		u.Stale = true
	}
}

// statusSample gives the newest status line report of this occupant and
// conversation. A report that cannot be read leaves the last good one standing
// with its own age; one of another conversation or of an earlier occupant does
// not count at all.
func (c *Claude) statusSample(p engine.Probe, id string) (sample, string) {
	key := p.Session.ID
	note := ""
	s, ok := c.samples.get(key)
	line := p.Signals.StatusLine
	switch {
	case len(line) == 0 && p.Signals.StatusAt.IsZero():
	case ok && len(line) > 0 && s.from == &line[0]:
	default:
		if r, good := decodeStatus(line); good {
			s, ok = sample{r, p.Signals.StatusAt, &line[0]}, true
			c.samples.put(key, s)
		} else {
			note = "the newest status line report cannot be read"
		}
	}
	switch {
	case !ok:
		return sample{}, note
	case !p.Started.IsZero() && s.at.Before(p.Started.Add(-clockSlack)):
		return sample{}, "the status line report is older than this occupant"
	case id != "" && s.report.SessionID != "" && !engine.SameNativeID(id, s.report.SessionID):
		return sample{}, "the status line report is about another conversation"
	}
	return s, note
}

// pathKey names a conversation in a home.
type pathKey struct{ dir, id string }

// tailOf reads the end of the occupant's transcript, cached until it changes.
func (c *Claude) tailOf(p engine.Probe, id string) (transcript.Recent, bool) {
	if validToken(engine.RuntimeClaude, id) != nil {
		return transcript.Recent{}, false
	}
	dir := c.cfg.homes(p.Session.Homes).ClaudeDir
	key := pathKey{dir, id}
	path, ok := c.paths.get(key)
	if !ok {
		if path, ok = c.locate(p, dir, id); !ok {
			return transcript.Recent{}, false
		}
		c.paths.put(key, path)
	}
	got, err := c.recent.get(path)
	if err != nil {
		c.paths.drop(key)
		return transcript.Recent{}, false
	}
	return got.value, true
}

// locate finds a transcript: where the client itself says it is, else by name.
func (c *Claude) locate(p engine.Probe, dir, id string) (string, bool) {
	if s, ok := decodeStatus(p.Signals.StatusLine); ok && plausiblePath(s.Path, dir, id) {
		return s.Path, true
	}
	for _, f := range c.hooks.of(p, id) {
		if plausiblePath(f.Path, dir, id) {
			return f.Path, true
		}
	}
	loc, err := transcript.FindClaude(dir, id, p.Seat.Cwd)
	if err != nil || loc.Path == "" {
		return "", false
	}
	return loc.Path, true
}

// plausiblePath accepts a reported path only if it is that conversation's file
// in the occupant's own home: the report comes from a client, but anyone can
// write into its input.
func plausiblePath(path, dir, id string) bool {
	if !filepath.IsAbs(path) || path != filepath.Clean(path) || !strings.EqualFold(filepath.Base(path), id+".jsonl") {
		return false
	}
	return filepath.Dir(filepath.Dir(path)) == filepath.Join(dir, "projects")
}

// days renders a number of days.
func days(n int) string {
	if n == 1 {
		return "1 day"
	}
	return fmt.Sprintf("%d days", n)
}
