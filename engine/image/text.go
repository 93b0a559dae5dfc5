package image

import (
	"errors"
	"strings"
	"unicode"
)

// printable makes an untrusted text fit for a message.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, s)
	if len(s) > 80 {
		s = s[:80] + "…"
	}
	return s
}

// reason gives the words of a system error without the path around them.
func reason(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}
