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

// claudeTool is one tool call and how it is shown, asked for and done.
type claudeTool struct {
	name    string
	intro   string // text before the call; empty: none
	input   rec
	suggest []rec
	id      string
	ask     func(c *claude, w int) *dialog
	run     func(ctx context.Context, c *claude, t *claudeTool, choice int) toolDone
	free    bool // needs no question in the present mode
	choice  int  // of a question's answer
	shown   int  // its entry on the screen
}

// toolDone is the outcome of a tool.
type toolDone struct {
	content  any // of the tool_result block
	response any // toolUseResult, and tool_response of the hook
	extra    rec // further members of the record
	failed   bool
	input    rec // input as PostToolUse sees it, when it differs
}

// tool picks the tool that a script calls.
func (c *claude) tool(s script) (*claudeTool, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &claudeTool{id: "toolu_" + c.env.hex(24)}
	switch {
	case s.has("sh"):
		c.bashTool(t, s["sh"])
	case s.has("write"):
		c.writeTool(t, s["write"], cmp.Or(s["content"], mockContent))
	case s.has("task"):
		c.agentTool(t, s["task"])
	case s.has("ask"):
		askTool(t)
	default:
		return nil, false
	}
	return t, true
}

func (c *claude) bashTool(t *claudeTool, cmd string) {
	t.name, t.intro = "Bash", "I will run a command."
	t.input = obj("command", cmd, "description", "Mock command")
	t.suggest = []rec{obj("type", "addRules", "rules", []rec{obj("toolName", "Bash", "ruleContent", cmd)}, "behavior", "allow", "destination", "localSettings")}
	second := "2. Yes, and don't ask again for: " + cmd
	if changesFiles(cmd) {
		t.suggest = []rec{obj("type", "addDirectories", "directories", []string{c.cwd}, "destination", "session"), obj("type", "setMode", "mode", "acceptEdits", "destination", "session")}
		second = "2. Yes, and always allow access to " + c.cwd + " from this project"
	}
	t.free = readOnly(cmd) || c.allowed[cmd] || c.mode == "auto" || c.mode == "bypassPermissions" || c.mode == "acceptEdits" && changesFiles(cmd)
	t.ask = func(_ *claude, w int) *dialog {
		return &dialog{
			head: []string{
				rule(w), " Bash command", " Tip: auto mode handles these prompts for you — choose \"switch to auto mode\" below", " Mock command",
				strings.Repeat("╌", w), " " + printable(cmd), strings.Repeat("╌", w), " Do you want to proceed?",
			},
			choice: []string{"1. Yes", printable(second), "3. Yes, and switch to auto mode · auto mode handles these prompts for you", "4. No"},
		}
	}
	t.run = runBash
}

// readOnly tells whether every command of a line only looks.
func readOnly(cmd string) bool {
	if strings.ContainsAny(cmd, ">`") || strings.Contains(cmd, "$(") {
		return false
	}
	split := func(r rune) bool { return r == ';' || r == '&' || r == '|' || r == '\n' }
	for _, part := range strings.FieldsFunc(cmd, split) {
		if f := strings.Fields(part); len(f) > 0 && !strings.Contains(" echo pwd ls cat head tail wc grep true whoami date uname which sleep ", " "+f[0]+" ") {
			return false
		}
	}
	return true
}

// changesFiles tells whether a command is one of the plain file commands.
func changesFiles(cmd string) bool {
	f := strings.Fields(cmd)
	return len(f) > 0 && strings.Contains(" mkdir touch rm rmdir mv cp sed ", " "+f[0]+" ")
}

