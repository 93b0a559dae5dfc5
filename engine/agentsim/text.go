package agentsim

import (
	"strings"
	"unicode"
)

// runeWidth is the number of terminal cells of a character: enough of the East
// Asian and emoji ranges for the texts that agents and people write.
func runeWidth(r rune) int {
	switch {
	case r == 0, r == 0x200d, unicode.In(r, unicode.Mn, unicode.Me), r >= 0xfe00 && r <= 0xfe0f:
		return 0
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return 0
	case r < 0x1100:
		return 1
	case r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf && r != 0x303f, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60,
		r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1f64f, r >= 0x1f680 && r <= 0x1f6ff,
		r >= 0x1f900 && r <= 0x1f9ff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

func textWidth(s string) int {
	w := 0
	for _, r := range s {
		w += runeWidth(r)
	}
	return w
}

// cut keeps what fits into width cells, with an ellipsis where something went.
func cut(s string, width int) string {
	if textWidth(s) <= width {
		return s
	}
	w := 0
	for i, r := range s {
		if w += runeWidth(r); w > width-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// wrap breaks text at blanks into rows of at most width cells; the first row is
// led by first and the others by rest.
func wrap(text, first, rest string, width int) []string {
	var out []string
	lead := first
	for _, para := range strings.Split(text, "\n") {
		for {
			head, tail := breakAt(para, max(8, width-textWidth(lead)))
			out = append(out, strings.TrimRight(lead+head, " "))
			lead = rest
			if tail == "" {
				break
			}
			para = tail
		}
	}
	return out
}

// breakAt splits a line where a row of width cells ends.
func breakAt(s string, width int) (head, tail string) {
	w, blank := 0, -1
	for i, r := range s {
		if r == ' ' {
			blank = i
		}
		if w += runeWidth(r); w > width {
			if blank > 0 {
				return s[:blank], s[blank+1:]
			}
			return s[:i], s[i:]
		}
	}
	return s, ""
}

// printable drops control characters: what a client draws never holds an escape
// sequence out of a prompt, a title or a transcript.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		if r == '\t' {
			return ' '
		}
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

// rightAlign puts s at the right edge.
func rightAlign(s string, width int) string {
	return strings.Repeat(" ", max(0, width-textWidth(s)-2)) + s
}

// shortHome writes a path below home with a tilde.
func shortHome(path, home string) string {
	if home != "" && (path == home || strings.HasPrefix(path, home+"/")) {
		return "~" + path[len(home):]
	}
	return path
}
