package runtimes

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rig/engine"
	"rig/engine/transcript"
)

// Codex is the runtime of Codex seats. It is safe for concurrent use.
type Codex struct {
	cfg     Config
	recent  *fileCache[transcript.Recent]
	heads   *fileCache[transcript.Head]
	threads *memo[clientKey, codexThread]
	paths   *memo[pathKey, string]
	hooks   hookMemo
}

var _ engine.Runtime = (*Codex)(nil)

// NewCodex makes the Codex runtime. It reads nothing until asked.
func NewCodex(c Config) *Codex {
	return &Codex{
		cfg: c.filled(),
		recent: newFileCache(func(path string) (transcript.Recent, error) {
			return transcript.ReadRecent(path, transcript.RuntimeCodex)
		}),
		heads: newFileCache(func(path string) (transcript.Head, error) {
			return transcript.ReadHead(path, transcript.RuntimeCodex)
		}),
		threads: newMemo[clientKey, codexThread](),
		paths:   newMemo[pathKey, string](),
		hooks:   newHookMemo(),
	}
}

// Name is "codex".
func (*Codex) Name() engine.RuntimeName { return engine.RuntimeCodex }

// Caps says what Codex can do. It compacts, but not under our guidance.
func (*Codex) Caps() engine.RuntimeCaps {
	return engine.RuntimeCaps{Resume: true, Fork: true, Usage: true, Prompt: true}
}

// ValidToken accepts a UUID. The error says what is wrong without quoting it.
func (*Codex) ValidToken(id string) error { return validToken(engine.RuntimeCodex, id) }

// Close releases the caches.
func (*Codex) Close() error { return nil }

// Line builds the launch line of Codex. The background server is always left
// out: it would outlive the pane, run on after it was killed and mix up whose
// hooks are whose. Without a policy and without a profile the client is told to
// ask, since its own default refuses some requests without asking.
func (c *Codex) Line(r engine.LaunchRequest) (engine.LaunchLine, error) {
	if err := checkRequest(r); err != nil {
		return engine.LaunchLine{}, err
	}
	line := base(r)
	post, err := postureOf(r.Seat.PermissionPolicy)
	if err != nil {
		return engine.LaunchLine{}, onLaunch(err, r.Address)
	}
	argv := append([]string(nil), c.cfg.Codex...)
	argv = append(argv, "--no-daemon", "-C", r.Seat.Cwd)
	if r.Seat.Model != "" {
		argv = append(argv, "-m", r.Seat.Model)
	}
	if r.Seat.Effort != "" {
		argv = append(argv, "-c", "model_reasoning_effort="+r.Seat.Effort)
	}
	if r.Seat.CodexProfile != "" {
		argv = append(argv, "-p", r.Seat.CodexProfile)
	}
	switch {
	case len(post.codex) > 0:
		argv = append(argv, post.codex...)
	case r.Seat.CodexProfile == "" && r.Seat.PermissionPolicy == "":
		argv = append(argv, postures["standard"].codex...)
	}
	words, token, err := codexStart(r.Start)
	if err != nil {
		return engine.LaunchLine{}, onLaunch(err, r.Address)
	}
	argv = append(argv, words...)
	line.Token = engine.NewResumeToken(token)
	if r.Prompt != "" {
		argv = append(argv, "--", r.Prompt)
		line.Prompt = true
	}
	line.Argv = argv
	return line, nil
}

// codexStart gives the subcommand that chooses the conversation. The id of a new
// one cannot be chosen and is learned from the running process.
func codexStart(s engine.Start) (words []string, token string, err error) {
	switch s := s.(type) {
	case engine.StartFresh:
		return nil, "", nil
	case engine.StartResume:
		if err := validToken(engine.RuntimeCodex, s.Token.Reveal()); err != nil {
			return nil, "", err
		}
		return []string{"resume", s.Token.Reveal()}, s.Token.Reveal(), nil
	case engine.StartFork:
		if err := validToken(engine.RuntimeCodex, s.Parent.Reveal()); err != nil {
			return nil, "", err
		}
		return []string{"fork", s.Parent.Reveal()}, "", nil
	}
	return nil, "", errNoStart()
}

// Preflight lists what would stop this launch.
func (c *Codex) Preflight(ctx context.Context, r engine.LaunchRequest) []engine.Blocker {
	line, err := c.Line(r)
	if err != nil {
		return []engine.Blocker{engine.BlockerFrom(err)}
	}
	out := preflight(r, line, line.Argv[0])
	if dir := lookup(line.Env, "CODEX_HOME"); dir != "" {
		if st, err := os.Stat(dir); err != nil || !st.IsDir() {
			out = append(out, engine.Blocker{
				Code: "codex_home_missing", Seat: r.Address, Message: "CODEX_HOME names a folder that is not there: " + dir,
				Hint: "create it, or unset CODEX_HOME",
			})
		}
	}
	switch s := r.Start.(type) {
	case engine.StartResume:
		st := c.Conversation(ctx, s.Token.Reveal(), r.Seat.Cwd, line.Homes)
		out = append(out, continueBlockers(r, st, "resumed", line.Homes.CodexDir)...)
	case engine.StartFork:
		st := c.Conversation(ctx, s.Parent.Reveal(), r.Seat.Cwd, line.Homes)
		st.Live = false
		out = append(out, continueBlockers(r, st, "forked", line.Homes.CodexDir)...)
	}
	return out
}

