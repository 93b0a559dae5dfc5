package runtimes

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"rig/engine"
)

// A screen is only words, and anyone who types into a conversation can put any
// words there. So nothing is matched "somewhere on the screen": a state must
// have the shape that the client draws at the bottom (an input box between two
// rules, a menu whose footer is the last line), and its words must stand where
// the client puts them.

// screenKind is the shape at the bottom of a screen.
type screenKind int

const (
	screenOther  screenKind = iota // nothing that is known
	screenBox                      // the input line is there
	screenDialog                   // a menu or question stands in its place
	screenShell                    // the client's last words, or those of a client that refused
)

// screenView is what a screen says. A zero State means that it says nothing
// about the activity.
type screenView struct {
	kind   screenKind
	state  engine.ActivityState
	code   engine.Code
	why    string
	rule   string // what was matched, for `rig explain`
	gate   bool   // a first-run or start-up question: a start cannot pass it
	fail   bool   // the client refused to start with these words
	draft  string // text standing in the input line
	queued bool   // the client shows a message that it holds and has not taken yet
	weak   bool   // the screen cannot tell this state from another
}

// sayQueued has a view of a client at work say that it holds a message.
func (v *screenView) sayQueued() {
	if !v.queued {
		return
	}
	if v.code == "" {
		v.code = engine.CodeQueued
	}
	v.why += ", with a message queued"
}

func (v screenView) reading() engine.Reading {
	r := engine.Reading{State: v.state, Code: v.code, Why: v.why, Source: "pane", Rule: v.rule, Confidence: engine.ConfidenceHigh}
	if v.weak {
		r.Confidence = engine.ConfidenceLow
	}
	return r
}

// maxScreen bounds what is looked at: a pane is rarely taller, and only its
// bottom matters.
const maxScreen = 400

// tidy drops trailing blanks and empty lines at the bottom. The no-break space
// stays: it is what tells the input line from history.
func tidy(lines []string) []string {
	if len(lines) > maxScreen {
		lines = lines[len(lines)-maxScreen:]
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		if !utf8.ValidString(l) {
			l = strings.ToValidUTF8(l, "�")
		}
		out[i] = strings.TrimRight(l, " \t\r\n")
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// isRule reports whether a line is a horizontal rule. A rule may carry a label,
// such as the session's name at its right end.
func isRule(l string) bool {
	if !strings.HasPrefix(l, "───") {
		return false
	}
	bars := strings.Count(l, "─")
	return bars >= 10 && bars*2 >= utf8.RuneCountInString(l)
}

// lastLines gives the last n lines that are not blank, oldest first.
func lastLines(lines []string, n int) []string {
	var out []string
	for i := len(lines) - 1; i >= 0 && len(out) < n; i-- {
		if strings.TrimSpace(lines[i]) != "" {
			out = append(out, lines[i])
		}
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// optionText gives the text of a menu line, without pointer and number; false
// for anything else.
func optionText(line string) (text string, selected, ok bool) {
	s := strings.TrimLeft(line, " ")
	indented := len(line) > len(s)
	for _, pointer := range []string{"❯ ", "› ", "> "} {
		if rest, found := strings.CutPrefix(s, pointer); found {
			s, selected = strings.TrimLeft(rest, " "), true
			break
		}
	}
	if !selected && !indented {
		return "", false, false
	}
	if n := strings.IndexByte(s, '.'); n > 0 && n <= 2 && strings.Trim(s[:n], "0123456789") == "" {
		s = strings.TrimLeft(s[n+1:], " ")
	} else if !selected {
		return s, false, s != ""
	}
	return s, selected, s != ""
}

// hasOption reports whether a line of the region is a menu entry that begins
// with text.
func hasOption(region []string, text string) bool {
	for _, l := range region {
		if s, _, ok := optionText(l); ok && strings.HasPrefix(s, text) {
			return true
		}
	}
	return false
}

// hasLine reports whether a line of the region begins with text, blanks aside.
func hasLine(region []string, text string) bool {
	_, ok := findLine(region, text)
	return ok
}

func findLine(region []string, text string) (string, bool) {
	for _, l := range region {
		if s := strings.TrimSpace(l); strings.HasPrefix(s, text) {
			return s, true
		}
	}
	return "", false
}

// joined glues wrapped lines back together for phrases that may run over the
// right edge. Only used where no conversation can be on the screen.
func joined(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l)
	}
	return b.String()
}

// printable makes untrusted text safe for one line of ours: no control or format
// characters, single blanks, at most limit runes.
func printable(s string, limit int) string {
	var b strings.Builder
	blank, n := false, 0
	for _, r := range s {
		if unicode.IsSpace(r) || r == '\u00a0' {
			blank = b.Len() > 0
			continue
		}
		if unicode.Is(unicode.C, r) || r == utf8.RuneError {
			continue
		}
		if blank {
			b.WriteByte(' ')
			blank = false
			n++
		}
		if n >= limit {
			b.WriteString("…")
			break
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}
