// Command picture turns a captured terminal frame (tmux capture-pane -p -e) into
// an SVG file, so that the README shows a real frame and not a drawing of one.
//
//	tmux capture-pane -p -e | go run ./testdata/picture -cols 120 > docs/console.svg
package main

import (
	"bufio"
	"flag"
	"fmt"
	"html"
	"image/color"
	"os"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Sizes of one cell and of the margin, in SVG units.
const (
	cellW, cellH, margin = 8.4, 18.0, 14.0
	back, front          = "#11151c", "#d7dae0"
)

// style is what a run of cells looks like.
type style struct {
	fg, bg                         string
	bold, faint, italic, under, rv bool
}

func main() {
	cols := flag.Int("cols", 120, "columns of the frame")
	flag.Parse()
	var lines []string
	sc := bufio.NewScanner(os.Stdin)
	sc.Buffer(make([]byte, 1<<20), 1<<20)
	for sc.Scan() {
		lines = append(lines, sc.Text())
	}
	if err := sc.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	w, h := float64(*cols)*cellW+2*margin, float64(len(lines))*cellH+2*margin
	out := bufio.NewWriter(os.Stdout)
	defer func() {
		if err := out.Flush(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}()
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f">`+"\n", w, h, w, h)
	fmt.Fprintf(out, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", back)
	fmt.Fprintln(out, `<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14" xml:space="preserve">`)
	var st style
	for y, line := range lines {
		st = drawLine(out, y, line, st)
	}
	fmt.Fprintln(out, "</g>\n</svg>")
}

// drawLine writes the runs of one line, each at its own column, so that a font
// whose glyphs are not exactly one cell wide cannot shift what follows. st is what the
// line before ended in: tmux writes only what changes.
func drawLine(out *bufio.Writer, y int, line string, st style) style {
	var run strings.Builder
	col, start := 0, 0
	flush := func() {
		if run.Len() > 0 {
			drawRun(out, y, start, col, run.String(), st)
			run.Reset()
		}
		start = col
	}
	state := byte(0)
	parser := ansi.NewParser()
	for len(line) > 0 {
		seq, width, n, next := ansi.DecodeSequence(line, state, parser)
		state = next
		line = line[n:]
		if width > 0 {
			run.WriteString(seq)
			col += width
			continue
		}
		if strings.HasPrefix(seq, "\x1b[") && strings.HasSuffix(seq, "m") {
			flush()
			st = apply(st, seq[2:len(seq)-1])
		}
	}
	flush()
	return st
}

func drawRun(out *bufio.Writer, y, from, to int, text string, st style) {
	fg, bg := st.fg, st.bg
	if fg == "" {
		fg = front
	}
	if st.rv {
		if bg == "" {
			bg = back
		}
		fg, bg = bg, fg
	}
	x, top := margin+float64(from)*cellW, margin+float64(y)*cellH
	if bg != "" {
		fmt.Fprintf(out, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`, x, top, float64(to-from)*cellW, cellH, bg)
	}
	if strings.TrimSpace(text) == "" {
		fmt.Fprintln(out)
		return
	}
	attrs := ""
	if st.bold {
		attrs += ` font-weight="bold"`
	}
	if st.faint {
		attrs += ` opacity="0.6"`
	}
	if st.italic {
		attrs += ` font-style="italic"`
	}
	if st.under {
		attrs += ` text-decoration="underline"`
	}
	fmt.Fprintf(out, `<text x="%.1f" y="%.1f" fill="%s" textLength="%.1f" lengthAdjust="spacingAndGlyphs"%s>%s</text>`+"\n",
		x, top+13.5, fg, float64(to-from)*cellW, attrs, html.EscapeString(text))
}

// apply changes a style by the parameters of one SGR sequence.
func apply(st style, params string) style {
	p := strings.Split(strings.ReplaceAll(params, ":", ";"), ";")
	for i := 0; i < len(p); i++ {
		n := number(p[i])
		switch {
		case n == 0:
			st = style{}
		case n == 1:
			st.bold = true
		case n == 2:
			st.faint = true
		case n == 3:
			st.italic = true
		case n == 4:
			st.under = true
		case n == 7:
			st.rv = true
		case n == 22:
			st.bold, st.faint = false, false
		case n == 23:
			st.italic = false
		case n == 24:
			st.under = false
		case n == 27:
			st.rv = false
		case n == 39:
			st.fg = ""
		case n == 49:
			st.bg = ""
		case n >= 30 && n <= 37:
			st.fg = palette(n - 30)
		case n >= 40 && n <= 47:
			st.bg = palette(n - 40)
		case n >= 90 && n <= 97:
			st.fg = palette(n - 90 + 8)
		case n >= 100 && n <= 107:
			st.bg = palette(n - 100 + 8)
		case (n == 38 || n == 48) && i+1 < len(p):
			var c string
			c, i = extended(p, i+1)
			if n == 38 {
				st.fg = c
			} else {
				st.bg = c
			}
		}
	}
	return st
}

func extended(p []string, i int) (string, int) {
	if number(p[i]) == 5 && i+1 < len(p) {
		return palette(number(p[i+1])), i + 1
	}
	if number(p[i]) == 2 && i+3 < len(p) {
		return fmt.Sprintf("#%02x%02x%02x", number(p[i+1]), number(p[i+2]), number(p[i+3])), i + 3
	}
	return "", i
}

func number(s string) int {
	n := 0
	for _, r := range s {
		if r < '0' || r > '9' {
			return -1
		}
		n = n*10 + int(r-'0')
	}
	return n
}

// basic are the sixteen colours on a dark background.
var basic = []string{
	"#1c212b", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#c8ccd4",
	"#7f8796", "#ff7b86", "#b5e890", "#ffd68a", "#8ac6ff", "#dd9bf5", "#7fdfe9", "#ffffff",
}

func palette(n int) string {
	if n >= 0 && n < len(basic) {
		return basic[n]
	}
	var c color.Color = ansi.IndexedColor(uint8(n)) //nolint:gosec // a palette index
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
