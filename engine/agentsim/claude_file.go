package agentsim

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// claudeFile is the transcript that a session writes. Nothing is on disk before
// the first prompt: until then the lines wait. After it they are collected and
// written together, a tenth of a second after the first of them (observed, 2.1.332):
// hooks come before the lines that they are about.
type claudeFile struct {
	path    string
	created bool
	closed  bool          // the client is ending: what a turn still has is lost
	every   time.Duration // how long lines are collected, 0 = not at all
	batch   batch
	waiting [][]byte
	leaf    string // uuid of the newest record of the conversation
	count   int    // records of the conversation
	slug    string // the pet name that records carry after a compaction
	session string
	entry   string // entrypoint: cli or sdk-cli
	cwd     string
	branch  string // git branch
	recent  []recent
}

// write appends lines, or keeps them until the file may exist.
func (f *claudeFile) write(lines ...[]byte) {
	if f.closed {
		return
	}
	if f.created {
		f.batch.add(f.path, f.every, lines)
	} else {
		f.waiting = append(f.waiting, lines...)
	}
}

// create makes the file at the first prompt and writes what waited.
func (f *claudeFile) create() {
	if f.created || f.closed {
		return
	}
	f.created = true
	lines := f.waiting
	f.waiting = nil
	f.write(lines...)
}

// batch are lines that are not written yet. Its timer needs no other lock.
type batch struct {
	mu    sync.Mutex
	path  string
	lines [][]byte
	timer *time.Timer
}

// add collects lines for a file.
func (b *batch) add(path string, every time.Duration, lines [][]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.path != path {
		b.write()
	}
	b.path, b.lines = path, append(b.lines, lines...)
	switch {
	case every <= 0:
		b.write()
	case b.timer == nil:
		b.timer = time.AfterFunc(every, b.flush)
	}
}

// flush writes what was collected.
func (b *batch) flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.write()
}

// write is flush with the lock held.
func (b *batch) write() {
	if b.timer != nil {
		b.timer.Stop()
	}
	lines := b.lines
	b.timer, b.lines = nil, nil
	if len(lines) == 0 || os.MkdirAll(filepath.Dir(b.path), 0o755) != nil {
		return
	}
	w, err := os.OpenFile(b.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer func() { _ = w.Close() }()
	var all []byte
	for _, l := range lines {
		all = append(all, l...)
	}
	_, _ = w.Write(all)
}

// tail is the part that every record of the conversation ends with. withID adds
// the snake-case session id, which records made inside a request carry.
func (f *claudeFile) tail(withID bool) rec {
	return rec{}.when(withID, "session_id", f.session).add(
		"userType", "external", "entrypoint", f.entry, "cwd", f.cwd, "sessionId", f.session,
		"version", claudeVersion, "gitBranch", f.branch).when(f.slug != "", "slug", f.slug)
}

// put writes a record of the conversation behind the newest one.
func (f *claudeFile) put(uuid string, withID bool, body rec) {
	f.putHead(obj("parentUuid", orNull(f.leaf), "isSidechain", false), uuid, withID, body)
}

func (f *claudeFile) putHead(head rec, uuid string, withID bool, body rec) {
	f.leaf = uuid
	f.count++
	f.note(uuid, body)
	f.write(line(append(append(head, body...), f.tail(withID)...)))
}

// note keeps the newest records in mind for a compaction.
func (f *claudeFile) note(uuid string, body rec) {
	kind := ""
	for _, m := range body {
		switch v := m.val.(type) {
		case string:
			if m.key == "type" && kind == "" {
				kind = v
			}
		case rec:
			if m.key == "attachment" {
				kind, _ = v[0].val.(string)
			}
		}
		if m.key == "promptSource" {
			f.recent = nil // a prompt begins a new stretch
		}
	}
	if kind == "assistant" {
		f.recent = nil
	}
	f.recent = append(f.recent, recent{uuid, kind})
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// gitBranch is the branch of a checkout, HEAD outside of one.
func gitBranch(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		if b, err := os.ReadFile(filepath.Join(dir, ".git", "HEAD")); err == nil {
			if ref, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "ref: refs/heads/"); ok {
				return ref
			}
			return "HEAD"
		}
		if dir == "/" || dir == "." {
			return "HEAD"
		}
	}
}

// block writes the small records that say where the session stands.
func (c *claude) block() {
	f := c.file
	var ls [][]byte
	if c.lastPrompt != "" || f.leaf != "" {
		ls = append(ls, line(obj("type", "last-prompt").when(c.lastPrompt != "", "lastPrompt", c.lastPrompt).
			add("leafUuid", orNull(f.leaf), "sessionId", f.session)))
	}
	f.write(append(ls, c.standing()...)...)
}

