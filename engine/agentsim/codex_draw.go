package agentsim

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

func (c *codex) show(it item) int {
	it.text = printable(it.text)
	c.items = append(c.items, it)
	return len(c.items) - 1
}

func (c *codex) banner() {
	c.items = append(c.items, item{raw: []string{
		"  >_ OpenAI Codex (v" + codexVersion + ") · stand-in", "     " + shortHome(printable(c.cwd), c.env.get("HOME")), "",
		"  To get started, describe a task or try one of these commands:", "",
		"  /init - create an AGENTS.md file with instructions for Codex", "  /status - show current session configuration",
		"  /permissions - choose what Codex is allowed to do", "  /model - choose what model and reasoning effort to use", "  /review - review any changes and find issues",
	}})
}

// title is a spinner while the client works; that is the only sign of a turn
// whose text is streaming.
func (c *codex) title() string {
	base := printable(shortName(c.cwd))
	if c.name != "" {
		base = c.name + " | " + base
	}
	if c.paneTitle != "" {
		base = c.paneTitle
	}
	switch {
	case c.dlg != nil && c.busy:
		return "[ ! ] Action Required | " + base
	case c.busy:
		frames := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
		return string(frames[int(c.env.Now().UnixMilli()/200)%len(frames)]) + " " + base
	}
	return base
}

func shortName(dir string) string {
	if i := strings.LastIndexByte(dir, '/'); i >= 0 && i < len(dir)-1 {
		return dir[i+1:]
	}
	return dir
}

func (c *codex) moving() bool { return c.busy && c.dlg == nil }

// rows lays the conversation out.
func (c *codex) rows(w int) []string {
	var out []string
	for _, it := range c.items {
		out = append(out, "")
		if it.raw != nil {
			out = append(out, it.raw...)
			continue
		}
		if it.box {
			out = append(out, "")
		}
		rest := strings.Repeat(" ", textWidth(it.mark))
		if it.flush {
			rest = ""
		}
		out = append(out, wrap(it.text, it.mark, rest, w)...)
		if it.box {
			out = append(out, "")
		}
	}
	return out
}

// frame lays the whole screen out.
func (c *codex) frame(w, h int) ([]string, int, int) {
	top := c.rows(w)
	var foot []string
	var cy, cx int
	switch {
	case c.locked:
		foot = c.lockRows(w)
		cx = min(w-1, 70)
		cy = len(foot) - 1
	case c.dlg != nil:
		foot = c.dlg.rows(w)
		cy = len(foot) - 1
	default:
		foot, cy, cx = c.footer(w)
	}
	room := max(0, h-len(foot))
	if len(top) > room {
		top = top[len(top)-room:]
	}
	for len(top) < room {
		top = append(top, "")
	}
	return append(top, foot...), len(top) + cy, cx
}

func (c *codex) lockRows(w int) []string {
	head := "  🔒  This conversation is open in another app"
	gap := max(1, w-textWidth(head)-len("r to retry")-2)
	return []string{
		"", "", head + strings.Repeat(" ", gap) + "r to retry", "      Close it there and press R to continue here.", "",
		"   r retry   f fork   ←/esc command center   ^c/q exit   ^t transcript",
	}
}

// footer is the composer with what stands above and under it.
func (c *codex) footer(w int) (rows []string, cy, cx int) {
	now := c.env.Now()
	switch {
	case c.busy && c.retryText != "":
		rows = append(rows, "", fmt.Sprintf("• %s (%s • esc to interrupt)", c.retryText, span(now.Sub(c.waitFrom))),
			"  └ We’re currently experiencing high demand, which may cause temporary errors.")
	case c.busy && c.phase == phaseWaiting:
		rows = append(rows, "", fmt.Sprintf("• Working (%s • esc to interrupt)", span(now.Sub(c.waitFrom))))
	}
	if len(c.queue) > 0 {
		rows = append(rows, "", "• Messages to be submitted after next tool call (press esc to interrupt and send immediately)")
		for _, q := range c.queue {
			rows = append(rows, wrap(printable(q), "  ↳ ", "    ", w-1)...)
		}
	}
	rows = append(rows, "", "")
	box, by, bx := c.ed.rows("› ", w)
	last := rightGap("  ← for agents · ? for shortcuts", c.warning(), w)
	if c.ed.empty() {
		box, bx = []string{"› Ask Codex to do anything"}, 2
	} else {
		last = rightGap("", c.warning(), w)
	}
	cy = len(rows) + by
	status := "  " + c.model + " default · " + shortHome(printable(c.cwd), c.env.get("HOME"))
	if c.name != "" {
		status += " · " + printable(c.name)
	}
	return append(append(rows, box...), "", cut(status, w-1), cutHard(last, w)), cy, bx
}

