package agentsim

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// What the clients' input boxes do with a text at Enter, other than to submit it as it
// stands (seen on Claude Code 2.1.332 and Codex 0.171.0). A "!" as the very first
// character makes a command for the shell of it, in every permission mode; the word before
// the cursor may have opened a list of completions, which takes the Enter.

// lastWord is the word before the end of a text, "" behind a space.
func lastWord(text string) string {
	return text[strings.LastIndexAny(text, " \t\n")+1:]
}

// replaceLast puts other text in the place of the last word.
func (e *editor) replaceLast(word, other string) {
	e.set(strings.TrimSuffix(e.String(), word) + other)
}

// completes reports that an Enter was not a submit: a backslash at the end makes it a line
// break, a name that begins with a colon is one of an emoji.
func (c *claude) completes() bool {
	text := c.ed.String()
	switch word := lastWord(text); {
	case strings.HasSuffix(text, `\`):
		c.ed.backspace()
		c.ed.insert("\n")
	case len(word) > 2 && strings.HasPrefix(":smile", word):
		c.ed.replaceLast(word, "😄")
	default:
		return false
	}
	return true
}

// completes reports that an Enter was not a submit: the name of a skill is looked for
// behind "$", that of a file behind "@".
func (c *codex) completes() bool {
	word := lastWord(c.ed.String())
	if len(word) < 2 {
		return false
	}
	name := word[1:]
	switch {
	case word[0] == '$' && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") == "": // none is here, and the list stays
	case word[0] == '@' && filepath.IsLocal(name) && isFile(filepath.Join(c.cwd, name)):
		c.ed.replaceLast(word, name+" ")
	default:
		return false
	}
	return true
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

// inShell runs a command that was typed behind "!". The lock is held. That the real client
// has its model answer to the output is left out.
func (c *claude) inShell(cmd string) {
	ctx, cancel := context.WithCancel(context.Background())
	c.busy, c.cancel, c.work = true, cancel, c.newWork()
	c.setStatus("busy", "")
	c.show(item{mark: "! ", text: cmd})
	c.file.create()
	go func() {
		res, _ := c.env.Run(ctx, Child{Argv: []string{"/bin/bash", "-c", cmd}, Dir: c.cwd, Env: c.env.Vars})
		c.do(func() {
			out := strings.TrimSpace(string(res.Stdout) + string(res.Stderr))
			if out == "" {
				out = "(Bash completed with no output)"
			}
			c.show(item{mark: "  ⎿ \u00a0", text: out, tight: true})
			for _, text := range []string{
				"<bash-input>" + cmd + "</bash-input>",
				"<bash-stdout>" + strings.TrimSpace(string(res.Stdout)) + "</bash-stdout><bash-stderr>" + strings.TrimSpace(string(res.Stderr)) + "</bash-stderr>",
			} {
				u := c.env.uuid4()
				c.file.put(u, false, obj("promptId", c.env.uuid4(), "type", "user", "message", obj("role", "user", "content", text), "uuid", u, "timestamp", stamp(c.env.Now())))
			}
		})
		c.refreshStatus()
		c.mu.Lock()
		c.idle(ctx)
		c.mu.Unlock()
		c.redraw()
	}()
}

// inShell runs a command that was typed behind "!". The lock is held.
func (c *codex) inShell(cmd string) {
	ctx, cancel := context.WithCancel(context.Background())
	c.busy, c.cancel, c.phase = true, cancel, phaseWaiting
	c.turnID, c.turnFrom, c.waitFrom = c.env.uuid7(), c.env.Now(), c.env.Now()
	go func() {
		c.do(func() { c.openRollout(); c.taskStarted() })
		res, _ := c.env.Run(ctx, Child{Argv: []string{"/bin/bash", "-lc", cmd}, Dir: c.cwd, Env: c.env.Vars})
		c.do(func() {
			out := strings.TrimSpace(string(res.Stdout) + string(res.Stderr))
			c.message("user", "<user_shell_command>\n<command>\n"+cmd+"\n</command>\n<result>\nExit code: "+strconv.Itoa(res.Code)+"\nOutput:\n"+out+"\n\n</result>\n</user_shell_command>",
				[]string{"user_shell_command"}, harness(false))
			c.taskComplete(nil, nil, time.Millisecond)
			if out == "" {
				out = "(no output)"
			}
			c.show(item{mark: "• ", text: "You ran " + cmd + "\n└ " + out})
			c.idle()
		})
	}()
}
