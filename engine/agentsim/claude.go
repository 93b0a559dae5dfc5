package agentsim

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// claude is one running stand-in for Claude Code.
type claude struct {
	*stage
	o     claudeOpts
	paths claudePaths
	set   claudeSettings
	cwd   string // real path
	print bool

	file    *claudeFile
	reg     claudeRegistry
	otherID string // shown instead of the own id, by the fault other-id
	parent  string // session that this one was forked from
	mode    string
	model   string
	effort  string
	name    string
	started time.Time

	held      []said
	items     []item
	ed        editor
	dlg       *dialog
	panel     func(w int) []string // covers the box: /status
	hint      string               // right above the box
	leaving   bool                 // one Ctrl-C was pressed
	busy      bool
	work      busyLine
	cancel    context.CancelFunc
	queue     []queued
	limit     string // two rows under the box while a usage limit holds
	tasks     int    // finished subagents
	pasteID   string
	chip      string // placeholder of the newest paste
	faulted   bool   // the newest turn ended in an error
	lastFault string

	promptID            string
	lastPrompt          string
	prompts, turns      int
	answers             int
	tokens              int // input tokens of an answer
	seen                int // context of the newest answer; -1: none yet
	window              int
	dropped             int // tokens that compactions took out so far
	compactFail         string
	shaped, placed      bool
	rewound             bool
	toolsUsed           []string
	files               []string // that a tool wrote
	snapshotID          string
	lastTask            rec             // the newest finished subagent, for a compaction
	allowed             map[string]bool // commands that need no question any more
	linesAdded          int
	apiMS               int
	statusLine          string
	bg                  []rec     // running background tasks, for hooks
	answered            time.Time // when the newest answer of a loaded session came
	idleTimer, askTimer *time.Timer
	compactTimer        *time.Timer
}

// queued is a prompt that waits for the turn to end.
type queued struct {
	text, promptID string
	sent           int64
	context        []string
	typed          string // as the person sees it
	system         bool   // from the client itself: a subagent has finished
}

// claudeMain is the command "claude".
func claudeMain(e *Env, args []string) int {
	o, err := parseClaude(args)
	if err != nil {
		fmt.Fprintln(e.Stderr, err)
		return 1
	}
	p := newClaudePaths(e)
	switch {
	case o.version:
		fmt.Fprintln(e.Stdout, claudeVersion+" (Claude Code)")
		return 0
	case o.help:
		fmt.Fprint(e.Stdout, claudeHelp)
		return 0
	case o.agents:
		return claudeAgents(e, p, o.json)
	}
	if err := o.check(); err != nil {
		fmt.Fprintln(e.Stderr, err)
		return 1
	}
	set, err := readClaudeSettings(e, p, o.settings)
	if err != nil {
		fmt.Fprintln(e.Stderr, err)
		return 1
	}
	if o.effort != "" && !strings.Contains(" low medium high xhigh max ", " "+o.effort+" ") {
		fmt.Fprintf(e.Stderr, "Warning: Unknown --effort value '%s' — ignoring it and using the default effort. Valid values: low, medium, high, xhigh, max.\n", o.effort)
		o.effort = ""
	}
	if code, struck := launchFault(e); struck {
		return code
	}
	c := newClaude(e, o, p, set)
	if code, over := c.locate(); over {
		return code
	}
	if o.print {
		return c.runPrint()
	}
	return c.interactive()
}

func newClaude(e *Env, o claudeOpts, p claudePaths, set claudeSettings) *claude {
	cwd, err := filepath.EvalSymlinks(e.Dir)
	if err != nil {
		cwd = e.Dir
	}
	model := o.model
	if model == "" {
		model = set.model
	}
	if model == "" && e.get("ANTHROPIC_API_KEY") == "" && e.get("CLAUDE_CODE_OAUTH_TOKEN") != "" {
		model = "sonnet" // what a subscriber gets
	}
	c := &claude{
		o: o, paths: p, set: set, cwd: cwd, print: o.print, model: modelID(model), effort: o.effort, name: o.name, started: e.Now(),
		tokens: e.num("AGENTSIM_TOKENS", 1200), seen: -1, window: e.num("AGENTSIM_WINDOW", 1_000_000), allowed: map[string]bool{}, pasteID: e.hex(4),
	}
	c.stage = &stage{env: e, dirty: make(chan struct{}, 1)}
	if c.effort == "" {
		c.effort = "medium"
	}
	c.mode = cmp.Or(o.mode, set.mode, "auto")
	if o.skip {
		c.mode = "bypassPermissions"
	}
	if c.mode == "default" {
		c.mode = "manual"
	}
	if arg, ok := e.fails("compact"); ok {
		c.compactFail = cmp.Or(arg, "API Error: 400 mock compaction failure")
	}
	c.file = &claudeFile{entry: "cli", cwd: cwd, branch: gitBranch(cwd), every: c.env.ms("AGENTSIM_WRITE_MS", 100*time.Millisecond)}
	if o.print {
		c.file.entry = "sdk-cli"
	}
	return c
}

