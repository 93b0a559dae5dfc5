package agentsim

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/term"
)

// codex is one running stand-in for Codex.
type codex struct {
	*stage
	o     codexOpts
	home  string // CODEX_HOME
	cfg   codexConfig
	cwd   string
	model string

	ro      *rollout
	old     []*rollout // sessions that /new left open in this process
	hooks   hookSet
	source  string // of the SessionStart that waits for the next prompt
	name    string // title of the thread
	held    []said
	prompts []string // for notify
	items   []item
	ed      editor
	dlg     *dialog
	locked  bool
	warned  int // warnings counted in the last row

	busy      bool
	phase     codexPhase
	cancel    context.CancelFunc
	queue     []string
	turnID    string
	turnFrom  time.Time
	waitFrom  time.Time
	retryText string
	quietTill time.Time // an Enter before this is part of a burst

	answers     int
	tokens      int
	window      int
	total, last codexUsage
	turnUse     codexUsage
	response    string
	windowNo    int
	compactFail string
	named       bool
	paneTitle   string
}

// codexPhase is what a busy client is at.
type codexPhase int

const (
	phaseWaiting codexPhase = iota // for the model
	phaseStreaming
)

// codexMain is the command "codex".
func codexMain(e *Env, args []string) int {
	o, err := parseCodex(args)
	if err != nil {
		fmt.Fprintln(e.Stderr, err)
		return 2
	}
	switch {
	case o.version:
		fmt.Fprintln(e.Stdout, "codex-cli "+codexVersion)
		return 0
	case o.help:
		fmt.Fprint(e.Stdout, codexHelp)
		return 0
	}
	home, err := codexHome(e)
	if err != nil {
		fmt.Fprintln(e.Stderr, err)
		return 1
	}
	if o.verb == "archive" || o.verb == "unarchive" {
		return codexArchive(e, home, o.verb, o.target)
	}
	if code, struck := launchFault(e); struck {
		return code
	}
	if !term.IsTerminal(int(e.Stdin.Fd())) {
		fmt.Fprintln(e.Stderr, "Error: stdin is not a terminal")
		return 1
	}
	return newCodex(e, o, home).interactive()
}

func newCodex(e *Env, o codexOpts, home string) *codex {
	cwd := e.Dir
	if o.dir != "" {
		cwd = o.dir
		if !filepath.IsAbs(cwd) {
			cwd = filepath.Join(e.Dir, cwd)
		}
	}
	if target, err := filepath.EvalSymlinks(cwd); err == nil {
		cwd = target
	}
	c := &codex{
		o: o, home: home, cwd: cwd, cfg: readCodexConfig(filepath.Join(home, "config.toml")), source: "startup", warned: 2,
		tokens: e.num("AGENTSIM_TOKENS", 1200), window: e.num("AGENTSIM_WINDOW", 258_400),
	}
	c.stage = &stage{env: e}
	c.cfg.override(o.profile, o.config)
	c.model = cmp.Or(o.model, c.cfg.get("model"), "gpt-5.5-codex")
	if b, err := os.ReadFile(filepath.Join(home, "hooks.json")); err == nil {
		c.hooks = readHooks(b)
	}
	if arg, ok := e.fails("compact"); ok {
		c.compactFail = cmp.Or(arg, `{"error": {"message": "mock compaction failure", "type": "invalid_request_error", "code": null}}`)
	}
	return c
}

// interactive runs the client on its terminal.
func (c *codex) interactive() int {
	target, code, over := c.findTarget()
	if over {
		return code
	}
	t, ok := openTerminal(c.env)
	if !ok {
		fmt.Fprintln(c.env.Stderr, "Error: stdin is not a terminal")
		return 1
	}
	c.stage = newStage(c.env, t)
	defer c.stage.close()
	t.enterAlt()
	if c.o.verb != "" && target == nil && !c.o.last {
		var out outcome
		if target, out, over = c.pick(); over {
			t.close()
			return out.code
		}
	}
	if out, over := c.gates(target); over {
		t.close()
		return out.code
	}
	if err := c.openSession(target); err != nil {
		t.close()
		fmt.Fprintln(c.env.Stderr, err)
		return 1
	}
	if c.o.hasPrompt && !c.locked {
		c.mu.Lock()
		c.startTurn([]string{c.o.prompt})
		c.mu.Unlock()
	}
	return c.finish(c.run(c))
}

