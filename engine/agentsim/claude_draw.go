package agentsim

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// item is one entry of the conversation on the screen.
type item struct {
	mark, text string
	tight      bool     // no empty row above
	raw        []string // drawn as they are, instead of mark and text
	box        bool     // Codex: an empty row above and below
	flush      bool     // Codex: further rows start at the edge
}

// busyLine is what moves above the box during a turn.
type busyLine struct {
	verb, glyph string
	from        time.Time
	tokens      int
	override    func(now time.Time) string
}

func (c *claude) newWork() busyLine {
	return busyLine{verb: c.env.pick("Effecting", "Propagating", "Sketching", "Vibing", "Whirring"), glyph: "✽", from: c.env.Now()}
}

func (b *busyLine) String(now time.Time) string {
	if b.override != nil {
		return b.override(now)
	}
	if s := int(now.Sub(b.from).Seconds()); s >= 1 {
		return fmt.Sprintf("%s %s… (%ds · ↓ %d tokens)", b.glyph, b.verb, s, b.tokens)
	}
	return b.glyph + " " + b.verb + "…"
}

// show adds an entry and gives its index.
func (c *claude) show(it item) int {
	it.text = printable(it.text)
	c.items = append(c.items, it)
	if n := len(c.items); n > 2000 {
		c.items = append(c.items[:0], c.items[n-1000:]...)
	}
	return len(c.items) - 1
}

func (c *claude) banner() {
	bill := "API Usage Billing"
	if c.subscriber() {
		bill = "Claude API"
	}
	c.items = append([]item{{raw: []string{
		" ▐▛███▛█   Claude Code v" + claudeVersion + " · stand-in", "▝▜██████▀  " + modelName(c.model) + " · " + bill,
		" ▝▝   ▝▝   " + shortHome(printable(c.cwd), c.paths.home), "",
	}}}, c.items...)
}

func (c *claude) title() string {
	if c.term.title != "" {
		return ""
	}
	return "✳ Claude Code"
}

func (c *claude) moving() bool { return c.busy && c.dlg == nil }

// rows lays the entries out.
func (c *claude) rows(w int) []string {
	var out []string
	for _, it := range c.items {
		if !it.tight {
			out = append(out, "")
		}
		if it.raw != nil {
			out = append(out, it.raw...)
			continue
		}
		out = append(out, wrap(it.text, it.mark, strings.Repeat(" ", textWidth(it.mark)), w-1)...)
	}
	return out
}

// frame lays the whole screen out.
func (c *claude) frame(w, h int) ([]string, int, int) {
	if c.panel != nil {
		return c.over(c.panel(w), w, h)
	}
	if c.dlg != nil {
		return c.over(c.dlg.rows(w), w, h)
	}
	foot, cy, cx := c.footer(w)
	top := c.rows(w)
	for i, q := range c.queue {
		if !q.system {
			if i == 0 {
				top = append(top, "")
			}
			top = append(top, wrap(printable(q.typed), "❯ ", "  ", w-1)...)
		}
	}
	if len(c.queue) > 0 && !c.queue[0].system {
		top = append(top, "  ⎿  Queued · ctrl+x ctrl+s to send now")
	}
	var mid []string
	if c.busy {
		mid = []string{"", cut(c.work.String(c.env.Now()), w-1)}
	}
	mid = append(mid, c.hintRow(w))
	room := max(0, h-len(foot)-len(mid))
	if len(top) > room {
		top = top[len(top)-room:]
	}
	for len(top) < room {
		top = append(top, "")
	}
	all := append(append(top, mid...), foot...)
	return all, len(top) + len(mid) + cy, cx
}

// over draws a dialog or a panel at the bottom, where the box was.
func (c *claude) over(rows []string, w, h int) ([]string, int, int) {
	top := c.rows(w)
	room := max(0, h-len(rows))
	if len(top) > room {
		top = top[len(top)-room:]
	}
	for len(top) < room {
		top = append(top, "")
	}
	return append(top, rows...), h - 1, 0
}

func (c *claude) hintRow(w int) string {
	switch {
	case c.hint != "":
		return rightAlign(c.hint, w)
	case c.busy:
		return ""
	}
	return rightAlign("◐ "+c.effort+" · /effort", w)
}

// suggestAfter is the number of turns after which the client suggests a prompt, in the
// empty input line: faint, but for the character under the cursor.
const suggestAfter = 2

// footer is the box with what stands under it; cy and cx are the cursor's place in it.
func (c *claude) footer(w int) (rows []string, cy, cx int) {
	upper := rule(w)
	if c.name != "" {
		tag := " " + cut(printable(c.name), max(4, w/2)) + " ─"
		upper = rule(w-textWidth(tag)) + tag
	}
	box, by, bx := c.ed.rows("❯\u00a0", w)
	if c.ed.empty() {
		switch {
		case len(c.queue) > 0 && !c.queue[0].system:
			box = []string{"❯\u00a0Press up to edit queued messages"}
		case c.faulted && !c.busy && strings.Contains(c.lastFault, "529"):
			box = []string{"❯\u00a0Resend your message to try again"}
		case !c.busy && c.turns >= suggestAfter && c.env.get("CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION") == "true":
			box = []string{"❯\u00a0\x1b[7mr\x1b[0;2mun the tests\x1b[0m"}
		}
	}
	rows = append(append([]string{upper}, box...), rule(w))
	if c.limit != "" {
		rows = append(rows, "  ⚠ Usage limit reached · limit resets "+c.limit, "    Continuing automatically at "+c.limit+" · Esc to cancel")
	}
	if c.statusLine != "" {
		rows = append(rows, cut("  "+c.statusLine, w-1))
	}
	return append(rows, cut("  "+c.modeText(), w-2)), 1 + by, bx
}

