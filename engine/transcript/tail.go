package transcript

import (
	"bytes"
	"io"
)

const (
	tailBlock = 64 << 10
	// tailWhole is the longest line a backward read keeps as it is; longer ones
	// go through the shortening line reader.
	tailWhole = 1 << 20
	// tailBudget is how far back a tail read looks. It makes the cost of a tail
	// read independent of the file's size: a few milliseconds at most.
	tailBudget = 32 << 20
	// tailLines bounds the same for files of very many short lines.
	tailLines = 10_000
)

// backward walks the lines of a file from its end.
type backward struct {
	r      io.ReaderAt
	size   int64
	budget int64
	// buf holds the bytes [pos, pos+len(buf)) that are not handed out yet.
	buf []byte
	pos int64
	// scanned is how far back the walk got.
	scanned int64
}

func newBackward(r io.ReaderAt, size int64) *backward {
	return &backward{r: r, size: size, budget: tailBudget, pos: size}
}

// walk calls fn for each line, the last one first, until fn returns false, the
// file begins, or the budget is spent. It reports whether the file's beginning
// was reached. The line's data is only valid during the call.
func (b *backward) walk(fn func(line) bool) (complete bool, err error) {
	ended := false
	for {
		l, ok, err := b.line()
		if err != nil {
			return false, err
		}
		if !ok {
			return b.pos == 0 && len(b.buf) == 0, nil
		}
		l.ended = ended
		ended = true
		if len(l.data) == 0 && !l.tooLong {
			continue
		}
		if !fn(l) {
			return false, nil
		}
	}
}

// line cuts the last line off the unread part.
func (b *backward) line() (line, bool, error) {
	end := b.pos + int64(len(b.buf))
	if end == 0 {
		return line{}, false, nil
	}
	searched := 0 // bytes at the end of buf known to hold no newline
	for {
		if n := bytes.LastIndexByte(b.buf[:len(b.buf)-searched], '\n'); n >= 0 {
			l := line{data: b.buf[n+1:], off: b.pos + int64(n) + 1}
			b.buf = b.buf[:n]
			if n == 0 && b.pos == 0 {
				return l, true, nil
			}
			return l, true, nil
		}
		if b.pos == 0 {
			l := line{data: b.buf, off: 0}
			b.buf = b.buf[:0]
			return l, end > 0, nil
		}
		if len(b.buf) > tailWhole {
			return b.long(end)
		}
		searched = len(b.buf)
		if more, err := b.prepend(); err != nil || !more {
			return line{}, false, err
		}
	}
}

// prepend reads one block before the unread part, if the budget allows.
func (b *backward) prepend() (bool, error) {
	if b.scanned >= b.budget || b.pos == 0 {
		return false, nil
	}
	n := min(b.pos, max(tailBlock, int64(len(b.buf))))
	joined := make([]byte, n+int64(len(b.buf)))
	if _, err := readAt(b.r, joined[:n], b.pos-n, b.size); err != nil {
		return false, err
	}
	copy(joined[n:], b.buf)
	b.buf, b.pos = joined, b.pos-n
	b.scanned += n
	return true, nil
}

// long finds where an overlong line begins without keeping it, and then reads
// it through the shortening reader.
func (b *backward) long(end int64) (line, bool, error) {
	block := make([]byte, 4*tailBlock)
	start := int64(-1)
	at := b.pos
	for start < 0 {
		if at == 0 {
			start = 0
			break
		}
		if b.scanned >= b.budget {
			return line{}, false, nil
		}
		n := min(at, int64(len(block)))
		if _, err := readAt(b.r, block[:n], at-n, b.size); err != nil {
			return line{}, false, err
		}
		b.scanned += n
		at -= n
		if i := bytes.LastIndexByte(block[:n], '\n'); i >= 0 {
			start = at + int64(i) + 1
		}
	}
	lr := newLineReader(io.NewSectionReader(b.r, start, end-start), Options{})
	l, _ := lr.next()
	if err := lr.failure(); err != nil {
		return line{}, false, err
	}
	l.off = start
	b.pos, b.buf = max(start-1, 0), b.buf[:0]
	return l, true, nil
}