// wireMode is the permission mode as files and hooks name it.
func (c *claude) wireMode() string {
	if c.mode == "manual" {
		return "default"
	}
	return c.mode
}

// locate settles which session this is. An id that names none ends the client.
func (c *claude) locate() (code int, over bool) {
	e, o := c.env, &c.o
	own := func(id string) string {
		return filepath.Join(c.paths.dir, "projects", claudeSlug(c.env.Dir), id+".jsonl")
	}
	id := cmp.Or(o.sessionID, e.uuid4())
	c.file.session, c.file.path = id, own(id)
	if o.hasSession {
		if _, used := c.paths.findClaude(id, e.Dir); used {
			fmt.Fprintf(e.Stderr, "Error: Session ID %s is already in use.\n", id)
			return 1, true
		}
	}
	if o.cont && !o.hasResume {
		if all := c.paths.listClaude(e.Dir); len(all) > 0 {
			c.load(all[0].path, all[0].id)
		}
		return 0, false
	}
	if !o.hasResume || o.resume == "" {
		return 0, false
	}
	if path, ok := c.paths.findClaude(o.resume, e.Dir); ok {
		c.load(path, o.resume)
		return 0, false
	}
	if isUUID(o.resume) {
		fmt.Fprintf(e.Stderr, "No conversation found with session ID: %s\n", o.resume)
		return 1, true
	}
	for _, f := range c.paths.listClaude(e.Dir) {
		if f.name == o.resume {
			c.load(f.path, f.id)
			return 0, false
		}
	}
	if o.print {
		fmt.Fprintf(e.Stderr, "Error: --resume requires a valid session ID or session title when used with --print. Usage: claude -p --resume <session-id|title>. Provided value \"%s\" is not a UUID and does not match any session title.\n", o.resume)
		return 1, true
	}
	return 0, false
}

// load takes over a session: to go on with it, or to fork it.
func (c *claude) load(path, id string) {
	rows := readRows(path)
	branch, parents := activeBranch(rows)
	c.held = remembered(branch)
	c.showBranch(branch)
	for _, r := range rows {
		if r.CustomTitle != "" && !c.o.fork {
			c.name = cmp.Or(c.o.name, r.CustomTitle)
		}
		c.prompts, c.turns = max(c.prompts, r.Position.Prompt), max(c.turns, r.Position.Turn)
		c.dropped = max(c.dropped, r.Compact.Dropped)
	}
	for _, r := range branch {
		if u := r.Message.Usage; r.Type == "assistant" && u.Input+u.CacheNew+u.CacheRead > 0 {
			c.seen = u.Input + u.CacheNew + u.CacheRead
			c.answered, _ = time.Parse(time.RFC3339, r.Stamp)
		}
		if r.Subtype == "compact_boundary" {
			c.seen = 0
		}
		if r.Slug != "" {
			c.file.slug = r.Slug
		}
		c.file.leaf, c.file.count = r.UUID, c.file.count+1
	}
	if c.o.fork {
		c.parent = id
		c.copyBranch(branch, parents)
		return
	}
	c.file.session, c.file.path = id, path
	if n := len(branch); n > 0 && unanswered(branch) {
		c.file.waiting = nil
		c.synthetic("No response requested.", false, obj("isApiErrorMessage", false, "madeBy", "other"))
	}
}

