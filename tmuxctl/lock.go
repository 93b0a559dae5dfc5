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
// changes sessions or starts a control client takes the same lock, a file beside the
// socket, for those few milliseconds.

// lockSuffix makes the lock file's name. tmux itself locks <socket>.lock while a
// client starts the server, so that name must never be ours: a start under our
// lock would wait for itself.
const lockSuffix = ".rig-lock"

func (r *runner) lockPath() string { return r.socket + lockSuffix }

// lockWait is how long somebody waits for a turn. Whoever holds the lock gives it
// back within one command's time, but a rig of two hundred seats may stand in the
// queue, on a busy machine.
const lockWait = time.Minute

// lockSessions takes the lock and returns its release. Where no lock file can be
// made, nobody of ours can agree on one, and there is nothing to wait for.
func (r *runner) lockSessions(ctx context.Context) (func(), error) {
	f, err := os.OpenFile(r.lockPath(), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return func() {}, nil //nolint:nilerr // see above
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	// The system queues those who wait in the call; trying again and again would
	// lose against somebody who changes one session after the other.
	taken := make(chan struct{})
	go func() {
		defer close(taken)
		for syscall.Flock(int(f.Fd()), syscall.LOCK_EX) == syscall.EINTR {
		} // any other failure: no locks on this file system
	}()
	select {
	case <-taken:
		return func() { f.Close() }, nil
	case <-ctx.Done():
	}
	go func() {
		<-taken
		f.Close()
	}()
	return nil, engine.Errorf(ctxCode(ctx.Err()), "another process holds %s", r.lockPath()).
		WithHint("try again; `rig doctor` shows who works on this server").Wrap(ctx.Err())
}
