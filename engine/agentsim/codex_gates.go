package agentsim

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// gates asks what the real client asks before a session.
func (c *codex) gates(t *codexTarget) (outcome, bool) {
	for _, g := range []func(*codexTarget) (outcome, bool){c.gateUpdate, c.gateLogin, c.gateTrust, c.gateArchived, c.gateDir, c.gateHooks} {
		if out, over := g(t); over {
			return out, true
		}
	}
	return outcome{}, false
}

// gateUpdate offers a newer version, by the fault update only: the real one was
// never seen offline, its words are from the program.
func (c *codex) gateUpdate(*codexTarget) (outcome, bool) {
	if _, ok := c.env.fails("update"); !ok {
		return outcome{}, false
	}
	choice, out, over := c.ask(&dialog{
		head:   []string{"", "  ✨ Update available! " + codexVersion + " -> 0.172.0", ""},
		choice: []string{"1. Update now", "2. Skip", "3. Skip until next version"}, cancel: 1, digits: true,
		tail: []string{"", "  Press enter to continue"}, mark: "› ", blank: "  ",
	})
	return out, over || choice == 0
}

func (c *codex) gateLogin(*codexTarget) (outcome, bool) {
	if _, ok := c.env.fails("login"); !ok {
		return outcome{}, false
	}
	for {
		_, out, over := c.ask(&dialog{
			head:   []string{"  Welcome to Codex, OpenAI's command-line coding agent", "", "  Choose how you want to use Codex.", ""},
			choice: []string{"1. Sign in with ChatGPT", "2. Sign in with Device Code", "3. Sign in another way"},
			under: map[int][]string{
				0: {"     Usage included with Plus, Pro, Business, and Enterprise plans", ""},
				1: {"     Sign in from another device with a one-time code", ""}, 2: {"     Use an API key or another provider"},
			},
			tail: []string{"", "  Press enter to continue"}, mark: "> ", blank: "  ", cancel: -1,
		})
		if over {
			return out, true
		}
	}
}

func (c *codex) gateTrust(*codexTarget) (outcome, bool) {
	_, forced := c.env.fails("trust")
	root, git := gitRoot(c.cwd)
	if !forced && (!git || c.cfg.trusts(root) || c.cfg.trusts(c.cwd) || c.o.yolo) {
		return outcome{}, false
	}
	if !git {
		root = c.cwd
	}
	choice, out, over := c.ask(&dialog{
		head: []string{
			"", "  Folder access", "  " + printable(root), "",
			"  Trust this folder? Codex can read, edit, and run files here, subject to your permission settings. Folder settings can run code automatically, even without a model request. Continue only if you trust these files. Your trust decision will be saved.", "",
		},
		choice: []string{"1. Trust and continue", "2. Back to Agent Command Center"}, cancel: 1, digits: true,
		tail: []string{"", "  enter continue · esc back"}, mark: "› ", blank: "  ",
	})
	if over || choice == 1 {
		return out, true
	}
	c.cfg.trust(root)
	return outcome{}, false
}

func (c *codex) gateArchived(t *codexTarget) (outcome, bool) {
	if t == nil || !t.archived {
		return outcome{}, false
	}
	choice, out, over := c.ask(&dialog{
		head:   []string{"", "  This conversation is archived", "  " + t.id, ""},
		choice: []string{"1. Unarchive and resume", "2. Cancel"}, cancel: 1, digits: true,
		tail: []string{"", "  enter continue · esc cancel"}, mark: "› ", blank: "  ",
	})
	if over || choice == 1 {
		return out, true
	}
	if path, ok := unarchive(c.home, t.path); ok {
		t.path, t.archived = path, false
	}
	return outcome{}, false
}

// gateDir asks which folder to go on in when the session was begun in another.
func (c *codex) gateDir(t *codexTarget) (outcome, bool) {
	if t == nil || c.o.dir != "" || c.o.verb == "fork" {
		return outcome{}, false
	}
	dir := ""
	for _, r := range readCodexRows(t.path) {
		if (r.Type == "session_meta" || r.Type == "turn_context") && r.Payload.CWD != "" {
			dir = r.Payload.CWD
		}
	}
	if dir == "" || dir == c.cwd {
		return outcome{}, false
	}
	choice, out, over := c.ask(&dialog{
		head: []string{"", "  Working directory · resume", "  Session = latest cwd recorded in the resumed session", "  Current = your current working directory", ""},
		choice: []string{
			"1. Use session directory (" + printable(dir) + ")", "2. Use current directory (" + printable(c.cwd) + ")",
			"3. Always use session directory", "4. Always use current directory",
		},
		digits: true, tail: []string{"", "  enter continue · esc use session · ^c quit"}, mark: "› ", blank: "  ",
	})
	if over {
		return out, true
	}
	if choice == 0 || choice == 2 {
		c.cwd = dir
	}
	return outcome{}, false
}

