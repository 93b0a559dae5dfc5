package runtimes

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A client that starts looks into the files of its predecessor, which stands still
// with its lock held: what it only reads is not its conversation.
func TestWhatIsOnlyReadIsNoConversation(t *testing.T) {
	home := t.TempDir()
	file := func(path string, flag int) *os.File {
		t.Helper()
		path = filepath.Join(home, path)
		write(t, path, "")
		f, err := os.OpenFile(path, flag, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	found := func() (string, string) {
		t.Helper()
		files, err := openFiles(os.Getpid(), under(home))
		if err != nil {
			t.Fatal(err)
		}
		id, rollout := threadOf(files, home)
		return id, filepath.Base(rollout)
	}
	const day = "sessions/2026/03/03/rollout-2026-03-03T10-00-00-"
	file(day+parent+".jsonl", os.O_RDONLY)
	other := file(lockDir+"/"+parent+".lock", os.O_RDWR) // somebody else's, tried in vain
	if id, rollout := found(); id != "" {
		t.Errorf("what is read is taken for its own: %s, %s", id, rollout)
	}
	if pid, err := lockHolder(other.Name()); err != nil || pid != 0 {
		t.Errorf("a lock that nobody holds is held by %d, %v", pid, err)
	}
	mine := file(day+thread+".jsonl", os.O_RDWR|os.O_APPEND)
	if id, rollout := found(); id != thread || rollout != filepath.Base(mine.Name()) {
		t.Errorf("by the rollout that it writes: %s, %s", id, rollout)
	}
	lock := file(lockDir+"/"+thread+".lock", os.O_RDWR)
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	if id, rollout := found(); id != thread || rollout != filepath.Base(mine.Name()) {
		t.Errorf("by the lock that it holds: %s, %s", id, rollout)
	}
	if pid, err := lockHolder(lock.Name()); err != nil || pid != os.Getpid() {
		t.Errorf("its lock is held by %d, %v", pid, err)
	}
}
