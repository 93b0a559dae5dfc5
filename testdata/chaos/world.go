//go:build linux

package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	_ "modernc.org/sqlite" // the record is written to by hand: work items, and a lock that nobody gives back
)

// commandLimit is how long one command line may take before it counts as hung.
const commandLimit = 100 * time.Second

// undoWindow is how long a handover can be taken back in this world.
const undoWindow = 4 * time.Second

// seat is one seat of the fleet.
type seat struct {
	Address string `json:"address"`
	Rig     string `json:"rig"`
	Logical string `json:"logical"`
	agent   bool
}

// work is one inbound work item that was put on record before the storm.
type work struct {
	ID    string `json:"id"`
	Seat  string `json:"seat"`
	Title string `json:"title"`
}

// world is the fleet, and what was done to it.
type world struct {
	options
	manner  string // in which way the disk fills up
	disk    string // what can fill up
	home    string // RIG_HOME
	project string
	socket  string // of the fleet's tmux server
	clock   string // file with the shift of every clock
	said    string // everything that rig printed
	env     []string
	seats   []seat
	works   []work
	small   bool // the disk is a small one of our own

	tried     atomic.Int64 // command lines that change something, and wizards
	byConsole atomic.Int64
	onRecord  int
	mu        sync.Mutex
	rng       *rand.Rand
	counts    map[string]int // faults by kind
	codes     map[string]int // refusals by code
	faultsOn  map[string]int // windows that are open now, by kind
	problems  []string
	out       *os.File
}

