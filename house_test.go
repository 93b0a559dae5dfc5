package rig_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Limits of the house, in lines. A function may be a little longer than it should be; a file may not.
const (
	maxFile     = 400
	softFunc    = 60
	maxFunc     = 80
	minDocWords = 2
)

// impure are the rooms that may look at the clock, at chance, at the environment, and start programs. Everywhere else these come in
// as values, so that a test can choose them.
var impure = []string{"cmd", "tmuxctl", "engine/runtimes", "engine/agentsim"}

// source is one parsed Go file.
type source struct {
	path string // slash-separated, from the module's root
	text string
	set  *token.FileSet
	file *ast.File
}

// finding is a place where a rule is broken.
type finding struct {
	pos  token.Position
	text string
}

// String is the finding in the form that editors jump to.
func (f finding) String() string { return fmt.Sprintf("%s:%d: %s", f.pos.Filename, f.pos.Line, f.text) }

// at is a finding at a node of the source.
func (s source) at(node token.Pos, format string, args ...any) finding {
	return finding{s.set.Position(node), fmt.Sprintf(format, args...)}
}

// isTest tells whether the file belongs to the tests.
func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

// in tells whether the file lies in one of the folders.
func (s source) in(dirs ...string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return within(s.path, dir) })
}

// read parses one file.
func read(path, text string) (source, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, parser.ParseComments|parser.SkipObjectResolution)
	return source{path: path, text: text, set: set, file: file}, err
}

// sources is every Go file of the repository, those under testdata that are programs included.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || path == "bin" || path == "dist") {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		s, err := read(filepath.ToSlash(path), string(text))
		if err != nil {
			return err
		}
		all = append(all, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// rule looks at one file and says what is wrong with it.
type rule func(source) []finding

// rules are the ones a single file can break.
var rules = map[string]rule{
	"length":     lengths,
	"documented": documented,
	"own name":   ownName,
	"pure":       pure,
	"exits":      exits,
	"fork words": forkWords,
	"test waits": testWaits,
	"init":       noInit,
	"marks":      noMarks,
}

func TestHouseRules(t *testing.T) {
	all := sources(t)
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			for _, s := range all {
				for _, f := range rule(s) {
					t.Error(f)
				}
			}
		})
	}
}

func TestPackagesHaveAComment(t *testing.T) {
	has, where := map[string]bool{}, map[string]source{}
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		dir := filepath.Dir(s.path)
		where[dir] = s
		has[dir] = has[dir] || words(s.file.Doc) > minDocWords
	}
	for dir, s := range where {
		if !has[dir] {
			t.Error(s.at(s.file.Package, "no file of package %s has a package comment", s.file.Name.Name))
		}
	}
}

// lengths: files and functions that are too long. Tests are tables and may be long.
func lengths(s source) []finding {
	if s.isTest() {
		return nil
	}
	var found []finding
	if n := strings.Count(s.text, "\n"); n > maxFile {
		found = append(found, s.at(s.file.Package, "the file has %d lines, more than %d", n, maxFile))
	}
	for _, d := range s.file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && s.lines(f) > maxFunc {
			found = append(found, s.at(f.Pos(), "%s has %d lines, more than %d", f.Name.Name, s.lines(f), maxFunc))
		}
	}
	return found
}

// lines is the length of a node.
func (s source) lines(node ast.Node) int {
	return s.set.Position(node.End()).Line - s.set.Position(node.Pos()).Line + 1
}

// documented: exported names without a comment. Methods of an interface and fields of a struct are held to the comment of their
// type, which states what all of them have in common.
func documented(s source) []finding {
	if s.isTest() {
		return nil
	}
	var found []finding
	missing := func(name *ast.Ident, docs ...*ast.CommentGroup) {
		if name.IsExported() && !slices.ContainsFunc(docs, func(c *ast.CommentGroup) bool { return words(c) >= minDocWords }) {
			found = append(found, s.at(name.Pos(), "exported %s has no comment", name.Name))
		}
	}
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if r := receiver(d); r == "" || ast.IsExported(r) {
				missing(d.Name, d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						missing(name, d.Doc, spec.Doc, spec.Comment)
					}
				case *ast.TypeSpec:
					missing(spec.Name, alone(d), spec.Doc, spec.Comment)
				}
			}
		}
	}
	return found
}

