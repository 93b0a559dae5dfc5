package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMutantsFitTheCode: each mutant's text stands in its file once, the broken file parses, and every test that shall notice it
// exists. Whether they notice is asked by `make mutants`.
func TestMutantsFitTheCode(t *testing.T) {
	const root = "../.."
	seen := map[string]bool{}
	tests := map[string]string{}
	for _, m := range mutants {
		if seen[m.name] {
			t.Errorf("%s: the name stands twice", m.name)
		}
		seen[m.name] = true
		text, err := m.mutated(root)
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), m.file, text, 0); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		if tests[m.pkg] == "" {
			tests[m.pkg] = testText(t, filepath.Join(root, m.pkg))
		}
		for _, name := range strings.Split(m.kill, "|") {
			if found, err := regexp.MatchString(`(?m)^func `+name+`\w*\(`, tests[m.pkg]); err != nil || !found {
				t.Errorf("%s: no test of %s is called %s (%v)", m.name, m.pkg, name, err)
			}
		}
	}
}

// testText is the text of all test files of a folder.
func testText(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v", dir, err)
	}
	var all strings.Builder
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}
