package agentsim

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// recent is a record behind the newest prompt or answer: a compaction keeps those.
type recent struct{ uuid, kind string }

// compactIntro begins the summary that a compaction leaves for the model.
const compactIntro = "This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation.\n\nSummary:\n"

// startCompact is the command /compact; the lock is held.
func (c *claude) startCompact(instructions string) {
	ctx, cancel := context.WithCancel(context.Background())
	c.busy, c.cancel = true, cancel
	c.promptID = c.env.uuid4()
	c.work = busyLine{verb: "Compacting conversation", from: c.env.Now(), glyph: "✶"}
	typed := strings.TrimSpace("/compact " + instructions)
	c.show(item{mark: "❯ ", text: typed})
	c.setStatus("busy", "")
	go func() {
		c.compact(ctx, "manual", instructions, nil)
		c.refreshStatus()
		c.do(func() { c.idle(ctx) })
	}()
}

// scheduleIdleCompaction has the client compact by itself after it sat idle for
// AGENTSIM_IDLE_COMPACT_MS, unless idleCompaction is false. The real one waits
// for most of an hour and only does it for subscribers.
func (c *claude) scheduleIdleCompaction() {
	after := c.env.ms("AGENTSIM_IDLE_COMPACT_MS", 0)
	if after == 0 || c.set.noIdleCompact {
		return
	}
	c.compactTimer = time.AfterFunc(after, c.compactIdle)
}

func (c *claude) compactIdle() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c.mu.Lock()
	if c.busy || c.file.closed {
		c.mu.Unlock()
		return
	}
	c.busy, c.cancel, c.work = true, cancel, c.newWork()
	c.setStatus("busy", "")
	c.mu.Unlock()
	c.compact(ctx, "auto", "", nil)
	c.compactNote(`Compacted while idle, before the prompt cache expired · turn off with "idleCompaction": false in settings.json`)
	c.refreshStatus()
	c.do(func() { c.idle(ctx) })
}

// autoCompact compacts before the answer when the context is nearly full.
func (c *claude) autoCompact(ctx context.Context, qs []queued) {
	limit := c.window - 33_000
	if c.window <= 100_000 {
		limit = c.window * 9 / 10
	}
	c.mu.Lock()
	full := c.seen >= limit && !c.set.noCompact && c.env.get("DISABLE_AUTO_COMPACT") == ""
	was := c.work
	c.mu.Unlock()
	if !full {
		return
	}
	c.do(func() { c.work.verb = "Compacting conversation" })
	c.compact(ctx, "auto", "", qs)
	c.do(func() { c.work = was })
}

// compact is a whole compaction with its hooks; qs are the prompts of the turn
// that it interrupts, when it is an automatic one.
func (c *claude) compact(ctx context.Context, trigger, instructions string, qs []queued) {
	from := c.env.Now()
	var custom any
	if instructions != "" {
		custom = instructions
	}
	pre := c.fire(ctx, "PreCompact", trigger, c.build("PreCompact", partBare, obj("trigger", trigger, "custom_instructions", custom)))
	for _, r := range pre {
		if r.block != "" {
			c.compactNote(fmt.Sprintf("Compaction blocked by PreCompact hook: [%s]: %s", r.command, strings.TrimSpace(r.block)))
			return
		}
	}
	if !pause(ctx, c.env.ms("AGENTSIM_COMPACT_MS", 100*time.Millisecond)) {
		c.compactNote("Compaction canceled.")
		return
	}
	c.mu.Lock()
	empty, fail := !conversed(c.held), c.compactFail
	if _, stays := c.env.fails("compact"); !stays {
		c.compactFail = ""
	}
	summary := summarize(c.held, instructions)
	agent := "a" + c.env.hex(16)
	c.mu.Unlock()
	switch {
	case empty:
		c.compactNote("Not enough messages to compact.")
	case fail != "":
		c.fire(ctx, "StopFailure", "", c.compactFailure(agent, fail))
		c.compactNote("Error during compaction: " + fail)
	default:
		c.compacted(ctx, trigger, instructions, summary, agent, pre, qs, from)
	}
}