func (c *claude) standing() [][]byte {
	id := c.file.session
	var ls [][]byte
	if c.name != "" {
		ls = append(ls, line(obj("type", "custom-title", "customTitle", c.name, "sessionId", id)),
			line(obj("type", "agent-name", "agentName", c.name, "sessionId", id)))
	}
	return append(ls,
		line(obj("type", "mode", "mode", "normal", "sessionId", id)),
		line(obj("type", "permission-mode", "permissionMode", c.wireMode(), "sessionId", id)),
		line(obj("type", "atis-latch", "atis", "", "sessionId", id)))
}

// attach writes an attachment record. rendered tells whether the record has the
// text that the model sees, and in which role.
func (c *claude) attach(withID bool, role string, attachment rec) {
	u := c.env.uuid4()
	body := obj("attachment", attachment, "type", "attachment", "uuid", u, "timestamp", stamp(c.env.Now()))
	if role != "" {
		body = body.add("rendered", []any{}, "renderedRole", role)
	}
	c.file.put(u, withID, body)
}

// setting describes the place to the model, once at the start and again after a
// compaction.
func (c *claude) setting(withID bool) {
	tools := []string{"CronCreate", "CronDelete", "CronList", "EnterPlanMode", "EnterWorktree", "ExitPlanMode", "ExitWorktree", "Monitor", "NotebookEdit", "SendMessage", "TaskStop", "WebFetch", "WebSearch"}
	env := obj("type", "environment", "snapshot", obj("workingDirectory", c.cwd, "isWorktree", false, "isGitRepo", c.file.branch != "HEAD",
		"additionalWorkingDirectories", orEmpty(c.o.addDirs), "platform", "linux", "shell", "bash", "osVersion", "Linux"))
	model := obj("type", "model", "identity", obj("modelId", c.model, "marketingName", modelName(c.model), "knowledgeCutoff", "June 2026"),
		"text", "Stand-in for "+modelName(c.model)+" ("+c.model+").")
	deferred := obj("type", "deferred_tools_delta", "addedNames", tools, "addedLines", tools, "removedNames", []any{}, "wireHiddenNames", []any{}, "readdedNames", []any{})
	if !withID {
		deferred = deferred.add("pendingMcpServers", []any{}, "failedMcpServers", []any{})
	}
	agents := obj("type", "agent_listing_delta", "addedLines", []any{}, "addedTypes", []string{"general-purpose"}, "builtInPluginTypes", []any{},
		"builtInTypes", []string{"general-purpose"}, "isInitial", true, "removedTypes", []any{}, "showConcurrencyNote", false)
	skills := obj("type", "skill_listing", "content", "", "digests", rec{}, "isInitial", true, "names", []any{}, "skillCount", 0)
	order := []rec{env, model, deferred, agents, skills}
	if withID {
		order = []rec{deferred, agents, skills, env, model}
	}
	for _, a := range order {
		c.attach(withID, "system", a)
	}
}

// moment tells the model the day and the like, at the first request of a session.
func (c *claude) moment() {
	c.attach(true, "", obj("type", "session_context", "context", rec{}))
	c.attach(true, "system", obj("type", "date", "date", c.env.Now().UTC().Format("2006-01-02")))
	u := c.env.uuid4()
	c.file.put(u, true, obj("attachment", obj("type", "remote_session_change", "url", nil, "commit", "Co-Authored-By: Claude "+modelName(c.model)+" <noreply@anthropic.com>",
		"pr", "Generated by a stand-in", "sendUserFileHint", false, "managedCommit", false, "managedPr", false),
		"type", "attachment", "uuid", u, "timestamp", stamp(c.env.Now()), "rendered", []any{}, "renderedRole", "user", "renderedBesideToolResult", true))
	c.attach(true, "", obj("type", "prompt_snapshot", "contextRendering", "stand-in", "echoWireToolInputs", false, "reminderFold", false, "systemPrompt", []any{}))
}

// request records that the model was asked, as 2.1.332 does.
func (c *claude) request(source string) (ref string) {
	ref = c.env.uuid4()
	id, now, hash := c.file.session, stamp(c.env.Now()), strings.Repeat("0", 64)
	if !c.shaped {
		c.shaped = true
		c.file.write(line(obj("type", "api-request-shape", "sessionId", id, "shapeHash", hash, "timestamp", now, "version", claudeVersion, "shape", rec{})))
	}
	c.file.write(
		line(obj("type", "api-request-blob", "sessionId", id, "hash", hash, "message", obj("role", "user", "content", "STAND-IN"))),
		line(obj("type", "api-request", "sessionId", id, "id", ref, "timestamp", now, "version", claudeVersion, "querySource", source, "shapeHash", hash,
			"params", rec{}, "thread", obj("type", "none"), "echoWireToolInputs", false, "keep", 0, "tail", []any{}, "cacheControl", []any{}, "requestDigest", hash)))
	return ref
}

