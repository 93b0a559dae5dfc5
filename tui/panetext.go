package tui

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

const sgrReset = "\x1b[m"

// maxPaneLine bounds one line of a pane, in bytes: a hostile program can write
// escapes without end into one cell.
const maxPaneLine = 16 << 10

// paneText makes the lines of a pane safe to draw: nothing but text and colours
// is left, each line carries the colours it starts with and ends reset. It is
// not cut to a width yet.
func paneText(lines []string) []string {
	out := make([]string, len(lines))
	var carried pen
	for i, l := range lines {
		if len(l) > maxPaneLine {
			l = l[:maxPaneLine]
		}
		out[i], carried = paneLine(l, carried)
	}
	return out
}

// pen is the colours in force, as the escape sequences since the last reset.
type pen struct{ seqs []string }

// maxPen bounds the sequences that are carried from line to line.
const maxPen = 12

func (p pen) with(params string, resets bool) pen {
	if resets {
		p = pen{}
	}
	if params == "" {
		return p
	}
	seqs := append(append([]string(nil), p.seqs...), "\x1b["+params+"m")
	if len(seqs) > maxPen {
		seqs = seqs[len(seqs)-maxPen:]
	}
	return pen{seqs}
}

func (p pen) String() string { return strings.Join(p.seqs, "") }

func paneLine(l string, carried pen) (string, pen) {
	if plainASCII(l) && len(carried.seqs) == 0 {
		return l, carried
	}
	var b strings.Builder
	b.WriteString(carried.String())
	var state byte
	parser := ansi.GetParser()
	defer ansi.PutParser(parser)
	for l != "" {
		seq, w, n, next := ansi.DecodeSequence(l, state, parser)
		if n <= 0 {
			break
		}
		switch {
		case w > 0:
			if c := clean(seq); c != "" {
				b.WriteString(c)
			}
		case ansi.HasCsiPrefix(seq) && strings.HasSuffix(seq, "m"):
			if params, resets, ok := colours(seq); ok {
				if resets {
					b.WriteString(sgrReset)
				}
				carried = carried.with(params, resets)
				if params != "" {
					b.WriteString("\x1b[" + params + "m")
				}
			}
		case seq == "\t":
			b.WriteString(" ")
		}
		state, l = next, l[n:]
	}
	b.WriteString(sgrReset)
	return b.String(), carried
}

// colours rewrites the parameters of one SGR sequence: colours and weights stay,
// blinking and hidden text do not. resets says that it began with, or held, a
// reset; what followed the reset is in params.
func colours(seq string) (params string, resets, ok bool) {
	body := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(seq, "\x1b["), "\u009b"), "m")
	if strings.IndexFunc(body, func(r rune) bool { return (r < '0' || r > '9') && r != ';' && r != ':' }) >= 0 {
		return "", false, false // a private or intermediate form: not a colour
	}
	var keep []string
	parts := strings.Split(body, ";")
	for i := 0; i < len(parts); i++ {
		p := parts[i]
		head, _, _ := strings.Cut(p, ":")
		n, err := strconv.Atoi(head)
		switch {
		case p == "" || err == nil && n == 0:
			keep, resets = nil, true
		case err != nil || n > 107:
		case n == 5 || n == 6 || n == 8 || n == 25 || n == 28: // blink, hide, and their ends
		case (n == 38 || n == 48 || n == 58) && p == head:
			size := extended(parts[i:])
			if size == 0 {
				return strings.Join(keep, ";"), resets, true
			}
			keep = append(keep, parts[i:i+size]...)
			i += size - 1
		default:
			keep = append(keep, p)
		}
	}
	return strings.Join(keep, ";"), resets, true
}

// extended gives the number of parameters of an extended colour in the
// semicolon form, or 0 when it is not whole.
func extended(parts []string) int {
	size := 0
	switch {
	case len(parts) > 1 && parts[1] == "5":
		size = 3
	case len(parts) > 1 && parts[1] == "2":
		size = 5
	}
	if size == 0 || len(parts) < size {
		return 0
	}
	for _, p := range parts[2:size] {
		if n, err := strconv.Atoi(p); err != nil || n > 255 {
			return 0
		}
	}
	return size
}

// crop shows w by h cells of a pane's lines. Where the pane is taller, blank rows
// give way first: those at the bottom, then those in the middle, of which one
// stays in each place. Then rows go from the top, because in an agent's pane the
// end is what matters.
func crop(lines []string, w, h int) []string {
	if w <= 0 || h <= 0 {
		return nil
	}
	lines = squeeze(lines, w, h)
	from := max(len(lines)-h, 0)
	out := make([]string, h)
	for i := range out {
		if from+i < len(lines) {
			out[i] = cropLine(lines[from+i], w)
		} else {
			out[i] = strings.Repeat(" ", w)
		}
	}
	return out
}

// squeeze drops rows that are blank in w cells until h rows are left, or no more
// can go.
func squeeze(lines []string, w, h int) []string {
	blank := func(i int) bool {
		l := ansi.Strip(lines[i])
		return strings.TrimSpace(l) == "" || len(l) > w && strings.TrimSpace(ansi.Truncate(l, w, "")) == ""
	}
	end := len(lines)
	for end > h && blank(end-1) {
		end--
	}
	spare := end - h
	if spare <= 0 {
		return lines[:end]
	}
	var out []string
	after := false // the row before was blank
	for i := range end {
		b := blank(i)
		if b && spare > 0 && (after || len(out) == 0) {
			spare--
			continue
		}
		after = b
		out = append(out, lines[i])
	}
	return out
}

func cropLine(l string, w int) string {
	n := width(l)
	if n > w {
		l = ansi.Truncate(l, w, "")
		n = width(l)
		if strings.Contains(l, "\x1b") {
			l += sgrReset
		}
	}
	if n < w {
		l += strings.Repeat(" ", w-n)
	}
	return l
}
