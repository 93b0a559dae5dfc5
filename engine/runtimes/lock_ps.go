//go:build !linux

package runtimes

import (
	"errors"
	"os/exec"
	"strconv"
	"strings"
)

// lockHolder asks lsof which process has the file open, 0 for none: then it ends
// with status 1 and says nothing. An error means that nobody knows.
func lockHolder(path string) (int, error) {
	out, err := run("lsof", "-t", "--", path)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 && strings.TrimSpace(out) == "" {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
	return strconv.Atoi(first)
}