// copyBranch prepares the file of a fork: the whole active branch under a new
// session id. It reaches the disk with the first prompt.
func (c *claude) copyBranch(branch []claudeRow, parents map[string]string) {
	ls := c.standing()
	for _, r := range branch {
		p, moved := parents[r.UUID]
		ls = append(ls, forkLine(r, p, moved, c.parent, c.file.session))
	}
	c.file.waiting = ls
}

// unanswered tells whether the branch ends in a prompt without an answer.
func unanswered(branch []claudeRow) bool {
	for i := len(branch) - 1; i >= 0; i-- {
		switch r := branch[i]; {
		case r.Type == "assistant", r.Type == "system":
			return false
		case r.Type == "user" && !r.Meta && !r.Summary:
			t := strings.Join(texts(r.Message.Content), "")
			return !strings.HasPrefix(t, "[Request interrupted") && !strings.HasPrefix(t, "<")
		}
	}
	return false
}

// interactive runs the client on its terminal.
func (c *claude) interactive() int {
	t, ok := openTerminal(c.env)
	if !ok {
		fmt.Fprintln(c.env.Stderr, "Error: Input must be provided either through stdin or as a prompt argument when using --print")
		return 1
	}
	c.stage = newStage(c.env, t)
	defer c.stage.close()
	if out, over := claudeGates(c.env, c.stage, c.paths, &c.o, &c.set); over {
		t.close()
		return out.code
	}
	if out, over := c.pick(); over {
		t.close()
		return out.code
	}
	t.enterAlt()
	c.begin()
	return c.finish(c.run(c))
}

// pick lets a person choose when --resume named no session, or none at all.
func (c *claude) pick() (outcome, bool) {
	if !c.o.hasResume || c.parent != "" || len(c.held) > 0 || isUUID(c.o.resume) {
		return outcome{}, false
	}
	if _, found := c.paths.findClaude(c.file.session, c.env.Dir); found {
		return outcome{}, false
	}
	p := &claudePicker{s: c.stage, query: c.o.resume, rows: c.paths.listClaude(c.env.Dir), now: c.env.Now}
	out := c.stage.run(p)
	if out.reason != "answered" {
		return out, true
	}
	if path, ok := c.paths.findClaude(p.chosen, c.env.Dir); ok {
		c.load(path, p.chosen)
	}
	return outcome{}, false
}

// begin opens the session: hooks, registry, status line, the prompt argument.
func (c *claude) begin() {
	c.banner()
	if _, ok := c.env.fails("other-id"); ok {
		c.otherID = c.env.uuid4()
	}
	_ = os.MkdirAll(filepath.Join(c.paths.dir, "session-env", c.file.session), 0o755)
	c.newRegistry()
	c.setStatus("idle", "")
	go func() {
		c.startHooks(c.source())
		c.refreshStatus()
		c.redraw()
		if c.o.hasPrompt {
			c.mu.Lock()
			c.submit(c.o.prompt, c.o.prompt)
			c.mu.Unlock()
		}
	}()
}

// source is how the session came to be, in the word of SessionStart.
func (c *claude) source() string {
	switch {
	case c.parent != "":
		return "fork"
	case c.file.leaf != "":
		return "resume"
	}
	return "startup"
}

// finish ends the session as its end demands and gives the exit code.
func (c *claude) finish(o outcome) int {
	c.mu.Lock()
	if c.cancel != nil {
		c.cancel()
	}
	if !o.crash && c.file.created {
		c.file.write(line(obj("type", "last-prompt").when(c.lastPrompt != "", "lastPrompt", c.lastPrompt).add("leafUuid", orNull(c.file.leaf), "sessionId", c.file.session)))
		c.costState()
	}
	c.file.closed = true
	if !o.crash {
		c.file.batch.flush()
	}
	c.stopTimers()
	c.mu.Unlock()
	if !o.crash {
		c.endHooks(o.reason)
		c.dropRegistry()
	}
	c.term.close()
	if o.code == 0 && fileExists(c.file.path) {
		args := append([]string{"claude"}, quoteAll(c.o.flags)...)
		fmt.Fprintf(c.env.Stdout, "\nResume this session with:\n%s\n", strings.Join(append(args, "--resume", c.file.session), " "))
	}
	return o.code
}

func fileExists(p string) bool { _, err := os.Stat(p); return err == nil }

func quoteAll(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		if strings.ContainsAny(a, " \t\n'\"{}$\\") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		out[i] = a
	}
	return out
}
