package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"rig/engine"
	"rig/engine/packet"
	"rig/specs"
	"rig/store"
)

// print writes one JSON document.
func (c *cli) print(v any) error {
	e := json.NewEncoder(&indenter{w: c.out})
	e.SetEscapeHTML(false)
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
		doc := map[string]any{"ok": false, "code": e.Code, "message": message(e), "hint": e.Hint}
		for k, v := range e.Details {
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
	c.details(e)
	if e.Hint != "" {
		fmt.Fprintf(c.err, "  → %s\n", e.Hint)
	}
	return exitCode(e.Code)
}

func message(e *engine.Error) string {
	s := e.Msg
	if e.Target != "" && !strings.Contains(s, e.Target) {
		s = e.Target + ": " + s
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// problems prints the faults of a spec, one a line with its place, as compilers
// do.
func (c *cli) problems(list []specs.Problem) {
	for _, p := range list {
		fmt.Fprintf(c.err, "%s: %s [%s]\n", p.Place(), p.Msg, p.Code)
		if p.Hint != "" {
			fmt.Fprintf(c.err, "  → %s\n", p.Hint)
		}
	}
}

// details prints what helps a person: matches, moved facts, further blockers,
// the words of a client.
func (c *cli) details(e *engine.Error) {
	if moved, ok := e.Details["moved"].([]engine.Change); ok {
		for _, m := range moved {
			fmt.Fprintf(c.err, "  moved: %s: %s → %s\n", m.Field, m.Before, m.After)
		}
	}
	if matches, ok := e.Details["matches"].([]engine.SeatMatch); ok {
		for _, m := range matches {
			fmt.Fprintf(c.err, "  %s\n", m.Seat)
		}
	}
	if clients, ok := e.Details["clients"].([]engine.Client); ok {
		for _, cl := range clients {
			fmt.Fprintf(c.err, "  %s views %s\n", cl.Name, cl.Session)
		}
	}
	if blockers, ok := e.Details["blockers"].([]engine.Blocker); ok && len(blockers) > 1 {
		for _, b := range blockers[1:] {
			fmt.Fprintf(c.err, "  also [%s] %s %s\n    → %s\n", b.Code, b.Seat, b.Message, b.Hint)
		}
	}
	for _, line := range lines(e.Details["pane_tail"]) {
		fmt.Fprintf(c.err, "  │ %s\n", line)
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

// table prints rows in columns; the last column is not padded.
func table(w io.Writer, rows [][]string) {
	width := []int{}
	for _, r := range rows {
		for i, cell := range r {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], cellWidth(cell))
		}
	}
	for _, r := range rows {
		var b strings.Builder
		for i, cell := range r {
			b.WriteString(cell)
			if i < len(r)-1 {
				b.WriteString(strings.Repeat(" ", width[i]-cellWidth(cell)+2))
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}
