package specs

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"rig/engine"
)

// The codes of problems in a spec, beside those of the engine.
const (
	CodeSyntax      engine.Code = "syntax"            // not YAML
	CodeEncoding    engine.Code = "encoding"          // not UTF-8, or characters no spec needs
	CodeTooLarge    engine.Code = "too_large"         // bytes, nesting or entries beyond the bound
	CodeYAMLFeature engine.Code = "yaml_feature"      // anchors, aliases, tags, merge keys, several documents
	CodeUnknownKey  engine.Code = "unknown_key"       // no such key here
	CodeDuplicate   engine.Code = "duplicate"         // a key, an id or an edge given twice
	CodeMissing     engine.Code = "missing"           // a required key is absent or empty
	CodeWrongType   engine.Code = "wrong_type"        // a list where text belongs, and so on
	CodeQuoteIt     engine.Code = "quote_it"          // unquoted text that YAML may read as something else
	CodeBadValue    engine.Code = "bad_value"         // not one of the allowed values
	CodeBadName     engine.Code = "bad_name"          // a name that an address cannot carry
	CodeCollision   engine.Code = "address_collision" // two seats would share one address
	CodeBadEdge     engine.Code = "bad_edge"          // an edge whose ends do not fit
	CodeUnsafePath  engine.Code = "unsafe_path"       // a path that leaves its folder
	CodeBadSource   engine.Code = "session_source"    // a session source that cannot be used
	CodeInert       engine.Code = "inert"             // advisory: known, and without effect
	CodeCaseOnly    engine.Code = "case_only"         // advisory: two names differ in case only
	CodeModelAlias  engine.Code = "model_alias"       // advisory: a model pinned by alias
	CodePolicyWider engine.Code = "policy_wider"      // a restore policy may only narrow
)

// Problem is one fault, or one remark, at one place of a file.
type Problem struct {
	Code engine.Code `json:"code"`
	File string      `json:"file"`
	Line int         `json:"line"`           // from 1
	Col  int         `json:"column"`         // from 1, in characters
	Path string      `json:"path,omitempty"` // such as pods[0].members[1].cwd
	Msg  string      `json:"message"`
	Hint string      `json:"hint,omitempty"`
}

// Place is file:line:column, as editors and compilers write it.
func (p Problem) Place() string {
	return p.File + ":" + strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Col)
}

// Error is the whole remark in one line: place, path, message and hint.
func (p Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.Place())
	b.WriteString(": ")
	if p.Path != "" {
		b.WriteString(p.Path)
		b.WriteString(": ")
	}
	b.WriteString(p.Msg)
	if p.Hint != "" {
		b.WriteString(" (" + p.Hint + ")")
	}
	return b.String()
}

// Problems is the error that carries every fault of a spec. It is the cause
// inside an *engine.Error of CodeValidationFailed.
type Problems struct{ list []Problem }

// List gives the faults in the order of their places.
func (p *Problems) List() []Problem { return p.list }

// Error writes one fault on each line.
func (p *Problems) Error() string {
	lines := make([]string, len(p.list))
	for i, q := range p.list {
		lines[i] = q.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives each fault to errors.As.
func (p *Problems) Unwrap() []error {
	errs := make([]error, len(p.list))
	for i, q := range p.list {
		errs[i] = q
	}
	return errs
}

// failure makes the error of a spec with faults, nil without any. A spec whose
// only faults are circles of launch edges fails with CodeCycle.
func failure(file string, list []Problem) error {
	if len(list) == 0 {
		return nil
	}
	code := engine.CodeCycle
	for _, p := range list {
		if p.Code != engine.CodeCycle {
			code = engine.CodeValidationFailed
		}
	}
	return engine.Errorf(code, "the spec has %s", engine.Counted(len(list), "error")).
		WithHint("mend the places named and run `rig spec validate %s` again", file).
		On("read_spec", file).With("problems", list).Wrap(&Problems{list})
}

// maxProblems bounds a report: a hostile file could hold a fault every few bytes.
const maxProblems = 500

type place struct{ line, col int }

// report collects what is wrong and what is remarkable in one file.
type report struct {
	file       string
	problems   []Problem
	advisories []Problem
	more       int // faults beyond maxProblems
	bad        map[*yaml.Node]bool
	places     map[string]place // of every value, by path
}

func newReport(file string) *report {
	return &report{file: file, bad: map[*yaml.Node]bool{}, places: map[string]place{}}
}

// add reports a fault at a node and marks the node, so that later checks do not
// report it again in other words.
func (r *report) add(n *yaml.Node, path string, code engine.Code, hint, format string, args ...any) {
	r.bad[n] = true
	r.at(place{n.Line, n.Column}, path, code, hint, format, args...)
}

func (r *report) at(at place, path string, code engine.Code, hint, format string, args ...any) {
	if len(r.problems) >= maxProblems {
		r.more++
		return
	}
	r.problems = append(r.problems, r.problem(at, path, code, hint, fmt.Sprintf(format, args...)))
}

// advise records a remark that stops nothing.
func (r *report) advise(at place, path string, code engine.Code, hint, format string, args ...any) {
	if len(r.advisories) < maxProblems {
		r.advisories = append(r.advisories, r.problem(at, path, code, hint, fmt.Sprintf(format, args...)))
	}
}

func (r *report) problem(at place, path string, code engine.Code, hint, msg string) Problem {
	return Problem{Code: code, File: r.file, Line: max(at.line, 1), Col: max(at.col, 1), Path: path, Msg: msg, Hint: hint}
}

// sorted gives both lists in the order of the file.
func (r *report) sorted() (problems, advisories []Problem) {
	for _, l := range [][]Problem{r.problems, r.advisories} {
		sort.SliceStable(l, func(i, j int) bool {
			if l[i].Line != l[j].Line {
				return l[i].Line < l[j].Line
			}
			return l[i].Col < l[j].Col
		})
	}
	if r.more > 0 && len(r.problems) == maxProblems {
		last := r.problems[maxProblems-1]
		r.problems = append(r.problems, r.problem(place{last.Line, last.Col}, "", CodeTooLarge,
			"mend the first ones and run it again", fmt.Sprintf("%d more errors are not listed", r.more)))
		r.more = 0
	}
	return r.problems, r.advisories
}

// asAdvisories turns remarks into the engine's form.
func asAdvisories(list []Problem) []engine.Advisory {
	var out []engine.Advisory
	for _, p := range list {
		out = append(out, engine.Advisory{Code: p.Code, Place: p.Place(), Path: p.Path, Message: p.Msg, Hint: p.Hint})
	}
	return out
}

// show quotes a value of the file for a message: short, on one line, and without
// anything a terminal would act on.
func show(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most-1]) + "…"
	}
	return strconv.QuoteToGraphic(s)
}

// showPath quotes a path; the end of a long one says more than its beginning.
func showPath(s string) string {
	const most = 400
	if r := []rune(s); len(r) > most {
		s = "…" + string(r[len(r)-most+1:])
	}
	return strconv.QuoteToGraphic(s)
}