// codexTarget is the session that resume or fork names.
type codexTarget struct {
	id, path string
	archived bool
}

// findTarget looks the named session up; an id that names none ends the client.
func (c *codex) findTarget() (*codexTarget, int, bool) {
	if c.o.verb == "" || c.o.target == "" {
		if c.o.last {
			if t := c.newest(); t != nil {
				return t, 0, false
			}
		}
		return nil, 0, false
	}
	id := c.o.target
	if !isUUID(id) {
		byName, _ := codexNames(c.home)
		id = byName[c.o.target]
	}
	if _, gone := c.env.fails("no-rollout"); gone {
		fmt.Fprintf(c.env.Stderr, "Error: thread/resume: thread/resume failed: no rollout found for thread id %s (code -32600)\n", id)
		return nil, 1, true
	}
	path, archived, ok := findRollout(c.home, id)
	if !ok {
		fmt.Fprintf(c.env.Stderr, "ERROR: No saved session found with ID %s. Run `codex resume` without an ID to choose from existing sessions.\n", c.o.target)
		return nil, 1, true
	}
	return &codexTarget{id: id, path: path, archived: archived}, 0, false
}

// newest is the newest session of the folder, for --last.
func (c *codex) newest() *codexTarget {
	all, _ := filepath.Glob(filepath.Join(c.home, "sessions", "*", "*", "*", "rollout-*.jsonl"))
	for i := len(all) - 1; i >= 0; i-- {
		rows := readCodexRows(all[i])
		if len(rows) > 0 && rows[0].Payload.CWD == c.cwd {
			return &codexTarget{id: rows[0].Payload.ID, path: all[i]}
		}
	}
	return nil
}

// pick lets a person choose a session of the folder when none was named; without
// any the client begins a new one.
func (c *codex) pick() (*codexTarget, outcome, bool) {
	_, names := codexNames(c.home)
	all, _ := filepath.Glob(filepath.Join(c.home, "sessions", "*", "*", "*", "rollout-*.jsonl"))
	d := &dialog{head: []string{"", "  Resume a previous session", ""}, tail: []string{"", "  enter resume · esc start new"}, mark: "› ", blank: "  ", cancel: -1}
	var found []*codexTarget
	for i := len(all) - 1; i >= 0 && len(found) < 9; i-- {
		if rows := readCodexRows(all[i]); len(rows) > 0 && rows[0].Payload.CWD == c.cwd {
			id := rows[0].Payload.ID
			found = append(found, &codexTarget{id: id, path: all[i]})
			d.choice = append(d.choice, fmt.Sprintf("%d. %s", len(found), printable(cmp.Or(names[id], id))))
		}
	}
	if len(found) == 0 {
		return nil, outcome{}, false
	}
	d.choice = append(d.choice, fmt.Sprintf("%d. Start new", len(found)+1))
	d.cancel = len(found)
	choice, out, over := c.ask(d)
	if over || choice == len(found) {
		return nil, out, over
	}
	return found[choice], outcome{}, false
}

// openSession makes the session: a new one, one taken up again, or a fork.
func (c *codex) openSession(t *codexTarget) error {
	now := c.env.Now()
	id := c.env.uuid7()
	if t == nil {
		c.ro = &rollout{id: id, path: rolloutPath(c.home, id, now), window: c.env.uuid7(), created: now}
		c.ro.takeLock(c.home)
		c.banner()
		return nil
	}
	rows, err := lineage(c.home, t.path, 0)
	if err != nil {
		return says("Error: Failed to resume session from %s: thread/resume failed during TUI bootstrap: thread/resume failed: %v (code -32600)", t.path, err)
	}
	_, names := codexNames(c.home)
	c.name, c.named = names[t.id], names[t.id] != ""
	c.take(rows)
	if c.o.verb == "fork" {
		c.openFork(t, rows, id, now)
		return nil
	}
	last := rows[len(rows)-1]
	c.source = "resume"
	c.ro = &rollout{id: t.id, path: t.path, opened: true, window: rows[0].Payload.Window.ID, ordinal: last.Ordinal + 1, created: now, parent: rows[0].Payload.ForkedFrom}
	own := readCodexRows(t.path)
	if len(own) > 0 {
		c.ro.parent = own[0].Payload.ForkedFrom
	}
	c.count(rows)
	if !c.ro.takeLock(c.home) {
		c.locked = true
		return nil
	}
	c.ro.open()
	return nil
}

