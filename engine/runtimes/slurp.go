package runtimes

import (
	"io/fs"
	"syscall"
)

// slurp reads a whole file of at most limit bytes with four system calls, where
// [os.ReadFile] needs nine: a look at a fleet reads hundreds of small files, and
// most of its time goes into asking the kernel. A file that is not regular is read
// as far as that needs no waiting. Errors are [fs.PathError]s; a larger file is
// errTooLarge.
func slurp(path string, limit int64) ([]byte, error) {
	fd, err := again(func() (int, error) {
		return syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = syscall.Close(fd) }() // nothing was written
	buf := make([]byte, 0, min(limit+1, 1024))
	for {
		n, err := again(func() (int, error) { return syscall.Read(fd, buf[len(buf):cap(buf)]) })
		if err != nil {
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		buf = buf[:len(buf)+n]
		switch {
		case int64(len(buf)) > limit:
			return nil, errTooLarge
		case n == 0:
			return buf, nil
		case len(buf) == cap(buf):
			buf = append(buf, 0)[:len(buf)] // more room
		}
	}
}

// again repeats a system call that a signal interrupted.
func again(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != syscall.EINTR { //nolint:errorlint // a system call returns the bare number
			return n, err
		}
	}
}
