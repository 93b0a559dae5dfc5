package packet

import (
	"strings"
	"unicode/utf8"
)

// RedactLines redacts the lines of a screen. A terminal breaks a long word
// wherever its edge is, and a client where its own margin is, with the next line
// indented; a secret can so go on in the next line. Lines that reach the width, in
// characters, are taken together with what follows them, and then every line is
// read once more on its own. Width 0 means that it is not known, and takes the
// longest line for it. The number of lines stays the same; of a secret that spans
// lines, the marker stands where it began. The counts are nil when nothing was
// found; lines then comes back as it is.
func RedactLines(lines []string, width int) ([]string, Counts) {
	if width <= 0 {
		for _, l := range lines {
			width = max(width, utf8.RuneCountInString(l))
		}
	}
	out, counts := redactRows(lines, func(before, line string) int { return goesOn(before, line, width) })
	out, more := redactRows(out, func(string, string) int { return -1 })
	if counts == nil {
		return out, more
	}
	counts.Add(more)
	return out, counts
}

// redactRows redacts lines of which some go on in the next one: goesOn gives the
// number of bytes at the start of a line that are not part of what goes on, or -1.
func redactRows(lines []string, goesOn func(before, line string) int) ([]string, Counts) {
	var joined strings.Builder
	starts := make([]int, 0, len(lines)) // where each line begins in joined
	for i, l := range lines {
		skip := 0
		if i > 0 {
			if skip = goesOn(lines[i-1], l); skip < 0 {
				joined.WriteByte('\n')
				skip = 0
			}
		}
		starts = append(starts, joined.Len()-skip)
		joined.WriteString(l[skip:])
	}
	s := scanner{text: joined.String(), cut: true, screen: theScreen()}
	var found []span
	for hit, ok := s.next(); ok; hit, ok = s.next() {
		found = append(found, hit)
	}
	if found == nil {
		return lines, nil
	}
	counts := Counts{}
	for _, hit := range found {
		counts[hit.kind]++
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = blankOut(l, starts[i], found)
	}
	return out, counts
}

// clientMargin is how far from the edge, in characters, a client may break a word
// that its box does not hold.
const clientMargin = 6

// goesOn tells whether a line may be the rest of the one before it, and how many
// blanks of an indentation stand before that rest; -1 when it is not.
func goesOn(before, line string, width int) int {
	reach := utf8.RuneCountInString(before)
	if width <= 1 || line == "" || before == "" || before[len(before)-1] == ' ' {
		return -1
	}
	indent := len(line) - len(strings.TrimLeft(line, " "))
	switch {
	case indent == 0 && reach >= width:
		return 0
	case indent > 0 && indent < len(line) && reach >= width-clientMargin:
		return indent
	}
	return -1
}

// blankOut replaces the parts of a line that lie in finds. The line's first
// byte is at offset start of the text in which they were found.
func blankOut(l string, start int, found []span) string {
	var b strings.Builder
	at := 0
	for _, hit := range found {
		from, end := hit.start-start, hit.end-start
		if end <= at || from >= len(l) {
			continue
		}
		if from >= 0 {
			b.WriteString(l[at:from])
			b.WriteString(Marker)
		}
		at = min(end, len(l))
	}
	b.WriteString(l[at:])
	return b.String()
}
