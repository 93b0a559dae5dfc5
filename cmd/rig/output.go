package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"rig/engine"
	"rig/engine/packet"
	"rig/specs"
	"rig/store"
)

// print writes one JSON document: indented for whoever reads it at a terminal, on one
// line for a program.
func (c *cli) print(v any) error {
	e := json.NewEncoder(c.out)
	e.SetEscapeHTML(false)
	if isTerminal(os.Stdout) {
		e.SetIndent("", "  ")
	}
	return e.Encode(v)
}

// unknownCodes are refusals that mean "the state cannot be told", and with the
// usage errors exit 2.
var unknownCodes = map[engine.Code]bool{
	engine.CodeInvalid: true, engine.CodeMissingReason: true, engine.CodeSeatRefRequired: true,
	engine.CodeTmuxProbeFailed: true, engine.CodeUnavailable: true, engine.CodeRecordDamaged: true,
	engine.CodeRecordNewer: true, store.CodeRecordOlder: true, store.CodeRecordTorn: true, engine.CodeTmuxTooOld: true, "invalid_window": true,
	engine.CodeMissingModel: true, engine.CodeMissingToken: true, engine.CodeFreshRequired: true, engine.CodeRefreshFailed: true,
	packet.CodeBadName: true, packet.CodeProvenance: true, packet.CodeUndetected: true,
}

// exitCode maps a code to what the process exits with.
func exitCode(code engine.Code) int {
	if unknownCodes[code] {
		return 2
	}
	return 1
}

// fail prints an error in the form of the run and gives its exit code.
func (c *cli) fail(err error) int {
	e := engine.AsError(err)
	var p *specs.Problems
	problems := []specs.Problem{}
	if errors.As(err, &p) {
		problems = p.List()
	}
	if c.json {
		doc := map[string]any{"ok": false, "code": e.Code, "message": message(e), "hint": shortened(e.Hint)}
		for k, v := range e.Details {
			if list, is := v.([]engine.Blocker); is {
				v = shortBlockers(list)
			}
			if _, taken := doc[k]; !taken {
				doc[k] = v
			}
		}
		if len(problems) > 0 {
			doc["errors"] = problems
		}
		if perr := c.print(doc); perr != nil {
			return 2
		}
		return exitCode(e.Code)
	}
	if len(problems) > 0 {
		c.problems(problems)
		return exitCode(e.Code)
	}
	fmt.Fprintf(c.err, "rig: %s\n", message(e))
	printDetails(c.err, e)
	if e.Hint != "" {
		fmt.Fprintf(c.err, "  → %s\n", shortened(e.Hint))
	}
	return exitCode(e.Code)
}

// message is what a person reads of an error, without its hint.
func message(e *engine.Error) string {
	s := e.Msg
	if e.Target != "" && !strings.Contains(s, e.Target) {
		s = e.Target + ": " + s
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return shortened(s)
}

// Values longer than longestWord are cut in an error: what was given is quoted there,
// and one of thousands of characters would bury what is said about it. A name or a
// path that anybody uses is shorter.
const longestWord = 300

// longWord is a run of characters that is no text a person wrote.
var longWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(fmt.Sprintf(`\S{%d,}`, longestWord+1)) })

// shortened cuts the middle out of very long values in a text.
func shortened(s string) string {
	if len(s) <= longestWord {
		return s
	}
	return longWord().ReplaceAllStringFunc(s, func(word string) string {
		r := []rune(word)
		return string(r[:80]) + fmt.Sprintf("…(%d more)…", len(r)-100) + string(r[len(r)-20:])
	})
}

func shortBlockers(list []engine.Blocker) []engine.Blocker {
	list = slices.Clone(list)
	for i := range list {
		list[i].Message, list[i].Hint = shortened(list[i].Message), shortened(list[i].Hint)
	}
	return list
}

// cutTo is the beginning of a text, of at most n runes.
func cutTo(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// problems prints the faults of a spec, one a line with its place, as compilers
// do.
func (c *cli) problems(list []specs.Problem) {
	for _, p := range list {
		fmt.Fprintf(c.err, "%s: %s [%s]\n", p.Place(), shortened(p.Msg), p.Code)
		if p.Hint != "" {
			fmt.Fprintf(c.err, "  → %s\n", shortened(p.Hint))
		}
	}
}

// printDetails prints what helps a person: matches, moved facts, further blockers,
// the words of a client.
func printDetails(w io.Writer, e *engine.Error) {
	if moved, ok := e.Details["moved"].([]engine.Change); ok {
		for _, m := range moved {
			fmt.Fprintf(w, "  moved: %s: %s → %s\n", m.Field, m.Before, m.After)
		}
	}
	if matches, ok := e.Details["matches"].([]engine.SeatMatch); ok {
		for _, m := range matches {
			fmt.Fprintf(w, "  %s\n", m.Seat)
		}
	}
	for _, id := range lines(e.Details["matches"]) {
		fmt.Fprintf(w, "  %s\n", id)
	}
	if clients, ok := e.Details["clients"].([]engine.Client); ok {
		for _, cl := range clients {
			fmt.Fprintf(w, "  %s views %s\n", cl.Name, cl.Session)
		}
	}
	if blockers, ok := e.Details["blockers"].([]engine.Blocker); ok && len(blockers) > 1 {
		for _, b := range blockers[1:] {
			fmt.Fprintf(w, "  also [%s] %s\n    → %s\n", b.Code, shortened(strings.TrimSpace(b.Seat+" "+b.Message)), shortened(b.Hint))
		}
	}
	for _, line := range lines(e.Details["pane_tail"]) {
		fmt.Fprintf(w, "  │ %s\n", line)
	}
}

// lines reads a list of texts, whether fresh or back from JSON.
func lines(v any) []string {
	switch l := v.(type) {
	case []string:
		return l
	case []any:
		var out []string
		for _, x := range l {
			if s, ok := x.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// table prints rows in columns.
func table(w io.Writer, rows [][]string) {
	for _, line := range columns(rows) {
		fmt.Fprintln(w, line)
	}
}

// columns are rows as lines in columns; the last one is not padded.
func columns(rows [][]string) []string {
	lines := make([]string, len(rows))
	width := []int{}
	for _, r := range rows {
		for i, cell := range r {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], cellWidth(cell))
		}
	}
	for n, r := range rows {
		var b strings.Builder
		for i, cell := range r {
			b.WriteString(cell)
			if i < len(r)-1 {
				b.WriteString(strings.Repeat(" ", width[i]-cellWidth(cell)+2))
			}
		}
		lines[n] = strings.TrimRight(b.String(), " ")
	}
	return lines
}
