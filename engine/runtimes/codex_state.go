package runtimes

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"rig/engine"
	"rig/engine/transcript"
)

// Ready looks once at a starting Codex. It is ready when its input line is on
// the screen and the process that was started holds a conversation open. Neither
// is enough alone: the process lives behind a question too, and the input line is
// drawn before a resume has found its conversation.
func (c *Codex) Ready(_ context.Context, p engine.Probe) engine.Readiness {
	v := readCodexScreen(p.Screen)
	if end := c.cfg.endOf(p); end.over {
		return end.readinessOf(p, v)
	}
	if v.gate {
		return gateOf(p, v)
	}
	t, ok, why := c.thread(p)
	if shown := v.kind == screenBox || v.kind == screenDialog; shown && ok {
		r := engine.Readiness{State: engine.ReadyYes, Why: "the input line is on the screen and the process holds its conversation open", Evidence: map[string]any{
			"source": "lock", "rule": v.rule, "pid": t.pid, "pid_start": t.start,
		}}
		if want := p.Session.Token; !want.Empty() && !engine.SameNativeID(want.Reveal(), t.id) {
			r.Evidence["session"] = "another id than expected"
		}
		return r
	} else if shown && !p.Started.IsZero() && engine.Passed(p.Started, p.Now, boxWait) {
		return engine.Readiness{State: engine.ReadyYes, Why: "the input line is on the screen and the process lives", Evidence: map[string]any{
			"source": "pane", "rule": v.rule, "lock": why,
		}}
	}
	if p.Screen.Lines == nil {
		return engine.Readiness{State: engine.ReadyUnknown, Why: "the screen was not captured"}
	}
	return engine.Readiness{State: engine.ReadyStarting, Why: why}
}

// Identify reads the id from the lock or rollout that the occupant's own process
// holds open. For a fork the child's rollout must name the parent if it names
// any. A SessionStart hook is the second source.
func (c *Codex) Identify(_ context.Context, p engine.Probe) engine.Identity {
	t, ok, why := c.thread(p)
	if !ok {
		if t.several {
			return engine.Identity{Code: engine.CodeSeveral, Why: why}
		}
		if id, hinted := identifyByHook(c.hooks.of(p, ""), p, engine.RuntimeCodex); hinted {
			return id
		}
		return engine.Identity{Code: "no_evidence", Why: why}
	}
	id := engine.Identity{PID: t.pid, Evidence: map[string]any{"source": "lock", "pid": t.pid, "pid_start": t.start}}
	if engine.SameNativeID(t.id, p.Parent.Reveal()) {
		id.Code, id.Why = "awaiting_new_id", "the client still writes the conversation it was forked from"
		return id
	}
	if t.rollout != "" {
		id.Evidence["source"] = "rollout"
		if head, err := c.heads.get(t.rollout); err == nil && !p.Parent.Empty() && head.value.SessionID != "" {
			forked := engine.SameNativeID(head.value.ParentID, p.Parent.Reveal())
			id.Evidence["forked_from_parent"] = forked
			if !forked {
				id.Code, id.Why = "not_the_fork", "the conversation of this process was not forked from the expected one"
				return id
			}
		}
	}
	id.Token, id.Proven, id.Provenance = engine.NewResumeToken(t.id), true, engine.ProvenanceHook
	id.Unwritten = t.rollout == "" && c.unwritten(t, c.cfg.homes(p.Session.Homes).CodexDir)
	id.Why = "the process holds this conversation's " + id.Evidence["source"].(string) + " open"
	return id
}

// unwritten looks again whether a client that holds the lock of its conversation has
// a rollout of it, a deleted one too: Codex writes it with the first prompt and keeps
// it open from then on.
func (c *Codex) unwritten(t codexThread, home string) bool {
	files, err := openFiles(t.pid, under(home))
	if err != nil {
		return false
	}
	id, _ := threadOf(files, home)
	sessions := filepath.Join(transcript.RealDir(home), "sessions") + string(filepath.Separator)
	if !engine.SameNativeID(id, t.id) || slices.ContainsFunc(files, func(f openFile) bool { return f.writes && strings.HasPrefix(f.path, sessions) }) {
		return false
	}
	loc, err := findCodex(home, t.id)
	return err == nil && loc.Path == ""
}

