//go:build !linux

package runtimes

import (
	"strconv"
	"strings"
)

// lockHolder asks lsof which process has the file open, 0 for none.
func lockHolder(path string) int {
	out, err := run("lsof", "-t", "--", path)
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		return 0
	}
	return pid
}
