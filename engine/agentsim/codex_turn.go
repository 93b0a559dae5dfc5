package agentsim

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// submit takes a prompt: at once, or to be joined to the running turn.
func (c *codex) submit(text string) {
	if c.busy {
		c.queue = append(c.queue, text)
		return
	}
	c.startTurn([]string{text})
}

// startTurn begins a turn; the lock is held.
func (c *codex) startTurn(prompts []string) {
	ctx, cancel := context.WithCancel(context.Background())
	c.busy, c.cancel, c.phase = true, cancel, phaseWaiting
	c.turnID, c.turnFrom, c.waitFrom = c.env.uuid7(), c.env.Now(), c.env.Now()
	c.turnUse = codexUsage{}
	for _, p := range prompts {
		c.show(item{mark: "› ", text: p, box: true})
	}
	go func() {
		c.turn(ctx, prompts)
		c.do(func() { c.idle() })
	}()
}

// turn is one exchange with the model.
func (c *codex) turn(ctx context.Context, prompts []string) {
	first := c.beginTurn()
	if c.nearlyFull() {
		c.compactInTurn(ctx, "auto")
	}
	c.startHook(ctx)
	for _, p := range prompts {
		c.takePrompt(ctx, p)
	}
	prompt := prompts[len(prompts)-1]
	last, ok := c.exchange(ctx, prompt)
	if !ok {
		return
	}
	if first {
		c.giveTitle(prompt)
	}
	c.hookRun(ctx, "Stop", "", c.eventIn("Stop", true, obj("stop_hook_active", false, "last_assistant_message", last)))
	c.do(func() {
		c.taskComplete(last, nil, 50*time.Millisecond)
		c.show(item{mark: "  ", text: fmt.Sprintf("Worked for %s • %s", codexSpan(c.env.Now().Sub(c.turnFrom)), c.env.Now().Format("15:04"))})
		c.cancel = nil // what has ended is not interrupted, though the client is not at rest yet
	})
	c.notify(c.ro.id, c.turnID, c.prompts, last)
}

// exchange answers a prompt, and what was queued meanwhile; false when the turn
// is over already.
func (c *codex) exchange(ctx context.Context, prompt string) (last string, ok bool) {
	for {
		s := parseScript(prompt)
		c.do(func() { c.phase, c.waitFrom = phaseWaiting, c.env.Now() })
		if c.effects(s) {
			<-ctx.Done()
			return "", false
		}
		if !pause(ctx, s.seconds("wait")) {
			c.aborted()
			return "", false
		}
		if next, queued := c.takeQueued(ctx); queued {
			prompt = next
			continue
		}
		if last, ok = c.respond(ctx, s, prompt); !ok {
			return "", false
		}
		next, queued := c.takeQueued(ctx)
		if !queued {
			return last, true
		}
		prompt = next
	}
}

// beginTurn writes the head of a turn; it tells whether it is the first one.
func (c *codex) beginTurn() (first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fresh := !c.ro.opened
	c.openRollout()
	if !fresh {
		c.settingsApplied()
	}
	c.taskStarted()
	switch {
	case fresh:
		c.message("developer", "STAND-IN", []string{"host_skills.instructions", "permissions.instructions", "collaboration_mode.instructions"}, harness(false))
		c.message("user", "<environment_context>\n  <cwd>"+c.cwd+"</cwd>\n  <shell>bash</shell>\n</environment_context>", []string{"environments.environment_context"}, harness(false))
		c.worldState(true)
		c.turnContext()
		c.settingsApplied()
	case c.source == "fork":
		c.message("developer", "STAND-IN", []string{"permissions.instructions"}, harness(false))
		c.worldState(false)
		c.turnContext()
	default:
		c.turnContext()
	}
	return !c.named
}

// startHook runs the SessionStart that waited for a prompt.
func (c *codex) startHook(ctx context.Context) {
	c.mu.Lock()
	source := c.source
	c.source = ""
	in := obj("session_id", c.ro.id, "transcript_path", c.ro.path, "cwd", c.cwd, "hook_event_name", "SessionStart", "model", c.model, "permission_mode", "default", "source", source)
	c.mu.Unlock()
	if source == "" {
		return
	}
	for _, r := range c.hookRun(ctx, "SessionStart", source, in) {
		if t := r.plainContext(); t != "" {
			c.do(func() { c.hookMessage(t) })
		}
	}
}

