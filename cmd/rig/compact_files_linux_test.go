package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// fileWatch keeps every event of the watched folders: inotify says what was made,
// renamed, removed and written; fanotify, where the machine allows it, says which
// process wrote.
type fileWatch struct {
	t    *testing.T
	mu   sync.Mutex
	made []string       // what appeared, vanished or was renamed
	pids map[int]string // who wrote, and one of the files
	ends []func()
}

const inotifyMask = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_MODIFY | unix.IN_ATTRIB

// watchFiles begins to watch folders, not their subfolders, and reports whether
// writers can be told apart.
func watchFiles(t *testing.T, dirs []string) (w *fileWatch, attributed bool) {
	t.Helper()
	w = &fileWatch{t: t, pids: map[int]string{}}
	w.inotify(dirs)
	return w, w.fanotify(dirs)
}

// reading reads events from a descriptor until the watch ends.
func (w *fileWatch) reading(fd int, each func([]byte)) {
	file := os.NewFile(uintptr(fd), "events")
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 64<<10)
		for {
			n, err := file.Read(buf)
			if err != nil {
				return
			}
			each(buf[:n])
		}
	}()
	w.ends = append(w.ends, func() {
		w.drained(file)
		if err := file.Close(); err != nil {
			w.t.Error(err)
		}
		<-done
	})
}

// drained waits until every event that the kernel holds was taken from it: the reader
// may not have had its turn since the last one.
func (w *fileWatch) drained(file *os.File) {
	raw, err := file.SyscallConn()
	if err != nil {
		w.t.Error(err)
		return
	}
	for left, until := 1, time.Now().Add(10*time.Second); left > 0 && err == nil && time.Now().Before(until); runtime.Gosched() {
		cerr := raw.Control(func(fd uintptr) { left, err = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
		err = errors.Join(err, cerr)
	}
	if err != nil {
		w.t.Error(err)
	}
}

func (w *fileWatch) inotify(dirs []string) {
	w.t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		w.t.Fatal(err)
	}
	names := map[int32]string{}
	for _, d := range dirs {
		wd, err := unix.InotifyAddWatch(fd, d, inotifyMask)
		if err != nil {
			w.t.Fatal(d, err)
		}
		names[int32(wd)] = d
	}
	w.reading(fd, func(b []byte) {
		for len(b) >= unix.SizeofInotifyEvent {
			wd, mask, n := int32(binary.NativeEndian.Uint32(b)), binary.NativeEndian.Uint32(b[4:]), binary.NativeEndian.Uint32(b[12:])
			name := strings.TrimRight(string(b[16:16+n]), "\x00")
			b = b[unix.SizeofInotifyEvent+n:]
			if mask&(unix.IN_MODIFY|unix.IN_ATTRIB) != 0 && mask&unix.IN_ISDIR != 0 {
				continue
			}
			w.mu.Lock()
			w.made = append(w.made, fmt.Sprintf("%s %s", eventWord(mask), filepath.Join(names[wd], name)))
			w.mu.Unlock()
		}
	})
}

func eventWord(mask uint32) string {
	for bit, word := range map[uint32]string{
		unix.IN_CREATE: "made", unix.IN_DELETE: "removed", unix.IN_MOVED_FROM: "renamed", unix.IN_MOVED_TO: "renamed to", unix.IN_MODIFY: "written", unix.IN_ATTRIB: "attributes",
	} {
		if mask&bit != 0 {
			return word
		}
	}
	return "?"
}

// fanotify notes the process behind each write. It needs the right to
// administrate the machine; without it false.
func (w *fileWatch) fanotify(dirs []string) bool {
	w.t.Helper()
	fd, err := unix.FanotifyInit(unix.FAN_CLASS_NOTIF|unix.FAN_NONBLOCK|unix.FAN_CLOEXEC, unix.O_RDONLY|unix.O_CLOEXEC)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		return false
	}
	if err != nil {
		w.t.Fatal(err)
	}
	for _, d := range dirs {
		if err := unix.FanotifyMark(fd, unix.FAN_MARK_ADD, unix.FAN_MODIFY|unix.FAN_CLOSE_WRITE|unix.FAN_EVENT_ON_CHILD, unix.AT_FDCWD, d); err != nil {
			w.t.Log("no fanotify here: ", err)
			return unix.Close(fd) != nil // false: it closes
		}
	}
	w.reading(fd, func(b []byte) {
		for len(b) >= 24 {
			n, file, pid := binary.NativeEndian.Uint32(b), int(int32(binary.NativeEndian.Uint32(b[16:]))), int(int32(binary.NativeEndian.Uint32(b[20:])))
			b = b[n:]
			name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", file))
			if err != nil {
				name = "?"
			}
			if file >= 0 && unix.Close(file) != nil {
				name += " (its descriptor stays)"
			}
			w.mu.Lock()
			w.pids[pid] = name
			w.mu.Unlock()
		}
	})
	return true
}

