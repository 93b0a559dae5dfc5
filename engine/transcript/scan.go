package transcript

import "bytes"

// A small scanner over one JSON line. It extracts members without building
// values, and it checks the structure of everything it passes, so that a line
// cut in the middle is recognised as such. Numbers and literals are accepted
// loosely and control characters inside strings are let through: a reader of
// damaged files should lose as little as it can.

// maxDepth bounds nesting. No client writes anything close to it; deeper lines
// are hostile and count as unreadable.
const maxDepth = 256

// cursor walks the members of one object or the elements of one array.
type cursor struct {
	b     []byte
	i     int
	key   []byte // raw name of the current member, escapes not decoded
	depth int
	first bool
	bad   bool
	done  bool
}

// objectCursor starts at the first byte that is not white space, which must
// open an object; otherwise the cursor is bad at once.
func objectCursor(b []byte) cursor { return openCursor(b, '{') }

// arrayCursor is objectCursor for arrays.
func arrayCursor(b []byte) cursor { return openCursor(b, '[') }

func openCursor(b []byte, open byte) cursor {
	c := cursor{b: b, first: true}
	c.i = skipSpace(b, 0)
	if c.i >= len(b) || b[c.i] != open {
		c.bad = true
		return c
	}
	c.i++
	return c
}

// member moves to the next member and leaves the cursor before its value. It
// returns false at the end of the object or when the line is damaged.
func (c *cursor) member() bool {
	if !c.step('}') {
		return false
	}
	if c.b[c.i] != '"' {
		return c.fail()
	}
	end := skipString(c.b, c.i)
	if end < 0 {
		return c.fail()
	}
	c.key = c.b[c.i+1 : end-1]
	c.i = skipSpace(c.b, end)
	if c.i >= len(c.b) || c.b[c.i] != ':' {
		return c.fail()
	}
	c.i++
	return true
}

// element moves before the next array element.
func (c *cursor) element() bool { return c.step(']') }

// step passes the comma or the closing bracket. It leaves the cursor on the
// first byte of the next member or element.
func (c *cursor) step(closing byte) bool {
	if c.bad || c.done {
		return false
	}
	c.i = skipSpace(c.b, c.i)
	if c.i >= len(c.b) {
		return c.fail()
	}
	if c.b[c.i] == closing {
		c.i++
		c.done = true
		return false
	}
	if !c.first {
		if c.b[c.i] != ',' {
			return c.fail()
		}
		c.i = skipSpace(c.b, c.i+1)
		if c.i >= len(c.b) {
			return c.fail()
		}
	}
	c.first = false
	return true
}

// value returns the raw bytes of the value under the cursor and moves past it.
// After damage it returns nil and the cursor is bad.
func (c *cursor) value() []byte {
	start := skipSpace(c.b, c.i)
	end := skipValue(c.b, start)
	if end < 0 {
		c.fail()
		return nil
	}
	c.i = end
	return c.b[start:end]
}

// object opens the value under the cursor as an object without passing it
// first. The caller walks it to its end and then calls leave.
func (c *cursor) object() cursor {
	inside := cursor{b: c.b, i: skipSpace(c.b, c.i), first: true, depth: c.depth + 1}
	if inside.i >= len(c.b) || c.b[inside.i] != '{' || inside.depth > maxDepth {
		inside.bad = true
		return inside
	}
	inside.i++
	return inside
}

// peek returns the first byte of the value under the cursor, 0 at the end.
func (c *cursor) peek() byte {
	if i := skipSpace(c.b, c.i); i < len(c.b) {
		return c.b[i]
	}
	return 0
}

// leave moves the cursor behind a value that was walked to its end.
func (c *cursor) leave(inside cursor) {
	if inside.bad || !inside.done {
		c.fail()
		return
	}
	c.i = inside.i
}

func (c *cursor) fail() bool {
	c.bad = true
	return false
}

func skipSpace(b []byte, i int) int {
	for i < len(b) {
		switch b[i] {
		case ' ', '\t', '\r', '\n':
			i++
		default:
			return i
		}
	}
	return i
}

// skipString returns the index after the string that starts at b[i] == '"', or
// -1 if it has no end. A quote ends the string unless an odd run of
// backslashes stands before it.
func skipString(b []byte, i int) int {
	start := i + 1
	i = start
	for {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		run := i - 1
		for run >= start && b[run] == '\\' {
			run--
		}
		if (i-1-run)%2 == 0 {
			return i + 1
		}
		i++
	}
}

// skipValue returns the index after the value that starts at b[i], or -1.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	return skipScalar(b, i)
}

// skipScalar passes a number or a literal.
func skipScalar(b []byte, i int) int {
	start := i
	for i < len(b) {
		ch := b[i]
		letter := ch >= 'a' && ch <= 'z' || ch == 'E'
		digit := ch >= '0' && ch <= '9' || ch == '-' || ch == '+' || ch == '.'
		if !letter && !digit {
			break
		}
		i++
	}
	if i == start {
		return -1
	}
	return i
}

// skipNested passes an object or array, checking that brackets pair up.
func skipNested(b []byte, i int) int {
	var stack [maxDepth]byte
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = skipString(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			if depth == maxDepth {
				return -1
			}
			stack[depth] = b[i] + 2 // '{'+2 == '}', '['+2 == ']'
			depth++
		case '}', ']':
			depth--
			if stack[depth] != b[i] {
				return -1
			}
			if depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// field returns the raw value of one member of an object, or nil.
func field(obj []byte, name string) []byte {
	c := objectCursor(obj)
	for c.member() {
		if string(c.key) == name {
			return c.value()
		}
		if c.value() == nil {
			return nil
		}
	}
	return nil
}

// members are the members of one object, read in one pass.
type members []struct{ key, value []byte }

// maxMembers bounds what is kept of one object; the clients' have far fewer.
const maxMembers = 64

// readMembers walks an object to its end and keeps its members in reuse.
func readMembers(c *cursor, reuse members) members {
	m := reuse[:0]
	for c.member() {
		key := c.key
		v := c.value()
		if v != nil && len(m) < maxMembers {
			m = append(m, struct{ key, value []byte }{key, v})
		}
	}
	return m
}

// get returns the raw value of a member, or nil.
func (m members) get(name string) []byte {
	for i := range m {
		if string(m[i].key) == name {
			return m[i].value
		}
	}
	return nil
}

// isString tells whether a raw value is a JSON string.
func isString(raw []byte) bool { return len(raw) >= 2 && raw[0] == '"' }

// isTrue accepts the literal and its quoted form; releases differ.
func isTrue(raw []byte) bool {
	return string(raw) == "true" || string(raw) == `"true"`
}

// inner returns the bytes between the quotes of a raw string, or nil for any
// other type. Escapes are not decoded: use it for identifiers and enums.
func inner(raw []byte) []byte {
	if !isString(raw) {
		return nil
	}
	return raw[1 : len(raw)-1]
}

// integer reads a non-negative whole number from a raw value that may be a
// number, a float or a quoted number; anything else is 0.
func integer(raw []byte) int64 {
	if isString(raw) {
		raw = inner(raw)
	}
	var n int64
	for i, ch := range raw {
		if ch < '0' || ch > '9' {
			if i == 0 || ch != '.' {
				return floatOrZero(raw)
			}
			break
		}
		if n > (1<<62)/10 {
			return 0
		}
		n = n*10 + int64(ch-'0')
	}
	return n
}
