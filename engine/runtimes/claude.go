package runtimes

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"rig/engine"
	"rig/engine/transcript"
)

// Claude is the runtime of Claude Code seats. It is safe for concurrent use.
type Claude struct {
	cfg      Config
	registry *fileCache[claudeEntry]
	recent   *fileCache[transcript.Recent]
	found    *memo[clientKey, claudeClient]
	paths    *memo[pathKey, string]
	samples  *memo[string, sample]
	hooks    hookMemo
}

var _ engine.Runtime = (*Claude)(nil)

// NewClaude makes the Claude Code runtime. It reads nothing until asked.
func NewClaude(c Config) *Claude {
	return &Claude{
		cfg:      c.filled(),
		registry: newFileCache(loadClaudeEntry),
		recent: newFileCache(func(path string) (transcript.Recent, error) {
			return transcript.ReadRecent(path, transcript.RuntimeClaude)
		}),
		found:   newMemo[clientKey, claudeClient](),
		paths:   newMemo[pathKey, string](),
		samples: newMemo[string, sample](),
		hooks:   newHookMemo(),
	}
}

// Name is "claude-code".
func (*Claude) Name() engine.RuntimeName { return engine.RuntimeClaude }

// Caps says what Claude Code can do: everything we know of.
func (*Claude) Caps() engine.RuntimeCaps {
	return engine.RuntimeCaps{Resume: true, Fork: true, Usage: true, Prompt: true, Compacts: true}
}

// ValidToken accepts a UUID. The error says what is wrong without quoting it.
func (*Claude) ValidToken(id string) error { return validToken(engine.RuntimeClaude, id) }

// Close releases the caches.
func (*Claude) Close() error { return nil }

func validToken(rt engine.RuntimeName, id string) error {
	clean, err := engine.CheckNativeID(rt, id)
	if err != nil {
		return err
	}
	if clean != id {
		return engine.Errorf(engine.CodeInvalid, "the id has a line end behind it").WithHint("give the id alone")
	}
	return nil
}

// claudeEntry is one file of the client's session registry,
// <config>/sessions/<pid>.json. It is there from the ready prompt until a clean
// exit; a killed client leaves it behind, so pid and start time decide.
type claudeEntry struct {
	PID        int    `json:"pid"`
	SessionID  string `json:"sessionId"`
	Cwd        string `json:"cwd"`
	ProcStart  string `json:"procStart"`
	Version    string `json:"version"`
	Status     string `json:"status"`
	WaitingFor string `json:"waitingFor"`
	StatusMS   int64  `json:"statusUpdatedAt"`
	UpdatedMS  int64  `json:"updatedAt"`
	StartedMS  int64  `json:"startedAt"`
}

// at is when the client wrote its status; zero when it did not say.
func (e claudeEntry) at() time.Time {
	if e.StatusMS > 0 {
		return time.UnixMilli(e.StatusMS).UTC()
	}
	if e.UpdatedMS > 0 {
		return time.UnixMilli(e.UpdatedMS).UTC()
	}
	return time.Time{}
}

const maxRegistryFile = 1 << 20

func loadClaudeEntry(path string) (claudeEntry, error) {
	var e claudeEntry
	b, err := slurp(path, maxRegistryFile)
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(b, &e); err != nil {
		return e, errors.New("the registry file cannot be read: " + jsonFault(err))
	}
	if e.PID <= 0 {
		return e, errors.New("the registry file names no process")
	}
	return e, nil
}

// jsonFault describes a JSON error without quoting the content.
func jsonFault(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return "no valid JSON at byte " + itoa(int(syntax.Offset))
	case errors.As(err, &kind):
		return "the field " + printable(kind.Field, 40) + " has the wrong type"
	}
	return "no valid JSON"
}

// clientKey names one process that may be, or may hold, a client.
type clientKey struct {
	pid   int
	start string
	dir   string
}

// claudeClient is the process of a client and its registry file.
type claudeClient struct {
	pid   int
	start string
	path  string
}

// root is where the search for an occupant's client begins: the process the
// supervisor started, the one on record, or the pane's first process. start is
// what it must have started at, "" when that is not known.
func (c Config) root(p engine.Probe) (pid int, start string) {
	if p.RunKnown && p.Run.PID > 0 {
		return p.Run.PID, p.Run.PIDStart
	}
	if p.Session.PID > 0 {
		return p.Session.PID, p.Session.PIDStart
	}
	return p.Pane.PID, ""
}

// entry finds the registry entry of the occupant of a probe: that of the
// client's own process, or of a descendant when the client was started through
// a wrapper. An entry counts only if its pid lives and started when the entry
// says. why explains a miss.
func (c *Claude) entry(p engine.Probe) (e claudeEntry, ok bool, why string) {
	pid, start := c.cfg.root(p)
	if pid <= 0 {
		return e, false, "no process is known for this seat"
	}
	dir := filepath.Join(c.cfg.homes(p.Session.Homes).ClaudeDir, "sessions")
	key := clientKey{pid, start, dir}
	if have, hit := c.found.get(key); hit {
		if e, ok := c.check(have); ok {
			return e, true, ""
		}
		c.found.drop(key)
	}
	if alive, err := c.cfg.Procs.lives(pid, start); err != nil || !alive {
		if err != nil {
			return e, false, "the process table cannot be read"
		}
		return e, false, "the process is gone"
	}
	tree, err := c.cfg.Procs.treeOf(pid, start)
	if err != nil {
		return e, false, "the process table cannot be read"
	}
	why = "no registry file of this process in " + dir
	for _, proc := range tree {
		cl := claudeClient{proc.PID, proc.Start, filepath.Join(dir, itoa(proc.PID)+".json")}
		if _, err := os.Stat(cl.path); err != nil {
			continue
		}
		if e, ok := c.check(cl); ok {
			c.found.put(key, cl)
			return e, true, ""
		}
		why = "the registry file of pid " + itoa(proc.PID) + " belongs to another process or cannot be read"
	}
	return claudeEntry{}, false, why
}

// check reads an entry and verifies that it is that of the living process.
func (c *Claude) check(cl claudeClient) (claudeEntry, bool) {
	got, err := c.registry.get(cl.path)
	if err != nil && !got.good {
		return claudeEntry{}, false
	}
	e := got.value
	if e.PID != cl.pid || e.ProcStart != "" && e.ProcStart != cl.start {
		return claudeEntry{}, false
	}
	alive, err := c.cfg.Procs.lives(cl.pid, cl.start)
	return e, err == nil && alive
}