// end stops the watch and gives what it saw.
func (w *fileWatch) end() (made []string, pids map[int]string) {
	for _, f := range w.ends {
		f()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.made, w.pids
}

// providerDirs lists the folders in which the client keeps conversations, logins
// and settings.
func (w *world) providerDirs() []string {
	w.t.Helper()
	dirs := []string{w.home, filepath.Join(w.home, ".claude")}
	err := filepath.WalkDir(filepath.Join(w.home, ".claude", "projects"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return dirs
}

// TestProviderFilesAreNeverEdited takes a seat through a whole guided compaction
// and one by hand while every folder of the client's conversations, logins and
// settings is watched. Old bytes stay what they were and where they were; no file
// comes, goes or is renamed but those of the client; and where the machine tells
// who writes, each writer is the client itself. Where it does not, a writer that
// put the same bytes at the end as the client would is not found out by this.
func TestProviderFilesAreNeverEdited(t *testing.T) {
	w := newWorld(t)
	if err := os.WriteFile(filepath.Join(w.home, ".claude", ".credentials.json"), []byte(`{"claudeAiOauth":{"accessToken":"sk-ant-oat01-not-real"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	w.must("up", w.guided("pf", "", "Current work: HERON. Next owner: dev-qa@pf", "impl:claude-code"))
	w.fill("dev.impl", 900_000)
	client := w.client("dev.impl")
	before, inodes := w.providers(), map[string]uint64{}
	credentials := filepath.Join(w.home, ".claude", ".credentials.json")
	before[credentials] = []byte(`{"claudeAiOauth":{"accessToken":"sk-ant-oat01-not-real"}}`)
	for path := range before {
		inodes[path] = inodeOf(t, path)
	}
	watch, attributed := watchFiles(t, w.providerDirs())
	w.must("compact", "dev.impl")
	w.must("send", "dev.impl", "/compact once more")
	w.eventually("a second boundary", func() (bool, string) { return strings.Count(w.transcript(), `"compact_boundary"`) == 2, "" })
	w.must("wait", "dev.impl", "--until", "idle")
	w.must("compact", "dev.impl", "--state")
	w.must("compact-plan", "--refresh")
	made, pids := watch.end()
	if len(made) == 0 {
		t.Fatal("the watch saw nothing, not even the client's own records")
	}
	for path, old := range before {
		now, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if inodeOf(t, path) != inodes[path] {
			t.Errorf("%s is another file", path)
		}
		if strings.HasSuffix(path, ".jsonl") && !bytes.HasPrefix(now, old) || !strings.HasSuffix(path, ".jsonl") && !bytes.Equal(now, old) {
			t.Errorf("%s was changed", path)
		}
	}
	for _, e := range made {
		if !strings.HasPrefix(e, "written ") || !strings.HasSuffix(e, ".jsonl") {
			t.Errorf("%s", e)
		}
	}
	if !attributed {
		t.Log("this machine does not tell who writes: the writers were not compared")
		return
	}
	if len(pids) == 0 {
		t.Error("no writer was seen")
	}
	var others []string
	for pid, name := range pids {
		if pid != client {
			others = append(others, fmt.Sprintf("%d wrote %s", pid, name))
		}
	}
	if sort.Strings(others); len(others) > 0 {
		t.Errorf("the client is %d, but %s", client, strings.Join(others, "; "))
	}
}

func inodeOf(t *testing.T, path string) uint64 {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(path, err)
	}
	return st.Ino
}

// The watch itself finds a foreign writer, or the test above would prove nothing.
func TestWatchFindsAForeignWriter(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.jsonl")
	if err := os.WriteFile(file, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	watch, attributed := watchFiles(t, []string{dir})
	cmd := exec.Command("sh", "-c", `printf '{}\n' >> "$1" && mv "$1" "$1.old"`, "sh", file)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	made, pids := watch.end()
	if got := strings.Join(made, "; "); !strings.Contains(got, "written "+file) || !strings.Contains(got, "renamed to "+file+".old") {
		t.Errorf("saw %q", got)
	}
	if attributed && pids[cmd.Process.Pid] == "" {
		t.Errorf("%d wrote, and the watch says %v", cmd.Process.Pid, pids)
	}
}
