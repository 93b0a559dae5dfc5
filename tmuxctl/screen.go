package tmuxctl

import (
	"strings"
	"unicode/utf8"

	"rig/engine"
)

// screenLines cuts a captured screen into lines and keeps of its escape sequences
// SGR alone, and that only when colours are wanted. tmux also emits hyperlinks
// (3.4) and shifts to the line drawing set, which is turned into the characters it
// stands for.
func screenLines(out string, colours bool) []string {
	out = strings.ToValidUTF8(out, "\uFFFD") // a lone byte may be a control to a terminal
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	for i, l := range lines {
		if strings.ContainsFunc(l, isControl) {
			lines[i] = cleanLine(l, colours)
		}
	}
	return lines
}

func isControl(r rune) bool { return r < 0x20 && r != '\t' || r >= 0x7f && r <= 0x9f }

// cleanLine drops what may not reach a screen. It runs over every coloured line of
// every captured pane, so it scans by hand and copies runs.
func cleanLine(l string, colours bool) string {
	l = drawLines(l)
	var b strings.Builder
	b.Grow(len(l))
	for l != "" {
		i := strings.IndexFunc(l, isControl)
		if i < 0 {
			b.WriteString(l)
			break
		}
		b.WriteString(l[:i])
		l = l[i:]
		if n, sgr := sgrLength(l); sgr {
			if colours {
				b.WriteString(l[:n])
			}
			l = l[n:]
			continue
		}
		if at := engine.EscapeSequences().FindStringIndex(l); at != nil && at[0] == 0 {
			l = l[at[1]:]
			continue
		}
		_, size := utf8.DecodeRuneInString(l)
		l = l[size:]
	}
	return b.String()
}

// sgrLength gives the length of the SGR sequence at the start of s, if there is one.
func sgrLength(s string) (int, bool) {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0, false
	}
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1, true
		case c != ';' && c != ':' && (c < '0' || c > '9'):
			return 0, false
		}
	}
	return 0, false
}

// lineDrawing is the DEC special graphics set, as far as programs use it.
var lineDrawing = map[rune]rune{
	'`': '◆', 'a': '▒', 'f': '°', 'g': '±', 'j': '┘', 'k': '┐', 'l': '┌', 'm': '└', 'n': '┼',
	'o': '⎺', 'p': '⎻', 'q': '─', 'r': '⎼', 's': '⎽', 't': '├', 'u': '┤', 'v': '┴', 'w': '┬',
	'x': '│', 'y': '≤', 'z': '≥', '{': 'π', '|': '≠', '}': '£', '~': '·',
}

// drawLines replaces the text between SO and SI; escape sequences inside it stay.
func drawLines(l string) string {
	if !strings.ContainsRune(l, 0x0e) {
		return l
	}
	var b strings.Builder
	shifted, escape := false, false
	for _, r := range l {
		switch {
		case r == 0x0e:
			shifted = true
			continue
		case r == 0x0f:
			shifted = false
			continue
		case r == 0x1b:
			escape = true
		case escape:
			escape = r == '[' || !(r >= '@' && r <= '~')
		case shifted && lineDrawing[r] != 0:
			r = lineDrawing[r]
		}
		b.WriteRune(r)
	}
	return b.String()
}
