package packet

import (
	"strings"
	"unicode/utf8"
)

// RedactLines redacts the lines of a screen. A terminal breaks a long word
// wherever its edge is, so a secret can go on in the next line: lines that reach
// the width, in characters, are taken together with what follows them. Width 0
// means that it is not known, and takes the longest line for it. The number of lines stays the same; of a secret that spans lines, the marker
// stands where it began. The counts are nil when nothing was found; lines then
// comes back as it is.
func RedactLines(lines []string, width int) ([]string, Counts) {
	if width <= 0 {
		for _, l := range lines {
			width = max(width, utf8.RuneCountInString(l))
		}
	}
	var joined strings.Builder
	starts := make([]int, 0, len(lines)+1) // where each line begins in joined
	for i, l := range lines {
		if i > 0 && !wraps(lines[i-1], l, width) {
			joined.WriteByte('\n')
		}
		starts = append(starts, joined.Len())
		joined.WriteString(l)
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

// wraps tells whether a line may be the rest of the one before it: that one
// reaches the edge, and no blank stands at the break.
func wraps(before, line string, width int) bool {
	return width > 1 && utf8.RuneCountInString(before) >= width && line != "" &&
		line[0] != ' ' && before[len(before)-1] != ' '
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
