package agentsim

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"time"
)

// hookCommand is one configured command of an event.
type hookCommand struct {
	Type    string  `json:"type"`
	Command string  `json:"command"`
	Timeout float64 `json:"timeout"` // seconds; 0: a minute
}

// hookGroup is a matcher and its commands.
type hookGroup struct {
	Matcher string        `json:"matcher"`
	Hooks   []hookCommand `json:"hooks"`
}

// hookSet is the hooks block that both clients read: event to groups.
type hookSet map[string][]hookGroup

// readHooks takes the hooks block out of a settings file's bytes; what does not
// parse is left out event by event.
func readHooks(data []byte) hookSet {
	var top struct {
		Hooks map[string]json.RawMessage `json:"hooks"`
	}
	set := hookSet{}
	if json.Unmarshal(data, &top) != nil {
		return set
	}
	for event, raw := range top.Hooks {
		var groups []hookGroup
		if json.Unmarshal(raw, &groups) == nil {
			set[event] = groups
		}
	}
	return set
}

// merge adds the groups of another set behind one's own.
func (h hookSet) merge(other hookSet) {
	for event, groups := range other {
		h[event] = append(h[event], groups...)
	}
}

// find lists the commands of an event for a subject (a tool, a source …).
func (h hookSet) find(event, subject string) []hookCommand {
	var out []hookCommand
	for _, g := range h[event] {
		if !matches(g.Matcher, subject) {
			continue
		}
		for _, c := range g.Hooks {
			if c.Command != "" && (c.Type == "" || c.Type == "command") {
				out = append(out, c)
			}
		}
	}
	return out
}

func matches(matcher, subject string) bool {
	if matcher == "" || matcher == "*" || subject == "" {
		return true
	}
	re, err := regexp.Compile("^(?:" + matcher + ")$")
	return err == nil && re.MatchString(subject)
}

// hookRun is what one command did.
type hookRun struct {
	command string
	Result
	took    time.Duration
	context string // additionalContext, for the model
	block   string // why it refuses what is going on; empty: it does not
	allow   bool   // PreToolUse: the tool may run without a question
}

// runHooks runs the commands of an event one after the other.
func runHooks(ctx context.Context, e *Env, cmds []hookCommand, stdin []byte, dir string, vars []string) []hookRun {
	out := make([]hookRun, 0, len(cmds))
	for _, c := range cmds {
		limit := time.Minute
		if c.Timeout > 0 {
			limit = time.Duration(min(c.Timeout, 3600) * float64(time.Second))
		}
		hctx, cancel := context.WithTimeout(ctx, limit)
		from := e.Now()
		res, err := e.Run(hctx, Child{Argv: []string{"/bin/sh", "-c", c.Command}, Dir: dir, Env: vars, Stdin: stdin})
		cancel()
		if err != nil && res.Code == 0 {
			res.Code = 127
		}
		r := hookRun{command: c.Command, Result: res, took: e.Now().Sub(from)}
		r.readOutput()
		out = append(out, r)
	}
	return out
}

// readOutput understands exit code 2 and the JSON that a hook may print.
func (r *hookRun) readOutput() {
	if r.Code == 2 {
		r.block = strings.TrimSpace(string(r.Stderr))
		if r.block == "" {
			r.block = "blocked by hook"
		}
		return
	}
	var out struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
		Specific struct {
			AdditionalContext  string `json:"additionalContext"`
			PermissionDecision string `json:"permissionDecision"`
			PermissionReason   string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	if r.Code != 0 || json.Unmarshal(r.Stdout, &out) != nil {
		return
	}
	r.context = out.Specific.AdditionalContext
	switch {
	case out.Decision == "block":
		r.block = out.Reason + " "
	case out.Specific.PermissionDecision == "deny":
		r.block = out.Specific.PermissionReason + " "
	case out.Specific.PermissionDecision == "allow":
		r.allow = true
	}
}

// plainContext is the context of a hook that prints text instead of JSON, which
// both clients take at SessionStart and UserPromptSubmit.
func (r *hookRun) plainContext() string {
	if r.context != "" || r.Code != 0 {
		return r.context
	}
	s := strings.TrimSpace(string(r.Stdout))
	if strings.HasPrefix(s, "{") {
		return ""
	}
	return s
}
