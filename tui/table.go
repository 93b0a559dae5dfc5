package tui

import "strings"

// column is one column of a table. Columns with a high rank go first when room
// runs out; what is left over is given to the columns that can grow.
type column struct {
	head  string
	w     int  // cells it needs
	most  int  // cells it can use, 0 = w
	rank  int  // 0 stays always
	tail  bool // put text at the right end
	words bool // cut words say little: it grows before the others
}

// fitted is the width given to each column, 0 = dropped.
type fitted []int

const columnGap = 2

// fit gives widths to columns in w cells.
func fit(cols []column, w int) fitted {
	out := make(fitted, len(cols))
	for i, c := range cols {
		out[i] = c.w
	}
	for total(out) > w {
		worst := -1
		for i, c := range cols {
			if out[i] > 0 && c.rank > 0 && (worst < 0 || c.rank > cols[worst].rank) {
				worst = i
			}
		}
		if worst < 0 {
			break
		}
		out[worst] = 0
	}
	spare := w - total(out)
	for _, words := range []bool{true, false} {
		for i, c := range cols {
			if out[i] == 0 || c.words != words || c.most <= c.w || spare <= 0 {
				continue
			}
			more := min(spare, c.most-c.w)
			out[i] += more
			spare -= more
		}
	}
	if spare < 0 { // nothing left to drop: the first column gives way
		out[0] = max(out[0]+spare, 1)
	}
	return out
}

func total(f fitted) int {
	sum := 0
	for _, n := range f {
		if n > 0 {
			sum += n + columnGap
		}
	}
	return max(sum-columnGap, 0)
}

// widest is how much a column of texts can use: what its widest one takes, from
// least to most. What it does not need goes to the columns behind it.
func widest(least, most, n int, text func(i int) string) int {
	for i := range n {
		if least < most {
			least = max(least, width(clean(text(i))))
		}
	}
	return min(least, most)
}

// row joins cells into pieces of the fitted widths. A cell is several pieces.
func (f fitted) row(cols []column, cells [][]seg) []seg {
	var out []seg
	for i, c := range cells {
		if i >= len(f) || f[i] == 0 {
			continue
		}
		if len(out) > 0 {
			out = append(out, seg{toneText, strings.Repeat(" ", columnGap)})
		}
		out = append(out, cell(c, f[i], cols[i].tail)...)
	}
	return out
}

// cell cuts or fills pieces to w cells.
func cell(segs []seg, w int, tail bool) []seg {
	n := 0
	for _, s := range segs {
		n += width(s.text)
	}
	if n <= w {
		gap := seg{toneText, strings.Repeat(" ", w-n)}
		if tail {
			return append([]seg{gap}, segs...)
		}
		return append(append([]seg(nil), segs...), gap)
	}
	var out []seg
	left := w
	for _, s := range segs {
		if left <= 0 {
			break
		}
		t := s.text
		if width(t) > left {
			t = pad(cut(t, left), left)
		}
		out = append(out, seg{s.tone, t})
		left -= width(t)
	}
	return out
}

// heads gives the heading of a table.
func (f fitted) heads(cols []column) []seg {
	cells := make([][]seg, len(cols))
	for i, c := range cols {
		cells[i] = []seg{{toneDim, c.head}}
	}
	return f.row(cols, cells)
}

// table is a list of rows below a heading. Cells before the first column hold
// the cursor, and a mark where rows can be marked.
type table struct {
	b    brush
	cols []column
	f    fitted
	w    int
	lead int // cells before the first column
}

func (b brush) table(cols []column, w, lead int) table {
	return table{b, cols, fit(cols, w-lead-1), w, lead}
}

// head draws the heading.
func (t table) head() string {
	return t.b.line(t.w, false, append([]seg{{toneText, strings.Repeat(" ", t.lead)}}, t.f.heads(t.cols)...)...)
}

// row draws a row. marks stand between the cursor and the first column.
func (t table) row(on bool, cells [][]seg, marks ...seg) string {
	segs := append([]seg{t.b.lead(on)}, marks...)
	return t.b.line(t.w, on, append(segs, t.f.row(t.cols, cells)...)...)
}

// lead is what a row begins with: the cursor, when it is there.
func (b brush) lead(on bool) seg {
	if on {
		return seg{toneAccent, b.g.cursor}
	}
	return seg{toneText, " "}
}
