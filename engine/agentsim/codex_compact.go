package agentsim

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// codexHandoff begins the summary that a compaction leaves for the model.
const codexHandoff = "Another language model started to solve this problem and produced a summary of its thinking process.\n"

// nearlyFull tells whether the next prompt has to compact first: the client does
// at a little under 95 % of the window.
func (c *codex) nearlyFull() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last.Total >= c.window*947/1000
}

// startCompact is the command /compact: a turn of its own.
func (c *codex) startCompact() {
	ctx, cancel := context.WithCancel(context.Background())
	c.busy, c.cancel, c.phase = true, cancel, phaseWaiting
	c.turnID, c.turnFrom, c.waitFrom = c.env.uuid7(), c.env.Now(), c.env.Now()
	c.turnUse = codexUsage{}
	go func() {
		c.do(func() {
			c.openRollout()
			c.taskStarted()
		})
		if c.compactInTurn(ctx, "manual") {
			c.do(func() {
				c.taskComplete(nil, nil, 0)
				c.show(item{mark: "  ", text: fmt.Sprintf("Worked for %s • %s", codexSpan(c.env.Now().Sub(c.turnFrom)), c.env.Now().Format("15:04"))})
			})
		}
		c.do(func() { c.idle() })
	}()
}

// compactInTurn compacts inside the running turn; false when it failed.
func (c *codex) compactInTurn(ctx context.Context, trigger string) bool {
	from := c.env.Now()
	for _, r := range c.hookRun(ctx, "PreCompact", trigger, c.eventIn("PreCompact", false, obj("trigger", trigger))) {
		if r.block != "" {
			return c.compactOver("Compaction blocked by PreCompact hook: " + strings.TrimSpace(r.block))
		}
	}
	if !pause(ctx, c.env.ms("AGENTSIM_COMPACT_MS", 20*time.Millisecond)) {
		c.aborted()
		return false
	}
	c.mu.Lock()
	fail := c.compactFail
	if _, stays := c.env.fails("compact"); !stays {
		c.compactFail = ""
	}
	c.mu.Unlock()
	if fail != "" {
		return c.compactOver(fail)
	}
	c.do(func() { c.writeCompacted() })
	c.hookRun(ctx, "PostCompact", trigger, c.eventIn("PostCompact", false, obj("trigger", trigger)))
	c.do(func() {
		c.itemDone(obj("type", "ContextCompaction", "id", c.env.uuid7()), from)
		c.source = "compact"
		c.show(item{mark: "• ", text: "Context compacted · 0s"})
	})
	return true
}

// compactOver records a failure; the turn is over.
func (c *codex) compactOver(text string) bool {
	c.do(func() {
		c.taskComplete(nil, obj("message", text, "codex_error_info", "other"), 0)
		c.show(item{mark: "■ ", text: text, flush: true})
	})
	return false
}

// writeCompacted writes the summary and what stands in for the history.
func (c *codex) writeCompacted() {
	c.tokenCount(false)
	summary := codexHandoff + summarize(c.held, "")
	c.assistantItem("msg_"+c.env.hex(20), strings.TrimPrefix(summary, codexHandoff), false)
	c.tokens = c.env.num("AGENTSIM_TOKENS", 1200)
	c.sample()
	c.tokenCount(false)
	var users []said
	var history, kept []rec
	for _, h := range c.held {
		if h.role == "user" {
			users = append(users, h)
			history = append(history, c.historyItem(h.text, "user.text", obj("type", "user")))
			kept = append(kept, obj("revision", "retained_"+c.env.uuid7(), "order", len(kept), "turn_id", c.turnID, "message_id", "msg_"+c.env.uuid7(), "text", h.text, "complete", true))
		}
	}
	c.held = append(users, said{"summary", summary})
	c.prompts = append(c.prompts, summary)
	history = append(history, c.historyItem(summary, "compaction.summary", harness(false)))
	before := c.ro.window
	c.ro.window = c.env.uuid7()
	c.windowNo++
	c.ro.put(c.env.Now(), "compacted", obj("message", summary, "replacement_history", history, "replacement_history_metadata", []any{},
		"retained_context", obj("verified_answers", []any{}, "incomplete", false, "user_messages", orEmpty(kept), "user_messages_incomplete", false, "assistant_messages", []any{},
			"assistant_messages_incomplete", true, "next_order", c.ro.order), "window_number", c.windowNo, "first_window_id", before,
		"previous_window_id", before, "window_id", c.ro.window, "compaction_response_id", c.response, "latest_token_usage_record", c.usageRecord(),
		"resume_metadata", obj("dynamic_tools", obj("thread_id", c.ro.id, "tools", []any{}), "multi_agent_version", "v1", "last_started_turn_id", c.turnID)), nil)
	c.worldState(true)
	c.turnContext()
	c.settingsApplied()
	c.last = codexUsage{Total: 8281}
	c.tokenCount(true)
}

func (c *codex) historyItem(text, kind string, source rec) rec {
	return obj("type", "message", "id", "msg_"+c.env.uuid7(), "role", "user", "content", []rec{obj("type", "input_text", "text", text)},
		"internal_chat_message_metadata_passthrough", obj("turn_id", c.turnID, "content_item_kinds", []string{kind}, "content_item_metadata", []rec{obj("provenance", source)}))
}