func (c *codex) warning() string {
	if c.warned == 1 {
		return "⚠ 1 warning · f2 to view"
	}
	return fmt.Sprintf("⚠ %d warnings · f2 to view", c.warned)
}

func rightGap(left, right string, w int) string {
	return left + strings.Repeat(" ", max(1, w-textWidth(left)-textWidth(right)-1)) + right
}

// key handles one input; the stage calls it with the lock held.
func (c *codex) key(k key) {
	switch {
	case c.locked:
		c.lockKey(k)
	case c.dlg != nil:
		c.dlg.press(k)
	case k.kind == keyEsc:
		if c.busy && c.cancel != nil {
			c.cancel()
		}
	case k.kind == keyCtrl && k.text == "c":
		c.ctrlC()
	case k.kind == keyEnter:
		c.enter(k)
	case k.kind == keyPaste:
		c.pasteText(k.text)
	case k.kind == keyText && k.burst == 0 && utf8.RuneCountInString(k.text) > codexPasteChars:
		c.pasteText(k.text)
		c.noteTyped(k)
	default:
		if c.ed.key(k) && (k.kind == keyText || k.kind == keyNewline) {
			c.noteTyped(k)
		}
	}
}

// codexPasteChars is how much the box shows in full.
const codexPasteChars = 1000

// noteTyped makes the client deaf to Enter for a moment: what follows typed text
// at once counts as part of a paste. The time grows with the text.
func (c *codex) noteTyped(k key) {
	n := k.burst + utf8.RuneCountInString(k.text)
	limit := c.env.ms("AGENTSIM_ENTER_MS", 280*time.Millisecond)
	c.quietTill = k.at.Add(min(limit, 38*time.Millisecond+time.Duration(n)*420*time.Microsecond))
}

func (c *codex) ctrlC() {
	switch {
	case c.busy && c.cancel != nil:
		c.cancel()
	case !c.ed.empty():
		c.ed.clear()
	default:
		c.end(outcome{reason: "quit"})
	}
}

// enter submits the composer, or is taken for a line break of a burst.
func (c *codex) enter(k key) {
	if k.at.Before(c.quietTill) {
		c.ed.insert("\n")
		return
	}
	if c.completes() {
		return
	}
	if cmd, shell := strings.CutPrefix(c.ed.String(), "!"); shell && !c.busy {
		c.ed.clear()
		c.inShell(strings.TrimSpace(cmd))
		return
	}
	text := strings.TrimSpace(c.ed.expand(func(s string) string { return s }))
	c.ed.clear()
	if text == "" {
		return
	}
	if isCommand(text) && !c.busy && c.command(text) {
		return
	}
	c.submit(text)
}

func (c *codex) pasteText(s string) {
	n := utf8.RuneCountInString(s)
	if n <= codexPasteChars {
		c.ed.insert(s)
		return
	}
	mark := fmt.Sprintf("[Pasted Content %d chars]", n)
	c.ed.chip(mark, s)
}

// lockKey handles the screen of a session that another process writes.
func (c *codex) lockKey(k key) {
	switch {
	case k.kind == keyText && (k.text == "q" || k.text == "Q"), k.kind == keyCtrl && k.text == "c":
		c.end(outcome{reason: "quit"})
	case k.kind == keyText && (k.text == "r" || k.text == "R"):
		if c.ro.takeLock(c.home) {
			c.locked = false
			c.ro.open()
		}
	case k.kind == keyText && (k.text == "f" || k.text == "F"):
		if rows, err := lineage(c.home, c.ro.path, 0); err == nil {
			c.locked = false
			c.openFork(&codexTarget{id: c.ro.id, path: c.ro.path}, rows, c.env.uuid7(), c.env.Now())
		}
	}
}

