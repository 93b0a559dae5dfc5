package main

import (
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

// markdown renders a text for the terminal on standard output: headings stand out,
// items hang, lines break between words. Without a terminal, and for a script, the
// text stays as it is; NO_COLOR leaves the layout. The text holds no control
// characters: whoever made it has taken them out.
func (c *cli) markdown(text string) string {
	width := c.outWidth()
	if width == 0 {
		return text
	}
	return renderMarkdown(text, min(max(width-2, 20), maxMeasure), os.Getenv("NO_COLOR") == "")
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
