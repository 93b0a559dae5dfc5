package agentsim

import "strings"

// editor is the input line of a client: text, a cursor, and the pasted pieces
// that it shows by a placeholder.
type editor struct {
	text   []rune
	at     int               // cursor, an index into text
	pasted map[string]string // placeholder to what was pasted
	pastes int               // placeholders made so far
}

// insert puts text at the cursor.
func (e *editor) insert(s string) {
	r := []rune(s)
	e.text = append(e.text[:e.at], append(r, e.text[e.at:]...)...)
	e.at += len(r)
}

// chip puts a placeholder for a pasted text at the cursor.
func (e *editor) chip(placeholder, content string) {
	if e.pasted == nil {
		e.pasted = map[string]string{}
	}
	e.pasted[placeholder] = content
	e.insert(placeholder)
}

// set replaces the whole text.
func (e *editor) set(s string) {
	e.text, e.at = []rune(s), len([]rune(s))
}

// clear empties the line; placeholders keep counting.
func (e *editor) clear() { e.text, e.at, e.pasted = nil, 0, nil }

func (e *editor) empty() bool { return len(e.text) == 0 }

func (e *editor) String() string { return string(e.text) }

// expand replaces each placeholder by wrap(content).
func (e *editor) expand(wrap func(string) string) string {
	s := string(e.text)
	for mark, content := range e.pasted {
		s = strings.ReplaceAll(s, mark, wrap(content))
	}
	return s
}

// key edits; it reports whether the key was one for the editor.
func (e *editor) key(k key) bool {
	switch k.kind {
	case keyText:
		e.insert(k.text)
	case keyNewline:
		e.insert("\n")
	case keyBackspace:
		e.backspace()
	case keyDelete:
		if e.at < len(e.text) {
			e.text = append(e.text[:e.at], e.text[e.at+1:]...)
		}
	case keyLeft:
		e.at = max(0, e.at-1)
	case keyRight:
		e.at = min(len(e.text), e.at+1)
	case keyHome:
		e.at = e.lineStart()
	case keyEnd:
		for e.at < len(e.text) && e.text[e.at] != '\n' {
			e.at++
		}
	case keyCtrl:
		return e.control(k.text)
	default:
		return false
	}
	return true
}

func (e *editor) control(c string) bool {
	switch c {
	case "a":
		e.at = e.lineStart()
	case "e":
		return e.key(key{kind: keyEnd})
	case "u":
		from := e.lineStart()
		if from == e.at && from > 0 {
			from--
		}
		e.text = append(e.text[:from], e.text[e.at:]...)
		e.at = from
	case "k":
		to := e.at
		for to < len(e.text) && e.text[to] != '\n' {
			to++
		}
		e.text = append(e.text[:e.at], e.text[to:]...)
	case "w":
		from := e.at
		for from > 0 && e.text[from-1] == ' ' {
			from--
		}
		for from > 0 && e.text[from-1] != ' ' && e.text[from-1] != '\n' {
			from--
		}
		e.text = append(e.text[:from], e.text[e.at:]...)
		e.at = from
	default:
		return false
	}
	return true
}

func (e *editor) lineStart() int {
	i := e.at
	for i > 0 && e.text[i-1] != '\n' {
		i--
	}
	return i
}

// backspace removes a character, or a whole placeholder that ends at the cursor.
func (e *editor) backspace() {
	before := string(e.text[:e.at])
	for mark := range e.pasted {
		if strings.HasSuffix(before, mark) {
			n := len([]rune(mark))
			e.text = append(e.text[:e.at-n], e.text[e.at:]...)
			e.at -= n
			delete(e.pasted, mark)
			return
		}
	}
	if e.at > 0 {
		e.text = append(e.text[:e.at-1], e.text[e.at:]...)
		e.at--
	}
}

// rows lays the text out for a width, the first row behind first and the others
// behind two blanks, and gives the cursor's row and column.
func (e *editor) rows(first string, width int) (rows []string, cy, cx int) {
	lead := textWidth(first)
	avail := max(4, width-lead-1)
	col, cur := 0, []rune{}
	flush := func() {
		head := first
		if len(rows) > 0 {
			head = strings.Repeat(" ", lead)
		}
		rows = append(rows, head+string(cur))
		cur, col = cur[:0], 0
	}
	cy, cx = 0, lead
	for i, r := range e.text {
		w := runeWidth(r)
		if r == '\n' || col+w > avail {
			if i == e.at {
				cy, cx = len(rows), lead+col
			}
			flush()
			if r == '\n' {
				continue
			}
		}
		if i == e.at {
			cy, cx = len(rows), lead+col
		}
		cur, col = append(cur, r), col+w
	}
	if e.at == len(e.text) {
		cy, cx = len(rows), lead+col
	}
	flush()
	return rows, cy, cx
}
