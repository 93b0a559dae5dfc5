package runtimes

import (
	"context"
	"strings"
	"time"

	"rig/engine"
)

// boxWait is how long a visible input box without a registry file counts as
// "still starting". The file is there within the same moment; after this time
// the client is one that keeps none.
const boxWait = 5 * time.Second

// Ready looks once at a starting Claude Code. It is ready when its registry file
// shows the very process that was started with a status, and no start-up question
// is on the screen. The file alone is not enough: it appears before a resume has
// found its conversation, the status only at the prompt.
func (c *Claude) Ready(_ context.Context, p engine.Probe) engine.Readiness {
	v := readClaudeScreen(p.Screen)
	if end := c.cfg.endOf(p); end.over {
		return end.readinessOf(p, v)
	}
	if v.gate {
		return gateOf(p, v)
	}
	e, ok, why := c.entry(p)
	switch {
	case ok && engine.SameNativeID(e.SessionID, p.Parent.Reveal()):
		return engine.Readiness{State: engine.ReadyStarting, Code: "awaiting_new_id", Why: "the client still names the conversation it was forked from"}
	case ok && e.Status == "" && v.kind != screenBox:
		return engine.Readiness{State: engine.ReadyStarting, Why: "the client is loading"}
	case ok && e.Status != "":
		r := engine.Readiness{State: engine.ReadyYes, Why: "the client's registry file of this process is there", Evidence: map[string]any{
			"pid": e.PID, "pid_start": e.ProcStart, "version": printable(e.Version, 40), "source": "registry",
		}}
		if want := p.Session.Token; !want.Empty() && !engine.SameNativeID(want.Reveal(), e.SessionID) {
			r.Evidence["session"] = "another id than expected"
		}
		return r
	case v.kind == screenBox && !p.Started.IsZero() && engine.Passed(p.Started, p.Now, boxWait):
		return engine.Readiness{State: engine.ReadyYes, Why: "the input box is on the screen", Evidence: map[string]any{"source": "pane", "registry": why}}
	}
	return engine.Readiness{State: engine.ReadyStarting, Why: why}
}

// Identify reads the id of the running conversation from the registry file of
// the occupant's own process, which follows /clear too. Without one, a
// SessionStart event or the status line names it unproven, unless it is the id
// that we chose ourselves at the launch.
func (c *Claude) Identify(_ context.Context, p engine.Probe) engine.Identity {
	e, ok, why := c.entry(p)
	if ok && e.Status == "" {
		ok, why = false, "the client is loading"
	}
	if ok && validToken(engine.RuntimeClaude, e.SessionID) == nil {
		id := engine.Identity{PID: e.PID, Provenance: engine.ProvenanceHook, Evidence: map[string]any{
			"source": "registry", "pid": e.PID, "pid_start": e.ProcStart, "cwd": printable(e.Cwd, 240),
		}}
		if engine.SameNativeID(e.SessionID, p.Parent.Reveal()) {
			id.Provenance = engine.ProvenanceNone
			id.Code, id.Why = "awaiting_new_id", "the client still names the conversation it was forked from"
			return id
		}
		id.Token, id.Proven, id.Why = engine.NewResumeToken(e.SessionID), true, "the client's registry file of this process names it"
		return id
	}
	if id, ok := identifyByHook(c.hooks.of(p, ""), p, engine.RuntimeClaude); ok {
		return id
	}
	if s, ok := decodeStatus(p.Signals.StatusLine); ok && validToken(engine.RuntimeClaude, s.SessionID) == nil &&
		!engine.SameNativeID(s.SessionID, p.Parent.Reveal()) {
		return hinted(p, s.SessionID, "status line")
	}
	return engine.Identity{Code: "no_evidence", Why: why}
}

// identifyByHook takes the newest SessionStart that does not name the parent.
func identifyByHook(facts []hookFact, p engine.Probe, rt engine.RuntimeName) (engine.Identity, bool) {
	f, ok := sessionStart(facts, p.Parent)
	if !ok || validToken(rt, f.SessionID) != nil {
		return engine.Identity{}, false
	}
	return hinted(p, f.SessionID, "SessionStart hook"), true
}

