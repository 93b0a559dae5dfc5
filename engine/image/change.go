package image

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"rig/engine"
)

// asidePath is where an operation keeps an image that it takes out.
func (l *Library) asidePath(opID string, at engine.ImageRef) (string, error) {
	if err := checkOp(opID); err != nil {
		return "", err
	}
	if _, err := l.dir(at); err != nil {
		return "", err
	}
	r, err := l.root(at.Root)
	if err != nil {
		return "", err
	}
	leaf := at.Version
	if leaf == "" {
		leaf = ".link" // no version begins with a dot
	}
	return filepath.Join(r.Path, ".aside-"+opID, at.Name, leaf), nil
}

// SetAside renames an image out of the library. A link is renamed itself.
func (l *Library) SetAside(ctx context.Context, opID string, at engine.ImageRef) error {
	return l.move(ctx, opID, at, func(dir, aside string) error {
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			return engine.Errorf(engine.CodeImageNotFound, "agent image %s v%s is gone", at.Name, at.Version).WithHint("`rig agent-image list` shows what is there")
		}
		if err := os.MkdirAll(filepath.Dir(aside), 0o700); err != nil {
			return writeError(at.Name, err)
		}
		if err := os.Rename(dir, aside); err != nil {
			return writeError(at.Name, err)
		}
		if at.Version != "" {
			_ = os.Remove(filepath.Dir(dir)) // only when it was the last version
		}
		return nil
	})
}

// PutBack renames an image into the library again; one that was not taken out
// stays where it is.
func (l *Library) PutBack(ctx context.Context, opID string, at engine.ImageRef) error {
	return l.move(ctx, opID, at, func(dir, aside string) error {
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
			return writeError(at.Name, err)
		}
		if err := os.Rename(aside, dir); err != nil {
			return writeError(at.Name, err)
		}
		clearAside(aside)
		return nil
	})
}

// Discard removes what was set aside. Links below it are removed, not followed.
func (l *Library) Discard(ctx context.Context, opID string, at engine.ImageRef) error {
	return l.move(ctx, opID, at, func(_, aside string) error {
		if err := os.RemoveAll(aside); err != nil {
			return writeError(at.Name, err)
		}
		clearAside(aside)
		return nil
	})
}

// clearAside removes the folders around an image that was set aside, when they
// are empty.
func clearAside(aside string) {
	_ = os.Remove(filepath.Dir(aside))
	_ = os.Remove(filepath.Dir(filepath.Dir(aside)))
}

// IsAside says whether the operation has set the image aside.
func (l *Library) IsAside(opID string, at engine.ImageRef) bool {
	path, err := l.asidePath(opID, at)
	if err != nil {
		return false
	}
	_, err = os.Lstat(path)
	return err == nil
}

func (l *Library) move(ctx context.Context, opID string, at engine.ImageRef, fn func(dir, aside string) error) error {
	aside, err := l.asidePath(opID, at)
	if err != nil {
		return err
	}
	dir, err := l.dir(at)
	if err != nil {
		return err
	}
	r, err := l.root(at.Root)
	if err != nil {
		return err
	}
	unlock, err := lock(ctx, r.Path)
	if err != nil {
		return err
	}
	defer unlock()
	if at.Version != "" {
		if info, err := os.Lstat(filepath.Dir(dir)); err == nil && !info.IsDir() {
			return engine.Errorf(engine.CodeImageInvalid, "%s is no folder", filepath.Dir(dir)).WithHint("`rig agent-image delete %s` removes a link itself", at.Name)
		}
	}
	return fn(dir, aside)
}

// SetPin writes or removes the sentinel of a pin.
func (l *Library) SetPin(ctx context.Context, at engine.ImageRef, when time.Time) error {
	return l.change(ctx, at, func(dir string) error {
		path := filepath.Join(dir, pinName)
		if when.IsZero() {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			return nil
		}
		return replace(path, pinText(when))
	})
}

// CountFork adds one to the forks of an image. Counting processes wait for each
// other, so that none is lost.
func (l *Library) CountFork(ctx context.Context, at engine.ImageRef, when time.Time) error {
	return l.change(ctx, at, func(dir string) error {
		now := readStats(dir)
		s := stats{ForkCount: now.ForkCount + 1, LastUsedAt: when.UTC(), SizeBytes: folderSize(dir), Lineage: []string{}}
		if r, err := l.root(at.Root); err == nil {
			if img, _, err := l.load(r, at.Name, at.Version, dir); err == nil {
				s.Lineage = img.Lineage
			}
		}
		b, err := json.Marshal(s)
		if err != nil {
			return err
		}
		return replace(filepath.Join(dir, statsName), append(b, '\n'))
	})
}

// change runs a change inside one image's folder, which must be a real one.
func (l *Library) change(ctx context.Context, at engine.ImageRef, fn func(dir string) error) error {
	dir, err := l.dir(at)
	if err != nil {
		return err
	}
	r, err := l.root(at.Root)
	if err != nil {
		return err
	}
	for _, d := range []string{filepath.Dir(dir), dir} {
		if info, err := os.Lstat(d); err != nil || !info.IsDir() {
			return engine.Errorf(engine.CodeImageNotFound, "agent image %s v%s is no folder of the library", at.Name, at.Version).
				WithHint("`rig agent-image list` shows what is there")
		}
	}
	unlock, err := lock(ctx, r.Path)
	if err != nil {
		return err
	}
	defer unlock()
	if err := fn(dir); err != nil {
		return engine.Errorf("stats_write_failed", "agent image %s v%s cannot be changed", at.Name, at.Version).Wrap(err).
			WithHint("check the permissions of %s", dir)
	}
	return nil
}

// replace writes a file beside the old one and renames it, so that a reader sees
// all of one or all of the other.
func replace(path string, b []byte) error {
	tmp := filepath.Join(filepath.Dir(path), ".tmp-"+filepath.Base(path))
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := writeNew(tmp, b); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return syncDir(filepath.Dir(path))
}

// lock holds a root against other processes. It is given up when ctx ends.
func lock(ctx context.Context, root string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(root, ".lock"), os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, writeError("library", err)
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return func() { _ = f.Close() }, nil // closing gives the lock back
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(writeError("library", err), f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(engine.Errorf(engine.CodeInProgress, "somebody else changes the library of agent images").Wrap(ctx.Err()).WithHint("try again"), f.Close())
		case <-tick.C:
		}
	}
}
