package main

import (
	"bytes"
	"io"
)

// indenter writes the compact JSON that it is given with a line for each member,
// indented by two blanks, as [json.Indent] would: without parsing it anew, and
// without a second copy of a document that is as long as a fleet is wide.
type indenter struct {
	w     io.Writer
	buf   []byte
	depth int
}

// indentChunk is how much is handed on at once, in bytes.
const indentChunk = 32 << 10

// Write takes a whole document, the line end behind it included.
func (t *indenter) Write(doc []byte) (int, error) {
	from := 0
	for i := 0; i < len(doc); i++ {
		c := doc[i]
		if !structural[c] {
			continue
		}
		switch c {
		case '"':
			i += stringEnd(doc[i+1:]) + 1
			continue
		case '{', '[':
			if i+1 < len(doc) && (doc[i+1] == '}' || doc[i+1] == ']') {
				i++ // empty: nothing to indent
				continue
			}
			t.depth++
			t.buf = t.line(append(t.buf, doc[from:i+1]...))
		case '}', ']':
			t.depth--
			t.buf = append(t.line(append(t.buf, doc[from:i]...)), c)
		case ',':
			t.buf = t.line(append(t.buf, doc[from:i+1]...))
		case ':':
			t.buf = append(append(t.buf, doc[from:i+1]...), ' ')
		}
		from = i + 1
		if len(t.buf) >= indentChunk {
			if err := t.flush(); err != nil {
				return 0, err
			}
		}
	}
	t.buf = append(t.buf, doc[from:]...)
	return len(doc), t.flush()
}

// structural are the bytes that mean something outside of a string.
var structural = [256]bool{'"': true, '{': true, '[': true, '}': true, ']': true, ',': true, ':': true}

// stringEnd is where the quote stands that ends a string: one that an even number of
// backslashes precedes.
func stringEnd(s []byte) int {
	for at := 0; ; at++ {
		n := bytes.IndexByte(s[at:], '"')
		if n < 0 {
			return len(s)
		}
		at += n
		from := at
		for from > 0 && s[from-1] == '\\' {
			from--
		}
		if (at-from)%2 == 0 {
			return at
		}
	}
}

// line begins a new line.
func (t *indenter) line(b []byte) []byte {
	b = append(b, '\n')
	for range t.depth {
		b = append(b, "  "...)
	}
	return b
}

// flush hands on what is ready. A piece never ends within a string.
func (t *indenter) flush() error {
	_, err := t.w.Write(t.buf)
	t.buf = t.buf[:0]
	return err
}
