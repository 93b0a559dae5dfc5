package runtimes

import (
	"context"
	"errors"
	"os"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"

	"rig/engine"
)

// Process is one live process as the system describes it.
type Process struct {
	PID, PPID int
	Group     int
	Front     int  // foreground group of its terminal, -1 = none or not known
	State     byte // R, S, D, T, Z …
	Start     string
	Comm      string // program name, cut by the system; untrusted
}

// gone reports whether nothing of the process runs any more.
func (p Process) gone() bool { return p.State == 'Z' || p.State == 'X' }

// frozen reports whether it is stopped by a signal.
func (p Process) frozen() bool { return p.State == 'T' || p.State == 't' }

// Processes implements engine.Processes. On Linux it reads /proc; elsewhere it
// asks ps, which was compiled for but not tried on macOS. It is safe for
// concurrent use.
type Processes struct {
	boot func() string
	seen *memo[int, sighting]
}

// sighting is a process as it was a moment ago.
type sighting struct {
	proc Process
	ok   bool
	at   time.Time
}

// glanceFor is how long a look at a process serves the judgements of one round,
// which ask for the same one several times.
const glanceFor = 20 * time.Millisecond

var _ engine.Processes = (*Processes)(nil)

// NewProcesses makes the reader; it does nothing until asked.
func NewProcesses() *Processes {
	return &Processes{boot: sync.OnceValue(bootID), seen: newMemo[int, sighting]()}
}

// glance is Info that may be a few milliseconds old. Nothing that acts on a
// process may use it.
func (ps *Processes) glance(pid int) (Process, bool, error) {
	if s, hit := ps.seen.get(pid); hit && time.Since(s.at) < glanceFor {
		return s.proc, s.ok, nil
	}
	p, ok, err := ps.Info(pid)
	if err == nil && pid > 0 {
		ps.seen.put(pid, sighting{p, ok, time.Now()})
	}
	return p, ok, err
}

// Glance is Start by a look that may be a few milliseconds old: for pictures only.
func (ps *Processes) Glance(pid int) (string, bool, error) {
	p, ok, err := ps.glance(pid)
	return p.Start, ok, err
}

// lives is Alive by a glance.
func (ps *Processes) lives(pid int, start string) (bool, error) {
	p, ok, err := ps.glance(pid)
	return ok && (start == "" || p.Start == start), err
}

// Start gives the start time of a live process: on Linux field 22 of
// /proc/PID/stat (clock ticks since boot), which is also what Claude Code writes
// into its registry as procStart. A zombie counts as gone.
func (*Processes) Start(pid int) (string, bool, error) {
	p, ok, err := readProcess(pid)
	if err != nil || !ok || p.gone() {
		return "", false, err
	}
	return p.Start, true, nil
}

// Boot identifies this boot of the machine, "" when the system does not say.
func (ps *Processes) Boot() string { return ps.boot() }

// Self is the owner record of this process.
func (ps *Processes) Self(label string) engine.Owner {
	o := engine.Owner{PID: os.Getpid(), Boot: ps.Boot(), Label: label}
	if start, ok, err := ps.Start(o.PID); err == nil && ok {
		o.PIDStart = start
	}
	return o
}

// Info describes one live process; false when there is provably none.
func (*Processes) Info(pid int) (Process, bool, error) {
	p, ok, err := readProcess(pid)
	if err != nil || !ok || p.gone() {
		return Process{}, false, err
	}
	return p, true, nil
}

// Alive reports whether pid is the very process that started at start. An empty
// start matches any life of that pid. Unknown is an error.
func (ps *Processes) Alive(pid int, start string) (bool, error) {
	if pid <= 0 {
		return false, nil
	}
	have, ok, err := ps.Start(pid)
	return ok && (start == "" || have == start), err
}

// Tree lists root and its live descendants, parents before children. It costs a
// few file reads per process on Linux.
func (*Processes) Tree(root int) ([]Process, error) { return walkTree(root, nil) }

// treeOf is Tree of the very process that started at start; nothing when that one is
// gone, whoever has its number now.
func (ps *Processes) treeOf(pid int, start string) ([]Process, error) {
	tree, err := ps.Tree(pid)
	if len(tree) > 0 && start != "" && tree[0].Start != start {
		return nil, err
	}
	return tree, err
}

// walkTree is Tree without the branches that leave out names.
func walkTree(root int, leaveOut func(pid int) bool) ([]Process, error) {
	p, ok, err := readProcess(root)
	if err != nil || !ok {
		return nil, err
	}
	out := []Process{p}
	seen := map[int]bool{root: true}
	for i := 0; i < len(out) && len(out) < maxTree; i++ {
		kids, err := childrenOf(out[i].PID)
		if err != nil {
			return out, err
		}
		sort.Ints(kids)
		for _, pid := range kids {
			if seen[pid] || leaveOut != nil && leaveOut(pid) {
				continue
			}
			seen[pid] = true
			k, ok, err := readProcess(pid)
			if err != nil {
				return out, err
			}
			if ok {
				out = append(out, k)
			}
		}
	}
	return out, nil
}

// maxTree bounds a walk; an occupant with more processes than this is treated as
// far as the walk came, and the next round of Stop or Kill takes the rest.
const maxTree = 4096

// pollProcess is how often a wait for a process state looks again.
const pollProcess = 5 * time.Millisecond

// wait blocks for d or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// signalProcess sends sig to a process if it still is the one that was meant.
// A process that is gone is no error.
func signalProcess(p Process, sig syscall.Signal) error {
	now, ok, err := readProcess(p.PID)
	if err != nil {
		return err
	}
	if !ok || now.gone() || now.Start != p.Start {
		return nil
	}
	err = syscall.Kill(p.PID, sig)
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// containerOf gives what Stop and Kill act on below root. The supervisor of a
// pane is a container only: tmux answers the stop of a pane's first process with
// a continue, and the supervisor must live to report how the client ended.
func containerOf(tree []Process) (head *Process, members []Process) {
	if len(tree) == 0 {
		return nil, nil
	}
	if isSupervisor(tree[0].PID) {
		return &tree[0], tree[1:]
	}
	return nil, tree
}

// ownBranch recognises what must go on although it may have been started from
// inside an occupant: this very process, and the detached process of an operation,
// which is a child of the agent's tool as long as the command that started it
// follows it. Both may have children of their own, such as tmux.
func ownBranch(pid int) bool {
	if pid == os.Getpid() {
		return true
	}
	argv := argvOf(pid)
	return len(argv) >= 2 && argv[1] == OperationVerb
}

// isSupervisor recognises our own supervisor by its command line.
func isSupervisor(pid int) bool {
	argv := argvOf(pid)
	return len(argv) == 3 && argv[1] == SupervisorVerb && strings.HasSuffix(argv[2], launchSuffix)
}

// describe renders a pid list for messages.
func describe(pids []int) string {
	words := make([]string, 0, len(pids))
	for _, p := range pids {
		words = append(words, itoa(p))
	}
	return strings.Join(words, ", ")
}
