package agentsim

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"
)

// runPrint is the mode -p: one turn without a screen. The answer goes to stdout;
// an API error is an exit code of 1.
func (c *claude) runPrint() int {
	prompt := c.o.prompt
	if !c.o.hasPrompt && !term.IsTerminal(int(c.env.Stdin.Fd())) {
		b, err := io.ReadAll(io.LimitReader(c.env.Stdin, 10<<20))
		if err == nil {
			prompt = strings.TrimSpace(string(b))
		}
	}
	if prompt == "" {
		fmt.Fprintln(c.env.Stderr, "Error: Input must be provided either through stdin or as a prompt argument when using --print")
		return 1
	}
	c.file.waiting = append(c.file.waiting,
		line(obj("type", "queue-operation", "operation", "enqueue", "timestamp", stamp(c.env.Now()), "sessionId", c.file.session, "content", prompt)),
		line(obj("type", "queue-operation", "operation", "dequeue", "timestamp", stamp(c.env.Now()), "sessionId", c.file.session)))
	c.startHooks(c.source())
	from := c.env.Now()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	qs := []queued{{text: prompt, typed: prompt, promptID: c.env.uuid4()}}
	ok := c.openTurn(ctx, qs, "sdk")
	if ok {
		s := parseScript(prompt)
		if s.has("die") {
			return s.number("die", 1)
		}
		if n := s.number("err", 0); n != 0 && n != 400 {
			s["err"] = "400"
		}
		c.mode = cmp.Or(map[bool]string{true: "dontAsk"}[c.mode == "manual"], c.mode)
		ok, _ = c.respond(ctx, s, prompt)
	}
	if ok {
		c.closeTurn(ctx, from)
		c.stopTimers()
	}
	c.mu.Lock()
	c.file.write(line(obj("type", "last-prompt", "lastPrompt", prompt, "leafUuid", orNull(c.file.leaf), "sessionId", c.file.session)))
	c.costState()
	c.mu.Unlock()
	c.endHooks("other")
	c.printAnswer(ok)
	if ok {
		return 0
	}
	return 1
}

func (c *claude) printAnswer(ok bool) {
	text := c.lastFault
	for _, h := range c.held {
		if ok && h.role == "assistant" {
			text = h.text
		}
	}
	if c.o.format != "json" {
		fmt.Fprintln(c.env.Stdout, text)
		return
	}
	b, err := json.Marshal(obj("type", "result", "subtype", "success", "is_error", !ok, "num_turns", 1, "result", strings.TrimSpace(text), "stop_reason", "end_turn",
		"session_id", c.file.session, "total_cost_usd", c.cost(), "usage", c.usage(), "permission_denials", []any{}))
	if err == nil {
		fmt.Fprintln(c.env.Stdout, string(b))
	}
}
