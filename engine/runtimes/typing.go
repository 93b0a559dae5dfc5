package runtimes

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"rig/engine"
)

// lockLook is the time between tries to get a lock.
const lockLook = 10 * time.Millisecond

// Typing holds the folder of a session's reports, as LockFolder does. A folder that cannot
// be made or is not ours is CodeUnavailable.
func (f *Files) Typing(ctx context.Context, sessionID string) (release func(), err error) {
	if err := checkID(sessionID); err != nil {
		return nil, err
	}
	dir := f.SpoolDir(sessionID)
	if err := f.folders(filepath.Dir(dir), dir); err != nil {
		return nil, err
	}
	return LockFolder(ctx, dir)
}

// LockFolder holds a folder against others that ask for it so, in this process and in
// others, until release is called; the system gives it back when this process ends, however
// that ends. It waits as long as ctx allows, then gives CodeInProgress. CodeUnavailable: it
// is no folder, or cannot be opened.
func LockFolder(ctx context.Context, dir string) (release func(), err error) {
	d, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, filesError(dir, err)
	}
	for {
		err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = d.Close() }, nil // closing gives the lock back
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(filesError(dir, err), d.Close())
		}
		if err := wait(ctx, lockLook); err != nil {
			return nil, errors.Join(engine.Errorf(engine.CodeInProgress, "somebody else holds %s", dir).Wrap(err).WithHint("try again"), d.Close())
		}
	}
}
