package agentsim

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// What the common part of an event carries beyond ids and paths.
type eventPart int

const (
	partBare   eventPart = iota
	partMode             // permission_mode
	partFull             // permission_mode and effort
	partEffort           // effort
)

// event is the stdin of a hook, the common part first, as the client writes it.
func (c *claude) event(name string, part eventPart, rest rec) rec {
	r := obj("session_id", c.shownID(), "transcript_path", c.file.path, "cwd", c.cwd).
		when(c.promptID != "", "prompt_id", c.promptID).
		when(part == partMode || part == partFull, "permission_mode", c.wireMode()).
		when(part >= partFull, "effort", obj("level", c.effort)).
		add("hook_event_name", name)
	return append(r, rest...)
}

// hookVars is the environment of a hook or a tool.
func (c *claude) hookVars() []string {
	scratch := filepath.Join(fmt.Sprintf("/tmp/claude-%d", os.Getuid()), claudeSlug(c.cwd), c.file.session)
	return c.env.with(
		"CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT="+c.file.entry, "CLAUDE_CODE_SESSION_ID="+c.shownID(), fmt.Sprintf("CLAUDE_PID=%d", os.Getpid()),
		"CLAUDE_PROJECT_DIR="+c.cwd, "CLAUDE_CODE_CHILD_SESSION=1", "CLAUDE_CODE_SESSION_ATTENDED=1",
		"CLAUDE_CODE_CHILD_NOTES_DIR="+filepath.Join(scratch, "started"),
		fmt.Sprintf("CLAUDE_CODE_MESSAGING_SOCKET=/tmp/cc-socks/%d.sock", os.Getpid()),
		"CLAUDE_ENV_FILE="+filepath.Join(c.paths.dir, "session-env", c.file.session, "sessionstart-hook-0.sh"))
}

// fire runs the hooks of an event; never call it with the lock held.
func (c *claude) fire(ctx context.Context, name, subject string, stdin rec) []hookRun {
	cmds := c.set.hooks.find(name, subject)
	if len(cmds) == 0 {
		return nil
	}
	c.mu.Lock()
	in, vars := line(stdin), c.hookVars()
	c.mu.Unlock()
	pause(ctx, c.env.ms("AGENTSIM_HOOK_MS", 0))
	return runHooks(ctx, c.env, cmds, in, c.cwd, vars)
}

// build makes a hook's stdin under the lock.
func (c *claude) build(name string, part eventPart, rest rec) rec {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.event(name, part, rest)
}

// startHooks runs SessionStart and keeps what it adds for the model. The records
// wait for the file, or go at once when the session has one.
func (c *claude) startHooks(source string) {
	c.mu.Lock()
	rest := obj("source", source).
		when(source == "startup" || source == "compact", "model", c.model).
		when(c.name != "", "session_title", c.name)
	if source == "resume" || source == "fork" {
		rest = rest.add("seconds_since_last_response", c.sinceAnswer(), "context_tokens", max(c.seen, 0)+outTokens, "prompt_cache_likely_expired", false,
			"estimated_cache_write_usd", float64(max(c.seen, 0)+outTokens)*0.000005)
	}
	in := c.event("SessionStart", partBare, rest)
	if _, old := c.env.fails("parent-id-hook"); old && source == "fork" {
		in = c.oldForkStart()
	}
	c.mu.Unlock()
	runs := c.fire(context.Background(), "SessionStart", source, in)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file.closed {
		return
	}
	c.keepContext(runs, "SessionStart", source, "SessionStart", source == "compact")
}

// sinceAnswer is how long ago the newest answer was, in seconds.
func (c *claude) sinceAnswer() int {
	if c.answered.IsZero() {
		return 0
	}
	return max(0, int(c.env.Now().Sub(c.answered).Seconds()))
}

// oldForkStart is what 2.1.197 tells a hook at the start of a fork: it is a
// resume, of the parent.
func (c *claude) oldForkStart() rec {
	path := strings.Replace(c.file.path, c.file.session, c.parent, 1)
	return obj("session_id", c.parent, "transcript_path", path, "cwd", c.cwd, "hook_event_name", "SessionStart", "source", "resume")
}

// keepContext records the outcome of hooks that may add context.
func (c *claude) keepContext(runs []hookRun, event, source, useID string, withID bool) {
	var all []string
	for _, r := range runs {
		if event == "SessionStart" && r.Code == 0 {
			u := c.env.uuid4()
			c.file.put(u, withID, obj("attachment", obj("type", "hook_success", "hookName", event+":"+source, "toolUseID", c.env.uuid4(), "hookEvent", event,
				"content", "", "stdout", string(r.Stdout), "stderr", string(r.Stderr), "exitCode", r.Code, "command", r.command, "durationMs", r.took.Milliseconds()),
				"type", "attachment", "uuid", u, "timestamp", stamp(c.env.Now())))
		}
		if t := r.plainContext(); t != "" {
			all = append(all, t)
		}
	}
	if len(all) > 0 {
		c.hookContext(all, event, useID, withID)
	}
}