func runBash(ctx context.Context, c *claude, t *claudeTool, _ int) toolDone {
	cmd, _ := t.input[0].val.(string)
	c.mu.Lock()
	vars := c.hookVars()
	c.mu.Unlock()
	res, err := c.env.Run(ctx, Child{Argv: []string{"/bin/bash", "-c", cmd}, Dir: c.cwd, Env: vars})
	out, errOut := strings.TrimRight(string(res.Stdout), "\n"), strings.TrimRight(string(res.Stderr), "\n")
	if res.Code != 0 || err != nil {
		text := strings.TrimRight(fmt.Sprintf("Exit code %d\n%s", res.Code, strings.TrimSpace(out+"\n"+errOut)), "\n")
		return toolDone{content: text, response: "Error: " + text, failed: true, extra: obj("sandboxed", false)}
	}
	shown := out
	if shown == "" {
		shown = "(Bash completed with no output)"
	}
	return toolDone{
		content: shown, extra: obj("sandboxed", false),
		response: obj("stdout", out, "stderr", errOut, "interrupted", false, "isImage", false, "noOutputExpected", changesFiles(cmd)),
	}
}

const mockContent = "mock content\n"

func (c *claude) writeTool(t *claudeTool, path, content string) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.cwd, path)
	}
	short := filepath.Base(path)
	if rel, err := filepath.Rel(c.cwd, path); err == nil && !strings.HasPrefix(rel, "..") {
		short = rel
	}
	t.name, t.intro = "Write", "I will write a file."
	t.input = obj("file_path", path, "content", content)
	t.suggest = []rec{obj("type", "setMode", "mode", "acceptEdits", "destination", "session")}
	t.free = c.mode == "auto" || c.mode == "bypassPermissions" || c.mode == "acceptEdits"
	t.ask = func(_ *claude, w int) *dialog {
		return &dialog{
			head:   []string{rule(w), " Create file", " " + printable(short), strings.Repeat("╌", w), "  1 mock content", strings.Repeat("╌", w), " Do you want to create " + printable(short) + "?"},
			choice: []string{"1. Yes", "2. Yes, and switch to accept edits (auto-approve file edits and common file commands) for this session (shift+tab)", "3. No"},
		}
	}
	t.run = func(_ context.Context, c *claude, _ *claudeTool, _ int) toolDone {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return toolDone{content: err.Error(), response: "Error: " + err.Error(), failed: true}
		}
		c.do(func() { c.wroteFile(path, short) })
		return toolDone{
			content:  "File created successfully at: " + path + " (file state is current in your context — no need to Read it back)",
			response: obj("type", "create", "filePath", path, "content", content, "structuredPatch", []any{}, "originalFile", nil, "userModified", false),
		}
	}
}

// wroteFile keeps note of a file that a tool made, for undo and for compactions.
func (c *claude) wroteFile(path, short string) {
	c.linesAdded++
	c.files = append(c.files, path)
	now := stamp(c.env.Now())
	c.file.write(line(obj("type", "file-history-delta", "messageId", c.file.leaf, "snapshotMessageId", c.snapshotID, "trackingPath", short,
		"backup", obj("backupFileName", nil, "version", 1, "backupTime", now, "realParentDir", filepath.Dir(path)), "timestamp", now)))
}

func askTool(t *claudeTool) {
	questions := []rec{obj("question", "Which colour?", "header", "Colour", "options", []rec{obj("label", "Red", "description", "r"), obj("label", "Blue", "description", "b")}, "multiSelect", false)}
	t.name = "AskUserQuestion"
	t.input = obj("questions", questions)
	t.ask = func(_ *claude, w int) *dialog {
		return &dialog{
			head:   []string{rule(w), " ☐ Colour", "", "Which colour?", ""},
			choice: []string{"1. Red", "2. Blue", "3. Type something.", "4. Chat about this"},
			under:  map[int][]string{0: {"     r"}, 1: {"     b"}, 2: {rule(w)}},
			mark:   "❯ ", blank: "  ",
			tail: []string{"", "Enter to select · ↑/↓ to navigate · Esc to cancel"},
		}
	}
	t.run = func(_ context.Context, _ *claude, _ *claudeTool, choice int) toolDone {
		label := "Red"
		if choice == 1 {
			label = "Blue"
		}
		done := obj("questions", questions, "answers", obj("Which colour?", label), "annotations", rec{})
		return toolDone{content: fmt.Sprintf("Your questions have been answered: \"Which colour?\"=%q. You can now continue with these answers in mind.", label), response: done, input: done}
	}
}