// conversed tells whether there is anything to compact: what hooks added alone
// is no conversation.
func conversed(held []said) bool {
	for _, h := range held {
		if h.role != "hook" {
			return true
		}
	}
	return false
}

func (c *claude) compactNote(text string) {
	c.do(func() { c.show(item{mark: "  ⎿ \u00a0", text: text, tight: true}) })
}

func (c *claude) compactFailure(agent, text string) rec {
	c.mu.Lock()
	defer c.mu.Unlock()
	return obj("session_id", c.shownID(), "transcript_path", c.file.path, "cwd", c.cwd, "prompt_id", c.promptID, "agent_id", agent,
		"effort", obj("level", c.effort), "hook_event_name", "StopFailure", "error", "unknown", "last_assistant_message", text)
}

// compacted carries a compaction out: hooks first, then the records in one go.
func (c *claude) compacted(ctx context.Context, trigger, instructions, summary, agent string, pre []hookRun, qs []queued, from time.Time) {
	answer := "<analysis>stand-in</analysis>\n<summary>\n" + summary + "\n</summary>"
	c.mu.Lock()
	c.answers++
	stop := c.agentStop(agent, "", filepath.Join(strings.TrimSuffix(c.file.path, ".jsonl"), "subagents", "agent-"+agent+".jsonl"), answer)
	start := c.event("SessionStart", partBare, obj("source", "compact", "model", c.model).when(c.name != "", "session_title", c.name))
	c.mu.Unlock()
	c.fire(ctx, "SubagentStop", "", stop)
	starts := c.fire(ctx, "SessionStart", "compact", start)
	post := c.fire(ctx, "PostCompact", trigger, c.build("PostCompact", partBare, obj("trigger", trigger, "compact_summary", answer)))
	c.do(func() {
		kept := c.keptSegment(trigger)
		c.writeBoundary(trigger, summary, kept, from)
		c.held = append([]said{{"summary", summary}}, c.heldTail(trigger, qs)...)
		if trigger == "manual" {
			c.echoCompact(instructions, pre, post)
		}
		c.reattach()
		c.setting(true)
		c.keepContext(starts, "SessionStart", "compact", "SessionStart", true)
		if trigger == "manual" {
			c.block()
		}
		c.seen = 0
		c.tokens = c.env.num("AGENTSIM_TOKENS", 1200)
		c.showCompacted(trigger, pre, post)
	})
}

// reattach gives the model again what it worked with: files and finished tasks.
func (c *claude) reattach() {
	for _, path := range c.files {
		short := strings.TrimPrefix(path, c.cwd+"/")
		c.attach(true, "user", obj("type", "file", "filename", path, "content", obj("type", "text", "file",
			obj("filePath", path, "content", mockContent, "numLines", 2, "startLine", 1, "totalLines", 2)), "displayPath", short, "savedCopyFraming", obj("enveloped", false)))
	}
	if c.lastTask != nil {
		c.attach(true, "system", c.lastTask)
	}
}

// keptSegment is what a compaction keeps: what came since the newest answer, or
// since the newest prompt when it is automatic.
func (c *claude) keptSegment(trigger string) []recent {
	list := c.file.recent
	for i := len(list) - 1; i >= 0; i-- {
		if trigger == "auto" && list[i].kind == "user" || trigger != "auto" && list[i].kind == "assistant" {
			return list[i:]
		}
	}
	return nil
}

// heldTail is what the model still sees beside the summary.
func (c *claude) heldTail(trigger string, qs []queued) []said {
	if trigger == "auto" {
		return c.held[max(0, len(c.held)-2*len(qs)):]
	}
	for i := len(c.held) - 1; i >= 0; i-- {
		if c.held[i].role == "assistant" {
			return c.held[i:]
		}
	}
	return nil
}

