package agentsim

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// stream shows an answer word by word and records it.
func (c *claude) stream(ctx context.Context, ref, text string, slow time.Duration, _ string) bool {
	words := strings.SplitAfter(text+" ", " ")
	if words[len(words)-1] == "" {
		words = words[:len(words)-1]
	}
	if slow > 0 {
		for range int(slow.Seconds()) {
			words = append(words, "… ")
		}
	}
	at := -1
	full := ""
	per := slow / time.Duration(len(words))
	msg := "msg_" + c.env.hex(24)
	for i, w := range words {
		full += w
		c.do(func() {
			c.work.tokens++
			if at < 0 {
				at = c.show(item{mark: "● ", text: strings.TrimSpace(full)})
			} else {
				c.items[at].text = strings.TrimSpace(full)
			}
		})
		if i < len(words)-1 && !pause(ctx, per) {
			c.interrupted(msg, ref, full)
			return false
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	first := c.answers == 0
	c.answers++
	c.seen = c.tokens
	c.apiMS += int(slow.Milliseconds()) + 10
	c.held = append(c.held, said{"assistant", full})
	if first {
		c.block()
	}
	c.say(msg, ref, 0, "end_turn", obj("type", "text", "text", full), false)
	if first {
		c.attach(true, "", obj("type", "prompt_snapshot", "cliPrefix", "", "contextRendering", "stand-in", "echoWireToolInputs", false, "inlineTools", false,
			"keptReminders", []any{}, "reminderFold", false, "systemPrompt", []any{}, "systemTurns", []any{}, "toolChangeHeader", "", "tools", []any{}))
		c.block()
	}
	return !c.file.closed
}

// interrupted records an answer that Esc cut short.
func (c *claude) interrupted(msg, ref, text string) {
	c.do(func() {
		c.say(msg, ref, 0, "", obj("type", "text", "text", text), true)
		c.held = append(c.held, said{"assistant", text})
		u := c.env.uuid4()
		c.file.put(u, true, obj("promptId", c.promptID, "type", "user", "message", obj("role", "user", "content", []rec{obj("type", "text", "text", "[Request interrupted by user]")}),
			"uuid", u, "timestamp", stamp(c.env.Now()), "rowSource", "harness", "interruptedMessageId", msg))
		c.show(item{mark: "  ⎿ \u00a0", text: "Interrupted · What should Claude do instead?", tight: true})
	})
}

// closeTurn runs the Stop hooks and records the end.
func (c *claude) closeTurn(ctx context.Context, from time.Time) {
	c.mu.Lock()
	last := ""
	for _, h := range c.held {
		if h.role == "assistant" {
			last = strings.TrimSpace(h.text)
		}
	}
	in := c.event("Stop", partFull, obj("stop_hook_active", false, "last_assistant_message", last, "background_tasks", orEmpty(c.bg), "session_crons", []any{}))
	c.mu.Unlock()
	runs := c.fire(ctx, "Stop", "", in)
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.env.Now()
	if len(runs) > 0 {
		var infos []rec
		for _, r := range runs {
			infos = append(infos, obj("command", r.command, "durationMs", r.took.Milliseconds()))
		}
		u := c.env.uuid4()
		c.file.put(u, true, obj("type", "system", "subtype", "stop_hook_summary", "hookCount", len(runs), "hookInfos", infos, "hookErrors", []any{}, "failedHookErrorIndexes", []any{},
			"hookAdditionalContext", []any{}, "preventedContinuation", false, "stopReason", "", "hasOutput", false, "level", "suggestion", "timestamp", stamp(now), "uuid", u, "toolUseID", c.env.uuid4()))
	}
	if c.print {
		return
	}
	u, n := c.env.uuid4(), c.file.count
	c.file.put(u, false, obj("type", "system", "subtype", "turn_duration", "durationMs", now.Sub(from).Milliseconds(), "messageCount", n).
		when(len(c.bg) > 0, "pendingBackgroundAgentCount", len(c.bg)).add("timestamp", stamp(now), "uuid", u, "isMeta", false))
	if len(c.bg) > 0 {
		c.show(item{mark: "✻ ", text: "Waiting for 1 background agent to finish"})
	} else {
		c.show(item{mark: "✻ ", text: fmt.Sprintf("%s for %s · done %s", c.env.pick("Baked", "Brewed", "Churned", "Cogitated", "Cooked", "Crunched", "Sautéed", "Worked"), span(now.Sub(from)), clockTime(now))})
	}
	c.stopTimers()
	after := c.env.ms("AGENTSIM_NOTIFY_MS", 6*time.Second) * 10
	c.idleTimer = c.notify(after, "idle_prompt", "Claude is waiting for your input")
	c.scheduleIdleCompaction()
}

func span(d time.Duration) string {
	s := int(d.Seconds())
	if s >= 60 {
		return fmt.Sprintf("%dm %ds", s/60, s%60)
	}
	return fmt.Sprintf("%ds", s)
}
