package tui

import (
	"cmp"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// maxInput bounds what can be typed or pasted into a field, in bytes.
const maxInput = 8 << 10

// input is a one-line text field. Its text is cut into clusters, so that the
// cursor never stands inside of one.
type input struct {
	cells []string
	at    int
	lines bool // line breaks and tabs stay in the text; a mark stands for a break
	most  int  // bytes that have room; 0 = maxInput
	full  bool // the last insertion had no room
}

func newInput(text string) *input {
	in := &input{}
	in.insert(text)
	return in
}

func (in *input) text() string { return strings.Join(in.cells, "") }

func (in *input) set(text string) {
	in.cells, in.at = nil, 0
	in.insert(text)
}

// insert puts text at the cursor; line breaks and other controls become spaces
// or nothing, so that no paste can press a key. A field of lines keeps the breaks,
// as text.
func (in *input) insert(text string) {
	if in.lines {
		text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	} else {
		text = clean(strings.TrimRight(text, "\r\n"))
	}
	if in.full = len(in.text())+len(text) > cmp.Or(in.most, maxInput); in.full {
		return
	}
	add := clusters(text)
	if in.lines {
		add = lineCells(text)
	}
	in.cells = append(in.cells[:in.at:in.at], append(add, in.cells[in.at:]...)...)
	in.at += len(add)
}

// clusters cuts a text into what a cursor steps over.
func clusters(text string) []string {
	var out []string
	for text != "" {
		_, _, n, _ := ansi.DecodeSequence(text, ansi.NormalState, nil)
		if n <= 0 {
			break
		}
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

// lineCells cuts a text of many lines into clusters; a break is one of them.
func lineCells(text string) []string {
	var out []string
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			out = append(out, "\n")
		}
		out = append(out, cellsOf(line)...)
	}
	return out
}

// breaks counts the line breaks in the text.
func (in *input) breaks() int {
	n := 0
	for _, c := range in.cells {
		if c == "\n" {
			n++
		}
	}
	return n
}

// key takes an editing key; false when it is not one. Printable keys are always
// text.
func (in *input) key(k tea.KeyPressMsg) bool {
	if t := k.Key().Text; t != "" && printable(t) {
		in.insert(t)
		return true
	}
	in.full = false
	switch k.String() {
	case "backspace", "ctrl+h":
		if in.at > 0 {
			in.cells = append(in.cells[:in.at-1], in.cells[in.at:]...)
			in.at--
		}
	case "delete":
		if in.at < len(in.cells) {
			in.cells = append(in.cells[:in.at], in.cells[in.at+1:]...)
		}
	case "left", "ctrl+b":
		in.at = max(in.at-1, 0)
	case "right", "ctrl+f":
		in.at = min(in.at+1, len(in.cells))
	case "home", "ctrl+a":
		in.at = 0
	case "end", "ctrl+e":
		in.at = len(in.cells)
	case "ctrl+u":
		in.cells, in.at = in.cells[in.at:], 0
	case "ctrl+k":
		in.cells = in.cells[:in.at]
	case "ctrl+w", "alt+backspace":
		in.dropWord()
	default:
		return false
	}
	return true
}

// masked is a copy that shows how much was typed, and nothing of what.
func (in *input) masked(g *glyphs) *input {
	out := &input{cells: make([]string, len(in.cells)), at: in.at}
	for i := range out.cells {
		out.cells[i] = g.dot
	}
	return out
}

func (in *input) dropWord() {
	to := in.at
	for to > 0 && strings.TrimSpace(in.cells[to-1]) == "" {
		to--
	}
	for to > 0 && strings.TrimSpace(in.cells[to-1]) != "" {
		to--
	}
	in.cells = append(in.cells[:to], in.cells[in.at:]...)
	in.at = to
}

func printable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) && r != ' ' }) < 0
}

// view draws the field in w cells. The part around the cursor is shown; a cursor
// is drawn when the field has the keys.
func (in *input) view(b brush, w int, active bool, empty string) string {
	if w <= 0 {
		return ""
	}
	if len(in.cells) == 0 && !active {
		return b.line(w, false, seg{toneDim, empty})
	}
	if in.lines {
		in = drawable(*in, b.g)
	}
	from, used := in.at, 1
	for from > 0 && used+width(in.cells[from-1]) < w {
		from--
		used += width(in.cells[from])
	}
	left := strings.Join(in.cells[from:in.at], "")
	under, right := " ", ""
	if in.at < len(in.cells) {
		under = in.cells[in.at]
		right = strings.Join(in.cells[in.at+1:min(in.at+1+4*w, len(in.cells))], "") // what follows has no room
	}
	if !active {
		return b.line(w, false, seg{toneText, left + under + right})
	}
	room := w - width(left) - width(under)
	if len(in.cells) == 0 {
		return "\x1b[7m \x1b[m" + b.line(max(w-1, 0), false, seg{toneDim, " " + empty})
	}
	return b.paint(toneStrong, left) + "\x1b[7m" + under + sgrReset + b.line(max(room, 0), false, seg{toneStrong, right})
}