// hinted is an id that the occupant's own report names. It is proven only if it
// is the one that was chosen at the launch.
func hinted(p engine.Probe, id, source string) engine.Identity {
	out := engine.Identity{
		Token: engine.NewResumeToken(id), Provenance: engine.ProvenanceHook, Why: "named by the " + source,
		Evidence: map[string]any{"source": source},
	}
	if engine.SameNativeID(p.Session.Token.Reveal(), id) {
		out.Proven, out.Why = true, "the "+source+" names the id that was chosen at the launch"
		return out
	}
	out.Code = "unproven"
	return out
}

// Activity judges what Claude Code is doing: the end first, then a menu on the
// screen, the registry's status (corrected where it is known to be wrong), the
// hooks, and last the input box.
func (c *Claude) Activity(_ context.Context, p engine.Probe) engine.Activity {
	v := readClaudeScreen(p.Screen)
	if end := c.cfg.endOf(p); end.over {
		return end.activity()
	}
	e, ok, why := c.entry(p)
	if r, is := c.suspendedClient(p, e); is {
		return engine.Activity{Reading: r, Queued: v.queued, Draft: shownDraft(v)}
	}
	id := ""
	if ok {
		id = e.SessionID
	}
	facts := c.hooks.of(p, id)
	var all []engine.Reading
	add := func(r engine.Reading, use bool) {
		if use && r.State != "" {
			all = append(all, r)
		}
	}
	add(v.reading(), v.kind == screenDialog || v.gate)
	if ok {
		for _, r := range c.corrected(p, e, v, facts) {
			add(r, true)
		}
	}
	hr, hok := hookReading(facts)
	add(hr, hok)
	add(v.reading(), v.kind == screenBox && !v.gate)
	a := engine.Activity{Queued: v.queued, Draft: shownDraft(v)}
	if len(all) == 0 {
		a.Reading = c.unknown(p, v, why)
		return a
	}
	a.Reading, a.Competing = all[0], dedupe(all[1:], all[0])
	switch {
	case a.State == engine.ActivityLimit:
		c.limitEnds(p, e, &a)
	case a.Rule == ruleTaken:
		a.Wake = a.At.Add(promptGap)
	}
	return a
}

// suspendedClient looks whether the client, or the wrapper it was started
// through, is stopped.
func (c *Claude) suspendedClient(p engine.Probe, e claudeEntry) (engine.Reading, bool) {
	if e.PID > 0 {
		return c.cfg.suspended(e.PID, e.ProcStart)
	}
	if p.RunKnown && p.Run.PID > 0 {
		return c.cfg.suspended(p.Run.PID, p.Run.PIDStart)
	}
	return engine.Reading{}, false
}

func shownDraft(v screenView) string { return printable(redactText(v.draft), 500) }

// unknown explains why nothing can be said. A foreign pane that shows a shell
// had a client that is gone.
func (c *Claude) unknown(p engine.Probe, v screenView, why string) engine.Reading {
	if !p.RunKnown && isShell(p.Pane.Command) && v.kind != screenBox {
		return engine.Reading{
			State: engine.ActivityExited, Code: CodeReturnedToShell, Why: "the pane shows a shell", Source: "process",
			Rule: "foreground command " + printable(p.Pane.Command, 40), Confidence: engine.ConfidenceLow,
		}
	}
	return unknownReading(why)
}

func unknownReading(why string) engine.Reading {
	return engine.Reading{State: engine.ActivityUnknown, Why: why, Source: "none", Rule: "no evidence", Confidence: engine.ConfidenceNone}
}

// corrected gives the registry's reading, preceded by what is known better: at a
// usage limit the registry says idle, and it does not tell kinds of busy apart.
func (c *Claude) corrected(p engine.Probe, e claudeEntry, v screenView, facts []hookFact) []engine.Reading {
	r := engine.Reading{Source: "registry", Rule: "status " + printable(e.Status, 30), At: e.at(), Confidence: engine.ConfidenceHigh}
	switch e.Status {
	case "waiting":
		r.State, r.Code, r.Why = engine.ActivityWaiting, CodeDialog, "waits for "+printable(e.WaitingFor, 60)
		switch {
		case strings.Contains(e.WaitingFor, "permission"):
			r.Code, r.Why = CodePermissionPrompt, "asks for permission"
		case strings.Contains(e.WaitingFor, "input"):
			r.Code, r.Why = CodeQuestion, "asks a question"
		}
	case "busy":
		r.State, r.Why = engine.ActivityBusy, "working"
		if v.kind == screenBox && v.state == engine.ActivityBusy && v.code != "" {
			r.Code, r.Why = v.code, v.why
		} else if hr, ok := hookReading(facts); ok && hr.Code == CodeCompacting {
			r.Code, r.Why = hr.Code, hr.Why
		}
	case "idle":
		r.State, r.Why = engine.ActivityIdle, "at the prompt"
		if v.kind == screenBox && v.state == engine.ActivityIdle {
			r.Code, r.Why = v.code, v.why
		}
		if taken, ok := takenPrompt(p, e, facts); ok {
			return []engine.Reading{taken, r}
		}
		if limit, ok := c.limit(p, e, v, facts); ok {
			return []engine.Reading{limit, r}
		}
	default:
		return nil
	}
	return []engine.Reading{r}
}

