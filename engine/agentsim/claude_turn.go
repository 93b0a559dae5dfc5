package agentsim

import (
	"cmp"
	"context"
	"strings"
)

// submit takes a prompt: at once, or into the queue while a turn runs. Call it
// with the lock held. Typed is the text as the person sees it.
func (c *claude) submit(text, typed string) {
	c.stopTimers()
	c.hint = ""
	if c.busy {
		q := queued{text: text, typed: typed, promptID: c.env.uuid4(), sent: c.env.Now().UnixMilli()}
		c.queue = append(c.queue, q)
		c.file.write(line(obj("type", "queue-operation", "operation", "enqueue", "timestamp", stamp(c.env.Now()), "sessionId", c.file.session, "content", text)))
		go c.queueHooks(q)
		return
	}
	c.launch([]queued{{text: text, typed: typed, promptID: c.env.uuid4()}}, "typed")
}

// queueHooks runs UserPromptSubmit for a queued prompt when it is queued, which
// is when the real client does.
func (c *claude) queueHooks(q queued) {
	in := c.build("UserPromptSubmit", partMode, obj("prompt", q.text).when(c.name != "", "session_title", c.name))
	all := contexts(c.fire(context.Background(), "UserPromptSubmit", "", in))
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.queue {
		if c.queue[i].promptID == q.promptID {
			c.queue[i].context = all
		}
	}
}

func contexts(runs []hookRun) []string {
	var all []string
	for _, r := range runs {
		if t := r.plainContext(); t != "" {
			all = append(all, t)
		}
	}
	return all
}

// launch starts a turn for one or more prompts; the lock is held.
func (c *claude) launch(qs []queued, source string) {
	ctx, cancel := context.WithCancel(context.Background())
	c.busy, c.cancel, c.limit, c.faulted = true, cancel, "", false
	c.work = c.newWork()
	for _, q := range qs {
		if source != "system" {
			c.show(item{mark: "❯ ", text: q.typed})
		}
	}
	if source == "queued" {
		c.setStatus("busy", "")
	}
	go c.turn(ctx, qs, source)
}

// turn is one exchange with the model.
func (c *claude) turn(ctx context.Context, qs []queued, source string) {
	from := c.env.Now()
	c.mu.Lock()
	mark := c.mark()
	c.mu.Unlock()
	if !c.openTurn(ctx, qs, source) {
		c.mu.Lock()
		c.idle(ctx)
		c.mu.Unlock()
		return
	}
	var words []string
	for _, q := range qs {
		words = append(words, q.text)
	}
	prompt := strings.Join(words, "\n")
	c.autoCompact(ctx, qs)
	s := parseScript(prompt)
	if source == "system" {
		s = script{}
	}
	ok, rewind := c.respond(ctx, s, prompt)
	switch {
	case rewind:
		c.rewind(mark, qs)
	case ok:
		c.closeTurn(ctx, from)
	}
	c.refreshStatus()
	c.mu.Lock()
	c.idle(ctx)
	c.mu.Unlock()
	c.redraw()
}

// openTurn records the prompts; a hook may refuse one.
func (c *claude) openTurn(ctx context.Context, qs []queued, source string) bool {
	for i := range qs {
		q := &qs[i]
		c.mu.Lock()
		c.promptID = q.promptID
		in := c.event("UserPromptSubmit", partMode, obj("prompt", q.text).when(c.name != "", "session_title", c.name))
		c.mu.Unlock()
		if source != "queued" {
			runs := c.fire(ctx, "UserPromptSubmit", "", in)
			for _, r := range runs {
				if r.block != "" {
					c.do(func() {
						c.show(item{text: "UserPromptSubmit operation blocked by hook: " + strings.TrimSpace(r.block), mark: "  ⎿ \u00a0"})
					})
					return false
				}
			}
			q.context = contexts(runs)
		}
		c.mu.Lock()
		if i == 0 && source != "queued" { // after its hooks (observed)
			c.setStatus("busy", "")
		}
		c.recordPrompt(q, source, i == 0)
		c.mu.Unlock()
	}
	return true
}

// recordPrompt writes a prompt and what goes with it.
func (c *claude) recordPrompt(q *queued, source string, first bool) {
	fresh := !c.placed
	if first {
		c.turns++
		if source != "system" {
			c.prompts++
		}
	}
	if !c.file.created && c.parent == "" && !fileExists(c.file.path) {
		head := [][]byte{}
		if c.file.leaf != "" {
			head = append(head, line(obj("type", "last-prompt", "leafUuid", c.file.leaf, "sessionId", c.file.session)))
		}
		c.file.waiting = append(append(head, c.standing()...), c.file.waiting...)
	}
	c.file.create()
	if c.rewound {
		c.file.write(line(obj("type", "last-prompt", "leafUuid", "00000000-0000-0000-0000-000000000000", "explicit", true, "sessionId", c.file.session)))
		c.rewound = false
	}
	u, now := c.env.uuid4(), stamp(c.env.Now())
	if source != "system" {
		c.lastPrompt = q.text
		c.history(q.typed)
		c.snapshot(u)
	}
	body := obj("promptId", q.promptID, "type", "user", "message", obj("role", "user", "content", q.text), "uuid", u, "timestamp", now, "permissionMode", c.wireMode())
	pos := obj("promptIndex", c.prompts, "turnIndex", c.turns)
	if source == "system" {
		body = body.add("origin", obj("kind", "task-notification", "producer", "session-task", "runId", "run-1"), "promptSource", "system", "sentAtMs", q.sent,
			"rowSource", "recorded", "turnOrigin", "task_notification", "turnPosition", pos, "queueSkipAttachments", true)
	} else {
		body = body.add("origin", obj("kind", "human"), "promptSource", source).when(source == "queued", "sentAtMs", q.sent).add("turnOrigin", "human", "turnPosition", pos)
	}
	c.file.put(u, false, body)
	c.held = append(c.held, said{"user", q.text})
	if fresh {
		c.placed = true
		c.setting(false)
	}
	if len(q.context) > 0 {
		c.hookContext(q.context, "UserPromptSubmit", "hook-"+c.env.uuid4(), false)
	}
	if fresh {
		c.moment()
	}
}

