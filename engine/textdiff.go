package engine

import (
	"fmt"
	"strings"
)

// Bounds of a text that is laid beside another.
const (
	diffAround = 2       // lines that stay, shown before and after each change
	diffCells  = 1 << 20 // product of the changed lines up to which they are matched one by one
	diffShown  = 400     // lines
)

// textDiff lays two texts side by side, line by line. They are compared as they are
// and shown redacted.
func (e *Engine) textDiff(before, after string) []TextLine {
	a, b := textLines(before), textLines(after)
	shownA, shownB := a, b
	if e.d.RedactScreen != nil {
		shownA, shownB = e.d.RedactScreen(a), e.d.RedactScreen(b)
	}
	at := func(list []string, i int) string {
		if i < len(list) {
			return list[i]
		}
		return ""
	}
	var all []TextLine
	walkDiff(a, b, func(i, j int) {
		switch {
		case i >= 0 && j >= 0:
			all = append(all, TextLine{LineTextSame, at(shownB, j)})
		case i >= 0:
			all = append(all, TextLine{LineTextGone, at(shownA, i)})
		default:
			all = append(all, TextLine{LineTextNew, at(shownB, j)})
		}
	})
	return aroundChanges(all)
}

func textLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// walkDiff goes through two lists of lines in an order that turns the one into the
// other: emit gets the place in each, -1 where a line is in the other alone.
func walkDiff(a, b []string, emit func(i, j int)) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		emit(head, head)
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	long := longest(x, y)
	i, j, joined := 0, 0, true
	for i < len(x) || j < len(y) {
		same := long != nil && i < len(x) && j < len(y) && x[i] == y[j] && (joined || weighs(x[i]))
		switch joined = same; {
		case same:
			emit(head+i, head+j)
			i, j = i+1, j+1
		case i < len(x) && (long == nil || j == len(y) || long[i+1][j] >= long[i][j+1]):
			emit(head+i, -1)
			i++
		default:
			emit(-1, head+j)
			j++
		}
	}
	for k := range tail {
		emit(len(a)-tail+k, len(b)-tail+k)
	}
}

// weighs tells lines that two texts can be matched by: an empty one stands
// everywhere, and is matched only behind a line that is.
func weighs(line string) bool { return strings.TrimSpace(line) != "" }

// longest gives, for each place in two lists, how many lines in order they have in
// common from there on; nil when they are too long to be matched.
func longest(x, y []string) [][]int32 {
	if len(x)*len(y) > diffCells {
		return nil
	}
	out := make([][]int32, len(x)+1)
	for i := range out {
		out[i] = make([]int32, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if out[i][j] = max(out[i+1][j], out[i][j+1]); x[i] == y[j] && weighs(x[i]) {
				out[i][j] = out[i+1][j+1] + 1
			}
		}
	}
	return out
}

// aroundChanges leaves out what is far from every change, and says how much.
func aroundChanges(all []TextLine) []TextLine {
	near := make([]bool, len(all))
	for i, l := range all {
		if l.Kind == LineTextSame {
			continue
		}
		for k := max(i-diffAround, 0); k <= min(i+diffAround, len(all)-1); k++ {
			near[k] = true
		}
	}
	var out []TextLine
	for i := 0; i < len(all); {
		if near[i] {
			if len(out) == diffShown {
				return append(out, TextLine{LineTextGap, Counted(len(all)-i, "more line")})
			}
			out = append(out, all[i])
			i++
			continue
		}
		from := i
		for i < len(all) && !near[i] {
			i++
		}
		out = append(out, TextLine{LineTextGap, Counted(i-from, "line") + " the same"})
	}
	return out
}

// lines is a text that changes as a plan prints it.
func (t TextChange) lines() []Line {
	gone, come := 0, 0
	for _, l := range t.Lines {
		switch l.Kind {
		case LineTextGone:
			gone++
		case LineTextNew:
			come++
		default:
		}
	}
	if gone+come == 0 {
		return nil
	}
	out := []Line{{LineTextHead, fmt.Sprintf("%s of %s, line by line (- goes, + comes)", t.Field, t.Seat)}}
	for _, l := range t.Lines {
		lead := "  "
		switch l.Kind {
		case LineTextGone:
			lead = "- "
		case LineTextNew:
			lead = "+ "
		case LineTextGap:
			lead = "… "
		default:
		}
		out = append(out, Line{l.Kind, lead + l.Text})
	}
	return out
}
