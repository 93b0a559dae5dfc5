package tui

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// clean makes foreign text safe to draw on one line: escapes and control
// characters go, line breaks become spaces, and every cluster is one that all
// terminals count alike.
func clean(s string) string {
	if plainASCII(s) {
		return s
	}
	return tame(bare(s))
}

// bare takes escapes, controls and what turns the writing out of a text, and leaves
// its clusters as they are: what is kept and not only drawn.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r' || r == '\u2028' || r == '\u2029':
			return ' '
		case r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError || direction(r):
			return -1
		}
		return r
	}, ansi.Strip(strings.ToValidUTF8(s, "?")))
}

// plainASCII reports whether a text is printable ASCII throughout, which needs
// no further care.
func plainASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// direction reports the invisible characters that reorder or glue what follows
// them. Inside a table they would move cells that are not theirs.
func direction(r rune) bool {
	switch {
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	case r == 0x200e, r == 0x200f, r == 0x061c, r == 0xfeff, r == 0x00ad, r == 0x200b:
		return true
	}
	return false
}

// tame replaces the clusters whose width terminals disagree about (joined emoji,
// flags, variation selectors) by what is sure, so that a border after them stays
// where it is. The text must be free of escapes.
func tame(s string) string {
	if plainASCII(s) || ansi.StringWidth(s) == ansi.StringWidthWc(s) && !strings.ContainsAny(s, "\u200d\ufe0f") {
		return s
	}
	var b strings.Builder
	for s != "" {
		_, _, n, _ := ansi.DecodeSequence(s, ansi.NormalState, nil)
		if n <= 0 {
			break
		}
		b.WriteString(tameCluster(s[:n]))
		s = s[n:]
	}
	return b.String()
}

// tameCluster gives one cluster in a form that is counted alike by cell tables
// and by grapheme rules.
func tameCluster(c string) string {
	if n := ansi.StringWidth(c); n > 0 && n == ansi.StringWidthWc(c) && !strings.ContainsAny(c, "\u200d\ufe0f") {
		return c
	}
	first, _ := utf8.DecodeRuneInString(c)
	if first >= 0x1f1e6 && first <= 0x1f1ff { // regional indicators: the letters of the flag
		var b strings.Builder
		for _, r := range c {
			if r >= 0x1f1e6 && r <= 0x1f1ff {
				b.WriteRune('A' + r - 0x1f1e6)
			}
		}
		return b.String()
	}
	one := string(first)
	switch ansi.StringWidth(one) {
	case 0: // a mark without the letter it belongs to
		return ""
	case ansi.StringWidthWc(one):
		return one
	}
	return "?"
}

// width is the number of cells a text takes, escapes not counted.
func width(s string) int {
	if plainASCII(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

// pad fills a text with spaces up to w cells; a longer one is cut at the end.
func pad(s string, w int) string {
	n := width(s)
	switch {
	case w <= 0:
		return ""
	case n > w: // a wide cell at the edge leaves one free
		s = cut(s, w)
		n = width(s)
	}
	return s + strings.Repeat(" ", max(w-n, 0))
}

// cut shortens a text to at most w cells, ending in an ellipsis when something
// was lost.
func cut(s string, w int) string {
	switch {
	case w <= 0:
		return ""
	case width(s) <= w:
		return s
	}
	out := ansi.Truncate(s, w, "…")
	return out
}

// cutMiddle shortens a name to at most w cells and keeps both ends: the start
// says which group, the end says which member.
func cutMiddle(s string, w int) string {
	n := width(s)
	switch {
	case w <= 0:
		return ""
	case n <= w:
		return s
	case w < 4:
		return cut(s, w)
	}
	head := (w - 1 + 1) / 2
	tail := w - 1 - head
	left := ansi.Truncate(s, head, "")
	right := ansi.TruncateLeft(s, n-tail, "")
	for width(left)+1+width(right) > w && right != "" { // a wide cell at the seam
		_, size := utf8.DecodeRuneInString(right)
		right = right[size:]
	}
	return left + "…" + right
}

// wrap breaks a text into lines of at most w cells, at spaces: a word, an address or a
// path that would fit into a line of its own is never broken, so that what is copied
// out of it is whole. A longer one breaks at its strokes and hyphens.
func wrap(s string, w int) []string {
	if w <= 0 {
		return nil
	}
	s = strings.TrimRight(s, " ")
	if s == "" {
		return []string{""}
	}
	held := holdWords(s, w)
	lines := strings.Split(ansi.Wrap(held, w, " /"), "\n")
	if slices.ContainsFunc(lines, func(l string) bool { return width(l) > w }) { // a stroke at the edge stands beyond it
		lines = strings.Split(ansi.Wrap(held, w, ""), "\n")
	}
	for i := range lines {
		lines[i] = strings.TrimRight(letWords.Replace(lines[i]), " ")
	}
	return lines
}

// heldHyphen and heldStroke stand for characters at which a line may be broken, in the
// words that are to stay whole while it is: private ones, one cell wide.
const heldHyphen, heldStroke = "\ue0f1", "\ue0f2"

var (
	keepWord = strings.NewReplacer("-", heldHyphen, "/", heldStroke)
	letWords = strings.NewReplacer(heldHyphen, "-", heldStroke, "/")
)

// holdWords keeps those words of a text together that have room in w cells.
func holdWords(s string, w int) string {
	if !strings.ContainsAny(s, "-/") {
		return s
	}
	words := strings.Split(s, " ")
	for i, word := range words {
		if width(word) <= w {
			words[i] = keepWord.Replace(word)
		}
	}
	return strings.Join(words, " ")
}

// needYou follows the number of those who wait for a person.
func needYou(n int) string {
	if n == 1 {
		return " needs you"
	}
	return " need you"
}

// asciiLine puts every cell that is not ASCII into ASCII, colours left alone.
func asciiLine(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r > '~' }) < 0 {
		return s
	}
	var b strings.Builder
	for s != "" {
		seq, w, n, _ := ansi.DecodeSequence(s, ansi.NormalState, nil)
		if n <= 0 {
			break
		}
		switch {
		case len(seq) == 1, w == 0 && seq[0] < utf8.RuneSelf:
			b.WriteString(seq)
		case w == 0: // a combining mark has no cell of its own
		case seq == "…":
			b.WriteByte('~')
		case seq == "─":
			b.WriteByte('-')
		case seq == "│":
			b.WriteByte('|')
		default:
			b.WriteString(strings.Repeat("?", w))
		}
		s = s[n:]
	}
	return b.String()
}