func (c *claude) snapshot(messageID string) {
	c.snapshotID = messageID
	c.file.write(line(obj("type", "file-history-snapshot", "messageId", messageID, "snapshot",
		obj("messageId", messageID, "trackedFileBackups", rec{}, "timestamp", stamp(c.env.Now())), "isSnapshotUpdate", false)))
}

// respond acts out the script. ok is false when the turn did not come to a good
// end; rewind asks to forget the prompt, as after Esc before anything came.
func (c *claude) respond(ctx context.Context, s script, prompt string) (ok, rewind bool) {
	if c.effects(s) {
		<-ctx.Done()
		return false, false
	}
	c.mu.Lock()
	if n := s.number("tokens", -1); n >= 0 {
		c.tokens = n
	}
	ref := c.request("repl_main_thread")
	c.mu.Unlock()
	if !pause(ctx, s.seconds("wait")) {
		return false, true
	}
	if s.has("err") || s.has("limit") {
		return false, c.apiFault(ctx, s)
	}
	if t, has := c.tool(s); has {
		if !c.runTool(ctx, ref, t) {
			return false, false
		}
		c.mu.Lock()
		ref = c.request("repl_main_thread")
		c.mu.Unlock()
		return c.stream(ctx, ref, "Done after the tool.", 0, prompt), false
	}
	text := s["say"]
	if !s.has("say") {
		c.mu.Lock()
		text = answer(withoutLast(c.held, prompt), prompt, c.answers+1)
		c.mu.Unlock()
	}
	return c.stream(ctx, ref, text, s.seconds("slow"), prompt), false
}

// withoutLast leaves the newest prompt out of what is held.
func withoutLast(held []said, prompt string) []said {
	out := make([]said, 0, len(held))
	for i, h := range held {
		if h.role == "user" && i >= len(held)-4 && strings.Contains(prompt, h.text) {
			continue
		}
		out = append(out, h)
	}
	return out
}

// effects acts out what a script wants of the process itself; it reports true
// when the client does not answer any more.
func (c *claude) effects(s script) bool {
	if s.has("title") {
		c.do(func() { c.term.setTitle(s["title"]) })
	}
	if cmd := s["child"]; cmd != "" {
		c.mu.Lock()
		vars := c.hookVars()
		c.mu.Unlock()
		_, _ = c.env.Spawn(Child{Argv: []string{"/bin/sh", "-c", cmd}, Dir: c.cwd, Env: vars})
	}
	if s.has("compactfail") {
		c.do(func() { c.compactFail = cmp.Or(s["compactfail"], "API Error: 400 mock compaction failure") })
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

// idle ends the turn and starts the next one when prompts wait. The lock is held.
func (c *claude) idle(ctx context.Context) {
	c.busy, c.cancel, c.dlg = false, nil, nil
	if c.file.closed {
		return
	}
	c.setStatus("idle", "")
	if ctx.Err() != nil { // what waited goes back into the box
		for _, q := range c.queue {
			if !q.system {
				if !c.ed.empty() {
					c.ed.insert("\n")
				}
				c.ed.insert(q.typed)
			}
		}
		c.queue = nil
		return
	}
	c.next()
}

// next takes what waits in the queue: a command alone, prompts together.
func (c *claude) next() {
	for len(c.queue) > 0 && !c.busy {
		n := 0
		for n < len(c.queue) && !strings.HasPrefix(c.queue[n].typed, "/") && c.queue[n].system == c.queue[0].system {
			n++
		}
		qs := c.queue[:max(n, 1)]
		c.queue = c.queue[len(qs):]
		for range qs {
			c.file.write(line(obj("type", "queue-operation", "operation", "dequeue", "timestamp", stamp(c.env.Now()), "sessionId", c.file.session)))
		}
		switch {
		case n == 0:
			c.command(qs[0].typed)
		case qs[0].system:
			c.launch(qs, "system")
		default:
			c.launch(qs, "queued")
		}
	}
}

// bookmark is a place in the conversation to go back to.
type bookmark struct {
	leaf               string
	count, held, items int
	prompts, turns     int
}

// mark is taken after launch has shown the prompts.
func (c *claude) mark() bookmark {
	return bookmark{leaf: c.file.leaf, count: c.file.count, held: len(c.held), items: len(c.items), prompts: c.prompts, turns: c.turns}
}

// rewind forgets a prompt that got nothing, and puts it back into the box.
func (c *claude) rewind(m bookmark, qs []queued) {
	c.do(func() {
		c.file.leaf, c.file.count = m.leaf, m.count
		c.held = c.held[:min(len(c.held), m.held)]
		c.items = c.items[:max(0, min(len(c.items), m.items-len(qs)))]
		c.prompts, c.turns, c.rewound = m.prompts, m.turns, true
		var typed []string
		for _, q := range qs {
			typed = append(typed, q.typed)
		}
		if c.ed.empty() {
			c.ed.set(strings.Join(typed, "\n"))
		}
	})
}
