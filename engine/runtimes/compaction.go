package runtimes

import (
	"cmp"
	"context"
	"os"
	"strings"

	"rig/engine"
	"rig/engine/transcript"
)

// conversationOf gives the native id of the running client, else the recorded one.
func (c *Claude) conversationOf(p engine.Probe) string {
	if e, ok, _ := c.entry(p); ok {
		return e.SessionID
	}
	return p.Session.Token.Reveal()
}

// CompactionMark gives the present end of the occupant's transcript. Errors:
// CodeUnavailable when there is none or it cannot be read.
func (c *Claude) CompactionMark(_ context.Context, p engine.Probe) (engine.CompactionMark, error) {
	id := c.conversationOf(p)
	path, ok := "", false
	if validToken(engine.RuntimeClaude, id) == nil {
		path, ok = c.locate(p, c.cfg.homes(p.Session.Homes).ClaudeDir, id)
	}
	if !ok {
		return engine.CompactionMark{}, engine.Errorf(engine.CodeUnavailable, "its transcript was not found").On("compact", p.Address).
			WithHint("a seat without a conversation has nothing to compact; `rig explain %s identity`", p.Address)
	}
	st, err := os.Stat(path)
	if err != nil {
		return engine.CompactionMark{}, engine.Errorf(engine.CodeUnavailable, "its transcript cannot be read: %s", reason(err)).On("compact", p.Address).Wrap(err).
			WithHint("make the transcript readable for yourself")
	}
	m := engine.CompactionMark{Path: path, Offset: st.Size(), At: p.Now}
	if n := len(p.Signals.Hooks); n > 0 {
		m.Event = p.Signals.Hooks[n-1].Name
	}
	return m, nil
}

// since reports whether an event came after a mark. A clock that was set back between
// them dates an older event after it; the order of the spool does not.
func (f hookFact) since(m engine.CompactionMark) bool {
	if m.Event != "" && f.name != "" {
		return f.name > m.Event
	}
	return f.at.After(m.At)
}

// CompactionSince looks for the outcome of a compaction that was asked for at the
// mark. What fails beats what proves: StopFailure, an error below the typed
// command, or the client's record that it failed; then a boundary record past the
// mark, then the PostCompact hook.
func (c *Claude) CompactionSince(_ context.Context, p engine.Probe, m engine.CompactionMark) engine.CompactionProof {
	facts := c.hooks.of(p, c.conversationOf(p))
	for _, f := range facts {
		if f.event == "StopFailure" && f.since(m) {
			return engine.CompactionProof{State: engine.CompactionFailed, Source: "hook", Why: "the client reported a failure: " + cmp.Or(strings.TrimSpace(f.Last), "without words"), At: f.at, Tail: paneTail(p.Screen.Lines)}
		}
	}
	if line := compactError(p.Screen.Lines, m.Tag); line != "" {
		return engine.CompactionProof{State: engine.CompactionFailed, Source: "pane", Why: line, At: p.Now, Tail: paneTail(p.Screen.Lines)}
	}
	if failed, err := transcript.FailedCommandsSince(m.Path, m.Offset); err == nil {
		for _, f := range failed {
			if f.Name == "compact" && strings.Contains(f.Args, m.Tag) {
				return engine.CompactionProof{State: engine.CompactionFailed, Source: "transcript", Why: printable(redactText(f.Text), 300), At: f.At, Tail: paneTail(p.Screen.Lines)}
			}
		}
	}
	list, err := transcript.CompactionsSince(m.Path, transcript.RuntimeClaude, m.Offset)
	if err == nil && len(list) > 0 {
		last := list[len(list)-1]
		return engine.CompactionProof{
			State: engine.CompactionDone, Source: "transcript", Why: "a boundary record stands past the attempt's offset", Trigger: last.Trigger,
			PreTokens: last.PreTokens, PostTokens: last.PostTokens, At: last.At,
		}
	}
	for _, f := range facts {
		if f.event == "PostCompact" && f.since(m) {
			return engine.CompactionProof{State: engine.CompactionDone, Source: "hook", Why: "PostCompact hook", Trigger: f.Trigger, At: f.at}
		}
	}
	why := "neither a boundary record nor PostCompact yet"
	if err != nil {
		why += "; the transcript cannot be read"
	}
	return engine.CompactionProof{State: engine.CompactionPending, Why: why}
}

