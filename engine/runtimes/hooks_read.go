package runtimes

import (
	"encoding/json"
	"strings"
	"time"

	"rig/engine"
)

// hookPayload are the fields of a hook's stdin that anything here decides on.
// Claude Code and Codex use the same names.
type hookPayload struct {
	SessionID string `json:"session_id"`
	Path      string `json:"transcript_path"`
	Source    string `json:"source"`
	Reason    string `json:"reason"`
	Error     string `json:"error"`
	Trigger   string `json:"trigger"`
	Kind      string `json:"notification_type"`
	AgentID   string `json:"agent_id"`
	Last      string `json:"last_assistant_message"`
}

// hookFact is one hook event that concerns the occupant itself.
type hookFact struct {
	event string
	at    time.Time
	hookPayload
}

// hookFacts gives the occupant's own hook events, newest first. Left out are
// events of sub-agents, events from before this occupant was started, and those
// that name another conversation than id (a client that the agent itself started
// inside its seat). With id "" every conversation counts.
func hookFacts(p engine.Probe, id string) []hookFact {
	var out []hookFact
	for i := len(p.Signals.Hooks) - 1; i >= 0; i-- {
		h := p.Signals.Hooks[i]
		if !p.Started.IsZero() && h.At.Before(p.Started.Add(-clockSlack)) {
			continue
		}
		f := hookFact{event: h.Event, at: h.At}
		if json.Unmarshal(h.Payload, &f.hookPayload) != nil || f.AgentID != "" || h.Event == "SubagentStop" || h.Event == "SubagentStart" {
			continue
		}
		if id != "" && f.SessionID != "" && !engine.SameNativeID(id, f.SessionID) {
			continue
		}
		out = append(out, f)
	}
	return out
}

// clockSlack forgives that file and launch times come from different calls.
const clockSlack = time.Second

// hookReading judges by the newest event that says something. Hooks alone get
// stuck: none fires when a turn is broken off with Esc, so a reading from here
// is never more than a hint.
func hookReading(facts []hookFact) (engine.Reading, bool) {
	for _, f := range facts {
		r := engine.Reading{Source: "hook", Rule: f.event, At: f.at, Confidence: engine.ConfidenceLow}
		switch f.event {
		case "UserPromptSubmit", "PreToolUse", "PostToolUse":
			r.State, r.Why = engine.ActivityBusy, "a prompt was submitted"
		case "PreCompact":
			r.State, r.Code, r.Why = engine.ActivityBusy, CodeCompacting, "compacting the conversation"
		case "PostCompact":
			r.State, r.Why = engine.ActivityIdle, "the conversation was compacted"
			if f.Trigger == "auto" {
				r.State = engine.ActivityBusy
			}
		case "PermissionRequest":
			r.State, r.Code, r.Why = engine.ActivityWaiting, CodePermissionPrompt, "asks for permission"
		case "Stop":
			r.State, r.Why = engine.ActivityIdle, "the turn ended"
		case "StopFailure":
			stopFailure(&r, f)
		case "Notification":
			if f.Kind != "permission_prompt" {
				continue
			}
			r.State, r.Code, r.Why = engine.ActivityWaiting, CodePermissionPrompt, "asks for permission"
		case "SessionStart":
			if f.Source == "compact" {
				continue
			}
			r.State, r.Why, r.Rule = engine.ActivityIdle, "the session began", "SessionStart "+printable(f.Source, 20)
		case "SessionEnd":
			if f.Reason == "clear" {
				continue
			}
			r.State, r.Why = engine.ActivityExited, "the session ended"
		default:
			continue
		}
		return r, true
	}
	return engine.Reading{}, false
}

// stopFailure reads an event that ends a turn with an error.
func stopFailure(r *engine.Reading, f hookFact) {
	text := printable(redactText(f.Last), 160)
	switch {
	case f.Error != "rate_limit":
		r.State, r.Code, r.Why = engine.ActivityIdle, CodeAPIError, "the last turn failed"
	case strings.Contains(strings.ToLower(text), "request rejected"):
		r.State, r.Code, r.Why = engine.ActivityLimit, CodeRateLimited, "the provider rejects requests"
	default:
		r.State, r.Code, r.Why = engine.ActivityLimit, CodeUsageLimit, "usage limit"
	}
	if text != "" {
		r.Why += ": " + text
	}
	r.Confidence = engine.ConfidenceHigh
}

// sessionStart gives the newest SessionStart event whose id is not parent's. An
// older Claude Code reports a fork under its parent's id.
func sessionStart(facts []hookFact, parent engine.ParentToken) (hookFact, bool) {
	for _, f := range facts {
		if f.event == "SessionStart" && f.SessionID != "" && !engine.SameNativeID(f.SessionID, parent.Reveal()) {
			return f, true
		}
	}
	return hookFact{}, false
}
