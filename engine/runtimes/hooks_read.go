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
	Cwd       string `json:"cwd"`
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
	name  string // of its file
	at    time.Time
	hookPayload
}

// hookMemo keeps the decoded events of each session as long as its signals are
// the same ones. It is safe for concurrent use.
type hookMemo struct{ m *memo[string, decodedHooks] }

func newHookMemo() hookMemo { return hookMemo{newMemo[string, decodedHooks]()} }

// decodedHooks are the events of one slice of signals, newest first.
type decodedHooks struct {
	from  *engine.HookSignal // its first element
	n     int
	facts []hookFact
}

// of gives the occupant's own hook events, newest first. Left out are events of
// sub-agents, events from before this occupant was started, and those that name
// another conversation than id (a client that the agent itself started inside
// its seat). With id "" every conversation counts.
func (h hookMemo) of(p engine.Probe, id string) []hookFact {
	var out []hookFact
	for _, f := range h.decoded(p) {
		if !p.Started.IsZero() && f.at.Before(p.Started.Add(-clockSlack)) {
			continue
		}
		if id != "" && f.SessionID != "" && !engine.SameNativeID(id, f.SessionID) {
			continue
		}
		out = append(out, f)
	}
	return out
}

func (h hookMemo) decoded(p engine.Probe) []hookFact {
	hooks := p.Signals.Hooks
	if len(hooks) == 0 {
		return nil
	}
	if d, hit := h.m.get(p.Session.ID); hit && d.from == &hooks[0] && d.n == len(hooks) {
		return d.facts
	}
	d := decodedHooks{from: &hooks[0], n: len(hooks)}
	for i := len(hooks) - 1; i >= 0; i-- {
		f := hookFact{event: hooks[i].Event, name: hooks[i].Name, at: hooks[i].At}
		if json.Unmarshal(hooks[i].Payload, &f.hookPayload) != nil || f.AgentID != "" || f.event == "SubagentStop" || f.event == "SubagentStart" {
			continue
		}
		f.Last = printable(redactText(cut(f.Last, 400)), 160)
		d.facts = append(d.facts, f)
	}
	h.m.put(p.Session.ID, d)
	return d.facts
}

// cut keeps at most n bytes.
func cut(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
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
	text := f.Last
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
// older Claude Code reports a fork under its parent's id, which the spool does
// not keep.
func sessionStart(facts []hookFact, parent engine.ParentToken) (hookFact, bool) {
	for _, f := range facts {
		if f.event == "SessionStart" && f.SessionID != "" && f.SessionID != parentWord && !engine.SameNativeID(f.SessionID, parent.Reveal()) {
			return f, true
		}
	}
	return hookFact{}, false
}