// modeText is the last row: the permission mode, and whether a turn runs.
func (c *claude) modeText() string {
	if c.leaving {
		return "Press Ctrl-C again to exit"
	}
	text := map[string]string{
		"manual": "⏸ manual mode on", "acceptEdits": "⏵⏵ accept edits on (shift+tab to cycle)", "plan": "⏸ plan mode on (shift+tab to cycle)",
		"auto": "⏵⏵ auto mode on (shift+tab to cycle)", "bypassPermissions": "⏵⏵ bypass permissions on (shift+tab to cycle)", "dontAsk": "⏵⏵ don't ask on (shift+tab to cycle)",
	}[c.mode]
	if c.tasks > 0 {
		text += " · /tasks to see subagents"
	}
	if c.busy {
		text += " · esc to interrupt"
	}
	if c.tasks == 0 {
		text += " · ← for agents"
	}
	return text
}

// showCall, showResult and showRejected draw a tool call.
func (c *claude) showCall(t *claudeTool) {
	switch t.name {
	case "Bash":
		cmd, _ := t.input[0].val.(string)
		t.shown = c.show(item{mark: "  ", text: "Mock command\n⎿  $ " + cmd})
	case "Write":
		path, _ := t.input[0].val.(string)
		t.shown = c.show(item{mark: "● ", text: "Write(" + strings.TrimPrefix(path, c.cwd+"/") + ")"})
	case "Agent":
		t.shown = c.show(item{mark: "● ", text: "Agent(Mock subagent)"})
	}
}

func (c *claude) showResult(t *claudeTool, done toolDone) {
	switch t.name {
	case "Bash":
		text := "Ran 1 shell command"
		if done.failed {
			text += " · 1 failed"
		}
		if t.shown < len(c.items) {
			c.items[t.shown] = item{mark: "  ", text: text}
		}
	case "Write":
		path, _ := t.input[0].val.(string)
		c.show(item{mark: "  ⎿ \u00a0", text: "Wrote 1 line to " + strings.TrimPrefix(path, c.cwd+"/") + "\n  1 mock content", tight: true})
	case "Agent":
		c.show(item{mark: "  ⎿ \u00a0", text: "Backgrounded agent (↓ to manage · ctrl+o to expand)", tight: true})
	case "AskUserQuestion":
		label := "Red"
		if t.choice == 1 {
			label = "Blue"
		}
		c.show(item{mark: "● ", text: "Answered Claude's questions:\n⎿ \u00a0· Which colour? → " + label})
	}
}

func (c *claude) showRejected(t *claudeTool) {
	if t.name == "AskUserQuestion" {
		c.show(item{mark: "● ", text: "Declined to answer Claude's questions:\n⎿ \u00a0· Which colour? (Red / Blue)"})
		return
	}
	cmd, _ := t.input[0].val.(string)
	if t.name == "Bash" && t.shown < len(c.items) {
		c.items[t.shown] = item{mark: "  ", text: "Did not run 1 call"}
		c.show(item{mark: "  ⎿ \u00a0", text: "$ " + cmd, tight: true})
	}
	c.show(item{mark: "  ⎿ \u00a0", text: "Interrupted · What should Claude do instead?", tight: true})
}

// showBranch draws a conversation that was taken over.
func (c *claude) showBranch(branch []claudeRow) {
	for _, r := range branch {
		if r.Meta || r.Summary {
			continue
		}
		if at, err := time.Parse(time.RFC3339, r.Stamp); err == nil && r.Subtype == "turn_duration" {
			c.show(item{mark: "✻ ", text: fmt.Sprintf("Worked for %s · done %s", span(time.Duration(r.Took)*time.Millisecond), clockTime(at.In(c.env.Now().Location())))})
		}
		for _, t := range texts(r.Message.Content) {
			switch {
			case r.Type == "user" && strings.HasPrefix(t, "[Request interrupted"):
				c.show(item{mark: "  ⎿ \u00a0", text: "Interrupted · What should Claude do instead?", tight: true})
			case r.Type == "user" && strings.HasPrefix(t, "<"):
				continue
			case r.Type == "user":
				c.show(item{mark: "❯ ", text: strings.TrimSpace(unwrapPaste(t))})
			case r.Type == "assistant" && t != "No response requested.":
				c.show(item{mark: "● ", text: strings.TrimSpace(t)})
			}
		}
		c.showUse(r.Message.Content)
	}
}

func (c *claude) showUse(raw json.RawMessage) {
	var blocks []struct {
		Type, Name string
	}
	if json.Unmarshal(raw, &blocks) != nil {
		return
	}
	for _, b := range blocks {
		if b.Type == "tool_use" && b.Name == "Bash" {
			c.show(item{mark: "  ", text: "Ran 1 shell command"})
		}
	}
}

// unwrapPaste takes the tags off that a paste travels in.
func unwrapPaste(t string) string {
	var keep []string
	for _, l := range strings.Split(t, "\n") {
		if !strings.HasPrefix(l, "<pasted_content") && !strings.HasPrefix(l, "</pasted_content") {
			keep = append(keep, l)
		}
	}
	return strings.Join(keep, "\n")
}
