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

// typingLook is the time between tries to get the right to type.
const typingLook = 10 * time.Millisecond

// Typing holds the folder of a session's reports with a lock of the system, which ends
// with this process however that ends. Errors: CodeInProgress when ctx ends first,
// CodeUnavailable for a folder that cannot be made or is not ours.
func (f *Files) Typing(ctx context.Context, sessionID string) (release func(), err error) {
	if err := checkID(sessionID); err != nil {
		return nil, err
	}
	dir := f.SpoolDir(sessionID)
	if err := f.folders(filepath.Dir(dir), dir); err != nil {
		return nil, err
	}
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
		if err := wait(ctx, typingLook); err != nil {
			return nil, errors.Join(engine.Errorf(engine.CodeInProgress, "somebody else types into it").Wrap(err).WithHint("try again"), d.Close())
		}
	}
}
