package runtimes

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestSlurp(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []int{0, 1, 1023, 1024, 1025, 5000, 64 << 10} {
		want := bytes.Repeat([]byte("x"), n)
		path := filepath.Join(dir, itoa(n))
		if err := os.WriteFile(path, want, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := slurp(path, 64<<10); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: %d %v", n, len(got), err)
		}
		if _, err := slurp(path, int64(n)-1); n > 0 && !errors.Is(err, errTooLarge) {
			t.Errorf("%d bytes where fewer are allowed: %v", n, err)
		}
	}
	if _, err := slurp(filepath.Join(dir, "none"), 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := slurp(dir, 10); err == nil {
		t.Error("a folder was read")
	}
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := slurp(fifo, 10); len(got) > 0 {
		t.Errorf("a pipe that nobody writes to: %q %v", got, err)
	}
}
