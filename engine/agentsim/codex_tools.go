package agentsim

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// codexTool is one tool call.
type codexTool struct {
	name    string // exec_command or apply_patch
	cmd     string // the command, or the patch
	path    string // of the file that the patch adds
	escape  bool   // wants out of the sandbox
	call    string
	shown   int
	outcome string
}

const codexReason = "mock: needs to leave the sandbox"

// tool picks the tool that a script calls, nil for none.
func (c *codex) tool(s script) *codexTool {
	t := &codexTool{name: "exec_command", call: "call_" + c.env.hex(20)}
	switch {
	case s.has("sh"):
		t.cmd = s["sh"]
	case s.has("esc"):
		t.cmd, t.escape = s["esc"], true
	case s.has("write"):
		t.name, t.path = "apply_patch", s["write"]
		t.cmd = "*** Begin Patch\n*** Add File: " + t.path + "\n+mock content\n*** End Patch\n"
	default:
		return nil
	}
	return t
}

// runTool is a whole tool call with hooks and approval; false ends the turn.
func (c *codex) runTool(ctx context.Context, t *codexTool) bool {
	c.recordCall(t)
	hookName := map[string]string{"exec_command": "Bash", "apply_patch": "apply_patch"}[t.name]
	use := obj("tool_name", hookName, "tool_input", obj("command", t.cmd))
	for _, r := range c.hookRun(ctx, "PreToolUse", hookName, c.eventIn("PreToolUse", true, use.add("tool_use_id", t.call))) {
		if r.block != "" {
			c.do(func() { c.output(t, "Command blocked by PreToolUse hook: "+strings.TrimSpace(r.block)) })
			return true
		}
	}
	from := c.env.Now()
	if t.escape && c.sandbox() != "danger-full-access" {
		if c.approval() != "on-request" {
			c.do(func() { c.output(t, "rejected: the approval policy does not allow escalation") })
			return true
		}
		if !c.approve(ctx, t) {
			return false
		}
	}
	if t.name == "apply_patch" {
		c.patch(t, from)
	} else if !c.exec(ctx, t, from) {
		return false
	}
	c.hookRun(ctx, "PostToolUse", hookName, c.eventIn("PostToolUse", true, use.add("tool_response", t.outcome, "tool_use_id", t.call)))
	c.do(func() { c.tokenCount(false) })
	return true
}

// recordCall writes the call as the model made it.
func (c *codex) recordCall(t *codexTool) {
	c.do(func() {
		c.answers++
		c.ro.sampled = c.ro.seq
		pass := obj("turn_id", c.turnID)
		var payload rec
		if t.name == "apply_patch" {
			payload = obj("type", "custom_tool_call", "id", "ctc_"+c.env.hex(20), "status", "completed", "call_id", t.call, "name", t.name, "input", t.cmd)
		} else {
			args := obj("cmd", t.cmd)
			if t.escape {
				args = args.add("sandbox_permissions", "require_escalated", "justification", codexReason)
			}
			b, err := plainJSON(args)
			if err != nil {
				return
			}
			payload = obj("type", "function_call", "status", "completed", "id", "fc_"+c.env.hex(20), "name", t.name, "arguments", string(b), "call_id", t.call)
		}
		c.ro.seq++
		meta := obj("history_sequence", c.ro.seq, "sampled_through_sequence", c.ro.sampled, "client_authored", false)
		if t.name != "apply_patch" {
			meta = meta.add("user_input_order", c.ro.order)
			c.ro.order++
		}
		meta = meta.add("model_search_state", "unused")
		c.ro.put(c.env.Now(), "response_item", payload.add("internal_chat_message_metadata_passthrough", pass), meta)
		c.sample()
	})
}

// output writes what the tool gave back.
func (c *codex) output(t *codexTool, text string) {
	t.outcome = text
	kind, id := "function_call_output", "fco_"
	if t.name == "apply_patch" {
		kind, id = "custom_tool_call_output", "ctco_"
	}
	now := c.env.Now()
	c.ro.seq++
	c.ro.put(now, "response_item", obj("type", kind, "id", id+c.env.uuid7(), "call_id", t.call, "output", text,
		"internal_chat_message_metadata_passthrough", obj("turn_id", c.turnID, "create_time", float64(now.UnixMicro())/1e6)),
		obj("history_sequence", c.ro.seq, "sampled_through_sequence", c.ro.sampled, "client_authored", false, "fallback_token_limit_override", 12000, "model_search_state", "unused"))
}

