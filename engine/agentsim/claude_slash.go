package agentsim

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// isCommand tells whether a line is for the client and not for the model.
func isCommand(s string) bool {
	return strings.HasPrefix(s, "/") && !strings.Contains(strings.Fields(s + " ")[0][1:], "/")
}

// command runs a slash command; the lock is held.
func (c *claude) command(text string) {
	name, arg, _ := strings.Cut(strings.TrimSpace(text), " ")
	arg = strings.TrimSpace(arg)
	c.promptID = c.env.uuid4()
	c.hint = ""
	switch name {
	case "/compact":
		c.startCompact(arg)
	case "/clear", "/new", "/reset":
		c.clear()
	case "/exit", "/quit":
		c.end(outcome{reason: "prompt_input_exit"})
	case "/status":
		c.panel = c.statusPanel
	case "/rename":
		c.rename(arg)
	case "/model":
		c.switchModel(arg)
	default:
		c.show(item{mark: "● ", text: "Unknown command: " + name})
		u := c.env.uuid4()
		c.file.put(u, false, obj("type", "system", "subtype", "informational", "content", "Unknown command: "+name, "isMeta", false, "timestamp", stamp(c.env.Now()), "uuid", u, "level", "warning"))
	}
}

// local records a command that the client ran by itself, and its output.
func (c *claude) local(name, arg, output string) {
	c.show(item{mark: "❯ ", text: strings.TrimSpace("/" + name + " " + arg)})
	c.show(item{mark: "  ⎿ \u00a0", text: output, tight: true})
	for i, text := range []string{
		"<command-name>/" + name + "</command-name>\n            <command-message>" + name + "</command-message>\n            <command-args>" + arg + "</command-args>",
		"<local-command-stdout>" + output + "</local-command-stdout>",
	} {
		u := c.env.uuid4()
		c.file.put(u, false, obj("type", "system", "subtype", "local_command", "content", text, "level", "info", "timestamp", stamp(c.env.Now()), "uuid", u, "isMeta", false).
			when(i == 1, "commandRun", obj("command", name, "args", arg)))
	}
}

func (c *claude) rename(name string) {
	if name == "" {
		name = "unnamed"
	}
	c.name = name
	c.reg.name, c.reg.source, c.reg.since = name, "user", c.env.Now().UnixMilli()
	c.file.write(line(obj("type", "custom-title", "customTitle", name, "sessionId", c.file.session)), line(obj("type", "agent-name", "agentName", name, "sessionId", c.file.session)))
	c.local("rename", name, "Session renamed to: "+name)
	c.setStatus("idle", "")
	go c.refreshStatus()
}

func (c *claude) switchModel(arg string) {
	if arg == "" {
		c.local("model", "", "Kept model as "+modelName(c.model))
		return
	}
	c.model = modelID(arg)
	c.local("model", arg, "Set model to "+modelName(c.model)+" ("+c.model+")")
	go c.refreshStatus()
}

// clear begins a new session in the same process: the old one ends first, and
// the registry follows. The lock is held; the hooks run beside.
func (c *claude) clear() {
	old := c.file
	c.busy = true
	c.work = c.newWork()
	end := c.event("SessionEnd", partBare, obj("reason", "clear"))
	if old.created {
		old.write(line(obj("type", "last-prompt").when(c.lastPrompt != "", "lastPrompt", c.lastPrompt).add("leafUuid", orNull(old.leaf), "sessionId", old.session)))
		c.costState()
	}
	id := c.env.uuid4()
	c.file = &claudeFile{session: id, path: filepath.Join(c.paths.dir, "projects", claudeSlug(c.cwd), id+".jsonl"), entry: old.entry, cwd: c.cwd, branch: old.branch}
	c.parent, c.promptID, c.lastPrompt, c.otherID = "", "", "", ""
	c.held, c.items = nil, nil
	c.seen, c.prompts, c.turns, c.shaped, c.placed, c.rewound = -1, 0, 0, false, false, false
	c.tokens = c.env.num("AGENTSIM_TOKENS", 1200)
	c.toolsUsed, c.files, c.lastTask, c.limit, c.tasks, c.dropped = nil, nil, nil, "", 0, 0
	c.banner()
	c.show(item{mark: "❯ ", text: "/clear"})
	go func() {
		c.fire(bg(), "SessionEnd", "clear", end)
		_ = os.MkdirAll(filepath.Join(c.paths.dir, "session-env", id), 0o755)
		c.do(func() { c.setStatus("idle", "") })
		c.startHooks("clear")
		c.do(func() {
			c.busy = false
			c.next()
		})
		c.refreshStatus()
	}()
}

// statusPanel is what /status shows.
func (c *claude) statusPanel(w int) []string {
	name := cmp.Or(c.name, "/rename to add a name")
	auth := "ANTHROPIC_API_KEY"
	if c.env.get("ANTHROPIC_API_KEY") == "" {
		auth = "none"
	}
	rows := [][2]string{
		{"Version", claudeVersion},
		{"Session name", name},
		{"Session ID", c.shownID()},
		{"Session kind", "interactive"},
		{"Peer address", fmt.Sprintf("uds:/tmp/cc-socks/%d.sock", os.Getpid())},
		{"cwd", c.cwd},
		{"Auth token", "none"},
		{"API key", auth},
		{"Model", "Default (" + c.model + ")"},
		{"Setting sources", "Command line arguments"},
	}
	out := []string{strings.Repeat("▔", w), "  Settings  Status   Config   Usage   Stats", ""}
	for _, r := range rows {
		out = append(out, fmt.Sprintf("  %-28s%s", r[0]+":", printable(r[1])))
	}
	return append(out, "", "  ←/→ to switch · Esc to close")
}