// ownName: comments that begin with a name which is not that of the function or type below, left from before it was renamed.
func ownName(s source) []finding {
	if s.isTest() {
		return nil
	}
	var found []finding
	look := func(name *ast.Ident, doc *ast.CommentGroup) {
		first, rest, _ := strings.Cut(strings.TrimSpace(doc.Text()), " ")
		first = strings.TrimRight(first, ":,.")
		if rest != "" && first != name.Name && first[0] >= 'a' && first[0] <= 'z' {
			found = append(found, s.at(doc.Pos(), "the comment of %s begins with %s", name.Name, first))
		}
	}
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			look(d.Name, d.Doc)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok {
					look(spec.Name, alone(d))
				}
			}
		}
	}
	return found
}

// alone is the comment of a declaration of one type; that of a group does not speak for each type in it.
func alone(d *ast.GenDecl) *ast.CommentGroup {
	if len(d.Specs) > 1 {
		return nil
	}
	return d.Doc
}

// receiver is the name of the type that a method belongs to, or "" for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return ""
	}
	name := "_"
	ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "_" {
			name = id.Name
		}
		return name == "_"
	})
	return name
}

// words counts what a comment says; directives say nothing.
func words(c *ast.CommentGroup) int {
	if c == nil {
		return 0
	}
	return len(strings.Fields(c.Text()))
}

// unwanted reports uses of the named package members, as in "time.Now", and imports of whole packages.
func (s source) unwanted(members, packages []string, why string) []finding {
	var found []finding
	names := map[string]string{} // local name of an import -> its path
	for _, spec := range s.file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		if slices.Contains(packages, path) {
			found = append(found, s.at(spec.Pos(), "imports %s: %s", path, why))
		}
		local := path[strings.LastIndex(path, "/")+1:]
		if spec.Name != nil {
			local = spec.Name.Name
		}
		names[local] = path
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if id, ok := sel.X.(*ast.Ident); ok && slices.Contains(members, names[id.Name]+"."+sel.Sel.Name) {
			found = append(found, s.at(sel.Pos(), "uses %s.%s: %s", id.Name, sel.Sel.Name, why))
		}
		return true
	})
	return found
}

// pure: clock, chance, environment and programs outside of the rooms for them.
func pure(s source) []finding {
	if s.isTest() || s.in(impure...) || s.in("testdata") {
		return nil
	}
	members := []string{
		"time.Now", "time.Since", "time.Until", "time.Sleep",
		"os.Getenv", "os.LookupEnv", "os.Environ", "os.Setenv", "os.Unsetenv", "os.ExpandEnv",
		"os.UserHomeDir", "os.UserConfigDir", "os.UserCacheDir", "os.StartProcess", "syscall.Exec",
	}
	return s.unwanted(members, []string{"os/exec", "math/rand", "math/rand/v2", "crypto/rand"}, "only "+strings.Join(impure, ", ")+" may")
}

// exits: code that ends the program from within.
func exits(s source) []finding {
	if s.isTest() || s.in("cmd", "testdata") {
		return nil
	}
	members := []string{"log.Fatal", "log.Fatalf", "log.Fatalln", "log.Panic", "log.Panicf", "log.Panicln", "os.Exit"}
	return s.unwanted(members, nil, "return an error; only cmd ends the program")
}

// forkWords: a fork is a fork, in every word that a person can read.
func forkWords(s source) []finding {
	if s.isTest() || !strings.Contains(filepath.Base(s.path), "fork") {
		return nil
	}
	taboo := regexp.MustCompile(`(?i)restored|resumed|snapshot`)
	var found []finding
	ast.Inspect(s.file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if word := taboo.FindString(lit.Value); word != "" {
				found = append(found, s.at(lit.Pos(), "%q in a text of a fork", word))
			}
		}
		return true
	})
	return found
}

// testWaits: tests that sleep or leave themselves out.
func testWaits(s source) []finding {
	if !s.isTest() {
		return nil
	}
	found := s.unwanted([]string{"time.Sleep"}, nil, "wait for the event")
	ast.Inspect(s.file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, sel.Sel.Name) {
			if id, ok := sel.X.(*ast.Ident); ok && slices.Contains([]string{"t", "b", "f", "tb"}, id.Name) {
				found = append(found, s.at(call.Pos(), "a test that is left out proves nothing"))
			}
		}
		return true
	})
	return found
}

// noInit: the program must start in a few milliseconds, so nothing runs before main.
func noInit(s source) []finding {
	var found []finding
	for _, d := range s.file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			found = append(found, s.at(f.Pos(), "an init function delays every start of the program"))
		}
	}
	return found
}