// runTool is a whole tool call: the call's record, its hooks, the question, the
// doing, and the result's record. False ends the turn.
func (c *claude) runTool(ctx context.Context, ref string, t *claudeTool) bool {
	callID := c.recordCall(ref, t)
	pre := c.fire(ctx, "PreToolUse", t.name, c.build("PreToolUse", partFull, obj("tool_name", t.name, "tool_input", t.input, "tool_use_id", t.id)))
	for _, r := range pre {
		if r.block != "" {
			return c.denied(t, callID, strings.TrimSpace(r.block))
		}
		t.free = t.free || r.allow
	}
	if c.mode == "dontAsk" && !t.free {
		return c.denied(t, callID, "Permission to use "+t.name+" has been denied because Claude Code is running in don't ask mode.")
	}
	decision := obj("decision", "accept", "source", "config")
	if !t.free {
		if !c.question(ctx, t) {
			c.rejected(t, callID)
			return false
		}
		decision = obj("decision", "accept", "source", "user_temporary", "grantScope", "once", "reasonCode", "unknown")
	}
	from := c.env.Now()
	done := t.run(ctx, c, t, t.choice)
	if ctx.Err() != nil && t.name == "Bash" {
		c.rejected(t, callID)
		return false
	}
	c.toolHooks(ctx, t, done, c.env.Now().Sub(from))
	c.recordResult(t, callID, done, decision)
	return true
}

func (c *claude) recordCall(ref string, t *claudeTool) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	msg := "msg_" + c.env.hex(24)
	if !contains(c.toolsUsed, t.name) {
		c.toolsUsed = append(c.toolsUsed, t.name)
		c.file.write(line(obj("type", "tools-used", "tools", c.toolsUsed, "sessionId", c.file.session)))
	}
	c.answers++
	c.seen = c.tokens
	index := 0
	if t.intro != "" {
		c.say(msg, ref, 0, "tool_use", obj("type", "text", "text", t.intro+" "), false)
		c.show(item{mark: "● ", text: t.intro})
		index = 1
	}
	id := c.say(msg, ref, index, "tool_use", obj("type", "tool_use", "id", t.id, "name", t.name, "input", t.input), false)
	c.showCall(t)
	return id
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// question asks the person; false means no. The registry says waiting meanwhile.
func (c *claude) question(ctx context.Context, t *claudeTool) bool {
	waiting := "permission prompt"
	rest := obj("tool_name", t.name, "tool_input", t.input).when(t.suggest != nil, "permission_suggestions", t.suggest)
	if t.name == "AskUserQuestion" {
		waiting = "input needed"
	}
	d := t.ask(c, c.term.w)
	d.answer, d.digits, d.cancel = make(chan int, 1), true, len(d.choice)-1
	if d.mark == "" {
		d.mark, d.blank = " ❯ ", "   "
		d.tail = []string{"", " Esc to cancel · Tab to amend"}
	}
	in := c.build("PermissionRequest", partFull, rest)
	c.do(func() {
		c.dlg = d
		c.setStatus("waiting", waiting)
		if t.name != "AskUserQuestion" {
			c.askTimer = c.notify(c.env.ms("AGENTSIM_NOTIFY_MS", 6*time.Second), "permission_prompt", "Claude needs your permission")
		}
	})
	go c.fire(ctx, "PermissionRequest", t.name, in)
	choice := -1
	select {
	case choice = <-d.answer:
	case <-ctx.Done():
	}
	yes := choice >= 0 && choice < len(d.choice)-1
	c.do(func() {
		c.dlg = nil
		c.stopTimers()
		t.choice = choice
		if yes {
			c.grant(t, choice)
			c.setStatus("busy", "")
		}
	})
	return yes
}

