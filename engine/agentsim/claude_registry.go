package agentsim

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// claudeRegistry is the file by which other programs see a live session.
type claudeRegistry struct {
	path    string
	fields  rec // up to the name
	name    string
	source  string // of the name: derived or user
	since   int64
	status  string
	waiting string
}

// newRegistry fills in what stays the same for the life of the process.
func (c *claude) newRegistry() {
	pid := os.Getpid()
	start := c.started.UnixMilli()
	c.reg.path = filepath.Join(c.paths.dir, "sessions", fmt.Sprintf("%d.json", pid))
	c.reg.fields = obj("pid", pid, "sessionId", c.file.session, "cwd", c.cwd, "startedAt", start, "procStart", procStart(),
		"version", claudeVersion, "peerProtocol", 1, "peerFeatures", []string{"notify_idle", "reply_across_default_dirs", "artifact_yield"},
		"kind", "interactive", "entrypoint", "cli", "pidDomain", pidDomain(), "asksForConvertedSkills", nil)
	if at := c.tmuxPlace(); at != "" {
		c.reg.fields = c.reg.fields.add("tmux", at)
	}
	c.reg.fields = c.reg.fields.add("messagingSocketPath", fmt.Sprintf("/tmp/cc-socks/%d.sock", pid))
	c.reg.since = start
	c.reg.name, c.reg.source = filepath.Base(c.cwd)+"-"+c.env.hex(2), "derived"
	if c.name != "" {
		c.reg.name, c.reg.source = c.name, "user"
	}
}

// setStatus rewrites the registry file; call it with the lock held.
func (c *claude) setStatus(status, waitingFor string) {
	if c.print {
		return
	}
	c.reg.status, c.reg.waiting = status, waitingFor
	now := c.env.Now().UnixMilli()
	r := make(rec, 0, len(c.reg.fields)+7)
	for _, f := range c.reg.fields {
		if f.key == "sessionId" {
			f.val = c.shownID()
		}
		r = append(r, f)
	}
	r = r.add("name", c.reg.name, "nameSource", c.reg.source, "nameSince", c.reg.since, "status", status, "updatedAt", now, "statusUpdatedAt", now).
		when(waitingFor != "", "waitingFor", waitingFor)
	b, err := plainJSON(r)
	if err != nil {
		return
	}
	_ = os.MkdirAll(filepath.Dir(c.reg.path), 0o700)
	writeWhole(c.reg.path, b)
}

// shownID is the session id for the outside: the fault other-id shows one that
// nobody asked for, as a client would that quietly began a new conversation.
func (c *claude) shownID() string {
	if c.otherID != "" {
		return c.otherID
	}
	return c.file.session
}

func (c *claude) dropRegistry() { _ = os.Remove(c.reg.path) }

// tmuxPlace asks tmux for "session:@window.%pane"; empty outside of tmux.
func (c *claude) tmuxPlace() string {
	socket, _, _ := strings.Cut(c.env.get("TMUX"), ",")
	pane := c.env.get("TMUX_PANE")
	if socket == "" || pane == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	res, err := c.env.Run(ctx, Child{
		Argv: []string{"tmux", "-u", "-S", socket, "display-message", "-p", "-t", pane, "#{session_name}:#{window_id}.#{pane_id}"},
		Dir:  c.cwd, Env: c.env.Vars,
	})
	if err != nil || res.Code != 0 {
		return ""
	}
	return strings.TrimSpace(string(res.Stdout))
}

// procStart is field 22 of /proc/self/stat: when the process started, in ticks.
func procStart() string {
	b, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return ""
	}
	s := string(b)
	f := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
	if len(f) < 20 {
		return ""
	}
	return f[19]
}

// pidDomain tells which process table the pid is from.
func pidDomain() string {
	id, err := os.ReadFile("/etc/machine-id")
	if err != nil {
		id = []byte(strings.Repeat("0", 32))
	}
	ns, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		ns = "pid:[0]"
	}
	return "linux:" + strings.TrimSpace(string(id)) + ":" + ns
}

// claudeAgents is the verb "agents --json": the live sessions of the registry.
func claudeAgents(e *Env, p claudePaths, asJSON bool) int {
	files, _ := filepath.Glob(filepath.Join(p.dir, "sessions", "*.json"))
	out := []rec{}
	for _, f := range files {
		var r struct {
			PID       int    `json:"pid"`
			CWD       string `json:"cwd"`
			Kind      string `json:"kind"`
			StartedAt int64  `json:"startedAt"`
			SessionID string `json:"sessionId"`
			Name      string `json:"name"`
			Status    string `json:"status"`
		}
		b, err := os.ReadFile(f)
		if err != nil || json.Unmarshal(b, &r) != nil {
			continue
		}
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", r.PID)); err != nil {
			continue
		}
		out = append(out, obj("pid", r.PID, "cwd", r.CWD, "kind", r.Kind, "startedAt", r.StartedAt, "sessionId", r.SessionID, "name", r.Name, "status", r.Status))
	}
	if !asJSON {
		for _, r := range out {
			fmt.Fprintln(e.Stdout, r[4].val, r[5].val, r[6].val)
		}
		return 0
	}
	b, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return 1
	}
	fmt.Fprintln(e.Stdout, string(b))
	return 0
}
