package main

import (
	"io"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"
)

// maxMeasure is the widest line of prose, in cells: longer ones are hard to read.
const maxMeasure = 100

// listMark is what a list item or a row of the footer begins with.
var listMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*(?:- \[[ x]\] |[-*] |\d+\. )`) })

// page prints a text that a person reads. Where standard output is a terminal it is
// rendered: headings stand out, items hang, lines break between words; NO_COLOR
// leaves the layout. In a pipe it stays as it is.
func (c *cli) page(text string) error {
	if !isTerminal(os.Stdout) {
		_, err := io.WriteString(c.out, text)
		return err
	}
	var inert strings.Builder // what drives a terminal is taken out before our own sequences go in
	if _, err := io.WriteString(cleanWriter{&inert, nil}, text); err != nil {
		return err
	}
	width := min(max(terminalWidth(os.Stdout)-2, 20), maxMeasure)
	_, err := io.WriteString(os.Stdout, renderMarkdown(inert.String(), width, os.Getenv("NO_COLOR") == ""))
	return err
}

func renderMarkdown(text string, width int, color bool) string {
	style := func(code, s string) string {
		if !color || s == "" {
			return s
		}
		return "\x1b[" + code + "m" + s + "\x1b[0m"
	}
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		title := strings.TrimLeft(line, "#")
		level := len(line) - len(title)
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
			continue
		case fenced:
			b.WriteString("    " + line)
		case level == 1 && strings.HasPrefix(title, " "):
			b.WriteString(style("1;4", strings.TrimSpace(title)))
		case level > 1 && level < 7 && strings.HasPrefix(title, " "):
			b.WriteString(style("1;36", strings.TrimSpace(title)))
		case strings.Trim(line, "-") == "" && len(line) >= 3:
			b.WriteString(style("2", strings.Repeat("─", width)))
		case strings.HasPrefix(line, "warning: "):
			b.WriteString(style("33", hang(line, "", width)))
		default:
			b.WriteString(item(line, width))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// item hangs a list item behind its mark.
func item(line string, width int) string {
	mark := listMark().FindString(line)
	rest := line[len(mark):]
	switch strings.TrimSpace(mark) {
	case "-", "*":
		mark = strings.Replace(strings.Replace(mark, "-", "•", 1), "*", "•", 1)
	case "- [ ]":
		mark = strings.Replace(mark, "- [ ]", "☐", 1)
	case "- [x]":
		mark = strings.Replace(mark, "- [x]", "☑", 1)
	}
	if strings.HasPrefix(rest, `\#`) {
		rest = rest[1:]
	}
	return hang(rest, mark, width)
}

// hang breaks a text between words and indents all lines but the first.
func hang(text, mark string, width int) string {
	in := ansi.StringWidth(mark)
	if mark == "" {
		in = len(text) - len(strings.TrimLeft(text, " "))
		mark, text = text[:in], text[in:]
	}
	broken := ansi.Wrap(text, max(width-in, 10), "/-")
	return mark + strings.ReplaceAll(broken, "\n", "\n"+strings.Repeat(" ", in))
}