// hookNames are the events in the words of config.toml.
var hookNames = map[string]string{
	"PreToolUse": "pre_tool_use", "PermissionRequest": "permission_request", "PostToolUse": "post_tool_use", "PreCompact": "pre_compact", "PostCompact": "post_compact",
	"SessionStart": "session_start", "SessionEnd": "session_end", "UserPromptSubmit": "user_prompt_submit", "SubagentStart": "subagent_start", "SubagentStop": "subagent_stop", "Stop": "stop",
}

// gateHooks asks for the review of hooks that config.toml does not know.
func (c *codex) gateHooks(*codexTarget) (outcome, bool) {
	_, forced := c.env.fails("hooks")
	if c.o.bypassHooks && !forced {
		return outcome{}, false
	}
	file := filepath.Join(c.home, "hooks.json")
	var fresh []string
	for _, event := range sortedKeys(c.hooks) {
		for g, group := range c.hooks[event] {
			for h, cmd := range group.Hooks {
				sum := sha256.Sum256([]byte(event + "\x00" + group.Matcher + "\x00" + cmd.Command))
				key, hash := fmt.Sprintf("%s:%s:%d:%d", file, hookNames[event], g, h), "sha256:"+hex.EncodeToString(sum[:])
				if forced || c.cfg.get("hooks", "state", key, "trusted_hash") != hash {
					fresh = append(fresh, fmt.Sprintf("\n[hooks.state.%q]\ntrusted_hash = %q\n", key, hash))
				}
			}
		}
	}
	if len(fresh) == 0 && !forced {
		return outcome{}, false
	}
	plural := fmt.Sprintf("  %d hooks are new or changed.", len(fresh))
	if len(fresh) == 1 {
		plural = "  1 hook is new or changed."
	}
	for {
		choice, out, over := c.ask(&dialog{
			head:   []string{"", "  Hooks need review", plural, "  Hooks can run outside the sandbox after you trust them.", "", ""},
			choice: []string{"1. Review hooks", "2. Trust all and continue", "3. Continue without trusting (hooks won't run)"}, cancel: 2, digits: true,
			tail: []string{"", "  enter confirm · esc skip"}, mark: "› ", blank: "  ",
		})
		switch {
		case over:
			return out, true
		case choice == 1:
			c.cfg.add(strings.Join(fresh, ""))
			return outcome{}, false
		case choice == 2:
			c.hooks = nil
			return outcome{}, false
		}
		if out, over := c.reviewHooks(); over {
			return out, true
		}
	}
}

func (c *codex) reviewHooks() (outcome, bool) {
	head := []string{"", "  Hooks", ""}
	for _, event := range sortedKeys(c.hooks) {
		for _, cmd := range c.hooks.find(event, "") {
			head = append(head, "  "+event+"  "+printable(cmd.Command))
		}
	}
	_, out, over := c.ask(&dialog{head: append(head, ""), choice: []string{"1. Back"}, tail: []string{"", "  enter back"}, mark: "› ", blank: "  "})
	return out, over
}

// codexArchive is the verb archive or unarchive.
func codexArchive(e *Env, home, verb, target string) int {
	byName, byID := codexNames(home)
	id := target
	if !isUUID(id) {
		id = byName[target]
	}
	path, archived, ok := findRollout(home, id)
	if !ok || archived == (verb == "archive") {
		fmt.Fprintf(e.Stderr, "Error: failed to %s session\n", verb)
		return 1
	}
	if verb == "archive" {
		dir := filepath.Join(home, "archived_sessions")
		if os.MkdirAll(dir, 0o755) != nil || os.Rename(path, filepath.Join(dir, filepath.Base(path))) != nil {
			fmt.Fprintln(e.Stderr, "Error: failed to archive session")
			return 1
		}
		fmt.Fprintf(e.Stdout, "Archived session %s.\n", id)
		return 0
	}
	if _, ok := unarchive(home, path); !ok {
		fmt.Fprintln(e.Stderr, "Error: failed to unarchive session")
		return 1
	}
	shown := id
	if n := byID[id]; n != "" {
		shown = n + " (" + id + ")"
	}
	fmt.Fprintf(e.Stdout, "Unarchived session %s.\n", shown)
	return 0
}

// unarchive puts a rollout back to where its name says.
func unarchive(home, path string) (string, bool) {
	base := filepath.Base(path)
	day := strings.TrimPrefix(base, "rollout-")
	if len(day) < 10 {
		return "", false
	}
	dir := filepath.Join(home, "sessions", day[0:4], day[5:7], day[8:10])
	to := filepath.Join(dir, base)
	if os.MkdirAll(dir, 0o755) != nil || os.Rename(path, to) != nil {
		return "", false
	}
	return to, true
}
