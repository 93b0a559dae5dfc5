package runtimes

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"
)

// fileStamp identifies a file's content without reading it.
type fileStamp struct {
	size  int64
	mtime time.Time
	inode uint64
}

// settle is how old a modification must have been when a file was read for its
// stamp to be trusted later. File systems stamp writes with a clock that ticks
// every few milliseconds, so two writes of one length inside a tick look alike.
const settle = 100 * time.Millisecond

// cached is what a file was last understood as. err is why the newest content
// could not be; value then still holds the last good one.
type cached[T any] struct {
	stamp  fileStamp
	racy   bool
	value  T
	good   bool
	goodAt time.Time // modification time of the content that value came from
	err    error
}

// fileCache keeps what files mean and reads one again only when its size,
// modification time or inode changed. It is safe for concurrent use.
type fileCache[T any] struct {
	load func(path string) (T, error)

	mu sync.Mutex
	m  map[string]cached[T]
}

func newFileCache[T any](load func(path string) (T, error)) *fileCache[T] {
	return &fileCache[T]{load: load, m: map[string]cached[T]{}}
}

// maxCacheEntries bounds a cache; beyond it everything is forgotten, which costs
// one more read of each file and nothing else.
const maxCacheEntries = 4096

// get gives a file's meaning. A missing file is fs.ErrNotExist. When the newest
// content cannot be understood the last good value comes back together with the
// error.
func (c *fileCache[T]) get(path string) (cached[T], error) {
	st, err := os.Stat(path)
	if err != nil {
		c.forget(path)
		var none cached[T]
		return none, err
	}
	stamp := stampOf(st)
	c.mu.Lock()
	have, ok := c.m[path]
	c.mu.Unlock()
	if ok && !have.racy && have.stamp == stamp {
		return have, have.err
	}
	now := time.Now()
	v, err := c.load(path)
	if errors.Is(err, fs.ErrNotExist) {
		c.forget(path)
		var none cached[T]
		return none, err
	}
	next := cached[T]{stamp: stamp, racy: now.Sub(stamp.mtime) < settle, value: have.value, good: have.good, goodAt: have.goodAt}
	if err == nil {
		next.value, next.good, next.goodAt = v, true, stamp.mtime
	}
	next.err = err
	c.mu.Lock()
	if len(c.m) >= maxCacheEntries {
		clear(c.m)
	}
	c.m[path] = next
	c.mu.Unlock()
	return next, err
}

func (c *fileCache[T]) forget(path string) {
	c.mu.Lock()
	delete(c.m, path)
	c.mu.Unlock()
}

var errTooLarge = errors.New("the file is larger than it can honestly be")