// noMarks: notes about unfinished work.
func noMarks(s source) []finding {
	mark := regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`)
	var found []finding
	for _, group := range s.file.Comments {
		for _, c := range group.List {
			if word := mark.FindString(c.Text); word != "" {
				found = append(found, s.at(c.Pos(), "%s: finish it or file it", word))
			}
		}
	}
	return found
}

// Each rule must be able to say no: this is a file that breaks it, and where.
func TestHouseRulesNoticeWhatTheyForbid(t *testing.T) {
	long := "package a\n\n// F is long indeed.\nfunc F() {\n" + strings.Repeat("\t_ = 1\n", maxFunc) + "}\n"
	cases := []struct {
		rule, path, text string
		line             int // 0: nothing may be found
	}{
		{"length", "engine/a.go", long, 4},
		{"length", "engine/a.go", "package a\n" + strings.Repeat("\n", maxFile), 1},
		{"length", "engine/a_test.go", long, 0},
		{"documented", "engine/a.go", "package a\n\nfunc F() {}\n", 3},
		{"documented", "engine/a.go", "package a\n\n//nolint\nfunc F() {}\n", 4},
		{"documented", "engine/a.go", "package a\n\ntype t struct{}\n\nfunc (t) F() {}\n", 0},
		{"documented", "engine/a.go", "package a\n\n// These are types.\ntype (\n\tA int\n\tb int\n)\n", 5},
		{"documented", "engine/a.go", "package a\n\n// These are errors.\nvar (\n\tA = 1\n\tB = 2\n)\n", 0},
		{"own name", "engine/a.go", "package a\n\n// g gives one.\nfunc f() int { return 1 }\n", 3},
		{"own name", "engine/a.go", "package a\n\n// g is a number.\ntype f int\n", 3},
		{"own name", "engine/a.go", "package a\n\n// f: gives one.\nfunc f() int { return 1 }\n\n// A number.\ntype g int\n", 0},
		{"pure", "engine/a.go", "package a\n\nimport \"time\"\n\nvar now = time.Now\n", 5},
		{"pure", "engine/a.go", "package a\n\nimport \"os/exec\"\n\nvar _ = exec.Command\n", 3},
		{"pure", "store/a.go", "package a\n\nimport env \"os\"\n\nvar _ = env.Getenv(\"A\")\n", 5},
		{"pure", "engine/runtimes/a.go", "package a\n\nimport \"time\"\n\nvar now = time.Now\n", 0},
		{"pure", "engine/runtimesx/a.go", "package a\n\nimport \"time\"\n\nvar now = time.Now\n", 5},
		{"exits", "store/a.go", "package a\n\nimport \"log\"\n\nfunc f() { log.Fatal(1) }\n", 5},
		{"exits", "cmd/rig/a.go", "package a\n\nimport \"log\"\n\nfunc f() { log.Fatal(1) }\n", 0},
		{"fork words", "engine/plan_fork.go", "package a\n\nconst a = \"seat Resumed\"\n", 3},
		{"fork words", "engine/plan.go", "package a\n\nconst a = \"seat resumed\"\n", 0},
		{"test waits", "engine/a_test.go", "package a\n\nimport \"time\"\n\nfunc f() { time.Sleep(1) }\n", 5},
		{"test waits", "engine/a_test.go", "package a\n\nfunc f(t T) {\n\tt.Skipf(\"no\")\n}\n", 4},
		{"init", "engine/a.go", "package a\n\nfunc init() {}\n", 3},
		{"marks", "engine/a.go", "package a\n\n// TO" + "DO: all of it\n", 3},
	}
	for _, c := range cases {
		s, err := read(c.path, c.text)
		if err != nil {
			t.Fatalf("%s: %v", c.rule, err)
		}
		found := rules[c.rule](s)
		switch {
		case c.line == 0 && len(found) > 0:
			t.Errorf("%s forbids what is allowed: %v", c.rule, found)
		case c.line > 0 && (len(found) != 1 || found[0].pos.Line != c.line || found[0].pos.Filename != c.path):
			t.Errorf("%s on %q: found %v, want one finding on line %d", c.rule, c.text, found, c.line)
		}
	}
}

// Functions should be far below the limit that fails; this shows where they are not.
func TestLongFunctionsAreFew(t *testing.T) {
	total, long := 0, 0
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				total++
				if n := s.lines(f); n > softFunc {
					long++
					t.Log(s.at(f.Pos(), "%s has %d lines, more than %d", f.Name.Name, n, softFunc))
				}
			}
		}
	}
	if long*50 > total {
		t.Errorf("%d of %d functions have more than %d lines", long, total, softFunc)
	}
}
