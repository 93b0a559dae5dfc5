package tmuxctl

import (
	"strconv"
	"strings"

	"rig/engine"
)

// screenOf reads a capture with SGR as plain lines, and of each line what is drawn faint.
// tmux carries the colours of a line over to the next one.
func screenOf(out string) engine.Screen {
	lines := screenLines(out, true)
	s := engine.Screen{Lines: make([]string, len(lines)), Faint: make([]string, len(lines))}
	faint := false
	for i, l := range lines {
		var plain, dim strings.Builder
		for l != "" {
			at := strings.IndexByte(l, '\x1b')
			if at < 0 {
				at = len(l)
			}
			plain.WriteString(l[:at])
			if faint {
				dim.WriteString(l[:at])
			}
			l = l[at:]
			n, _ := sgrLength(l)
			if n > 0 {
				faint = faintAfter(l[2:n-1], faint)
			}
			l = l[n:]
		}
		s.Lines[i], s.Faint[i] = plain.String(), dim.String()
	}
	return s
}

// faintAfter gives whether text is faint behind the parameters of an SGR sequence. Those of
// a colour, such as 38;2;R;G;B, are no attributes.
func faintAfter(params string, faint bool) bool {
	words := strings.Split(params, ";")
	for i := 0; i < len(words); i++ {
		head, _, sub := strings.Cut(words[i], ":")
		n, _ := strconv.Atoi(head) // none is 0
		switch {
		case n == 0 || n == 22:
			faint = false
		case n == 2 && !sub:
			faint = true
		case (n == 38 || n == 48 || n == 58) && !sub && i+1 < len(words):
			switch words[i+1] {
			case "2":
				i += 4
			case "5":
				i += 2
			}
		}
	}
	return faint
}
