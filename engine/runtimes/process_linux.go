package runtimes

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// maxStat is far beyond any stat line, in bytes.
const maxStat = 8 << 10

// readProcess reads /proc/PID/stat; false when there is no such process.
func readProcess(pid int) (Process, bool, error) {
	if pid <= 0 {
		return Process{}, false, nil
	}
	var p Process
	ok := false
	err := slurped("/proc/"+strconv.Itoa(pid)+"/stat", maxStat, func(b []byte) { p, ok = parseStat(b) })
	if hasEnded(err) {
		return Process{}, false, nil
	}
	if err != nil {
		return Process{}, false, err
	}
	if !ok || p.PID != pid {
		return Process{}, false, errors.New("/proc stat of " + strconv.Itoa(pid) + " has an unknown form")
	}
	return p, true, nil
}

// parseStat reads one stat line. The program name stands in parentheses and may
// hold anything, parentheses and line ends too, so fields are counted from the
// last closing one.
func parseStat(b []byte) (Process, bool) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 1 || end < open {
		return Process{}, false
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(b[:open])))
	const startField = 19 // field 22 of the line; f[0] is field 3
	var f [startField + 1][]byte
	n := 0
	for word := range bytes.FieldsSeq(b[end+1:]) {
		f[n] = word
		if n++; n == len(f) {
			break
		}
	}
	if err != nil || n < len(f) || len(f[0]) != 1 {
		return Process{}, false
	}
	p := Process{PID: pid, State: f[0][0], Start: string(f[startField]), Comm: string(b[open+1 : end])}
	var errs [3]error
	p.PPID, errs[0] = strconv.Atoi(string(f[1]))
	p.Group, errs[1] = strconv.Atoi(string(f[2]))
	p.Front, errs[2] = strconv.Atoi(string(f[5]))
	return p, errs[0] == nil && errs[1] == nil && errs[2] == nil
}

// maxChildren bounds a list of children, in bytes: 4 million processes.
const maxChildren = 32 << 20

// childrenOf lists the children of a process. The kernel keeps such a list per
// thread; where that was not compiled in, the whole table is read instead.
func childrenOf(pid int) ([]int, error) {
	dir := "/proc/" + strconv.Itoa(pid) + "/task"
	tasks, err := os.ReadDir(dir)
	if hasEnded(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []int
	for _, t := range tasks {
		b, err := slurp(filepath.Join(dir, t.Name(), "children"), maxChildren)
		if errors.Is(err, fs.ErrNotExist) && !hasChildLists() {
			return scanChildren(pid)
		}
		if err != nil && !hasEnded(err) {
			return nil, err
		}
		for _, w := range strings.Fields(string(b)) {
			if n, err := strconv.Atoi(w); err == nil {
				out = append(out, n)
			}
		}
	}
	return out, nil
}

// hasEnded recognises how the system says that a process or thread is not there any
// more. Anything else, such as too many open files, says nothing of it.
func hasEnded(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) }

// hasChildLists tells a kernel without the lists from a thread that ended.
func hasChildLists() bool {
	pid := strconv.Itoa(os.Getpid())
	_, err := os.Stat("/proc/" + pid + "/task/" + pid + "/children")
	return err == nil
}

// scanChildren finds children by reading every process.
func scanChildren(parent int) ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var out []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		p, ok, err := readProcess(pid)
		if err != nil {
			return nil, err
		}
		if ok && p.PPID == parent {
			out = append(out, pid)
		}
	}
	return out, nil
}

// argvOf gives the command line of a process, nil when it cannot be read.
func argvOf(pid int) []string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil || len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}

// openFiles gives the files that a process has open and that are asked for. A name
// alone proves little: clients read each other's files.
func openFiles(pid int, of func(path string) bool) ([]openFile, error) {
	dir := "/proc/" + strconv.Itoa(pid)
	entries, err := os.ReadDir(dir + "/fd")
	if err != nil {
		return nil, err
	}
	var out []openFile
	for _, e := range entries {
		target, err := os.Readlink(filepath.Join(dir, "fd", e.Name()))
		if err != nil || !strings.HasPrefix(target, "/") || !of(target) {
			continue
		}
		info, err := os.ReadFile(filepath.Join(dir, "fdinfo", e.Name()))
		if err != nil {
			continue // closed since
		}
		out = append(out, openedAs(target, string(info)))
	}
	return out, nil
}

// openedAs reads how a file is open from its fdinfo, as proc(5) has it: the flags in
// octal, and a line for each lock that is held through this opening.
func openedAs(path, info string) openFile {
	f := openFile{path: path}
	for line := range strings.Lines(info) {
		key, value, _ := strings.Cut(line, ":")
		switch key {
		case "flags":
			flags, err := strconv.ParseUint(strings.TrimSpace(value), 8, 64)
			f.writes = err == nil && flags&uint64(os.O_RDWR|os.O_WRONLY) != 0
		case "lock":
			f.locked = f.locked || strings.Contains(value, " WRITE ")
		}
	}
	return f
}

// bootID is new with every boot.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