// takePrompt records a prompt with its hook.
func (c *codex) takePrompt(ctx context.Context, text string) {
	runs := c.hookRun(ctx, "UserPromptSubmit", "", c.eventIn("UserPromptSubmit", true, obj("prompt", text)))
	c.do(func() {
		from := c.env.Now()
		c.message("user", text, []string{"user.text"}, obj("type", "user"))
		c.held = append(c.held, said{"user", text})
		c.prompts = append(c.prompts, text)
		c.itemDone(obj("type", "UserMessage", "id", c.env.uuid7(), "client_id", c.env.uuid4(), "content", []rec{obj("type", "text", "text", text, "text_elements", []any{})}), from)
		c.history(text)
		for _, t := range contexts(runs) {
			c.hookMessage(t)
		}
	})
}

// takeQueued joins what was queued to the running turn.
func (c *codex) takeQueued(ctx context.Context) (last string, ok bool) {
	c.mu.Lock()
	qs := c.queue
	c.queue = nil
	for _, q := range qs {
		c.show(item{mark: "› ", text: q, box: true})
	}
	c.mu.Unlock()
	for _, q := range qs {
		c.takePrompt(ctx, q)
		last = q
	}
	return last, len(qs) > 0
}

// effects acts out what a script wants of the process itself; it reports true
// when the client does not answer any more.
func (c *codex) effects(s script) bool {
	if n := s.number("tokens", -1); n >= 0 {
		c.do(func() { c.tokens = n })
	}
	if s.has("title") {
		c.do(func() { c.paneTitle = s["title"] })
	}
	if cmd := s["child"]; cmd != "" {
		_, _ = c.env.Spawn(Child{Argv: []string{"/bin/sh", "-c", cmd}, Dir: c.cwd, Env: c.env.Vars})
	}
	if s.has("compactfail") {
		c.do(func() { c.compactFail = cmp.Or(s["compactfail"], "mock compaction failure") })
	}
	switch {
	case s.has("die"):
		c.end(outcome{code: s.number("die", 1), crash: true})
		return true
	case s.has("hang"):
		c.do(func() { c.deaf = true })
		return true
	}
	return false
}

// respond acts out the script of a prompt.
func (c *codex) respond(ctx context.Context, s script, prompt string) (last string, ok bool) {
	if s.has("err") || s.has("limit") {
		c.fault(ctx, s)
		return "", false
	}
	if t := c.tool(s); t != nil {
		if !c.runTool(ctx, t) {
			return "", false
		}
		return c.stream(ctx, "Done after the tool.", 0)
	}
	text := s["say"]
	if !s.has("say") {
		c.mu.Lock()
		text = answer(withoutLast(c.held, prompt), prompt, c.answers+1)
		c.mu.Unlock()
	}
	return c.stream(ctx, text, s.seconds("slow"))
}

