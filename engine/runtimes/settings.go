package runtimes

import (
	"encoding/json"

	"rig/engine"
)

// hookEvents are the events our hook listens to. All of them are known to every
// Claude Code in use: a name that a client does not know opens a dialog that
// blocks its start. Events inside a turn (tools, sub-agents) are left out, since
// each costs a process and tells nothing that the registry does not.
var hookEvents = []string{
	"SessionStart", "SessionEnd", "UserPromptSubmit", "Notification", "PermissionRequest",
	"Stop", "StopFailure", "PreCompact", "PostCompact",
}

// What the client grants a hook, in seconds.
const (
	hookTimeout       = 5
	preCompactTimeout = 10
)

type hookCommand struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty"`
}

type hookMatcher struct {
	Hooks []hookCommand `json:"hooks"`
}

type statusLineSetting struct {
	Type    string `json:"type"`
	Command string `json:"command"`
}

type claudeLaunchSettings struct {
	Hooks          map[string][]hookMatcher `json:"hooks"`
	StatusLine     statusLineSetting        `json:"statusLine"`
	IdleCompaction *bool                    `json:"idleCompaction,omitempty"`
}

// SettingsFor gives the one --settings value of a Claude launch: our hooks, our
// status line (which runs the user's own after it), and idleCompaction false
// when a policy of ours manages compaction instead. Other runtimes get "". The
// commands are one quoted program and a verb; where they report to stands in the
// occupant's environment, so the value holds nothing about the session.
func (f *Files) SettingsFor(seat engine.Seat, _ string, _ int64, idleCompactionOff bool) string {
	if seat.Runtime != engine.RuntimeClaude {
		return ""
	}
	program := engine.ShellQuote(f.seat)
	s := claudeLaunchSettings{
		Hooks:      make(map[string][]hookMatcher, len(hookEvents)),
		StatusLine: statusLineSetting{Type: "command", Command: program + " " + StatusLineVerb},
	}
	for _, ev := range hookEvents {
		h := hookCommand{Type: "command", Command: program + " " + HookVerb + " " + ev, Timeout: hookTimeout}
		if ev == "PreCompact" {
			h.Timeout = preCompactTimeout
			h.Command = engine.ShellQuote(f.binary) + " " + HookVerb + " " + ev // it writes a packet
		}
		s.Hooks[ev] = []hookMatcher{{Hooks: []hookCommand{h}}}
	}
	if idleCompactionOff {
		off := false
		s.IdleCompaction = &off
	}
	b, err := json.Marshal(s)
	if err != nil { // strings, numbers and booleans always marshal
		panic("runtimes: settings do not marshal: " + err.Error())
	}
	return string(b)
}
