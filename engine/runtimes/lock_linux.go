package runtimes

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
)

// lockHolder gives the pid of a process that holds the lock, 0 for none. A lock file
// that a killed client left behind has no holder, and who only looks at it is none. Processes of other
// users cannot be looked into; they would need our permission to write there. An
// error means that nobody knows.
func lockHolder(path string) (int, error) {
	want, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		files, err := openFiles(pid, func(f string) bool { return f == path || sameName(f, path) })
		if err != nil {
			continue
		}
		for _, f := range files {
			if st, err := os.Stat(f.path); err == nil && f.locked && os.SameFile(st, want) {
				return pid, nil
			}
		}
	}
	return 0, nil
}

// sameName cheaply rules out most open files before they are looked at.
func sameName(a, b string) bool {
	const tail = 41 // a UUID and ".lock"
	return len(a) >= tail && len(b) >= tail && a[len(a)-tail:] == b[len(b)-tail:]
}
