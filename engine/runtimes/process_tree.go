package runtimes

import (
	"context"
	"os"
	"strconv"
	"syscall"
	"time"

	"rig/engine"
)

func itoa(n int) string { return strconv.Itoa(n) }

const (
	stopWait = 2 * time.Second // for a stopped process to be seen as stopped
	killWait = 5 * time.Second // for a killed process to be gone
	maxScans = 50              // rounds of looking for new descendants
)

// Stop freezes a process tree with SIGSTOP: a parent before its children, since
// only a stopped parent cannot start another one, and the tree is read again
// until a round finds nothing new. Descendants are found by parentage, so they
// are caught in whatever session or group they put themselves; one that made
// itself an orphan is not found. The supervisor of a pane is passed over (see
// Supervise), and so are this process and detached operations of the product with
// everything below them, which may have been started from inside the occupant.
//
// It returns the pids that are stopped, in that order, and those that could not
// be: no permission, or still running after two seconds.
func (ps *Processes) Stop(ctx context.Context, root int) (stopped, refused []int, err error) {
	s, r, err := ps.stopTree(ctx, root)
	return pidsOf(s), pidsOf(r), err
}

func pidsOf(procs []Process) []int {
	var out []int
	for _, p := range procs {
		out = append(out, p.PID)
	}
	return out
}

// stopTree is Stop with what is known of each process.
func (ps *Processes) stopTree(ctx context.Context, root int) (stopped, refused []Process, err error) {
	if err := checkRoot(root); err != nil {
		return nil, nil, err
	}
	done := map[int]string{}
	for range maxScans {
		tree, err := walkTree(root, ownBranch)
		if err != nil {
			return stopped, refused, procError("stop", root, err)
		}
		_, members := containerOf(tree)
		fresh := 0
		for _, p := range members {
			if p.gone() || done[p.PID] == p.Start {
				continue
			}
			done[p.PID] = p.Start
			fresh++
			if stopOne(ctx, p) {
				stopped = append(stopped, p)
			} else if alive, err := ps.Alive(p.PID, p.Start); alive || err != nil {
				refused = append(refused, p)
			}
		}
		if fresh == 0 {
			return stopped, refused, nil
		}
		if ctx.Err() != nil {
			return stopped, refused, ctx.Err()
		}
	}
	return stopped, refused, engine.Errorf(engine.CodeRuntime, "the process tree keeps growing while it is stopped").
		On("stop", itoa(root)).WithHint("look at it with `ps --forest -g %d`", root)
}

// stopOne stops one process and waits until the system says so.
func stopOne(ctx context.Context, p Process) bool {
	if p.frozen() {
		return true
	}
	if err := signalProcess(p, syscall.SIGSTOP); err != nil {
		return false
	}
	return eventually(ctx, stopWait, func() bool {
		now, ok, err := readProcess(p.PID)
		return err == nil && ok && now.Start == p.Start && now.frozen()
	})
}

// eventually polls until cond holds, at most for limit.
func eventually(ctx context.Context, limit time.Duration, cond func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		if cond() {
			return true
		}
		if wait(ctx, pollProcess) != nil {
			return cond()
		}
	}
}

// Continue thaws what Stop froze, children before their parents, so that no
// parent wakes up to a child that stands still. A pid that is gone or was never
// stopped is passed over.
func (*Processes) Continue(_ context.Context, pids []int) error {
	var failed []int
	var first error
	for i := len(pids) - 1; i >= 0; i-- {
		p, ok, err := readProcess(pids[i])
		if err == nil && (!ok || !p.frozen()) {
			continue
		}
		if err == nil {
			err = signalProcess(p, syscall.SIGCONT)
		}
		if err != nil {
			failed = append(failed, pids[i])
			if first == nil {
				first = err
			}
		}
	}
	if first != nil {
		return engine.Errorf(engine.CodeRuntime, "these processes could not be continued: %s", describe(failed)).
			On("continue", "").Wrap(first).WithHint("`kill -CONT %s` as the user that owns them", describe(failed))
	}
	return nil
}

// Kill ends a process tree: it is stopped first, so that nothing in it can start
// more, then killed, and waited for. A supervisor at the root is left to report
// the end and to go by itself; it is killed when it does not. No tree at all is
// no error. Errors name what is left.
func (ps *Processes) Kill(ctx context.Context, root int) error {
	if err := checkRoot(root); err != nil {
		return err
	}
	tree, err := ps.Tree(root)
	if err != nil {
		return procError("kill", root, err)
	}
	if len(tree) == 0 || tree[0].gone() {
		return nil
	}
	head, _ := containerOf(tree)
	stopped, refused, blind := ps.stopTree(ctx, root)
	victims := append(stopped, refused...)
	for _, p := range victims {
		_ = signalProcess(p, syscall.SIGKILL) // whatever is left is reported below
	}
	if blind != nil && ctx.Err() == nil {
		return blind // what was found is ended all the same: stopped it would stay
	}
	if left := ps.waitGone(ctx, victims); len(left) > 0 {
		return engine.Errorf(engine.CodeRuntime, "these processes could not be ended: %s", describe(left)).
			On("kill", itoa(root)).WithHint("`kill -9 %s` as the user that owns them", describe(left))
	}
	if head == nil {
		return nil
	}
	if eventually(ctx, stopWait, func() bool { a, err := ps.Alive(head.PID, head.Start); return err == nil && !a }) {
		return nil
	}
	_ = signalProcess(*head, syscall.SIGKILL)
	if left := ps.waitGone(ctx, []Process{*head}); len(left) > 0 {
		return engine.Errorf(engine.CodeRuntime, "the supervisor %d could not be ended", head.PID).
			On("kill", itoa(root)).WithHint("`kill -9 %d`", head.PID)
	}
	return nil
}

// waitGone waits until the processes are gone and returns those that are not. A
// process whose parent has not collected it yet counts as gone.
func (ps *Processes) waitGone(ctx context.Context, procs []Process) []int {
	var left []int
	eventually(ctx, killWait, func() bool {
		left = left[:0]
		for _, p := range procs {
			if alive, err := ps.Alive(p.PID, p.Start); alive || err != nil {
				left = append(left, p.PID)
			}
		}
		return len(left) == 0
	})
	return left
}

// checkRoot keeps us from signalling the init process, every process, or our
// own tree.
func checkRoot(root int) error {
	if root <= 1 || root == os.Getpid() {
		return engine.Errorf(engine.CodeInvalid, "%d is not a process tree of an occupant", root).
			WithHint("this is a fault of the program: report it")
	}
	return nil
}

func procError(op string, root int, err error) error {
	return engine.Errorf(engine.CodeUnavailable, "the process table cannot be read").
		On(op, itoa(root)).Wrap(err).WithHint("nothing was decided; look with `ps -p %d`", root)
}

// ContinueTree thaws whatever is stopped in a process tree, children before their
// parents: what a crash leaves when the list of what Stop froze is lost. No tree
// at all is no error.
func (ps *Processes) ContinueTree(ctx context.Context, root int) error {
	tree, err := ps.Tree(root)
	if err != nil {
		return err
	}
	pids := make([]int, len(tree))
	for i, p := range tree {
		pids[i] = p.PID
	}
	return ps.Continue(ctx, pids)
}
