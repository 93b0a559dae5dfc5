package tmuxctl

import (
	"context"
	"os"
	"syscall"
	"time"

	"rig/engine"
)

// Before 3.7 a server crashes when a session comes, goes or is renamed in the moment
// in which a control client is still introducing itself: it notifies a client that
// has no state yet. All agents die with the server. So every process of ours that
// changes sessions and every one that starts a control client agree on a lock file
// beside the socket: changes share it, a start has it alone.

// lockSuffix makes the lock file's name. tmux itself locks <socket>.lock while a
// client starts the server, so that name must never be ours: a start under our
// shared lock would wait for itself.
const lockSuffix = ".rig-lock"

// lockPoll is how often a taken lock is tried again.
const lockPoll = 5 * time.Millisecond

// lockPath is the lock file. tmux has one of its own, named like the socket with
// ".lock", which it takes while it starts a server.
func (r *runner) lockPath() string { return r.socket + ".sessions" }

// lockSessions takes the lock and returns its release. Where no lock file can be
// made, nobody of ours can agree on one, and there is nothing to wait for.
func (r *runner) lockSessions(ctx context.Context, exclusive bool) (func(), error) {
	f, err := os.OpenFile(r.socket+lockSuffix, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return func() {}, nil //nolint:nilerr // see above
	}
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	ctx, cancel := context.WithTimeout(ctx, defaultTimeout)
	defer cancel()
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if err != syscall.EWOULDBLOCK && err != syscall.EINTR {
			f.Close()
			return func() {}, nil // no locks on this file system
		}
		if !pause(ctx, lockPoll) {
			f.Close()
			return nil, engine.Errorf(ctxCode(ctx.Err()), "another process holds %s%s", r.socket, lockSuffix).
				WithHint("try again; `rig doctor` shows who works on this server").Wrap(ctx.Err())
		}
	}
}
