package agentsim

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// rollout is the file that a session writes, and its lock. Both stay open for
// the life of the process, so that others can see them in /proc/PID/fd.
type rollout struct {
	id      string
	path    string
	file    *os.File
	lock    *os.File
	ordinal int
	seq     int // response items so far
	sampled int // response items that the newest request saw
	order   int // prompts and answers so far
	window  string
	parent  string
	base    rec // history_base of a fork
	before  int // ordinal at which the fork left its parent
	opened  bool
	created time.Time
	closed  bool
}

// rolloutPath is where a session begun at t is kept.
func rolloutPath(home, id string, t time.Time) string {
	t = t.UTC()
	return filepath.Join(home, "sessions", t.Format("2006"), t.Format("01"), t.Format("02"),
		fmt.Sprintf("rollout-%s-%s.jsonl", t.Format("2006-01-02T15-04-05"), id))
}

// takeLock makes this process the writer of a session; false when another is.
func (r *rollout) takeLock(home string) bool {
	dir := filepath.Join(home, "thread-writer-locks")
	if os.MkdirAll(dir, 0o755) != nil {
		return false
	}
	f, err := os.OpenFile(filepath.Join(dir, r.id+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return false
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		_ = f.Close()
		return false
	}
	r.lock = f
	return true
}

// open makes the file, or opens it to go on.
func (r *rollout) open() {
	if r.file != nil || r.closed {
		return
	}
	if os.MkdirAll(filepath.Dir(r.path), 0o755) != nil {
		return
	}
	f, err := os.OpenFile(r.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	r.file = f
}

// put appends a record; metadata, when not nil, stands beside the payload.
func (r *rollout) put(now time.Time, kind string, payload, metadata rec) {
	if r.file == nil || r.closed {
		return
	}
	row := obj("timestamp", stamp(now), "ordinal", r.ordinal, "type", kind, "payload", payload).when(metadata != nil, "metadata", metadata)
	r.ordinal++
	_, _ = r.file.Write(line(row))
}

// close lets go of the file and the lock; the lock's file goes too.
func (r *rollout) close(clean bool) {
	r.closed = true
	if r.file != nil {
		_ = r.file.Close()
	}
	if r.lock != nil {
		if clean {
			_ = os.Remove(r.lock.Name())
		}
		_ = r.lock.Close()
	}
}

// emit writes an event_msg.
func (c *codex) emit(kind string, rest rec) {
	c.ro.put(c.env.Now(), "event_msg", append(obj("type", kind), rest...), nil)
}

// itemDone writes an item_completed event.
func (c *codex) itemDone(item rec, from time.Time) {
	now := c.env.Now()
	c.emit("item_completed", obj("thread_id", c.ro.id, "turn_id", c.turnID, "item", item, "started_at_ms", from.UnixMilli(), "completed_at_ms", now.UnixMilli()))
}

// message writes a response_item of a message that did not come from the model.
func (c *codex) message(role, text string, kinds []string, source rec) {
	id := "msg_" + c.env.uuid7()
	now := c.env.Now()
	metas := make([]rec, len(kinds))
	for i := range kinds {
		metas[i] = obj("provenance", source)
	}
	user := len(kinds) == 1 && kinds[0] == "user.text"
	c.ro.put(now, "response_item", obj("type", "message", "id", id, "role", role, "content", []rec{obj("type", "input_text", "text", text)},
		"internal_chat_message_metadata_passthrough", obj("turn_id", c.turnID, "create_time", float64(now.UnixMicro())/1e6, "content_item_kinds", kinds, "content_item_metadata", metas)),
		c.itemMeta(user, id, role, user || len(kinds) > 2))
}

// itemMeta is the metadata of a response_item.
func (c *codex) itemMeta(retained bool, id, role string, attributed bool) rec {
	c.ro.seq++
	m := obj("history_sequence", c.ro.seq, "sampled_through_sequence", c.ro.sampled)
	if retained {
		m = m.add("retained_source", obj("id", obj("message_id", id, "turn_id", c.turnID, "role", role), "revision", "retained_"+c.env.uuid7(), "complete", true))
	}
	m = m.add("client_authored", false)
	if retained {
		m = m.add("user_input_order", c.ro.order)
		c.ro.order++
	}
	return m.when(attributed, "mcp_attribution", obj("status", "none")).add("model_search_state", "unused")
}

// harness is the provenance of what the client itself says.
func harness(hook bool) rec { return obj("type", "harness", "hook", hook) }

// hookMessage tells the model what a hook said.
func (c *codex) hookMessage(text string) {
	c.message("developer", text, []string{"hooks.additional_context"}, harness(true))
	c.held = append(c.held, said{"hook", text})
}

// openRollout writes the head of a session.
func (c *codex) openRollout() {
	r := c.ro
	if r.opened {
		r.open()
		return
	}
	r.open()
	r.opened = true
	meta := obj("account_scoped", true, "session_id", r.id, "id", r.id)
	if r.parent != "" {
		meta = meta.add("forked_from_id", r.parent, "forked_from_ordinal_exclusive", r.before)
	}
	meta = meta.add("timestamp", stamp(r.created), "cwd", c.cwd, "runtime_workspace_roots", []string{c.cwd}, "originator", "codex-tui", "cli_version", codexVersion,
		"source", "cli", "thread_source", "user", "model_provider", c.provider(), "base_instructions", obj("text", "STAND-IN"), "history_mode", "paginated")
	if r.base != nil {
		meta = meta.add("history_base", r.base, "multi_agent_version", "v1")
	}
	c.ro.put(c.env.Now(), "session_meta", meta.add("context_window", obj("window_id", r.window)), nil)
}

func (c *codex) provider() string { return cmp.Or(c.cfg.get("model_provider"), "openai") }

// permissions is the profile in its long form.
func (c *codex) permissions() rec {
	return obj("type", "managed", "file_system", obj("type", "restricted", "entries", c.entries()), "network", "restricted")
}

// entries are the paths that the agent may read or write.
func (c *codex) entries() []rec {
	entries := []rec{obj("path", obj("type", "special", "value", obj("kind", "root")), "access", "read")}
	if c.sandbox() == "workspace-write" {
		entries = append(entries, obj("path", obj("type", "path", "path", c.cwd), "access", "write"),
			obj("path", obj("type", "special", "value", obj("kind", "slash_tmp")), "access", "write"),
			obj("path", obj("type", "special", "value", obj("kind", "tmpdir")), "access", "write"))
		for _, name := range []string{".git", ".agents", ".codex", ".aws"} {
			entries = append(entries, obj("path", obj("type", "path", "path", filepath.Join(c.cwd, name)), "access", "read", "missing_path_behavior", "skip"))
		}
	}
	return entries
}

func (c *codex) sandbox() string {
	if c.o.yolo {
		return "danger-full-access"
	}
	return cmp.Or(c.o.sandbox, c.cfg.get("sandbox_mode"), "workspace-write")
}

func (c *codex) approval() string {
	if c.o.yolo {
		return "never"
	}
	return cmp.Or(c.o.approval, c.cfg.get("approval_policy"), "granular")
}

func (c *codex) collaboration() rec {
	return obj("mode", "default", "settings", obj("model", c.model, "reasoning_effort", nil, "developer_instructions", "STAND-IN"))
}

// settingsApplied writes the settings of the thread, at the start of each turn.
func (c *codex) settingsApplied() {
	c.emit("thread_settings_applied", obj("thread_id", c.ro.id, "thread_settings", obj("model", c.model, "model_provider_id", c.provider(), "approval_policy", c.approval(),
		"approvals_reviewer", "user", "requested_approvals_reviewer", "user", "permission_profile", c.permissions(), "cwd", c.cwd, "runtime_workspace_roots", []string{c.cwd},
		"collaboration_mode", c.collaboration(), "disabled_plugin_ids", []any{})))
}

// turnContext writes what a turn runs under.
func (c *codex) turnContext() {
	policy := obj("type", c.sandbox())
	if c.sandbox() == "workspace-write" {
		policy = policy.add("network_access", false, "exclude_tmpdir_env_var", false, "exclude_slash_tmp", false)
	}
	c.ro.put(c.env.Now(), "turn_context", obj("turn_id", c.turnID, "root_turn_id", c.turnID, "disabled_plugin_ids", []any{}, "cwd", c.cwd, "approval_policy", c.approval(),
		"approvals_reviewer", "user", "permission_profile", c.permissions(), "model", c.model, "comp_hash", "2911", "collaboration_mode", c.collaboration(),
		"multi_agent_version", "v1", "realtime_active", false, "summary", "none", "sandbox_policy", policy, "file_system_sandbox_policy", obj("kind", "restricted", "entries", c.entries())), nil)
}

func (c *codex) worldState(full bool) {
	c.ro.put(c.env.Now(), "world_state", obj("full", full, "state", obj("environments", obj("environments", obj("local", obj("cwd", c.cwd, "status", "available", "shell", "bash"))))), nil)
}

// taskStarted opens a turn in the file.
func (c *codex) taskStarted() {
	c.emit("task_started", obj("turn_attribution", obj("turn_id", c.turnID, "turn_trigger", "user", "parent_turn_id", nil, "initiating_agent_path", nil, "root_turn_id", c.turnID),
		"turn_id", c.turnID, "root_turn_id", c.turnID, "started_at", c.turnFrom.Unix(), "model_context_window", c.window, "collaboration_mode_kind", "default"))
}

// taskComplete closes a turn in the file.
func (c *codex) taskComplete(last any, fault rec, first time.Duration) {
	now := c.env.Now()
	r := obj("root_turn_id", c.turnID, "turn_id", c.turnID, "last_agent_message", last).when(fault != nil, "error", fault).
		add("started_at", c.turnFrom.Unix(), "completed_at", now.Unix(), "duration_ms", now.Sub(c.turnFrom).Milliseconds())
	c.emit("task_complete", r.when(last != nil, "time_to_first_token_ms", first.Milliseconds()))
}

// tokenCount writes the token use so far.
func (c *codex) tokenCount(reasoning bool) {
	c.emit("token_count", obj("info", obj("total_token_usage", c.total, "last_token_usage", c.last, "last_usage_includes_reasoning", reasoning, "model_context_window", c.window),
		"rate_limits", obj("limit_id", "codex", "limit_name", nil, "primary", nil, "secondary", nil, "credits", nil, "individual_limit", nil, "spend_control_reached", nil,
			"plan_type", nil, "rate_limit_reached_type", nil)))
}

// sample books one request to the model.
func (c *codex) sample() {
	u := codexUsage{Input: c.tokens, Cached: max(c.tokens-500, 0), Output: outTokens, Total: c.tokens + outTokens}
	c.last, c.total, c.turnUse = u, c.total.plus(u), c.turnUse.plus(u)
	c.response = "resp_" + c.env.hex(24)
	c.ro.put(c.env.Now(), "token_usage_record", c.usageRecord(), nil)
}

func (c *codex) usageRecord() rec {
	return obj("thread_id", c.ro.id, "turn_id", c.turnID, "session_id", c.ro.id, "root_turn_id", c.turnID, "response_id", c.response,
		"usage", c.last, "turn_token_usage", c.turnUse, "thread_token_usage", c.total)
}
