package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rig/engine"
)

// shownHints is how many remedies of one code the page lists.
const shownHints = 6

// codeFacts is what the sources say about one error code.
type codeFacts struct {
	meaning string
	says    []string // messages
	hints   []string
	raised  bool
}

// codeReader collects error codes from the sources.
type codeReader struct {
	consts map[string]string // "package.CodeName" → code
	codes  map[string]*codeFacts
}

// errorsPage lists every error code with its remedies, as the code has them. A
// code that is raised without any remedy fails the test.
func errorsPage(t *testing.T) string {
	t.Helper()
	r := codeReader{consts: map[string]string{}, codes: map[string]*codeFacts{}}
	files := sourceFiles(t, "engine", "specs", "store", "tmuxctl", "cmd")
	for _, f := range files {
		r.readConsts(f)
	}
	for _, f := range files {
		r.readCalls(f)
	}
	names := []string{}
	for name, c := range r.codes {
		if c.raised {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var b strings.Builder
	b.WriteString("# Errors\n\n" + generated + "\nEvery refusal has a code, says what and why, and names what to do next; `--json` gives it as `code`, `message` and `hint`. Exit 1: refused,\n" +
		"or not clean. Exit 2: a usage error, or the state cannot be told. A `…` stands for a name or number that the message fills in.\n")
	for _, name := range names {
		c := r.codes[name]
		if c.hints == nil && elsewhere()[name] != "" {
			c.hints = []string{elsewhere()[name]}
		}
		meaning := c.meaning
		if meaning == "" && len(c.says) > 0 {
			meaning = c.says[0]
		}
		fmt.Fprintf(&b, "\n### `%s`\n\nExit %d. %s\n\n", name, exitCode(engine.Code(name)), sentence(meaning))
		for i, h := range c.hints {
			if i == shownHints {
				fmt.Fprintf(&b, "- and %d more; each message names its own\n", len(c.hints)-i)
				break
			}
			fmt.Fprintf(&b, "- %s\n", h)
		}
		if len(c.hints) == 0 {
			t.Errorf("the code %s is raised and no remedy stands beside it", name)
		}
	}
	return b.String()
}

// elsewhere are remedies that are put together out of sight of the reader.
func elsewhere() map[string]string {
	return map[string]string{
		"invalid_token":      "give the whole id as the client itself shows it",
		"policy_wider":       "a restore policy may only narrow: leave it out, or write a narrower one",
		"undo_window_closed": "the conversation of the former occupant can still be forked: rig handover … --source fork:… --reason …",
		"usage_limit":        "a compaction is a request too; wait for the reset",
	}
}

func sentence(s string) string {
	if s == "" {
		return "The message says why."
	}
	return strings.ToUpper(s[:1]) + strings.TrimSuffix(s[1:], ".") + "."
}

// sourceFiles parses the program's own sources in some folders, in a fixed order.
func sourceFiles(t *testing.T, dirs ...string) []*ast.File {
	t.Helper()
	var out []*ast.File
	set := token.NewFileSet()
	for _, dir := range dirs {
		err := filepath.WalkDir(filepath.Join("..", "..", dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && (d.Name() == "enginetest" || d.Name() == "agentsim" || d.Name() == "testdata" || d.Name() == "tmuxtest" || d.Name() == "tuitest") {
				if err == nil {
					err = fs.SkipDir
				}
				return err
			}
			if d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			f, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
			out = append(out, f)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func (r codeReader) code(name string) *codeFacts {
	if r.codes[name] == nil {
		r.codes[name] = &codeFacts{}
	}
	return r.codes[name]
}

// readConsts reads the constants called Code…, with the comment beside them.
func (r codeReader) readConsts(f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Names) != 1 || len(v.Values) != 1 || !isCodeName(v.Names[0].Name) {
			return true
		}
		value := textOf(v.Values[0])
		if value == "" {
			return true
		}
		r.consts[f.Name.Name+"."+v.Names[0].Name] = value
		if c := r.code(value); v.Comment != nil && c.meaning == "" {
			c.meaning = strings.TrimSpace(v.Comment.Text())
		}
		return true
	})
}

func isCodeName(s string) bool { return strings.HasPrefix(s, "Code") && len(s) > 4 }

// codeWord is the form of a code that stands in a call as a plain text.
var codeWord = regexp.MustCompile(`^[a-z]+(_[a-z0-9]+)+$`)

// codeOf gives the code that an argument names, "" for any other argument.
func (r codeReader) codeOf(pkg string, e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return r.consts[pkg+"."+x.Name]
	case *ast.SelectorExpr:
		if id, ok := x.X.(*ast.Ident); ok {
			return r.consts[id.Name+"."+x.Sel.Name]
		}
	case *ast.BasicLit:
		if s := textOf(x); codeWord.MatchString(s) {
			return s
		}
	}
	return ""
}

// shortForm is a function of a package that makes an error of its arguments.
type shortForm struct {
	name, pkg              string // pkg "" = any
	args, code, says, hint int    // how many it has at least, and which is which
}

func shortForms() []shortForm {
	return []shortForm{
		{"refuse", "", 4, 0, 3, 2}, {"wait", "engine", 3, 0, 1, 2}, {"block", "runtimes", 3, 0, 1, 2}, {"block", "", 3, 0, 2, 1}, {"fault", "specs", 4, 1, 3, 2},
	}
}

// readCalls reads every call that makes an error: Errorf with what is chained to
// it, and the short forms of planners (block) and specs (fault).
func (r codeReader) readCalls(f *ast.File) {
	pkg := f.Name.Name
	hints := map[*ast.CallExpr][]string{}
	named, later := namedTexts(f), laterHints(f)
	hintText := func(args []ast.Expr) string { return hintText(args, named) }
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch name := called(call); {
		case name == "WithHint" && len(call.Args) > 0:
			if made := errorfBelow(call); made != nil {
				hints[made] = append(hints[made], hintText(call.Args))
			}
		case name == "Errorf" && len(call.Args) > 1:
			if code := r.codeOf(pkg, call.Args[0]); code != "" {
				if len(hints[call]) == 0 {
					hints[call] = later[call]
				}
				r.code(code).note(textOf(call.Args[1]), hints[call]...)
			}
		default:
			for _, form := range shortForms() {
				if name != form.name || form.pkg != "" && form.pkg != pkg || len(call.Args) < form.args {
					continue
				}
				if code := r.codeOf(pkg, call.Args[form.code]); code != "" {
					r.code(code).note(textOf(call.Args[form.says]), hintText(call.Args[form.hint:form.hint+1]))
				}
				break
			}
		}
		return true
	})
}

