package main

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// cellWidth is how many columns a text takes.
func cellWidth(s string) int { return ansi.StringWidth(s) }

// plain makes untrusted text safe for a terminal: no escapes, no controls.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || (r >= 0x7f && r < 0xa0) {
			return -1
		}
		return r
	}, ansi.Strip(s))
}
