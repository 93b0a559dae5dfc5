package agentsim

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// What the client takes for a paste: more characters, or more line breaks.
const (
	pasteChars  = 800
	pasteBreaks = 3
	burstEnter  = 75 // an Enter right behind this many characters is swallowed
)

// key handles one input; the stage calls it with the lock held.
func (c *claude) key(k key) {
	leaving := c.leaving
	c.leaving = false
	switch {
	case c.dlg != nil:
		c.dlg.press(k)
	case c.panel != nil:
		if k.kind == keyEsc || k.kind == keyCtrl && k.text == "c" {
			c.panel = nil
		}
	case k.kind == keyEsc:
		c.escape()
	case k.kind == keyCtrl && k.text == "c":
		c.ctrlC(leaving)
	case k.kind == keyEnter:
		c.enter(k)
	case k.kind == keyPaste:
		c.pasteText(k.text)
	case k.kind == keyText:
		c.typed(k)
	case k.kind == keyBackTab:
		c.cycleMode()
	case k.kind == keyUp && c.ed.empty() && len(c.queue) > 0:
		c.unqueue()
	default:
		c.ed.key(k)
	}
}

func (c *claude) escape() {
	switch {
	case c.busy && c.cancel != nil:
		c.cancel()
	case c.limit != "":
		c.limit = ""
	}
}

func (c *claude) ctrlC(leaving bool) {
	switch {
	case c.busy && c.cancel != nil:
		c.cancel()
	case !c.ed.empty():
		c.ed.clear()
	case leaving:
		c.end(outcome{reason: "prompt_input_exit"})
	default:
		c.leaving = true
	}
}

// enter submits the box, unless it came in one burst with much text.
func (c *claude) enter(k key) {
	if k.burst >= burstEnter || c.completes() {
		return
	}
	if cmd, shell := strings.CutPrefix(c.ed.String(), "!"); shell && !c.busy {
		c.ed.clear()
		c.inShell(strings.TrimSpace(cmd))
		return
	}
	sent := strings.Trim(c.ed.expand(func(s string) string {
		return "\n\n<pasted_content id=\"" + c.pasteID + "\">\n" + s + "\n</pasted_content id=\"" + c.pasteID + "\">\n"
	}), " ")
	typed := strings.TrimSpace(c.ed.expand(func(s string) string { return s }))
	if typed == "" {
		return
	}
	if !strings.Contains(sent, "<pasted_content") {
		sent = typed
	}
	c.ed.clear()
	if isCommand(typed) {
		if c.busy {
			c.queue = append(c.queue, queued{text: typed, typed: typed, promptID: c.env.uuid4()})
			return
		}
		c.stopTimers()
		c.command(typed)
		return
	}
	c.submit(sent, typed)
}

// typed takes characters; a burst of many counts as a paste.
func (c *claude) typed(k key) {
	burst := k.text
	if n := min(k.burst, c.ed.at); n > 0 && n <= 1<<20 {
		burst = string(c.ed.text[c.ed.at-n:c.ed.at]) + k.text
	}
	if c.chip != "" && k.burst > 0 && strings.HasSuffix(string(c.ed.text[:c.ed.at]), c.chip) {
		c.growChip(k.text)
		return
	}
	if utf8.RuneCountInString(burst) > pasteChars || strings.Count(burst, "\n") >= pasteBreaks {
		for range min(k.burst, c.ed.at) {
			c.ed.backspace()
		}
		c.pasteText(burst)
		return
	}
	c.ed.insert(k.text)
}

// growChip adds to a burst that already became a placeholder.
func (c *claude) growChip(more string) {
	content := c.ed.pasted[c.chip] + more
	c.ed.backspace()
	c.ed.pastes--
	c.pasteText(content)
}

// pasteText puts a pasted text into the box, a long one as a placeholder.
func (c *claude) pasteText(s string) {
	breaks := strings.Count(s, "\n")
	if utf8.RuneCountInString(s) <= pasteChars && breaks < pasteBreaks {
		c.ed.insert(s)
		return
	}
	c.ed.pastes++
	mark := fmt.Sprintf("[Pasted text #%d]", c.ed.pastes)
	if breaks > 0 {
		mark = fmt.Sprintf("[Pasted text #%d +%d lines]", c.ed.pastes, breaks)
	}
	c.chip = mark
	c.ed.chip(mark, s)
}

func (c *claude) cycleMode() {
	next := map[string]string{"manual": "acceptEdits", "acceptEdits": "plan", "plan": "auto", "auto": "manual", "bypassPermissions": "manual", "dontAsk": "manual"}
	c.mode = next[c.mode]
}

// unqueue brings waiting prompts back into the box.
func (c *claude) unqueue() {
	var list []string
	for _, q := range c.queue {
		if !q.system {
			list = append(list, q.typed)
		}
	}
	c.queue = nil
	c.ed.set(strings.Join(list, "\n"))
}
