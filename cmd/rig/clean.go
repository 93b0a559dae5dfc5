package main

import (
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// cleanWriter takes out of everything that is printed what a terminal would act
// on or be misled by: escape sequences lose their introducer, controls of the C1
// range, those that turn the direction of text and those that draw nothing are
// dropped. Names, titles,
// reasons and messages come from files, agents and other programs, and none of
// them may drive the terminal of whoever reads about them. In a JSON document,
// where such runes stand in strings only, they are written as escapes.
type cleanWriter struct {
	w    io.Writer
	json *bool
}

// Write implements io.Writer. Runes must not be split between two calls.
func (c cleanWriter) Write(p []byte) (int, error) {
	clean := cleanUntil(p)
	if clean == len(p) {
		return c.w.Write(p)
	}
	out := append(make([]byte, 0, len(p)+16), p[:clean]...)
	for rest := p[clean:]; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && n == 1: // a byte of its own; 0x9b alone is an introducer to some
			out = append(out, "\uFFFD"...)
		case !drives(r):
			out = append(out, rest[:n]...)
		case c.json != nil && *c.json:
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
		}
		rest = rest[n:]
	}
	if _, err := c.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// cleanUntil is how many bytes from the beginning hold nothing to take out. Most of
// what is printed is plain, and a fleet's JSON is long: ASCII is not decoded.
func cleanUntil(p []byte) int {
	for i := 0; i < len(p); {
		switch b := p[i]; {
		case b >= 0x20 && b < 0x7f, b == '\n', b == '\t':
			i++
		case b < utf8.RuneSelf:
			return i
		default:
			r, n := utf8.DecodeRune(p[i:])
			if r == utf8.RuneError || drives(r) {
				return i
			}
			i += n
		}
	}
	return len(p)
}

// drives reports whether a rune moves the cursor, begins a sequence, changes the
// direction in which text is drawn, or draws nothing: with one of those two names
// that look the same are two. A few number signs are of that kind too, and are drawn.
func drives(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r == 0x2028, r == 0x2029:
		return true
	case unicode.Is(unicode.Cf, r):
		return !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
	}
	return false
}
