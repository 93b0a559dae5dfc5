package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"rig/engine"
)

// maxNotepad bounds what can be typed, pasted or loaded into a text of many lines,
// in bytes.
const maxNotepad = 256 << 10

// notepad is a text of many lines with a cursor. A line that nobody touches stays
// byte for byte what it was, whatever of it can be drawn.
type notepad struct {
	rows    []*noteRow
	at      int  // row of the cursor
	touched bool // somebody wrote in it
	full    bool // the last insertion had no room
}

// noteRow is one line: its cells, and what it was while nobody has touched it.
type noteRow struct {
	in   input
	raw  string
	kept bool
}

func newNotepad(text, shown string) *notepad {
	n := &notepad{}
	raw, seen := strings.Split(text, "\n"), strings.Split(shown, "\n")
	for i, line := range raw {
		look := line
		if i < len(seen) {
			look = seen[i]
		}
		n.rows = append(n.rows, &noteRow{input{cells: cellsOf(look)}, line, true})
	}
	return n
}

// cellsOf cuts a line into clusters without escapes and controls. A tab is one of
// them; what terminals do not count alike is made sure when it is drawn.
func cellsOf(line string) []string {
	var out []string
	for i, part := range strings.Split(line, "\t") {
		if i > 0 {
			out = append(out, "\t")
		}
		out = append(out, clusters(bare(part))...)
	}
	return out
}

func (r *noteRow) text() string {
	if r.kept {
		return r.raw
	}
	return r.in.text()
}

// text is the whole text.
func (n *notepad) text() string {
	lines := make([]string, len(n.rows))
	for i, r := range n.rows {
		lines[i] = r.text()
	}
	return strings.Join(lines, "\n")
}

// size says how long the text is.
func (n *notepad) size() string {
	text := n.text()
	if text == "" {
		return "empty"
	}
	return engine.Counted(n.lines(), "line") + ", " + engine.Counted(len(text), "byte")
}

// lines counts the lines; a break at the end begins none.
func (n *notepad) lines() int {
	if last := n.rows[len(n.rows)-1]; len(n.rows) > 1 && last.text() == "" {
		return len(n.rows) - 1
	}
	return len(n.rows)
}

func (n *notepad) row() *noteRow { return n.rows[n.at] }

// write makes the line under the cursor what is seen of it.
func (n *notepad) write() *input {
	n.touched, n.full = true, false
	n.row().kept = false
	return &n.row().in
}

// insert puts text at the cursor. Escapes and controls go, but for line breaks and
// tabs, so that no paste can do more than write.
func (n *notepad) insert(text string) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	if n.full = len(n.text())+len(text) > maxNotepad; n.full {
		return
	}
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			n.split()
		}
		if add := cellsOf(line); len(add) > 0 {
			in := n.write()
			in.cells = append(in.cells[:in.at:in.at], append(add, in.cells[in.at:]...)...)
			in.at += len(add)
		}
	}
}

// split breaks the line at the cursor.
func (n *notepad) split() {
	in := n.write()
	rest := &noteRow{in: input{cells: append([]string(nil), in.cells[in.at:]...)}}
	in.cells = in.cells[:in.at]
	n.rows = append(n.rows[:n.at+1], append([]*noteRow{rest}, n.rows[n.at+1:]...)...)
	n.at++
}

// join puts the line below onto the end of a line.
func (n *notepad) join(at int) {
	if at < 0 || at+1 >= len(n.rows) {
		return
	}
	n.at = at
	in := n.write()
	in.at = len(in.cells)
	in.cells = append(in.cells, n.rows[at+1].in.cells...)
	n.rows = append(n.rows[:at+1], n.rows[at+2:]...)
}

// walk moves the cursor up or down, in its column where that is there.
func (n *notepad) walk(by int) {
	col := n.row().in.at
	n.at = max(min(n.at+by, len(n.rows)-1), 0)
	n.row().in.at = min(col, len(n.row().in.cells))
}

// key takes an editing key.
func (n *notepad) key(k tea.KeyPressMsg) {
	if t := k.Key().Text; t != "" && printable(t) {
		n.insert(t)
		return
	}
	in := &n.row().in
	switch name := k.String(); name {
	case "backspace", "ctrl+h":
		if in.at == 0 {
			n.join(n.at - 1)
			return
		}
		n.write().key(k)
	case "delete":
		if in.at == len(in.cells) {
			n.join(n.at)
			return
		}
		n.write().key(k)
	case "left", "ctrl+b":
		if in.at == 0 && n.at > 0 {
			n.at--
			n.row().in.at = len(n.row().in.cells)
			return
		}
		in.key(k)
	case "right", "ctrl+f":
		if in.at == len(in.cells) && n.at < len(n.rows)-1 {
			n.at++
			n.row().in.at = 0
			return
		}
		in.key(k)
	case "home", "ctrl+a", "end", "ctrl+e":
		in.key(k)
	case "ctrl+u", "ctrl+k", "ctrl+w", "alt+backspace":
		n.write().key(k)
	}
}

// view draws the lines around the cursor, at most h of them, in w cells.
func (n *notepad) view(b brush, w, h int) []string {
	h = min(h, len(n.rows))
	top := max(min(n.at-h/2, len(n.rows)-h), 0)
	var out []string
	for i := top; i < top+h; i++ {
		seen := drawable(n.rows[i].in, b.g)
		if i == n.at {
			out = append(out, b.line(2, false, seg{toneAccent, b.g.cursor + " "})+seen.view(b, w-2, true, ""))
			continue
		}
		out = append(out, b.line(w, false, seg{toneText, "  "}, seg{toneText, seen.text()}))
	}
	return out
}

// drawable is a copy in which every cell has a width that is sure, and a mark stands
// for a line break.
func drawable(in input, g *glyphs) *input {
	out := &input{cells: make([]string, len(in.cells)), at: in.at}
	for i, c := range in.cells {
		switch c {
		case "\t":
			out.cells[i] = " "
		case "\n":
			out.cells[i] = g.newline
		default:
			out.cells[i] = tame(c)
		}
	}
	return out
}
