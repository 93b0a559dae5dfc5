package runtimes

import (
	"bytes"
	"io/fs"
	"sync"
	"syscall"
)

// scratch holds buffers that a file is read into before it is known how long it is.
// A look at a fleet reads hundreds of small files, and the first touch of memory
// costs more than the reading.
var scratch = sync.Pool{New: func() any { return new([2 << 10]byte) }}

// slurp reads a whole file of at most limit bytes with four system calls, where
// [os.ReadFile] needs nine: a look at a fleet reads hundreds of small files, and
// most of its time goes into asking the kernel. A file that is not regular is read
// as far as that needs no waiting. Errors are [fs.PathError]s; a larger file is
// errTooLarge.
func slurp(path string, limit int64) (out []byte, err error) {
	err = slurped(path, limit, func(b []byte) { out = bytes.Clone(b) })
	return out, err
}

// slurped gives what slurp reads to a function that keeps none of it.
func slurped(path string, limit int64, use func([]byte)) error {
	fd, err := again(func() (int, error) {
		return syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	})
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = syscall.Close(fd) }() // nothing was written
	room := scratch.Get().(*[2 << 10]byte)   //nolint:forcetypeassert // nothing else is put there
	defer scratch.Put(room)
	buf := room[:0:min(limit+1, int64(len(room)))]
	for {
		n, err := again(func() (int, error) { return syscall.Read(fd, buf[len(buf):cap(buf)]) })
		if err != nil {
			return &fs.PathError{Op: "read", Path: path, Err: err}
		}
		buf = buf[:len(buf)+n]
		switch {
		case int64(len(buf)) > limit:
			return errTooLarge
		case n == 0:
			use(buf)
			return nil
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
