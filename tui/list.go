package tui

// move is a step of a cursor: by lines, by half pages, or to an end.
type move struct {
	by   int
	page int // halves of a page
	to   int // -1 start, 1 end
}

// list is a cursor over rows that have keys. It survives changes of the rows:
// the cursor stays on its key, and when that is gone, near its place. It holds
// no text, only where the cursor and the window are.
type list struct {
	keys   []string
	cursor int
	top    int
	height int // rows in the window, kept by settle
}

// set replaces the rows.
func (l *list) set(keys []string) {
	at := ""
	if l.cursor >= 0 && l.cursor < len(l.keys) {
		at = l.keys[l.cursor]
	}
	l.keys = keys
	if at != "" {
		for i, k := range keys {
			if k == at {
				l.top += i - l.cursor
				l.cursor = i
				l.clamp()
				return
			}
		}
	}
	l.clamp()
}

// settle fits the window to a height and brings the cursor into it.
func (l *list) settle(height int) {
	l.height = max(height, 1)
	l.clamp()
}

func (l *list) clamp() {
	l.cursor = min(max(l.cursor, 0), max(len(l.keys)-1, 0))
	h := max(l.height, 1)
	if l.cursor < l.top {
		l.top = l.cursor
	}
	if l.cursor >= l.top+h {
		l.top = l.cursor - h + 1
	}
	l.top = max(min(l.top, len(l.keys)-h), 0)
}

func (l *list) move(d move) {
	switch {
	case d.to < 0:
		l.cursor = 0
	case d.to > 0:
		l.cursor = len(l.keys) - 1
	case d.page != 0:
		l.cursor += d.page * max(l.height/2, 1)
	default:
		l.cursor += d.by
	}
	l.clamp()
}

// key is the key under the cursor, "" when there are no rows.
func (l *list) key() string {
	if l.cursor < 0 || l.cursor >= len(l.keys) {
		return ""
	}
	return l.keys[l.cursor]
}

// to puts the cursor on a key and reports whether it is there.
func (l *list) to(key string) bool {
	for i, k := range l.keys {
		if k == key {
			l.cursor = i
			l.clamp()
			return true
		}
	}
	return false
}

// click is what a click on a list meant.
type click int

const (
	clickNone   click = iota // no row of it
	clickOther               // another row, which has the cursor now
	clickCursor              // the row that had the cursor already
)

// click puts the cursor on a row.
func (l *list) click(row int) click {
	if row == l.cursor {
		return clickCursor
	}
	l.cursor = row
	return clickOther
}

// window gives the range of rows to draw in h lines.
func (l *list) window(h int) (from, to int) {
	from = max(min(l.top, len(l.keys)-h), 0)
	return from, min(from+max(h, 0), len(l.keys))
}

// lines draws the rows that are in h lines.
func (l *list) lines(h int, draw func(i int, on bool) string) []string {
	from, to := l.window(h)
	out := make([]string, 0, to-from)
	for i := from; i < to; i++ {
		out = append(out, draw(i, i == l.cursor))
	}
	return out
}

// tall draws rows of several lines each in h lines, with the whole of the one under
// the cursor when it fits. all is false when something is out of sight.
func (l *list) tall(h int, draw func(i int, on bool) []string) (out []string, all bool) {
	from, to := l.window(h)
	from, to = min(from, l.cursor), max(to, min(l.cursor+1, len(l.keys)))
	all = from == 0 && to == len(l.keys)
	var starts []int
	end := 0 // of the row under the cursor
	for i := from; i < to && (i <= l.cursor || len(out)-end < h); i++ {
		starts = append(starts, len(out))
		out = append(out, draw(i, i == l.cursor)...)
		if i <= l.cursor {
			end = len(out)
		}
	}
	cut := 0
	for i := 1; i < len(starts) && i <= l.cursor-from && end-cut > h; i++ {
		cut = starts[i]
	}
	out = out[cut:]
	if cut > 0 || len(out) > h {
		return out[:min(h, len(out))], false
	}
	return out, all
}

// more says how much of the list is out of sight, "" when none is.
func (l *list) more(h int) string {
	if len(l.keys) <= h {
		return ""
	}
	return itoa(l.cursor+1) + "/" + itoa(len(l.keys))
}