// laterHints gives, for an Errorf in a branch, the texts that the same branch, or
// else the function, puts into a variable called hint.
func laterHints(f *ast.File) map[*ast.CallExpr][]string {
	out := map[*ast.CallExpr][]string{}
	pair := func(n ast.Node) {
		var hints []string
		ast.Inspect(n, func(n ast.Node) bool {
			if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 {
				if id, ok := a.Lhs[0].(*ast.Ident); ok && id.Name == "hint" && len(hints) == 0 {
					hints = append(hints, textOf(a.Rhs[0]))
				}
			}
			return true
		})
		ast.Inspect(n, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok && called(c) == "Errorf" && len(hints) > 0 {
				out[c] = hints
			}
			return true
		})
	}
	ast.Inspect(f, func(n ast.Node) bool { // the function first, its branches after it
		switch n.(type) {
		case *ast.FuncDecl, *ast.CaseClause:
			pair(n)
		}
		return true
	})
	return out
}

// note adds what one place says; texts that are put together at run time are
// empty and left out.
func (c *codeFacts) note(says string, hints ...string) {
	c.raised = true
	if s := blanks(says); s != "" && !strings.HasPrefix(s, "…") && !slices.Contains(c.says, s) {
		c.says = append(c.says, s)
	}
	for _, h := range hints {
		if h = blanks(h); h != "" && h != "…" && !slices.Contains(c.hints, h) {
			c.hints = append(c.hints, h)
		}
	}
}

// called is the bare name of the function of a call.
func called(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// errorfBelow finds the Errorf that a chain of calls begins with.
func errorfBelow(c *ast.CallExpr) *ast.CallExpr {
	for {
		sel, ok := c.Fun.(*ast.SelectorExpr)
		if !ok {
			return nil
		}
		inner, ok := sel.X.(*ast.CallExpr)
		if !ok {
			return nil
		}
		if called(inner) == "Errorf" {
			return inner
		}
		c = inner
	}
}

// hintText is a remedy as the page shows it. WithHint("%s", x) shows x when it is
// a text, or a name that was given one in the same file.
func hintText(args []ast.Expr, named map[string]string) string {
	s, at := textOf(args[0]), args[0]
	if s == "%s" && len(args) > 1 {
		s, at = textOf(args[1]), args[1]
	}
	if id, ok := at.(*ast.Ident); ok {
		s = named[id.Name]
	}
	return s
}

// namedTexts are the names of a file that stand for a text.
func namedTexts(f *ast.File) map[string]string {
	out := map[string]string{}
	put := func(name, value ast.Expr) {
		if id, ok := name.(*ast.Ident); ok && textOf(value) != "" {
			out[id.Name] = textOf(value)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.AssignStmt:
			for i := range x.Lhs {
				if len(x.Lhs) == len(x.Rhs) {
					put(x.Lhs[i], x.Rhs[i])
				}
			}
		case *ast.ValueSpec:
			for i := range x.Values {
				put(x.Names[i], x.Values[i])
			}
		}
		return true
	})
	return out
}

// textOf is the value of a string literal, or of literals that are joined, with …
// for every part that is not one.
func textOf(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.BasicLit:
		if s, err := strconv.Unquote(x.Value); err == nil && x.Kind == token.STRING {
			return s
		}
	case *ast.CallExpr:
		if called(x) == "Sprintf" {
			return textOf(x.Args[0])
		}
	case *ast.BinaryExpr:
		a, b := textOf(x.X), textOf(x.Y)
		if x.Op == token.ADD && a+b != "" {
			return cmp.Or(a, "…") + cmp.Or(b, "…")
		}
	}
	return ""
}

// verb is what fmt replaces in a format.
var verb = regexp.MustCompile(`%(\[\d+\])?[#+]?[a-z]`)

// blanks shows a format as a person reads it.
func blanks(s string) string {
	s = verb.ReplaceAllString(strings.ReplaceAll(s, "%%", "%"), "…")
	return strings.Join(strings.Fields(s), " ")
}
