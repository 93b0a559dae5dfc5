package main

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

var (
	quotedCommand = regexp.MustCompile("`rig( [^`]*)?`")
	bareCommand   = regexp.MustCompile("(?:^|[^\\w`./-])rig ([a-z][a-z-]+[^`,;:.()\n]*)")
	shownInPage   = regexp.MustCompile(`(?m)^(?:\$ )?rig( .*)?$`)
)

// TestCommandsThatAreNamedExist reads every text of the sources and every page:
// a person copies the command that a hint, an example or a page names, so its
// verb, its flags and the number of its arguments are what the program takes.
func TestCommandsThatAreNamedExist(t *testing.T) {
	root, seen := tree(), 0
	check := func(where, command string, quoted bool) {
		seen++
		if why := faultOf(root, command, quoted); why != "" {
			t.Errorf("%s names `rig %s`: %s", where, command, why)
		}
	}
	text := func(where, s string) {
		for _, m := range quotedCommand.FindAllStringSubmatch(s, -1) {
			check(where, m[1], true)
		}
		for _, m := range bareCommand.FindAllStringSubmatch(quotedCommand.ReplaceAllString(s, ""), -1) {
			check(where, m[1], false)
		}
	}
	for _, f := range sourceFiles(t, "engine", "specs", "store", "tmuxctl", "cmd", "tui") {
		texts(f, func(s string) { text("package "+f.Name.Name, s) })
	}
	for _, page := range []string{"README.md", "docs/tutorial.md", "docs/developing.md", "docs/config.md", "docs/errors.md"} {
		b, err := os.ReadFile(filepath.Join("..", "..", page))
		if err != nil {
			t.Fatal(err)
		}
		text(page, string(b))
		for _, m := range shownInPage.FindAllStringSubmatch(string(b), -1) {
			line, _, _ := strings.Cut(m[1], " #")
			line, _, _ = strings.Cut(line, " && ")
			check(page, line, true)
		}
	}
	for _, v := range verbs(root) {
		for line := range strings.Lines(v.Example) {
			if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "rig "); ok {
				check("the example of "+v.CommandPath(), rest, true)
			}
		}
	}
	if seen < 300 {
		t.Errorf("only %d commands were found: the sources were not read", seen)
	}
}

// tree is the command tree as it is when a command runs: cobra adds some flags
// and verbs only then.
func tree() *cobra.Command {
	root := (&cli{}).root()
	root.InitDefaultVersionFlag()
	root.InitDefaultCompletionCmd()
	return root
}

// texts gives every text and comment of a file, joined literals as one.
func texts(f *ast.File, take func(string)) {
	ast.Inspect(f, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		lit, isLit := e.(*ast.BasicLit)
		if _, joined := e.(*ast.BinaryExpr); !joined && !(isLit && lit.Kind == token.STRING) {
			return true
		}
		s := textOf(e)
		if s != "" {
			take(verb.ReplaceAllString(s, "…"))
		}
		return s == ""
	})
	for _, c := range f.Comments {
		take(strings.Join(strings.Fields(c.Text()), " "))
	}
}

// commandWords are the words of a command, one for a quoted text.
var commandWords = regexp.MustCompile(`"[^"]*"|<[^>]*>|\S+`)

// faultOf says what is wrong with a command as a text names it. One that stands
// in a sentence without quotes goes on into words that are no part of it: only
// its flags are held to anything.
func faultOf(root *cobra.Command, command string, quoted bool) string {
	words := commandWords.FindAllString(command, -1)
	if len(words) > 0 && (hidden[words[0]] != nil || words[0] == "VERB" || words[0] == "help") {
		return ""
	}
	at, rest := root, words
	for len(rest) > 0 && at.HasSubCommands() {
		next := at
		for name := range strings.SplitSeq(rest[0], "|") {
			i := slices.IndexFunc(at.Commands(), func(c *cobra.Command) bool { return c.Name() == name })
			if i >= 0 {
				next = at.Commands()[i]
			} else if quoted && (next != at || at.Args == nil) && !strings.HasPrefix(name, "-") {
				return "there is no " + name + " in " + at.CommandPath()
			}
		}
		if next == at {
			break
		}
		at, rest = next, rest[1:]
	}
	if at == root && !quoted {
		return "" // the noun, not the program
	}
	args := []string{}
	for i := 0; i < len(rest); i++ {
		if rest[i] == "--" {
			args = append(args, rest[i+1:]...)
			break
		}
		name, isFlag := strings.CutPrefix(rest[i], "--")
		if !isFlag {
			args = append(args, rest[i])
			continue
		}
		name, _, given := strings.Cut(name, "=")
		if name == "help" {
			continue
		}
		flag := at.Flag(name)
		if flag == nil {
			return at.CommandPath() + " has no flag --" + name
		}
		if flag.NoOptDefVal == "" && !given {
			i++
		}
	}
	// A verb alone is only its name, and … may stand for any number.
	if !quoted || len(args) == 0 || args[len(args)-1] == "…" {
		return ""
	}
	if err := at.ValidateArgs(args); err != nil {
		return err.Error()
	}
	return ""
}

// A test of names must be able to say no.
func TestCommandsThatAreNamedWrong(t *testing.T) {
	root := tree()
	for command, right := range map[string]bool{
		"ps": true, "ps --seats": true, "seat stop …": true, "": true, "op show … --json": true, "VERB --help": true, "--version": true,
		"handover … --source fork:…": true, "snapshot create|list|show": true, "snapshot shop": true, `seat clear-attention SEAT --reason "answered it"`: true,
		"seats": false, "ps --seat": false, "op look": false, "seat stop a b": false, "snapshot create|lost": false, "attach --to x": false, "config set a": false,
	} {
		if why := faultOf(root, command, true); (why == "") != right {
			t.Errorf("rig %s: %q", command, why)
		}
	}
	if why := faultOf(root, "up again as it was", false); why != "" {
		t.Error(why)
	}
	if why := faultOf(root, "seat launch … --new replaces it", false); why == "" {
		t.Error("a flag that is not there was taken in a sentence")
	}
}