// newWorld makes homes, brings two rigs up and puts work on record.
func newWorld(ctx context.Context, o options) (*world, error) {
	w := &world{
		options: o, disk: filepath.Join(o.dir, "d"), socket: filepath.Join(o.dir, "s"), clock: filepath.Join(o.dir, "clock"),
		said: filepath.Join(o.dir, "said"), rng: rand.New(rand.NewSource(o.seed)), //nolint:gosec // a run can be repeated by its seed
		counts: map[string]int{}, codes: map[string]int{}, faultsOn: map[string]int{},
	}
	w.rig = filepath.Join(o.dir, "bin", "rig")
	w.small = o.stage == stageWorld
	w.manner = "a file size limit stands in for the full disk"
	if w.small {
		w.manner = "in namespaces of its own, on a disk of 96 MB"
	}
	w.home, w.project = filepath.Join(w.disk, "rig"), filepath.Join(w.disk, "project")
	home := filepath.Join(w.disk, "home")
	for _, d := range []string{w.project, filepath.Join(home, ".claude"), filepath.Join(home, ".codex")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	claude, codex := w.client("claude"), w.client("codex")
	w.env = []string{
		"HOME=" + home, "RIG_HOME=" + w.home, "RIG_TMUX_SOCKET=" + w.socket, "RIG_CONFIG=" + filepath.Join(o.dir, "config.yaml"),
		"RIG_CLAUDE_COMMAND=" + claude, "RIG_CODEX_COMMAND=" + codex, "RIG_CHAOS_CLOCK=" + w.clock, "RIG_CHAOS_UNDO=" + undoWindow.String(),
		"PATH=" + os.Getenv("PATH"), "USER=chaos", "SHELL=/bin/sh", "LANG=C.UTF-8", "TERM=xterm-256color", "AGENTSIM_START_MS=1", "PS1=$ ",
	}
	files := map[string]string{
		filepath.Join(home, ".claude.json"):          fmt.Sprintf(`{"hasCompletedOnboarding":true,"projects":{%q:{"hasTrustDialogAccepted":true}}}`, w.project),
		filepath.Join(home, ".codex", "config.toml"): fmt.Sprintf("model = \"gpt-5.5-codex\"\n[features]\ndaemon_auto_start = false\n[projects.%q]\ntrust_level = \"trusted\"\n", w.project),
		filepath.Join(o.dir, "config.yaml"):          "launch:\n  ready_timeout: 10s\nsnapshots:\n  every: 20s\n",
		filepath.Join(o.dir, "alpha.yaml"):           w.spec("alpha", "c1", "c2", "x1", "x2", "t1", "t2", "t3"),
		filepath.Join(o.dir, "beta.yaml"):            w.spec("beta", "c1", "x1", "t1", "t2", "t3", "t4"),
	}
	for path, text := range files {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	var err error
	if w.out, err = os.OpenFile(w.said, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return nil, err
	}
	return w, w.populate(ctx)
}

// client is the command of a stand-in, as rig reads it.
func (w *world) client(kind string) string {
	b, err := json.Marshal([]string{w.rig, "agentsim", kind})
	if err != nil {
		return ""
	}
	return string(b)
}

// spec is a rig of one pod: c… are Claude seats, x… Codex seats, t… shells.
func (w *world) spec(name string, members ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "version: \"0.2\"\nname: %s\npods:\n  - id: dev\n    label: Development\n    members:\n", name)
	for _, m := range members {
		runtime, agent, profile := "terminal", "terminal", "none"
		switch m[0] {
		case 'c':
			runtime, agent, profile = "claude-code", "agent", "default"
		case 'x':
			runtime, agent, profile = "codex", "agent", "default"
		}
		fmt.Fprintf(&b, "      - {id: %s, runtime: %s, agent_ref: \"builtin:%s\", profile: %s, cwd: %q}\n", m, runtime, agent, profile, w.project)
		w.seats = append(w.seats, seat{"dev-" + m + "@" + name, name, "dev." + m, m[0] != 't'})
	}
	return b.String()
}

// populate brings the rigs up, prompts every agent once, and puts work on record.
func (w *world) populate(ctx context.Context) error {
	slices.SortFunc(w.seats, func(a, b seat) int { return strings.Compare(a.Address, b.Address) })
	for _, name := range []string{"alpha", "beta"} {
		if r := w.do(ctx, "up", filepath.Join(w.dir, name+".yaml")); r.code != 0 {
			return fmt.Errorf("up %s: exit %d: %s", name, r.code, r.text)
		}
	}
	for _, s := range w.seats {
		if s.agent {
			w.do(ctx, "send", s.Address, "hello", "--verify")
		}
	}
	return w.putWork(ctx)
}

// putWork writes three work items a seat, by plain SQL.
func (w *world) putWork(ctx context.Context) error {
	db, err := w.open("rw")
	if err != nil {
		return err
	}
	defer db.Close()
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	for i, s := range w.seats {
		for j, state := range []string{"pending", "claimed", "blocked"} {
			item := work{fmt.Sprintf("01CHAOS%011d%08d", i, j), s.Address, fmt.Sprintf("item %d of %s", j, s.Address)}
			_, err := db.ExecContext(ctx, `INSERT INTO work_items SELECT ?, s.id, ?, 'body', ?, CASE WHEN ? = 'claimed' THEN s.generation ELSE 0 END, 'chaos', '', ?, ?, 1
				FROM seats s JOIN rigs r ON r.id = s.rig_id WHERE s.pod || '-' || s.member || '@' || r.name = ?`, item.ID, item.Title, state, state, now, now, s.Address)
			if err != nil {
				return fmt.Errorf("work of %s: %w", s.Address, err)
			}
			w.works = append(w.works, item)
		}
	}
	return nil
}

// open opens the record beside rig, without any of rig's code.
func (w *world) open(mode string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.home, "rig.db")+"?mode="+mode+"&_pragma=busy_timeout(20000)")
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// result is how a command line ended.
type result struct {
	code int
	text string // both streams
	doc  struct {
		Code      string `json:"code"`
		Operation struct {
			ID string `json:"id"`
		} `json:"operation"`
	}
}

// do runs rig with --json under no limit of its own.
func (w *world) do(ctx context.Context, args ...string) result { return w.doAs(ctx, nil, args...) }

// doAs runs rig behind a prefix of words, such as a limit, and looks at how it ended.
func (w *world) doAs(ctx context.Context, prefix []string, args ...string) result {
	whole := ctx
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	words := slices.Concat(prefix, []string{w.rig}, args, []string{"--json"})
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	var out, errs bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = w.env, w.project, &out, &errs, time.Second
	err := cmd.Run()
	r := result{text: out.String() + errs.String(), code: -1}
	if cmd.ProcessState != nil {
		r.code = cmd.ProcessState.ExitCode()
	}
	_ = json.Unmarshal(out.Bytes(), &r.doc) // a command that was killed printed nothing, or half of it
	w.note(args, r, err, ctx.Err() != nil && whole.Err() == nil, len(prefix) > 0)
	return r
}