// LatestCompaction gives the newest compaction among the occupant's own hook
// events and at the end of its transcript, of any origin.
func (c *Claude) LatestCompaction(_ context.Context, p engine.Probe) (engine.CompactionProof, bool) {
	id := c.conversationOf(p)
	for _, f := range c.hooks.of(p, id) {
		if f.event == "PostCompact" {
			return engine.CompactionProof{State: engine.CompactionDone, Source: "hook", Why: "PostCompact hook", Trigger: f.Trigger, At: f.at}, true
		}
	}
	rc, have := c.tailOf(p, id)
	if !have || rc.Compaction == nil || rc.Compaction.At.IsZero() || !rc.Compaction.At.After(p.Started) {
		return engine.CompactionProof{}, false
	}
	return engine.CompactionProof{
		State: engine.CompactionDone, Source: "transcript", Why: "a boundary record", Trigger: rc.Compaction.Trigger,
		PreTokens: rc.Compaction.PreTokens, PostTokens: rc.Compaction.PostTokens, At: rc.Compaction.At,
	}, true
}

// AnswerTo tells whether a user turn behind the mark holds the marker, and gives
// what the occupant last answered to it.
func (c *Claude) AnswerTo(_ context.Context, _ engine.Probe, m engine.CompactionMark, marker string) (asked bool, answer string) {
	_, _, err := transcript.ReadFrom(m.Path, transcript.RuntimeClaude, m.Offset, transcript.Options{}, func(msg transcript.Message) {
		switch {
		case msg.Role == transcript.RoleOperator:
			if strings.Contains(msg.Text, marker) {
				asked, answer = true, ""
			}
		case msg.Role == transcript.RoleAssistant && asked && strings.TrimSpace(msg.Text) != "":
			answer = msg.Text
		}
	})
	if err != nil { // what cannot be read may hold it
		return true, ""
	}
	return asked, answer
}

// compactError finds the client's error below the newest /compact on the screen,
// as long as no other prompt stands between them and the input box. With a tag
// only a command that holds it counts: an older attempt may still be shown.
func compactError(screen []string, tag string) string {
	lines := tidy(screen)
	at := -1
	for i, l := range lines {
		t := strings.TrimSpace(l)
		if (strings.HasPrefix(t, "❯ /compact") || strings.HasPrefix(t, "> /compact")) && strings.Contains(t, tag) {
			at = i
		}
	}
	if at < 0 {
		return ""
	}
	for _, l := range lines[at+1:] {
		t := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(l), "⎿"))
		low := strings.ToLower(t)
		switch {
		case strings.HasPrefix(strings.TrimSpace(l), "❯ "), strings.HasPrefix(t, "Compacted"):
			return ""
		case strings.Contains(low, "error during compaction"), strings.HasPrefix(low, "compaction failed"), strings.Contains(low, "error compacting"), strings.Contains(low, "conversation too long"),
			strings.Contains(low, "compaction blocked by"), strings.Contains(low, "compaction canceled"), strings.Contains(low, "messages to compact"):
			return printable(redactText(t), 300)
		}
	}
	return ""
}

// paneTail is the end of a screen as evidence: short, clean, without secrets.
func paneTail(screen []string) []string {
	var out []string
	for i := len(screen) - 1; i >= 0 && len(out) < 12; i-- {
		if l := strings.TrimRight(screen[i], " "); l != "" {
			out = append([]string{printable(redactText(l), 200)}, out...)
		}
	}
	return out
}