const (
	// promptGap is how long a reported prompt is believed against a registry that was
	// written before it. Claude Code reports a prompt first and says busy 40 to 60 ms
	// later, seconds later on a loaded machine (observed). A prompt that became no turn
	// (Esc, another hook that refused it) is told by nothing else than this time.
	promptGap = 5 * time.Second
	ruleTaken = "UserPromptSubmit after the registry's status"
)

// takenPrompt is the reading of a client that has reported a prompt and not yet written
// that it works on it.
func takenPrompt(p engine.Probe, e claudeEntry, facts []hookFact) (engine.Reading, bool) {
	r, ok := hookReading(facts)
	if !ok || r.Rule != "UserPromptSubmit" || e.at().IsZero() || !r.At.After(e.at()) ||
		engine.Passed(r.At.Add(-clockSlack), p.Now, promptGap+clockSlack) { // it may be spooled after the look began
		return engine.Reading{}, false
	}
	r.Rule = ruleTaken
	return r, true
}

// limit looks for a usage limit behind an idle registry: on the screen, in the
// newest hook event, or, where no hooks report, in the transcript.
func (c *Claude) limit(p engine.Probe, e claudeEntry, v screenView, facts []hookFact) (engine.Reading, bool) {
	if v.state == engine.ActivityLimit {
		return v.reading(), true
	}
	if hr, ok := hookReading(facts); ok {
		return hr, hr.State == engine.ActivityLimit && v.state != engine.ActivityBusy
	}
	rc, ok := c.tailOf(p, e.SessionID)
	if !ok || !rc.Turn.Limit {
		return engine.Reading{}, false
	}
	return engine.Reading{
		State: engine.ActivityLimit, Code: CodeUsageLimit, Why: "usage limit: " + printable(redactText(rc.Turn.ErrorText), 160),
		Source: "transcript", Rule: "last turn ended at a limit", At: rc.Turn.Since, Confidence: engine.ConfidenceHigh,
	}, true
}

// limitEnds asks the transcript when the limit is reset: look again then, and
// once it has passed the seat is idle.
func (c *Claude) limitEnds(p engine.Probe, e claudeEntry, a *engine.Activity) {
	rc, ok := c.tailOf(p, e.SessionID)
	if !ok || rc.Turn.ResetsAt.IsZero() {
		return
	}
	if rc.Turn.ResetsAt.After(p.Now) {
		a.Wake = rc.Turn.ResetsAt
		return
	}
	if a.Source == "pane" {
		return // the warning still stands on the screen: believe it
	}
	a.Competing = append([]engine.Reading{a.Reading}, a.Competing...)
	a.Reading = engine.Reading{
		State: engine.ActivityIdle, Why: "the usage limit was reset, nothing was sent since", Source: "transcript",
		Rule: "reset time of the limit has passed", At: rc.Turn.ResetsAt, Confidence: engine.ConfidenceLow,
	}
}

// dedupe drops readings that merely repeat the winner from the same source.
func dedupe(rs []engine.Reading, winner engine.Reading) []engine.Reading {
	var out []engine.Reading
	for _, r := range rs {
		if r.Source != winner.Source || r.State != winner.State {
			out = append(out, r)
		}
	}
	return out
}

// NeedsScreen reports whether a judgement about this occupant needs its screen:
// while it starts, when no registry file of it was found, and when it is idle
// without hooks that would have told a usage limit.
func (c *Claude) NeedsScreen(p engine.Probe) bool {
	if p.Session.Startup != engine.StartupReady {
		return true
	}
	e, ok, _ := c.entry(p)
	return !ok || e.Status != "busy" && e.Status != "waiting" && len(c.hooks.of(p, e.SessionID)) == 0
}
