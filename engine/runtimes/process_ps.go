//go:build !linux

package runtimes

import (
	"context"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Everything here asks ps and lsof. It compiles for macOS and was not run there.

const psTimeout = 2 * time.Second

// psFields are the columns asked for; lstart is five words, comm is last since a
// path may hold blanks.
const psFields = "pid=,ppid=,pgid=,tpgid=,state=,lstart=,comm="

func run(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), psTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = []string{"LC_ALL=C", "PATH=/usr/bin:/bin:/usr/sbin:/sbin"}
	out, err := cmd.Output()
	return string(out), err
}

// readProcess asks ps about one process. ps ends with status 1 and says nothing
// when there is no such process.
func readProcess(pid int) (Process, bool, error) {
	if pid <= 0 {
		return Process{}, false, nil
	}
	out, err := run("ps", "-o", psFields, "-p", strconv.Itoa(pid))
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 && strings.TrimSpace(out) == "" {
		return Process{}, false, nil
	}
	if err != nil {
		return Process{}, false, err
	}
	p, ok := parsePS(out)
	return p, ok, nil
}

// parsePS reads one row of ps.
func parsePS(row string) (Process, bool) {
	f := strings.Fields(row)
	const words = 11
	if len(f) < words || f[4] == "" {
		return Process{}, false
	}
	var n [4]int
	for i := range n {
		v, err := strconv.Atoi(f[i])
		if err != nil {
			return Process{}, false
		}
		n[i] = v
	}
	comm := strings.Join(f[10:], " ")
	return Process{
		PID: n[0], PPID: n[1], Group: n[2], Front: n[3], State: f[4][0],
		Start: strings.Join(f[5:10], " "), Comm: comm[strings.LastIndexByte(comm, '/')+1:],
	}, true
}

func childrenOf(pid int) ([]int, error) {
	out, err := run("ps", "-axo", "pid=,ppid=")
	if err != nil {
		return nil, err
	}
	var kids []int
	for _, row := range strings.Split(out, "\n") {
		f := strings.Fields(row)
		if len(f) != 2 || f[1] != strconv.Itoa(pid) {
			continue
		}
		if n, err := strconv.Atoi(f[0]); err == nil {
			kids = append(kids, n)
		}
	}
	return kids, nil
}

// argvOf gives the words of a command line as far as ps tells them apart.
func argvOf(pid int) []string {
	out, err := run("ps", "-o", "args=", "-p", strconv.Itoa(pid))
	if err != nil {
		return nil
	}
	return strings.Fields(out)
}

// openFiles asks lsof which files a process has open, of those that are asked for. It
// does not tell every kind of lock, so who may write counts as who holds one.
func openFiles(pid int, of func(path string) bool) ([]openFile, error) {
	out, err := run("lsof", "-Fan", "-p", strconv.Itoa(pid))
	if err != nil {
		return nil, err
	}
	var files []openFile
	writes := false
	for _, row := range strings.Split(out, "\n") {
		switch {
		case strings.HasPrefix(row, "f"):
			writes = false
		case strings.HasPrefix(row, "a"):
			writes = row == "aw" || row == "au"
		case strings.HasPrefix(row, "n/") && of(row[1:]):
			files = append(files, openFile{path: row[1:], writes: writes, locked: writes})
		}
	}
	return files, nil
}

// bootID is the time of the boot.
func bootID() string {
	out, err := run("sysctl", "-n", "kern.boottime")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(out)
}
