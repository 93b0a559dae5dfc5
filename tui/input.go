package tui

import (
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
// or nothing, so that no paste can press a key.
func (in *input) insert(text string) {
	text = clean(strings.TrimRight(text, "\r\n"))
	if len(in.text())+len(text) > maxInput {
		return
	}
	var add []string
	for text != "" {
		_, _, n, _ := ansi.DecodeSequence(text, ansi.NormalState, nil)
		if n <= 0 {
			break
		}
		add = append(add, text[:n])
		text = text[n:]
	}
	in.cells = append(in.cells[:in.at], append(add, in.cells[in.at:]...)...)
	in.at += len(add)
}

// key takes an editing key; false when it is not one. Printable keys are always
// text.
func (in *input) key(k tea.KeyPressMsg) bool {
	if t := k.Key().Text; t != "" && printable(t) {
		in.insert(t)
		return true
	}
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
	for to > 0 && in.cells[to-1] == " " {
		to--
	}
	for to > 0 && in.cells[to-1] != " " {
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
	from, used := in.at, 1
	for from > 0 && used+width(in.cells[from-1]) < w {
		from--
		used += width(in.cells[from])
	}
	left := strings.Join(in.cells[from:in.at], "")
	under, right := " ", ""
	if in.at < len(in.cells) {
		under = in.cells[in.at]
		right = strings.Join(in.cells[in.at+1:], "")
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