// hookContext records what hooks told the model.
func (c *claude) hookContext(all []string, event, useID string, withID bool) {
	c.attach(withID, "system", obj("type", "hook_additional_context", "content", all, "hookName", event, "toolUseID", useID, "hookEvent", event))
	for _, t := range all {
		c.held = append(c.held, said{"hook", t})
	}
}

// endHooks runs SessionEnd, in the little time that an ending client has.
func (c *claude) endHooks(reason string) {
	ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
	defer cancel()
	c.fire(ctx, "SessionEnd", reason, c.build("SessionEnd", partBare, obj("reason", cmp.Or(reason, "other"))))
}

// notify runs the Notification hooks after a while, unless stopped before.
func (c *claude) notify(after time.Duration, kind, message string) *time.Timer {
	return time.AfterFunc(after, func() {
		in := c.build("Notification", partBare, obj("message", message, "notification_type", kind))
		c.fire(context.Background(), "Notification", kind, in)
	})
}

// stopTimers ends the pending notifications.
func (c *claude) stopTimers() {
	for _, t := range []*time.Timer{c.idleTimer, c.askTimer, c.compactTimer} {
		if t != nil {
			t.Stop()
		}
	}
	c.idleTimer, c.askTimer, c.compactTimer = nil, nil, nil
}

// refreshStatus runs the status line command; its first line is shown under the
// box. Never call it with the lock held.
func (c *claude) refreshStatus() {
	if c.set.status == "" {
		return
	}
	c.mu.Lock()
	in, vars := line(c.statusInput()), c.hookVars()
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	res, err := c.env.Run(ctx, Child{Argv: []string{"/bin/sh", "-c", c.set.status}, Dir: c.cwd, Env: vars, Stdin: in})
	first, _, _ := strings.Cut(string(res.Stdout), "\n")
	if err != nil || res.Code != 0 {
		first = ""
	}
	c.do(func() { c.statusLine = printable(first) })
}

// statusInput is what the status line command reads.
func (c *claude) statusInput() rec {
	now := c.env.Now()
	window := obj("total_input_tokens", 0, "total_output_tokens", 0, "context_window_size", c.window, "current_usage", nil, "used_percentage", nil, "remaining_percentage", nil)
	if c.seen >= 0 {
		used := obj("input_tokens", 0, "output_tokens", 0, "cache_creation_input_tokens", 0, "cache_read_input_tokens", 0)
		out := 0
		if c.seen > 0 {
			out = outTokens
			used = obj("input_tokens", 3, "output_tokens", out, "cache_creation_input_tokens", 500, "cache_read_input_tokens", max(c.seen-503, 0))
		}
		pct := min(100, (c.seen*100+c.window/2)/c.window)
		window = obj("total_input_tokens", c.seen, "total_output_tokens", out, "context_window_size", c.window, "current_usage", used, "used_percentage", pct, "remaining_percentage", 100-pct)
	}
	r := obj("session_id", c.shownID(), "transcript_path", c.file.path, "cwd", c.cwd).
		when(c.promptID != "", "prompt_id", c.promptID).
		add("effort", obj("level", c.effort), "model", obj("id", c.model, "display_name", modelName(c.model)),
			"workspace", obj("current_dir", c.cwd, "project_dir", c.cwd, "added_dirs", orEmpty(c.o.addDirs)), "version", claudeVersion,
			"output_style", obj("name", "default"), "cost", obj("total_cost_usd", c.cost(), "total_duration_ms", now.Sub(c.started).Milliseconds(),
				"total_api_duration_ms", c.apiMS, "total_lines_added", c.linesAdded, "total_lines_removed", 0),
			"context_window", window, "exceeds_200k_tokens", c.seen+c.dropped > 200_000)
	if c.answers > 0 {
		r = r.add("prompt_cache", obj("warm", true, "caching_observed", true, "ttl", c.cacheTTL(), "expires_at", now.Unix()+300, "requests", c.answers, "misses", 0,
			"expected_rebuilds", 0, "hit_ratio", 0.58, "cache_write_tokens", 500*c.answers, "miss_recache_tokens", 0, "last_miss_at", nil, "last_miss_cause", nil,
			"miss_causes", rec{}, "recache_tokens_if_cold", max(c.seen, 0)))
	}
	r = r.add("fast_mode", false, "thinking", obj("enabled", true))
	if c.subscriber() {
		r = r.add("rate_limits", obj("five_hour", obj("used_percentage", 42, "resets_at", now.Unix()+3600), "seven_day", obj("used_percentage", 17, "resets_at", now.Unix()+300_000)))
	}
	return r
}

// subscriber tells whether the login is a subscription and not an API key.
func (c *claude) subscriber() bool {
	return c.env.get("ANTHROPIC_API_KEY") == "" && c.env.get("CLAUDE_CODE_OAUTH_TOKEN") != ""
}

func (c *claude) cacheTTL() string {
	if c.subscriber() {
		return "1h"
	}
	return "5m"
}
