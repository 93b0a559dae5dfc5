package transcript

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// shortener copies one line and cuts the inside of overlong JSON strings, so
// that the copy is still JSON and of bounded size. It is fed in chunks and
// keeps the string state between them.
type shortener struct {
	keep  int // bytes kept of one string
	limit int // most bytes of the copy
	out   []byte
	// string state
	inside  bool
	slashes int // length of the backslash run just before the next byte
	start   int // index in out of the first byte inside the string
	dropped int64
	// totals
	leftOut int64
	over    bool
}

func (s *shortener) reset() {
	*s = shortener{keep: s.keep, limit: s.limit, out: s.out[:0]}
}

// feed takes the next bytes of the line, which hold no newline.
func (s *shortener) feed(p []byte) {
	for len(p) > 0 && !s.over {
		n := bytes.IndexByte(p, '"')
		if n < 0 {
			s.body(p)
			return
		}
		s.body(p[:n])
		p = p[n+1:]
		switch {
		case !s.inside:
			s.put('"')
			s.inside, s.start, s.slashes, s.dropped = true, len(s.out), 0, 0
		case s.slashes%2 == 1:
			s.body([]byte{'"'})
			s.slashes = 0
		default:
			s.closeString()
		}
	}
}

// body takes bytes without an unescaped quote in them.
func (s *shortener) body(p []byte) {
	if !s.inside {
		s.put(p...)
		return
	}
	run := 0
	for run < len(p) && p[len(p)-1-run] == '\\' {
		run++
	}
	if run == len(p) {
		s.slashes += run
	} else {
		s.slashes = run
	}
	room := s.keep - (len(s.out) - s.start)
	if s.dropped > 0 || room < 0 {
		room = 0
	}
	if len(p) > room {
		s.dropped += int64(len(p) - room)
		p = p[:room]
	}
	s.put(p...)
}

// closeString ends a string; a shortened one gets a note about what is gone.
func (s *shortener) closeString() {
	s.inside = false
	if s.dropped > 0 {
		whole := s.out[s.start:]
		kept := safeCut(whole)
		s.dropped += int64(len(whole) - len(kept))
		s.leftOut += s.dropped
		s.out = s.out[:s.start+len(kept)]
		s.put([]byte(" [" + strconv.FormatInt(s.dropped, 10) + " bytes left out]")...)
	}
	s.put('"')
}

func (s *shortener) put(p ...byte) {
	if len(s.out)+len(p) > s.limit {
		s.over = true
		return
	}
	s.out = append(s.out, p...)
}

// finish returns the copy. An unterminated string is cut the same way, so a
// long unfinished tail is still recognised as unfinished.
func (s *shortener) finish() (data []byte, leftOut int64, tooLong bool) {
	if s.over {
		return nil, s.leftOut, true
	}
	return s.out, s.leftOut + s.dropped*int64(b2i(s.inside)), false
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// cutBack is how far before the cut a shortened string may end. A secret that
// the cut would split has no blank in it and is shorter than this, so it goes
// with the cut as a whole and no half of it survives redaction.
const cutBack = 8 << 10

// safeCut ends the kept part of a raw string at a blank, or cutBack bytes
// early if there is none, never inside an escape or a character.
func safeCut(raw []byte) []byte {
	floor := max(len(raw)-cutBack, 0)
	cut := raw[:floor]
	if n := bytes.LastIndexAny(raw[floor:], " \t"); n >= 0 {
		cut = raw[:floor+n]
	} else if n := bytes.LastIndex(raw[floor:], []byte(`\n`)); n >= 0 {
		cut = raw[:floor+n]
	}
	for range utf8.UTFMax {
		if r, size := utf8.DecodeLastRune(cut); r != utf8.RuneError || size != 1 {
			break
		}
		cut = cut[:len(cut)-1]
	}
	// Twice: behind the first half of a surrogate pair may be half of the other.
	return dropHalfEscape(dropHalfEscape(cut))
}

// dropHalfEscape removes an escape that lost its end: a lone backslash, a \u
// with fewer than four digits, the first half of a surrogate pair.
func dropHalfEscape(raw []byte) []byte {
	for back := 1; back <= 6 && back <= len(raw); back++ {
		at := len(raw) - back
		if raw[at] != '\\' {
			continue
		}
		run := 1
		for at-run >= 0 && raw[at-run] == '\\' {
			run++
		}
		switch {
		case run%2 == 0:
			return raw
		case back == 1, back < 6 && raw[at+1] == 'u':
			return raw[:at]
		case back == 6 && hex4(raw[at:])&^0x3ff == 0xd800:
			return raw[:at]
		}
		return raw
	}
	return raw
}