// rollout gives the file of the occupant's conversation: the one its process has
// open, or the one filed under the id on record.
func (c *Codex) rollout(p engine.Probe) (path string, ok bool, why string) {
	t, ok, why := c.thread(p)
	switch {
	case ok && t.rollout != "":
		return t.rollout, true, ""
	case t.several: // the one on record may be the one before, with another context
		return "", false, why
	}
	id := t.id
	if !ok {
		id = p.Session.Token.Reveal()
	}
	if validToken(engine.RuntimeCodex, id) != nil {
		return "", false, why
	}
	home := c.cfg.homes(p.Session.Homes).CodexDir
	key := pathKey{home, id}
	if path, hit := c.paths.get(key); hit {
		return path, true, ""
	}
	if ok {
		return "", false, "no rollout yet: it was not prompted"
	}
	loc, err := transcript.FindCodex(home, id)
	if err != nil || loc.Path == "" || loc.Compressed {
		return "", false, "no rollout of this conversation"
	}
	c.paths.put(key, loc.Path)
	return loc.Path, true, ""
}

// Activity judges what Codex is doing: the end first, then a menu on the screen
// (an approval leaves no record), the rollout's turn while the process lives,
// the title's spinner, the hooks, and last the input line.
func (c *Codex) Activity(_ context.Context, p engine.Probe) engine.Activity {
	v := readCodexScreen(p.Screen)
	if end := c.cfg.endOf(p); end.over {
		return end.activity()
	}
	if p.RunKnown && p.Run.PID > 0 {
		if r, is := c.cfg.suspended(p.Run.PID, p.Run.PIDStart); is {
			return engine.Activity{Reading: r, Queued: v.queued, Draft: shownDraft(v)}
		}
	}
	var all []engine.Reading
	a := engine.Activity{Queued: v.queued, Draft: shownDraft(v)}
	if v.kind == screenDialog {
		all = append(all, v.reading())
	}
	path, ok, why := c.rollout(p)
	if ok {
		why = "the rollout records no turn of this client"
		if r, ok := c.turn(path, p, v, &a); ok {
			all = append(all, r)
		}
	}
	if hasSpinner(p.Pane.Title) {
		all = append(all, engine.Reading{
			State: engine.ActivityBusy, Why: "working", Source: "title", Rule: "spinner in the pane title", Confidence: engine.ConfidenceHigh,
		})
	}
	if hr, ok := hookReading(c.hooks.of(p, "")); ok {
		all = append(all, hr)
	}
	if v.kind == screenBox {
		all = append(all, v.reading())
	}
	all = c.settle(all)
	switch {
	case len(all) > 0:
		a.Reading, a.Competing = all[0], dedupe(all[1:], all[0])
	case !p.RunKnown && isShell(p.Pane.Command):
		a.Reading = engine.Reading{
			State: engine.ActivityExited, Code: CodeReturnedToShell, Why: "the pane shows a shell", Source: "process",
			Rule: "foreground command " + printable(p.Pane.Command, 40), Confidence: engine.ConfidenceLow,
		}
	default:
		a.Reading = unknownReading(why)
	}
	return a
}

// settle puts the reading that counts first. A rollout that says "done" is
// overruled by signs of a newer turn that has not reached the file yet: the
// working line or the spinner.
func (*Codex) settle(all []engine.Reading) []engine.Reading {
	if len(all) < 2 || all[0].Source != "rollout" && all[0].Source != "hook" || all[0].State == engine.ActivityBusy {
		return all
	}
	for i, r := range all[1:] {
		if r.State == engine.ActivityBusy && (r.Source == "title" || r.Source == "pane" && r.Confidence == engine.ConfidenceHigh) {
			all[0], all[i+1] = all[i+1], all[0]
			break
		}
	}
	return all
}

