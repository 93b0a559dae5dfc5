package packet

import (
	"strings"
	"unicode/utf8"
)

// printable removes what a terminal would act on: control characters except
// line ends and tabs, and the marks that turn the direction of writing.
func printable(s string) string {
	if !hasControls(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < 0x20, r >= 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return -1
		}
		return r
	}, s)
}

// hasControls looks for the bytes with which those characters begin. It may say
// yes too often, never no wrongly.
func hasControls(s string) bool {
	for i := range len(s) {
		switch ch := s[i]; {
		case ch >= 0x20 && ch < 0x7f || ch == '\n' || ch == '\t':
		case ch < 0x20 || ch == 0x7f:
			return true
		case ch == 0xc2 && i+1 < len(s) && s[i+1] < 0xa0:
			return true
		case ch == 0xe2 && i+1 < len(s) && (s[i+1] == 0x80 || s[i+1] == 0x81):
			return true
		}
	}
	return false
}

// clip cuts s to at most limit bytes without splitting a character. What it
// gets is redacted already; a marker that the cut would split goes as a whole.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	cut := s[:limit]
	if n := strings.LastIndex(cut, Marker[:4]); n >= 0 && limit-n < len(Marker) && strings.HasPrefix(s[n:], Marker) {
		cut = cut[:n]
	}
	return cut
}

// stated cleans a text that someone stated for the packet.
func stated(s string, counts Counts) string {
	s, found := Redact(strings.TrimSpace(printable(s)))
	counts.Add(found)
	if len(s) > maxStatement {
		s = clip(s, maxStatement) + " [cut]"
	}
	return s
}

// Clean makes a text safe to print: what a terminal would act on is removed, and
// secrets are replaced; the counts say by kind how many.
func Clean(text string) (string, Counts) {
	return Redact(printable(strings.ToValidUTF8(text, "\uFFFD")))
}
