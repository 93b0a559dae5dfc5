package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrCompressed is returned for files in a compressed form: the conversation
// exists, but its text cannot be read here.
var ErrCompressed = errors.New("the file is compressed and cannot be read as text")

// ErrNotFile is returned when a path names something other than a regular file.
var ErrNotFile = errors.New("not a regular file")

// ErrRuntime is returned for a runtime without a known record format.
var ErrRuntime = errors.New("no record format is known for this runtime")

// source is an open provider file. It is only ever read.
type source struct {
	f    *os.File
	size int64
}

// open opens a file for reading without ever blocking on a pipe that someone
// put in its place.
func open(path string) (*source, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open transcript: %w", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open transcript", Path: path, Err: ErrNotFile}
	}
	if err == nil {
		err = refuseCompressed(f, path)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return &source{f: f, size: info.Size()}, nil
}

func (s *source) close() { _ = s.f.Close() }

// refuseCompressed goes by the content, not by the name.
func refuseCompressed(r io.ReaderAt, path string) error {
	head := make([]byte, 4)
	n, err := r.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read transcript: %w", err)
	}
	for _, magic := range [][]byte{{0x28, 0xb5, 0x2f, 0xfd}, {0x1f, 0x8b}} {
		if bytes.HasPrefix(head[:n], magic) {
			return &fs.PathError{Op: "read transcript", Path: path, Err: ErrCompressed}
		}
	}
	return nil
}

// Read streams records of the given runtime from r; see [Claude] and [Codex].
func Read(r io.Reader, rt Runtime, o Options, emit func(Message)) (Summary, error) {
	switch rt {
	case RuntimeClaude:
		return Claude(r, o, emit)
	case RuntimeCodex:
		return Codex(r, o, emit)
	}
	return Summary{}, fmt.Errorf("%w: %q", ErrRuntime, rt)
}

// ReadFile streams a whole file. It fails with [ErrCompressed] on compressed
// files, with [ErrNotFile] on anything that is not a regular file, and with the
// system's error when the file cannot be opened or read.
func ReadFile(path string, rt Runtime, o Options, emit func(Message)) (Summary, error) {
	src, err := open(path)
	if err != nil {
		return Summary{}, err
	}
	defer src.close()
	return Read(src.f, rt, o, emit)
}

// ReadFrom streams the records of a growing file that begin at or after a byte
// offset, and returns the offset at which the next call should go on: behind
// the last complete line. Line numbers count from the offset. An offset beyond
// the end means that the file was replaced by a shorter one; nothing is read
// then and the offset comes back as 0.
func ReadFrom(path string, rt Runtime, offset int64, o Options, emit func(Message)) (Summary, int64, error) {
	src, err := open(path)
	if err != nil {
		return Summary{}, offset, err
	}
	defer src.close()
	if offset > src.size {
		return Summary{}, 0, nil
	}
	from, err := lineStart(src.f, offset, src.size)
	if err != nil {
		return Summary{}, offset, err
	}
	end, err := lastLineEnd(src.f, from, src.size)
	if err != nil {
		return Summary{}, offset, err
	}
	sum, err := readRange(src.f, from, end, rt, o, emit)
	return sum, end, err
}

// readRange streams the bytes [from, end) and reports offsets in the source.
func readRange(r io.ReaderAt, from, end int64, rt Runtime, o Options, emit func(Message)) (Summary, error) {
	shift := func(m Message) {
		m.Offset += from
		emit(m)
	}
	if emit == nil {
		shift = nil
	}
	o.middle = from > 0
	sum, err := Read(io.NewSectionReader(r, from, end-from), rt, o, shift)
	for i := range sum.Skipped {
		sum.Skipped[i].Offset += from
	}
	for i := range sum.Compactions {
		sum.Compactions[i].Offset += from
	}
	if sum.Usage != nil {
		sum.Usage.Offset += from
	}
	sum.Turn.Offset += from
	return sum, err
}

// lineStart returns the first line start at or after offset.
func lineStart(r io.ReaderAt, offset, size int64) (int64, error) {
	if offset <= 0 {
		return 0, nil
	}
	buf := make([]byte, tailBlock)
	for at := offset - 1; at < size; {
		n, err := readAt(r, buf, at, size)
		if err != nil {
			return 0, err
		}
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return at + int64(i) + 1, nil
		}
		at += int64(n)
	}
	return size, nil
}

// lastLineEnd returns the offset behind the last newline in [from, size), or
// from if there is none.
func lastLineEnd(r io.ReaderAt, from, size int64) (int64, error) {
	buf := make([]byte, tailBlock)
	for end := size; end > from; {
		start := max(end-tailBlock, from)
		n, err := readAt(r, buf[:end-start], start, size)
		if err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return start + int64(i) + 1, nil
		}
		end = start
	}
	return from, nil
}

// readAt fills buf from the source. Reading fewer bytes than the size promised
// means that the file was cut meanwhile, which ends the read with an error
// rather than with a guess.
func readAt(r io.ReaderAt, buf []byte, at, size int64) (int, error) {
	if left := size - at; int64(len(buf)) > left {
		buf = buf[:left]
	}
	n, err := r.ReadAt(buf, at)
	if n == len(buf) {
		return n, nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, fmt.Errorf("read transcript: %w", err)
}