// command runs a slash command; false when it is none.
func (c *codex) command(text string) bool {
	switch strings.Fields(text)[0] {
	case "/quit", "/exit":
		c.end(outcome{reason: "quit"})
	case "/new", "/clear":
		source := "startup"
		if text == "/clear" {
			source = "clear"
		}
		c.newSession()
		c.source = source
	case "/compact":
		c.startCompact()
	case "/status":
		c.statusRows()
	default:
		c.show(item{mark: "■ ", text: "Unrecognized command '" + strings.Fields(text)[0] + "'. Type \"/\" for a list of supported commands."})
	}
	return true
}

// statusRows is what /status shows.
func (c *codex) statusRows() {
	permissions := "Workspace (granular)"
	switch {
	case c.approval() == "on-request" && c.sandbox() == "workspace-write":
		permissions = "Workspace (Ask for approval)"
	case c.sandbox() == "danger-full-access":
		permissions = "Full Access"
	case c.sandbox() == "read-only":
		permissions = "Read Only"
	}
	rows := [][2]string{
		{"Model", c.model + " (reasoning none, summaries auto)"},
		{"Model provider", c.provider()},
		{"Directory", shortHome(c.cwd, c.env.get("HOME"))},
		{"Permissions", permissions},
		{"Agents.md", "<none>"},
		{"Thread name", cmp.Or(c.name, "<none>")},
		{"Collaboration mode", "Default"},
		{"Session", c.ro.id},
	}
	if c.ro.parent != "" {
		rows = append(rows, [2]string{"Forked from", c.ro.parent})
	}
	left := 100
	if c.last.Total > 12_000 {
		left = max(0, 100-(c.last.Total-12_000)*100/max(1, c.window-12_000))
	}
	uncached := c.total.Input - c.total.Cached
	rows = append(rows, [2]string{"", ""},
		[2]string{"Token usage", fmt.Sprintf("%s total  (%s input + %s output)", short(uncached+c.total.Output), short(uncached), short(c.total.Output))},
		[2]string{"Context window", fmt.Sprintf("%d%% left (%s used / %s)", left, short(c.last.Total), short(c.window))},
		[2]string{"Limits", "data not available yet"})
	out := []string{"/status", "", "  >_ OpenAI Codex (v" + codexVersion + ")", ""}
	for _, r := range rows {
		if r[0] == "" {
			out = append(out, "")
			continue
		}
		out = append(out, fmt.Sprintf("  %-21s%s", r[0]+":", printable(r[1])))
	}
	c.items = append(c.items, item{raw: out})
}

// short writes a number of tokens in at most three digits.
func short(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	s := fmt.Sprintf("%.3g", float64(n)/1000)
	if n >= 1_000_000 {
		s = fmt.Sprintf("%.0f", float64(n)/1000)
	}
	return s + "K"
}

// showRows draws a conversation that was taken over.
func (c *codex) showRows(rows []codexRow) {
	open := ""
	for _, r := range rows {
		p := r.Payload
		switch {
		case r.Type == "event_msg" && p.Type == "task_started":
			if open != "" {
				c.show(item{mark: "■ ", text: interruptedText})
			}
			open = p.TurnID
		case r.Type == "event_msg" && p.Type == "item_completed":
			c.showItem(r)
		case r.Type == "event_msg" && p.Type == "turn_aborted":
			open = ""
			c.show(item{mark: "■ ", text: interruptedText})
		case r.Type == "event_msg" && p.Type == "task_complete":
			open = ""
			if p.Error != nil {
				c.show(item{mark: "■ ", text: p.Error.Message, flush: true})
			} else {
				c.show(item{mark: "  ", text: "Worked for " + codexSpan(time.Duration(p.Took)*time.Millisecond) + r.clock(c.env.Now().Location())})
			}
		}
	}
	if open != "" { // the process that ran this turn was killed
		c.show(item{mark: "■ ", text: interruptedText})
	}
}

func (c *codex) showItem(r codexRow) {
	it := r.Payload.Item
	text := ""
	for _, b := range it.Content {
		text += b.Text
	}
	switch it.Type {
	case "UserMessage":
		c.show(item{mark: "› ", text: text, box: true})
	case "AgentMessage":
		c.show(item{mark: "• ", text: text})
	case "ContextCompaction":
		c.show(item{mark: "• ", text: "Context compacted"})
	case "CommandExecution":
		if n := len(it.Command); n > 0 {
			c.show(item{mark: "• ", text: "Ran " + it.Command[n-1]})
		}
	}
}
