package transcript

import (
	"bytes"
	"errors"
	"io"
)

const (
	startBuffer   = 256 << 10 // enough for almost every line
	longLine      = 1 << 20   // from here on strings are shortened
	defaultString = 1 << 20
	defaultLine   = 16 << 20
)

// line is one line of the source. Its data is only valid until the next one.
type line struct {
	data []byte
	no   int   // 1-based
	off  int64 // byte offset of its first byte
	// leftOut is how many bytes of overlong strings were dropped from data.
	leftOut int64
	// tooLong is set, with data empty, when the line passed the ceiling.
	tooLong bool
	// ended is false for a last line without a newline.
	ended bool
	// nuls is set by trimLine when it removed NUL bytes.
	nuls bool
}

// lineReader cuts a stream into lines of any length in bounded memory. Lines up
// to longLine come whole; in longer ones every string is shortened, which turns
// a pasted image of 20 MB into a line of ordinary size.
type lineReader struct {
	r        io.Reader
	buf      []byte
	from, to int   // unread bytes are buf[from:to]
	off      int64 // source offset of buf[from]
	no       int
	short    shortener
	err      error // sticky; io.EOF at the end
	stalls   int
}

func newLineReader(r io.Reader, o Options) *lineReader {
	lr := &lineReader{r: r, buf: make([]byte, startBuffer)}
	lr.short.keep, lr.short.limit = o.MaxString, o.MaxLine
	if lr.short.keep <= 0 {
		lr.short.keep = defaultString
	}
	if lr.short.limit <= 0 {
		lr.short.limit = defaultLine
	}
	return lr
}

// next returns the next line, or false at the end of the source and on a read
// error; failure tells the two apart.
func (lr *lineReader) next() (line, bool) {
	searched := lr.from
	for {
		if n := bytes.IndexByte(lr.buf[searched:lr.to], '\n'); n >= 0 {
			return lr.take(searched + n), true
		}
		searched = lr.to
		if lr.to-lr.from >= longLine {
			return lr.takeLong(), true
		}
		moved := lr.room()
		searched -= moved
		if !lr.fill() {
			break
		}
	}
	if lr.from == lr.to {
		return line{}, false
	}
	l := line{data: lr.buf[lr.from:lr.to], no: lr.no + 1, off: lr.off}
	lr.advance(lr.to - lr.from)
	lr.no++
	return l, true
}

// take cuts the line that ends at buf[end] == '\n'.
func (lr *lineReader) take(end int) line {
	lr.no++
	l := line{data: lr.buf[lr.from:end], no: lr.no, off: lr.off, ended: true}
	lr.advance(end + 1 - lr.from)
	return l
}

// takeLong reads the rest of a line that passed longLine, shortening it.
func (lr *lineReader) takeLong() line {
	lr.no++
	l := line{no: lr.no, off: lr.off}
	lr.short.reset()
	for {
		n := bytes.IndexByte(lr.buf[lr.from:lr.to], '\n')
		if n >= 0 {
			lr.short.feed(lr.buf[lr.from : lr.from+n])
			lr.advance(n + 1)
			l.ended = true
			break
		}
		lr.short.feed(lr.buf[lr.from:lr.to])
		lr.advance(lr.to - lr.from)
		lr.room()
		if !lr.fill() {
			break
		}
	}
	l.data, l.leftOut, l.tooLong = lr.short.finish()
	return l
}

func (lr *lineReader) advance(n int) {
	lr.from += n
	lr.off += int64(n)
}

// room makes space behind the unread bytes and returns how far they moved.
func (lr *lineReader) room() int {
	if lr.from == lr.to {
		moved := lr.from
		lr.from, lr.to = 0, 0
		return moved
	}
	if lr.to < len(lr.buf) {
		return 0
	}
	moved := lr.from
	if lr.from < len(lr.buf)/2 {
		grown := make([]byte, 2*len(lr.buf))
		lr.to = copy(grown, lr.buf[lr.from:lr.to])
		lr.buf = grown
	} else {
		lr.to = copy(lr.buf, lr.buf[lr.from:lr.to])
	}
	lr.from = 0
	return moved
}

// fill reads once into the free space; false when nothing more will come.
func (lr *lineReader) fill() bool {
	for lr.err == nil {
		n, err := lr.r.Read(lr.buf[lr.to:])
		if n < 0 || n > len(lr.buf)-lr.to {
			n, err = 0, errBadReader
		}
		lr.to += n
		lr.err = err
		if n > 0 {
			lr.stalls = 0
			return true
		}
		// A reader that returns nothing and no error for ever would hang us.
		if lr.stalls++; lr.stalls > 100 && lr.err == nil {
			lr.err = io.ErrNoProgress
		}
	}
	return false
}

var errBadReader = errors.New("transcript: the source returned an impossible byte count")

// failure returns the read error that ended the stream, nil for its end.
func (lr *lineReader) failure() error {
	if errors.Is(lr.err, io.EOF) {
		return nil
	}
	return lr.err
}

// trimLine removes what damage, Windows tools and power loss leave around a
// record: a byte-order mark, carriage returns, blanks, blocks of NUL bytes.
func trimLine(l *line) {
	d := l.data
	if l.off == 0 {
		d = bytes.TrimPrefix(d, []byte("\xef\xbb\xbf"))
	}
	for len(d) > 0 && blank(d[0]) {
		l.nuls = l.nuls || d[0] == 0
		d = d[1:]
	}
	for len(d) > 0 && blank(d[len(d)-1]) {
		l.nuls = l.nuls || d[len(d)-1] == 0
		d = d[:len(d)-1]
	}
	l.data = d
}

func blank(ch byte) bool {
	return ch == ' ' || ch == '\t' || ch == '\r' || ch == 0
}