// writeBoundary records the boundary and the summary.
func (c *claude) writeBoundary(trigger, summary string, kept []recent, from time.Time) {
	f, now := c.file, c.env.Now()
	if trigger == "manual" {
		c.snapshot(c.env.uuid4())
	}
	c.block()
	if f.slug == "" {
		f.slug = c.env.pick("calm", "brisk", "amber", "quiet") + "-" + c.env.pick("running", "folding", "waiting", "turning") + "-" + c.env.pick("ledger", "harbor", "lantern", "meadow")
	}
	pre, post := max(c.seen, 0)+outTokens, 2900+len(summary)/4
	c.dropped += max(pre-post, 0)
	anchor, boundary, last := c.env.uuid4(), c.env.uuid4(), f.leaf
	var ids, all []string
	for _, k := range kept {
		all = append(all, k.uuid)
		if k.kind != "prompt_snapshot" {
			ids = append(ids, k.uuid)
		}
	}
	meta := obj("trigger", trigger, "preTokens", pre, "postTokens", post, "cumulativeDroppedTokens", c.dropped, "durationMs", now.Sub(from).Milliseconds())
	if len(ids) > 0 {
		meta = meta.add("preservedSegment", obj("headUuid", ids[0], "anchorUuid", anchor, "tailUuid", all[len(all)-1]),
			"preservedMessages", obj("anchorUuid", anchor, "uuids", ids, "allUuids", all))
	}
	f.leaf = ""
	f.putHead(obj("parentUuid", nil, "logicalParentUuid", last, "isSidechain", false), boundary, false, obj("type", "system", "subtype", "compact_boundary",
		"content", "Conversation compacted", "level", "info", "compactMetadata", meta.add("preCompactOrganizationsCoverStart", false), "uuid", boundary, "timestamp", stamp(now)))
	body := obj("promptId", c.promptID, "type", "user", "message", obj("role", "user", "content", compactIntro+summary), "isVisibleInTranscriptOnly", true,
		"isCompactSummary", true, "uuid", anchor, "timestamp", stamp(now), "turnPosition", obj("promptIndex", c.prompts, "turnIndex", c.turns))
	if trigger == "manual" {
		body = body.add("rowSource", "local")
	} else {
		body = body.add("turnOrigin", "human", "summarizedTurnPromptUuids", ids[:min(1, len(ids))])
	}
	f.put(anchor, true, body)
}

// echoCompact records the command itself and its output.
func (c *claude) echoCompact(instructions string, pre, post []hookRun) {
	local := func(text string, extra rec) {
		u := c.env.uuid4()
		body := obj("promptId", c.promptID, "type", "user", "message", obj("role", "user", "content", text))
		c.file.put(u, true, append(body, extra...).add("uuid", u, "timestamp", stamp(c.env.Now())))
	}
	local("<local-command-caveat>The command below was run by the person in the client and its output went to the person.</local-command-caveat>", obj("isMeta", true, "rowSource", "harness"))
	local("<command-name>/compact</command-name>\n            <command-message>compact</command-message>\n            <command-args>"+instructions+"</command-args>", obj("rowSource", "local"))
	out := "\x1b[2mCompacted (ctrl+o to see full summary)\x1b[22m"
	for _, n := range hookNotes(pre, post) {
		out += "\n\x1b[2m" + n + "\x1b[22m"
	}
	local("<local-command-stdout>"+out+"</local-command-stdout>", obj("rowSource", "local", "repeatsCompactSummary", true))
}

func hookNotes(pre, post []hookRun) []string {
	var out []string
	for _, r := range pre {
		out = append(out, "PreCompact ["+r.command+"] completed successfully")
	}
	for _, r := range post {
		out = append(out, "PostCompact ["+r.command+"] completed successfully")
	}
	return out
}

func (c *claude) showCompacted(trigger string, pre, post []hookRun) {
	if trigger != "manual" {
		return
	}
	c.show(item{mark: "  ⎿ \u00a0", text: strings.Join(append([]string{"Compacted (ctrl+o to see full summary)"}, hookNotes(pre, post)...), "\n"), tight: true})
	for _, path := range c.files {
		c.show(item{mark: "  ⎿ \u00a0", text: "Read " + strings.TrimPrefix(path, c.cwd+"/") + " (1 line)", tight: true})
	}
	if c.tasks > 0 {
		c.show(item{mark: "● ", text: `Task "Mock subagent" completed in background`})
	}
}