// codexThread is what the open files of a client say: the conversation it writes
// and where.
type codexThread struct {
	pid     int
	start   string
	id      string
	rollout string
	locks   time.Time // modification time of the lock folder when it was looked up
	looked  time.Time // by the clock of the probe
	several bool      // it holds more than one, as after /new: which it writes cannot be told
}

const lockDir = "thread-writer-locks"

// relook is how soon the open files are read again when the pane keeps moving
// but nothing else says that the conversation changed.
const relook = 2 * time.Second

// thread finds the conversation of the occupant's own process by the lock and
// rollout files that process, or a descendant of it, holds open.
func (c *Codex) thread(p engine.Probe) (t codexThread, ok bool, why string) {
	pid, start := c.cfg.root(p)
	if pid <= 0 {
		return t, false, "no process is known for this seat"
	}
	home := c.cfg.homes(p.Session.Homes).CodexDir
	var locks time.Time
	if st, err := os.Stat(filepath.Join(home, lockDir)); err == nil {
		locks = st.ModTime()
	}
	key := clientKey{pid, start, home}
	if have, hit := c.threads.get(key); hit && have.locks.Equal(locks) && !c.due(have, p) {
		if alive, err := c.cfg.Procs.lives(have.pid, have.start); err == nil && alive {
			return have, have.id != "", have.holds(home)
		}
	}
	if alive, err := c.cfg.Procs.lives(pid, start); err != nil || !alive {
		if err != nil {
			return t, false, "the process table cannot be read"
		}
		return t, false, "the process is gone"
	}
	tree, err := c.cfg.Procs.treeOf(pid, start)
	if err != nil {
		return t, false, "the process table cannot be read"
	}
	if len(tree) == 0 { // it ended since that look
		return t, false, "the process is gone"
	}
	t = codexThread{pid: tree[0].PID, start: tree[0].Start, locks: locks, looked: p.Now}
	why = t.holds(home)
	for _, proc := range tree {
		files, err := openFiles(proc.PID, under(home))
		if err != nil {
			why = "the open files of the process cannot be read"
			continue
		}
		if id, rollout := threadOf(files, home); id != "" {
			t.pid, t.start, t.id, t.rollout = proc.PID, proc.Start, id, rollout
			break
		} else if heldLocks(files, home) > 1 {
			t.several = true
			why = t.holds(home)
			break
		}
	}
	// A client that just started opens its files any moment: look again each time.
	if t.id != "" || engine.Passed(p.Started, p.Now, startPhase) {
		c.threads.put(key, t)
	}
	return t, t.id != "", why
}

// holds says why a client names no conversation.
func (t codexThread) holds(home string) string {
	if t.several {
		return "the process holds several conversations of " + home + " open, as after /new, and which one it writes cannot be told"
	}
	return "the process holds no conversation of " + home + " open"
}

// heldLocks counts the conversations whose writer lock is held.
func heldLocks(files []openFile, home string) int {
	n, dir := 0, filepath.Join(transcript.RealDir(home), lockDir)
	for _, f := range files {
		if f.locked && filepath.Dir(f.path) == dir && strings.HasSuffix(f.path, ".lock") {
			n++
		}
	}
	return n
}

// startPhase is how long a client that holds nothing open yet counts as starting.
const startPhase = time.Minute

// due tells whether the pane moved since the open files were last read.
func (*Codex) due(t codexThread, p engine.Probe) bool {
	if !engine.Passed(t.looked, p.Now, relook) {
		return false
	}
	return p.Pane.Activity.IsZero() || !p.Pane.Activity.Before(t.looked.Truncate(time.Second))
}

// openFile is a file that a process has open.
type openFile struct {
	path   string
	writes bool // it may write there
	locked bool // it holds the file's lock
}

// under asks for the open files of a Codex home.
func under(home string) func(path string) bool {
	root := transcript.RealDir(home) + string(filepath.Separator)
	return func(path string) bool { return strings.HasPrefix(path, root) }
}

// threadOf reads the conversation from open files: the writer lock names it from
// the launch on, the rollout from the first prompt on. Only a lock that is held and
// a rollout that is written count: a client that starts looks into the files of other
// conversations, its predecessor's too, and for that moment has them open (seen with
// 0.171). A client that holds several locks gives no answer.
func threadOf(files []openFile, home string) (id, rollout string) {
	real := transcript.RealDir(home)
	locks := map[string]bool{}
	rollouts := map[string]string{}
	for _, f := range files {
		dir, name := filepath.Split(f.path)
		if f.locked && filepath.Clean(dir) == filepath.Join(real, lockDir) {
			if stem, ok := strings.CutSuffix(name, ".lock"); ok && validToken(engine.RuntimeCodex, stem) == nil {
				locks[stem] = true
			}
		}
		if f.writes && strings.HasPrefix(f.path, filepath.Join(real, "sessions")+"/") && strings.HasPrefix(name, "rollout-") && strings.HasSuffix(name, ".jsonl") {
			if id := transcript.RolloutID(name); validToken(engine.RuntimeCodex, id) == nil {
				rollouts[id] = f.path
			}
		}
	}
	switch {
	case len(locks) == 1:
		for l := range locks {
			return l, rollouts[l]
		}
	case len(locks) == 0 && len(rollouts) == 1:
		for r, path := range rollouts {
			return r, path
		}
	}
	return "", ""
}
