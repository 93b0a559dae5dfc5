package transcript

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// appendText decodes a raw JSON string (with its quotes) onto dst. Escapes that
// mean nothing are kept as they stand.
func appendText(dst, raw []byte) []byte {
	s := inner(raw)
	for {
		n := bytes.IndexByte(s, '\\')
		if n < 0 || n+1 >= len(s) {
			return append(dst, s...)
		}
		dst = append(dst, s[:n]...)
		s = s[n:]
		used := 2
		switch s[1] {
		case 'n':
			dst = append(dst, '\n')
		case 't':
			dst = append(dst, '\t')
		case 'r':
			dst = append(dst, '\r')
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case '"', '\\', '/':
			dst = append(dst, s[1])
		case 'u':
			dst, used = appendUnicode(dst, s)
		default:
			dst = append(dst, s[:2]...)
		}
		s = s[used:]
	}
}

// appendUnicode decodes the \u escape at the start of s, together with the
// second half of a surrogate pair. It returns how many bytes it used.
func appendUnicode(dst, s []byte) ([]byte, int) {
	r := hex4(s)
	if r < 0 {
		return append(dst, s[:2]...), 2
	}
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(dst, r), 6
	}
	if low := hex4(s[6:]); low >= 0 {
		if full := utf16.DecodeRune(r, low); full != utf8.RuneError {
			return utf8.AppendRune(dst, full), 12
		}
	}
	return utf8.AppendRune(dst, utf8.RuneError), 6
}

// hex4 reads the code unit of a \uhhhh escape, or returns -1.
func hex4(s []byte) rune {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(s[2:6]), 16, 32)
	if err != nil {
		return -1
	}
	return rune(n)
}

// text decodes a raw JSON string into a clean Go string: valid UTF-8, "\n" line
// ends, no NUL bytes. The scratch buffer is reused by the caller.
func text(raw []byte, scratch *[]byte) string {
	if !isString(raw) {
		return ""
	}
	b := appendText((*scratch)[:0], raw)
	if cap(b) <= maxScratch {
		*scratch = b
	}
	if bytes.IndexByte(b, '\r') >= 0 {
		b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
		b = bytes.ReplaceAll(b, []byte("\r"), []byte("\n"))
	}
	if bytes.IndexByte(b, 0) >= 0 {
		b = bytes.ReplaceAll(b, []byte{0}, nil)
	}
	if !utf8.Valid(b) {
		b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	}
	return string(b)
}

// maxScratch is the largest decode buffer kept between records.
const maxScratch = 2 << 20

// short decodes a raw string for identifiers, names and titles; at most max
// bytes, cut at a rune.
func short(raw []byte, limit int) string {
	if !isString(raw) {
		return ""
	}
	if len(raw) > 6*limit+2 {
		raw = raw[:6*limit]
		raw = append(append([]byte(nil), raw...), '"')
	}
	var scratch []byte
	return clip(text(raw, &scratch), limit)
}

// clip cuts s to at most limit bytes without splitting a rune.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// firstLine returns the first line with something on it, trimmed and clipped.
func firstLine(s string, limit int) string {
	for line := range strings.SplitSeq(s, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			return clip(line, limit)
		}
	}
	return ""
}

// moment reads a timestamp: RFC 3339 text, or a number of seconds or
// milliseconds since 1970. Anything else, and years that no client can mean,
// give the zero time.
func moment(raw []byte) time.Time {
	var t time.Time
	if isString(raw) {
		if t, ok := clientTime(raw); ok {
			return t
		}
		if len(raw) > 64 {
			return time.Time{}
		}
		parsed, err := time.Parse(time.RFC3339Nano, string(inner(raw)))
		if err != nil {
			return time.Time{}
		}
		t = parsed.UTC()
	} else if n := integer(raw); n > 0 {
		if n < 1e11 {
			n *= 1000
		}
		t = time.UnixMilli(n).UTC()
	}
	if t.Year() < 2000 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

// clientTime reads the one form that both clients write today,
// "2026-03-03T10:00:00.000Z", several times faster than the general parser.
func clientTime(raw []byte) (time.Time, bool) {
	const form = `"0000-00-00T00:00:00.000Z"`
	if len(raw) != len(form) {
		return time.Time{}, false
	}
	for i := range len(form) {
		digit := raw[i] >= '0' && raw[i] <= '9'
		if form[i] == '0' && !digit || form[i] != '0' && raw[i] != form[i] {
			return time.Time{}, false
		}
	}
	two := func(i int) int { return int(raw[i]-'0')*10 + int(raw[i+1]-'0') }
	year, month, day := two(1)*100+two(3), two(6), two(9)
	hour, minute, second := two(12), two(15), two(18)
	if year < 2000 || month < 1 || month > 12 || day < 1 || day > 28 || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false // rare days and nonsense go the long way
	}
	nanos := (two(21)*10 + int(raw[23]-'0')) * int(time.Millisecond)
	return time.Date(year, time.Month(month), day, hour, minute, second, nanos, time.UTC), true
}

// floatOrZero reads numbers in exponent form; negatives and nonsense are 0.
func floatOrZero(raw []byte) int64 {
	f := number(raw)
	if f <= 0 || f > 1<<62 {
		return 0
	}
	return int64(f)
}

// number reads a raw value as a float, 0 if it is none.
func number(raw []byte) float64 {
	if isString(raw) {
		raw = inner(raw)
	}
	if len(raw) > 64 {
		return 0
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}
