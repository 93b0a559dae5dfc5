package transcript

import "bytes"

// openLine counts a line and settles the cases in which there is nothing to
// parse. It reports whether the line holds something to parse.
func openLine(s *Summary, l line) bool {
	if l.leftOut > 0 {
		s.Shortened++
		s.LeftOutBytes += l.leftOut
	}
	if l.tooLong {
		s.Lines++
		s.skip(l, "longer than the line limit")
		return false
	}
	if len(l.data) == 0 && !l.nuls {
		return false
	}
	s.Lines++
	if len(l.data) == 0 {
		s.skip(l, "only NUL bytes, as a crash leaves them")
		return false
	}
	return true
}

// eachRecord calls use for the records on one trimmed line. That is one record
// as a rule; two when a writer lost the newline between them; and after a crash
// perhaps a torn one with a whole one behind it. use tells whether the bytes
// are a record and returns what stands behind it. Whatever could not be used is
// reported, so that each damaged line is one entry in the summary.
func eachRecord(s *Summary, l line, use func([]byte) (rest []byte, ok bool)) {
	used, torn := false, false
	for rest := l.data; len(rest) > 0; {
		next, ok := use(rest)
		if ok {
			used, rest = true, next
			continue
		}
		torn = true
		rest = salvage(rest)
	}
	switch {
	case !torn:
	case used:
		s.skip(l, "partly damaged; what could be read of it was used")
	case !l.ended:
		s.IncompleteTail = true
		s.skip(l, "incomplete at the end of the file; it may still be being written")
	default:
		s.skip(l, damageReason(l.data))
	}
}

// damageReason describes what a person would see on an unreadable line.
func damageReason(d []byte) string {
	switch {
	case bytes.IndexByte(d, 0) >= 0:
		return "not readable: NUL bytes inside"
	case d[0] != '{':
		return "not readable: no JSON object"
	default:
		return "not readable: cut off or damaged JSON"
	}
}

// recordStarts are the first members with which the clients begin a record.
var recordStarts = [][]byte{
	[]byte(`{"parentUuid"`),
	[]byte(`{"type"`),
	[]byte(`{"timestamp"`),
}

// maxSalvage bounds how often one damaged line is tried again.
const maxSalvage = 8

// salvage looks for a whole record behind a torn one on the same line, which
// is what a crash followed by a resume leaves. It returns the bytes from there
// on, or nil. Only a record that reaches the end of the line counts, so that a
// nested object of a damaged record is never taken for one.
func salvage(d []byte) []byte {
	for try := 0; try < maxSalvage && len(d) > 1; try++ {
		at := -1
		for _, start := range recordStarts {
			if n := bytes.Index(d[1:], start); n >= 0 && (at < 0 || n+1 < at) {
				at = n + 1
			}
		}
		if at < 0 {
			return nil
		}
		d = d[at:]
		if skipValue(d, 0) == len(d) {
			return d
		}
	}
	return nil
}