// grant remembers what the person allowed beyond this once.
func (c *claude) grant(t *claudeTool, choice int) {
	switch {
	case t.name == "Bash" && choice == 1:
		cmd, _ := t.input[0].val.(string)
		c.allowed[cmd] = true
	case t.name == "Bash" && choice == 2:
		c.mode = "auto"
	case t.name == "Write" && choice == 1:
		c.mode = "acceptEdits"
	}
}

// rejected records a no; the turn ends without a Stop hook.
func (c *claude) rejected(t *claudeTool, callID string) {
	const text = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed."
	c.do(func() {
		u := c.env.uuid4()
		c.file.put(u, true, obj("promptId", c.promptID, "type", "user", "message", obj("role", "user", "content",
			[]rec{obj("type", "tool_result", "content", text, "is_error", true, "tool_use_id", t.id)}), "uuid", u, "timestamp", stamp(c.env.Now()),
			"toolUseResult", "User rejected tool use", "toolDenialKind", "user-rejected", "toolDenialBeforeRun", true, "sourceToolAssistantUUID", callID))
		u = c.env.uuid4()
		c.file.put(u, true, obj("promptId", c.promptID, "type", "user", "message", obj("role", "user", "content",
			[]rec{obj("type", "text", "text", "[Request interrupted by user for tool use]")}), "uuid", u, "timestamp", stamp(c.env.Now()), "rowSource", "harness"))
		c.showRejected(t)
	})
}

// denied records a refusal by a hook or by the mode; the model goes on.
func (c *claude) denied(t *claudeTool, callID, why string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.resultRecord(t, callID, toolDone{content: why, response: "Error: " + why, failed: true}, nil)
	c.show(item{mark: "  ⎿ \u00a0", text: "Error: " + why, tight: true})
	return true
}

func (c *claude) toolHooks(ctx context.Context, t *claudeTool, done toolDone, took time.Duration) {
	input := t.input
	if done.input != nil {
		input = done.input
	}
	if done.failed {
		c.fire(ctx, "PostToolUseFailure", t.name, c.build("PostToolUseFailure", partFull, obj("tool_name", t.name, "tool_input", input, "tool_use_id", t.id,
			"error", done.content, "is_interrupt", false, "duration_ms", took.Milliseconds())))
	} else {
		c.fire(ctx, "PostToolUse", t.name, c.build("PostToolUse", partFull, obj("tool_name", t.name, "tool_input", input, "tool_response", done.response,
			"tool_use_id", t.id, "duration_ms", took.Milliseconds())))
	}
	c.fire(ctx, "PostToolBatch", "", c.build("PostToolBatch", partFull, obj("tool_calls",
		[]rec{obj("tool_name", t.name, "tool_input", t.input, "tool_use_id", t.id, "tool_response", done.content)})))
}

func (c *claude) recordResult(t *claudeTool, callID string, done toolDone, decision rec) {
	c.do(func() {
		c.resultRecord(t, callID, done, decision)
		c.showResult(t, done)
	})
}

func (c *claude) resultRecord(t *claudeTool, callID string, done toolDone, decision rec) {
	block := obj("tool_use_id", t.id, "type", "tool_result", "content", done.content).when(done.failed || t.name == "Bash", "is_error", done.failed)
	u := c.env.uuid4()
	body := obj("promptId", c.promptID, "type", "user", "message", obj("role", "user", "content", []rec{block}), "uuid", u, "timestamp", stamp(c.env.Now()), "toolUseResult", done.response)
	body = append(body, done.extra...).add("sourceToolAssistantUUID", callID).when(decision != nil, "permissionDecision", decision)
	c.file.put(u, true, body)
}