// note keeps what was printed and remarks what must not happen: a crash, a command that hangs, a refusal that blames the program.
func (w *world) note(args []string, r result, err error, late, limited bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(w.out, "$ rig %s\n%s# %d %v\n", strings.Join(args, " "), r.text, r.code, err)
	if r.doc.Code != "" {
		w.codes[r.doc.Code]++
	}
	line := fmt.Sprintf("rig %s: %.1500s", strings.Join(args, " "), r.text)
	switch {
	case late && args[0] != "compact": // which may wait for an agent that was killed
		w.problems = append(w.problems, "took too long: "+line)
	case strings.Contains(r.text, "goroutine ") && !limited && w.faultsOn["process table"] == 0:
		w.problems = append(w.problems, "crashed: "+line)
	case r.code > 2 && !limited && w.faultsOn["process table"] == 0:
		w.problems = append(w.problems, fmt.Sprintf("exit %d: %s", r.code, line))
	case strings.Contains(r.text, "unknown flag") || strings.Contains(r.text, "unknown command"):
		w.problems = append(w.problems, "the suite says what rig does not know: "+line)
	case strings.Contains(r.text, "fault of the program"), r.doc.Code == "internal":
		w.problems = append(w.problems, "blames itself: "+line)
	}
}

// wrong remarks a finding.
func (w *world) wrong(format string, a ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problems = append(w.problems, fmt.Sprintf(format, a...))
}

// tmux runs tmux on the fleet's server, or on the operators' one.
func (w *world) tmux(ctx context.Context, socket string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-u", "-f", "/dev/null", "-S", socket}, args...)...)
	cmd.Env, cmd.Dir = w.env, w.project
	out, err := cmd.CombinedOutput()
	return strings.TrimRight(string(out), "\n"), err
}

// pick gives a number below n; every choice of the run comes from here.
func (w *world) pick(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rng.Intn(n)
}

// hit counts a fault that took place.
func (w *world) hit(kind string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts[kind]++
}

// injected is the number of faults so far.
func (w *world) injected() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, c := range w.counts {
		n += c
	}
	return n
}

// remove ends the servers and what they ran.
func (w *world) remove() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for _, s := range []string{w.socket, w.operators()} {
		_, _ = w.tmux(ctx, s, "kill-server") // it may be gone already
	}
	for _, p := range w.processes() {
		if p.pid != os.Getpid() && strings.Contains(p.line, w.dir+"/") {
			_ = syscall.Kill(p.pid, syscall.SIGKILL)
		}
	}
	_ = w.out.Close()
}

// report prints the figures; the result is the exit status.
func (w *world) report(ctx context.Context, took time.Duration) int {
	kinds := slices.Sorted(maps.Keys(w.counts))
	fmt.Printf("\nfaults:\n")
	for _, k := range kinds {
		fmt.Printf("  %-26s %d\n", k, w.counts[k])
		if w.counts[k] < min(10, w.rounds) {
			w.wrong("only %d faults of kind %s", w.counts[k], k)
		}
	}
	fmt.Printf("refusals by code: %v\n", w.codes)
	if w.onRecord < w.ops || w.injected() < w.faults {
		w.wrong("%d operations and %d faults, want %d and %d", w.onRecord, w.injected(), w.ops, w.faults)
	}
	slices.Sort(w.problems)
	for _, p := range slices.Compact(w.problems) {
		fmt.Println("PROBLEM", p)
	}
	fmt.Printf("seed %d: %d operations on record (%d command lines, %d wizards), %d faults of %d kinds in %s; problems: %d\n",
		w.seed, w.onRecord, w.tried.Load(), w.byConsole.Load(), w.injected(), len(kinds), took.Round(time.Second), len(w.problems))
	if w.keep || len(w.problems) > 0 {
		w.copyRecord(ctx, w.dir)
	}
	if len(w.problems) > 0 || ctx.Err() != nil {
		return 1
	}
	return 0
}