// openFork begins a session that refers to its parent; its file is there at once.
func (c *codex) openFork(t *codexTarget, rows []codexRow, id string, now time.Time) {
	last := rows[len(rows)-1]
	c.source = "fork"
	c.ro = &rollout{
		id: id, path: rolloutPath(c.home, id, now), window: c.env.uuid7(), created: now, parent: t.id, ordinal: last.Ordinal + 1, before: last.Ordinal + 1,
		base: obj("thread_id", t.id, "end_ordinal_exclusive", last.Ordinal+1, "end_byte_offset", last.end),
	}
	c.count(rows)
	c.ro.takeLock(c.home)
	c.openRollout()
	c.settingsApplied()
	if c.named {
		c.index()
	}
}

// take holds and shows a conversation.
func (c *codex) take(rows []codexRow) {
	c.held = codexRemembered(rows)
	c.showRows(rows)
	for _, r := range rows {
		if r.Payload.Type == "token_count" {
			c.total, c.last = r.Payload.Info.Total, r.Payload.Info.Last
		}
		if r.Type == "compacted" {
			c.windowNo++
		}
	}
	for _, h := range c.held {
		if h.role == "user" || h.role == "summary" {
			c.prompts = append(c.prompts, h.text)
		}
	}
}

// count goes on with the counters of a rollout.
func (c *codex) count(rows []codexRow) {
	for _, r := range rows {
		c.ro.seq = max(c.ro.seq, r.Metadata.Sequence)
		c.ro.order = max(c.ro.order, r.Metadata.Order+1)
		if r.Type == "compacted" && r.Payload.WindowID != "" {
			c.ro.window = r.Payload.WindowID
		}
	}
	c.ro.sampled = c.ro.seq
}

// newSession is the command /new: another session in the same process; the old
// one stays open until the end.
func (c *codex) newSession() {
	c.old = append(c.old, c.ro)
	now, id := c.env.Now(), c.env.uuid7()
	c.ro = &rollout{id: id, path: rolloutPath(c.home, id, now), window: c.env.uuid7(), created: now}
	c.ro.takeLock(c.home)
	c.source, c.name, c.named = "startup", "", false
	c.held, c.prompts, c.items = nil, nil, nil
	c.total, c.last, c.windowNo = codexUsage{}, codexUsage{}, 0
	c.tokens = c.env.num("AGENTSIM_TOKENS", 1200)
	c.warned = 1
	c.banner()
}

// finish ends the session as its end demands and gives the exit code.
func (c *codex) finish(o outcome) int {
	clean := o.code == 0 && !o.crash
	c.mu.Lock()
	if c.cancel != nil {
		c.cancel()
	}
	c.ro.closed = true
	c.mu.Unlock()
	if clean && !c.locked {
		for _, r := range append([]*rollout{c.ro}, c.old...) {
			if r.opened {
				c.sessionEnd(r)
			}
		}
	}
	for _, r := range append([]*rollout{c.ro}, c.old...) {
		r.close(clean)
	}
	if o.crash || o.reason == "signal" {
		c.term.alt = c.term.alt && o.code == 0
	}
	c.term.close()
	if clean && (c.ro.opened || c.locked) {
		c.farewell()
	}
	return o.code
}

func (c *codex) farewell() {
	out := c.env.Stdout
	if c.total.Total > 0 && !c.locked {
		fmt.Fprintf(out, "Token usage: total=%s input=%s (+ %s cached) output=%s\n", grouped(c.total.Input-c.total.Cached+c.total.Output), grouped(c.total.Input-c.total.Cached), grouped(c.total.Cached), grouped(c.total.Output))
	}
	fmt.Fprintf(out, "To continue this session, run:\n  codex resume %s\n", c.ro.id)
	if c.name != "" {
		fmt.Fprintf(out, "Or run codex resume and select %s.\n", printable(c.name))
	}
}

// grouped writes a number with commas.
func grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