// stream shows an answer word by word and records it.
func (c *codex) stream(ctx context.Context, text string, slow time.Duration) (string, bool) {
	words := strings.SplitAfter(text, " ")
	for range int(slow.Seconds()) {
		words = append(words, " …")
	}
	per := slow / time.Duration(len(words))
	from, at, full := c.env.Now(), -1, ""
	for _, w := range words {
		full += w
		c.do(func() {
			c.phase = phaseStreaming
			if at < 0 {
				at = c.show(item{mark: "• ", text: full})
			} else {
				c.items[at].text = full
			}
		})
		if slow > 0 && !pause(ctx, per) {
			c.do(func() { c.tokenCount(false) })
			c.aborted()
			return "", false
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers++
	id := "msg_" + c.env.hex(20)
	c.held = append(c.held, said{"assistant", full})
	c.itemDone(obj("type", "AgentMessage", "id", id, "content", []rec{obj("type", "Text", "text", full)}), from)
	c.assistantItem(id, full, true)
	c.sample()
	c.tokenCount(false)
	return full, !c.ro.closed
}

// assistantItem writes an answer as a response_item.
func (c *codex) assistantItem(id, text string, retained bool) {
	c.ro.sampled = c.ro.seq
	c.ro.put(c.env.Now(), "response_item", obj("type", "message", "status", "completed", "id", id, "role", "assistant",
		"content", []rec{obj("type", "output_text", "text", text, "annotations", []any{})},
		"internal_chat_message_metadata_passthrough", obj("turn_id", c.turnID, "content_item_kinds", []string{"unknown"})), c.itemMeta(retained, id, "assistant", false))
}

// aborted records that Esc ended the turn.
func (c *codex) aborted() {
	c.do(func() {
		c.message("user", "<turn_aborted>\nThe user interrupted the previous turn on purpose. Any running unified exec processes may still be running in the background. If any tools/commands were aborted, they may have partially executed.\n</turn_aborted>",
			[]string{"generic.turn_aborted"}, harness(false))
		now := c.env.Now()
		c.emit("turn_aborted", obj("root_turn_id", c.turnID, "turn_id", c.turnID, "reason", "interrupted", "started_at", c.turnFrom.Unix(), "completed_at", now.Unix(), "duration_ms", now.Sub(c.turnFrom).Milliseconds()))
		c.show(item{mark: "■ ", text: interruptedText})
	})
}

const interruptedText = "Conversation interrupted - use /feedback if something went wrong"

// fault acts out an API error or the usage limit: no Stop, no notify.
func (c *codex) fault(ctx context.Context, s script) {
	info, text := "other", `{"error": {"message": "mock error", "type": "server_error", "code": null}}`
	switch status := s.number("err", 0); {
	case s.has("limit"):
		info = "usage_limit_exceeded"
		text = "You’ve hit your usage limit. Visit https://chatgpt.com/settings/usage to purchase more credits or try again at " + c.env.Now().Add(time.Hour).Format("3:04 PM") + "."
		c.do(func() { c.tokenCount(false) })
	case status >= 500 || status == 429:
		for n := 1; n <= 5; n++ {
			c.do(func() { c.retryText = fmt.Sprintf("Reconnecting... %d/5", n) })
			if !pause(ctx, time.Duration(n)*c.env.ms("AGENTSIM_RETRY_MS", time.Second)) {
				c.do(func() { c.retryText = "" })
				c.aborted()
				return
			}
		}
		text = fmt.Sprintf("exceeded retry limit, last status: %d", status)
	}
	c.do(func() {
		c.retryText = ""
		c.taskComplete(nil, obj("message", text, "codex_error_info", info), 0)
		c.show(item{mark: "■ ", text: text, flush: true})
	})
}

// idle ends the turn; what was queued when Esc came starts the next.
func (c *codex) idle() {
	c.busy, c.cancel, c.dlg, c.retryText = false, nil, nil, ""
	if c.ro.closed || len(c.queue) == 0 {
		return
	}
	qs := c.queue
	c.queue = nil
	if isCommand(qs[0]) && c.command(qs[0]) {
		c.queue = qs[1:]
		if !c.busy && len(c.queue) > 0 {
			c.idle()
		}
		return
	}
	c.startTurn(qs)
}

func codexSpan(d time.Duration) string {
	if d < time.Second {
		return "<1s"
	}
	return span(d)
}

// eventIn makes the stdin of a hook.
func (c *codex) eventIn(name string, mode bool, rest rec) rec {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := obj("session_id", c.ro.id, "turn_id", c.turnID, "transcript_path", c.ro.path, "cwd", c.cwd, "hook_event_name", name, "model", c.model).
		when(mode, "permission_mode", "default")
	return append(r, rest...)
}

// hookRun runs the hooks of an event.
func (c *codex) hookRun(ctx context.Context, event, subject string, in rec) []hookRun {
	cmds := c.hooks.find(event, subject)
	if len(cmds) == 0 {
		return nil
	}
	return runHooks(ctx, c.env, cmds, line(in), c.cwd, c.env.Vars)
}

// sessionEnd tells the hooks that a session is over.
func (c *codex) sessionEnd(r *rollout) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	c.hookRun(ctx, "SessionEnd", "other", obj("session_id", r.id, "transcript_path", r.path, "cwd", c.cwd, "hook_event_name", "SessionEnd", "reason", "other"))
}

// notify calls the configured program with the news of a finished turn.
func (c *codex) notify(thread, turn string, inputs []string, last string) {
	argv := c.cfg.lists["notify"]
	if len(argv) == 0 {
		return
	}
	c.mu.Lock()
	arg, err := plainJSON(obj("type", "agent-turn-complete", "thread-id", thread, "turn-id", turn, "cwd", c.cwd, "client", "codex-tui", "input-messages", inputs, "last-assistant-message", last))
	c.mu.Unlock()
	if err != nil {
		return
	}
	_, _ = c.env.Spawn(Child{Argv: append(append([]string{}, argv...), string(arg)), Dir: c.cwd, Env: c.env.Vars})
}

// giveTitle names a new thread, by a hidden thread that notify tells of too.
func (c *codex) giveTitle(prompt string) {
	c.do(func() {
		c.named, c.name = true, "Mock title"
		c.index()
	})
	c.notify(c.env.uuid7(), c.env.uuid7(), []string{"Generate a concise title for: " + clipText(prompt, 200)}, `{"title": "Mock title"}`)
}

// index adds the thread to the list of names.
func (c *codex) index() {
	appendLine(filepath.Join(c.home, "session_index.jsonl"), obj("id", c.ro.id, "thread_name", c.name, "updated_at", c.env.Now().UTC().Format("2006-01-02T15:04:05.000000000Z")))
}

func (c *codex) history(text string) {
	appendLine(filepath.Join(c.home, "history.jsonl"), obj("session_id", c.ro.id, "ts", c.env.Now().Unix(), "text", text))
}