// exec runs a shell command.
func (c *codex) exec(ctx context.Context, t *codexTool, from time.Time) bool {
	res, err := c.env.Run(ctx, Child{Argv: []string{"/bin/bash", "-lc", t.cmd}, Dir: c.cwd, Env: c.env.Vars})
	if ctx.Err() != nil {
		c.cancelled(t, from)
		return false
	}
	code := res.Code
	if err != nil {
		code = max(code, 1)
	}
	out := string(res.Stdout) + string(res.Stderr)
	c.do(func() {
		c.itemDone(obj("type", "CommandExecution", "id", t.call, "process_id", "1", "command", []string{"/bin/bash", "-lc", t.cmd}, "cwd", "file://"+c.cwd,
			"parsed_cmd", []rec{obj("type", "unknown", "cmd", t.cmd)}, "source", "unified_exec_startup", "status", map[bool]string{true: "completed", false: "failed"}[code == 0],
			"aggregated_output", out, "exit_code", code, "duration", obj("secs", 0, "nanos", c.env.Now().Sub(from).Nanoseconds()%1e9)), from)
		c.output(t, fmt.Sprintf("Chunk ID: %s\nWall time: %.4f seconds\nProcess exited with code %d\nOriginal token count: %d\nOutput:\n%s", c.env.hex(6), c.env.Now().Sub(from).Seconds(), code, len(out)/4, out))
		c.showExec(t, code, out)
	})
	return true
}

// patch adds a file.
func (c *codex) patch(t *codexTool, from time.Time) {
	path := t.path
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.cwd, path)
	}
	err := os.WriteFile(path, []byte(mockContent), 0o644)
	c.do(func() {
		if err != nil {
			c.output(t, "Exit code: 1\nWall time: 0 seconds\nOutput:\n"+err.Error())
			return
		}
		done := "Success. Updated the following files:\nA " + t.path + "\n"
		c.itemDone(obj("type", "FileChange", "id", t.call, "changes", obj(path, obj("type", "add", "content", mockContent)), "status", "completed", "stdout", done, "stderr", ""), from)
		c.output(t, "Exit code: 0\nWall time: 0 seconds\nOutput:\n"+done)
		c.show(item{mark: "• ", text: "Added " + t.path + " (+1 -0)\n  1 +mock content\n  + Show details"})
	})
}

// approve asks the person; false when the turn ends by it.
func (c *codex) approve(ctx context.Context, t *codexTool) bool {
	in := c.eventIn("PermissionRequest", true, obj("tool_name", "Bash", "tool_input", obj("command", t.cmd, "description", codexReason)))
	c.hookRun(ctx, "PermissionRequest", "Bash", in)
	d := &dialog{
		head:   []string{"", "  Would you like to run the following command?", "", "  Environment: local", "", "  Reason: " + codexReason, "", "  $ " + printable(t.cmd), "", ""},
		choice: []string{"1. Yes, proceed (y)", "2. Yes, and don't ask again for commands that start with `" + printable(t.cmd) + "` (p)", "3. No, and tell Codex what to do differently (esc)"},
		tail:   []string{"", "  Press enter to confirm or esc to cancel"}, mark: "› ", blank: "  ",
		digits: true, letter: map[string]int{"y": 0, "p": 1}, cancel: 2, answer: make(chan int, 1),
	}
	from := c.env.Now()
	c.do(func() {
		t.shown = c.show(item{mark: "• ", text: "Running " + t.cmd})
		c.dlg = d
	})
	choice := 2
	select {
	case choice = <-d.answer:
	case <-ctx.Done():
	}
	if choice == 2 {
		c.do(func() { c.dlg = nil })
		c.cancelled(t, from)
		return false
	}
	c.do(func() {
		c.dlg = nil
		c.items[t.shown] = item{mark: "✔ ", text: "You approved codex to run " + t.cmd + " this time"}
	})
	return true
}

// cancelled records a call that the person stopped, and the end of the turn.
func (c *codex) cancelled(t *codexTool, from time.Time) {
	c.do(func() {
		if t.escape {
			c.items[t.shown] = item{mark: "✗ ", text: "You canceled the request to run " + t.cmd}
		}
		c.show(item{mark: "• ", text: "Exited (status 1) " + t.cmd + "\n└ (no output)"})
		c.output(t, fmt.Sprintf("Wall time: %.1f seconds\naborted by user", c.env.Now().Sub(from).Seconds()))
		c.tokenCount(false)
	})
	c.aborted()
}

// showExec draws a command that ran.
func (c *codex) showExec(t *codexTool, code int, out string) {
	if strings.HasPrefix(t.cmd, "ls") && !t.escape {
		c.show(item{mark: "• ", text: "Explored\n└ List " + t.cmd + "\n  + Show details"})
		return
	}
	head := "Ran " + t.cmd
	if code != 0 {
		head = fmt.Sprintf("Exited (status %d) %s", code, t.cmd)
	}
	shown := strings.Split(strings.TrimSpace(printable(out)), "\n")
	if shown[0] == "" {
		shown = []string{"(no output)"}
	}
	if len(shown) > 5 {
		shown = append(shown[:4], fmt.Sprintf("… +%d lines", len(shown)-4))
	}
	c.show(item{mark: "• ", text: head + "\n└ " + strings.Join(shown, "\n  ")})
}