// turn reads the state of the latest turn from the rollout. An open turn means
// busy only because the process is known to live: nothing closes the turn of a
// client that was killed.
func (c *Codex) turn(path string, p engine.Probe, v screenView, a *engine.Activity) (engine.Reading, bool) {
	got, err := c.recent.get(path)
	if err != nil && !got.good {
		return engine.Reading{}, false
	}
	t := got.value.Turn
	r := engine.Reading{Source: "rollout", At: t.Since, Confidence: engine.ConfidenceHigh}
	switch t.State {
	case transcript.TurnOpen:
		// A launch is on record before its client is started: what began earlier was left
		// open by another one, also if that was a moment ago. A claimed session was there
		// before it came on record, and may have been at work.
		if p.Session.Origin != engine.OriginClaimed && !p.Started.IsZero() && !t.Since.IsZero() && t.Since.Before(p.Started) {
			return engine.Reading{}, false
		}
		r.State, r.Why, r.Rule = engine.ActivityBusy, "working", "task_started without an end"
		if v.kind == screenBox && v.state == engine.ActivityBusy && v.code != "" {
			r.Code, r.Why = v.code, v.why
		}
	case transcript.TurnDone:
		r.State, r.Why, r.Rule = engine.ActivityIdle, "the turn ended", "task_complete"
	case transcript.TurnInterrupted:
		r.State, r.Code, r.Why, r.Rule = engine.ActivityIdle, CodeInterrupted, "the last turn was interrupted", "turn_aborted"
	case transcript.TurnFailed:
		r.State, r.Code, r.Rule = engine.ActivityIdle, CodeAPIError, "task_complete with an error"
		r.Why = "the last turn failed: " + printable(redactText(t.ErrorText), 160)
		if t.Limit {
			r.State, r.Code = engine.ActivityLimit, CodeUsageLimit
			r.Why = "usage limit: " + printable(redactText(t.ErrorText), 160)
			if t.ResetsAt.After(p.Now) {
				a.Wake = t.ResetsAt
			}
		}
	default:
		return engine.Reading{}, false
	}
	return r, true
}

// NeedsScreen reports whether a judgement about this occupant needs its screen:
// while it starts, while a turn is open (an approval looks the same on record),
// and before the first prompt.
func (c *Codex) NeedsScreen(p engine.Probe) bool {
	if p.Session.Startup != engine.StartupReady {
		return true
	}
	path, ok, _ := c.rollout(p)
	if !ok {
		return true
	}
	got, err := c.recent.get(path)
	return err != nil && !got.good || got.value.Turn.State == transcript.TurnOpen || got.value.Turn.State == transcript.TurnUnknown
}

// Usage gives the last token count of the rollout.
func (c *Codex) Usage(_ context.Context, p engine.Probe) engine.Usage {
	u := engine.Usage{Generation: p.Session.Generation, Confidence: engine.ConfidenceNone}
	path, ok, why := c.rollout(p)
	if !ok {
		u.Note = why
		return u
	}
	got, err := c.recent.get(path)
	switch {
	case err != nil && !got.good:
		u.Note = "the rollout cannot be read: " + reason(err)
	case got.value.Usage == nil:
		u.Note = "no answer yet"
	case got.value.Usage.Stale:
		u.Note = "no sample since the compaction"
	default:
		fillUsage(&u, got.value.Usage.Tokens, got.value.Usage.Window, "rollout", got.value.Usage.At, p.Now)
	}
	return u
}

// Hint guesses whether a foreign pane runs Codex.
func (*Codex) Hint(pane engine.Pane, screen, procs []string) (engine.Confidence, string) {
	if runs(append([]string{pane.Command}, procs...), "codex", "/@openai/codex") {
		return engine.ConfidenceHigh, "a process named codex runs in it"
	}
	if screen == nil {
		return engine.ConfidenceNone, ""
	}
	if v := readCodex(screen); v.kind == screenBox || v.kind == screenDialog && v.code != CodeDialog {
		return engine.ConfidenceLow, "its screen looks like Codex: " + v.rule
	}
	return engine.ConfidenceNone, ""
}

// isShell knows the programs that stand for "nothing runs here".
func isShell(command string) bool {
	switch filepath.Base(command) {
	case "sh", "bash", "-bash", "zsh", "-zsh", "fish", "-fish", "dash", "ksh", "nu", "tcsh", "-sh":
		return true
	}
	return false
}