// usage is the token use of an answer.
func (c *claude) usage() rec {
	return obj("input_tokens", 3, "cache_creation_input_tokens", 500, "cache_read_input_tokens", max(c.tokens-503, 0), "output_tokens", outTokens,
		"output_tokens_details", obj("thinking_tokens", 0), "server_tool_use", obj("web_search_requests", 0, "web_fetch_requests", 0),
		"service_tier", "standard", "cache_creation", obj("ephemeral_1h_input_tokens", 0, "ephemeral_5m_input_tokens", 0),
		"inference_geo", "", "iterations", []any{}, "speed", "standard", "fallback_credit", nil)
}

// outTokens is what every answer of a stand-in costs.
const outTokens = 40

// say records an answer, or a part of one.
func (c *claude) say(msgID, ref string, index int, stop string, content rec, aborted bool) string {
	u := c.env.uuid4()
	tool := content[0].val == "tool_use"
	body := obj("message", obj("id", msgID, "type", "message", "role", "assistant", "model", c.model, "content", []rec{content},
		"stop_reason", orNull(stop), "stop_sequence", nil, "usage", c.usage(), "stop_details", nil)).
		when(tool, "toolInputStreamMs", 1).
		add("apiBlockIndex", index, "requestId", "req_standin", "requestRef", ref, "requestedModel", c.model, "promptCacheRequested", "5m",
			"type", "assistant", "uuid", u, "timestamp", stamp(c.env.Now()), "effort", c.effort, "perTurnEffort", c.effort, "madeBy", "model").
		when(aborted, "isAbortedMidStream", true)
	c.file.put(u, true, body)
	return u
}

// synthetic records a message that the client itself puts into the assistant's mouth.
func (c *claude) synthetic(text string, withID bool, rest rec) {
	u := c.env.uuid4()
	c.file.put(u, withID, append(obj("type", "assistant", "uuid", u, "timestamp", stamp(c.env.Now()), "message",
		obj("diagnostics", nil, "id", c.env.uuid4(), "container", nil, "model", "<synthetic>", "role", "assistant", "stop_details", nil,
			"stop_reason", "stop_sequence", "stop_sequence", "", "type", "message", "usage",
			obj("output_tokens_details", nil, "input_tokens", 0, "output_tokens", 0, "cache_creation_input_tokens", 0, "cache_read_input_tokens", 0,
				"server_tool_use", obj("web_search_requests", 0, "web_fetch_requests", 0), "service_tier", nil,
				"cache_creation", obj("ephemeral_1h_input_tokens", 0, "ephemeral_5m_input_tokens", 0), "inference_geo", nil, "iterations", nil, "speed", nil, "fallback_credit", nil),
			"content", []rec{obj("type", "text", "text", text)}, "context_management", nil)), rest...))
}

// costState is written when a session ends.
func (c *claude) costState() {
	if !c.file.created {
		return
	}
	n := c.answers
	c.file.write(line(obj("type", "cost-state", "sessionId", c.file.session, "totalCostUSD", c.cost(), "totalAPIDuration", c.apiMS, "totalAPIDurationWithoutRetries", c.apiMS,
		"totalToolDuration", 0, "totalLinesAdded", c.linesAdded, "totalLinesRemoved", 0, "totalDuration", c.env.Now().Sub(c.started).Milliseconds(), "startTime", c.started.UnixMilli(),
		"modelUsage", obj(c.model, obj("inputTokens", 3*n, "outputTokens", outTokens*n, "thinkingTokens", 0, "cacheReadInputTokens", n*max(c.tokens-503, 0), "cacheCreationInputTokens", 500*n,
			"cacheCreationEphemeral5mInputTokens", 0, "cacheCreationEphemeral1hInputTokens", 0, "webSearchRequests", 0, "costUSD", c.cost())), "hasUnknownModelCost", false)))
}

func (c *claude) cost() float64 { return float64(c.answers) * 0.0034514 }

// history appends a prompt to the list of what was typed.
func (c *claude) history(prompt string) {
	appendLine(filepath.Join(c.paths.dir, "history.jsonl"), obj("display", prompt, "pastedContents", rec{}, "timestamp", c.env.Now().UnixMilli(), "project", c.cwd, "sessionId", c.file.session))
}

// modelName is the name that the client shows for a model id.
func modelName(id string) string {
	switch {
	case strings.Contains(id, "sonnet"):
		return "Sonnet 5.5"
	case strings.Contains(id, "haiku"):
		return "Haiku 5.5"
	}
	return "Opus 5.5"
}

// modelID expands an alias.
func modelID(s string) string {
	switch s {
	case "", "default", "opus":
		return "claude-opus-5-5"
	case "sonnet":
		return "claude-sonnet-5-5"
	case "haiku":
		return "claude-haiku-5-5"
	}
	return s
}

// clockTime is a time of day as the client writes it.
func clockTime(t time.Time) string { return t.Format("3:04 PM") }
