package rig_test

import (
	"go/ast"
	"regexp"
	"strconv"
	"testing"
)

// codeForm is how a code is written; what else an Errorf begins with is a format.
var codeForm = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)

// codesWritten lists the error codes that a file writes as text where an error is made, and those that it gives a name.
func codesWritten(s source) (written map[string][]finding, named map[string]string) {
	written, named = map[string][]finding{}, map[string]string{}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := ""
			switch f := n.Fun.(type) {
			case *ast.Ident:
				name = f.Name
			case *ast.SelectorExpr:
				name = f.Sel.Name
			}
			if len(n.Args) > 0 && (name == "Errorf" || name == "CodeOf") {
				if code, ok := text(n.Args[0]); ok && codeForm.MatchString(code) {
					written[code] = append(written[code], s.at(n.Pos(), "the code %q", code))
				}
			}
		case *ast.ValueSpec:
			for i, v := range n.Values {
				if code, ok := text(v); ok && i < len(n.Names) && isCode(n.Type) {
					named[code] = n.Names[i].Name
				}
			}
		}
		return true
	})
	return written, named
}

func text(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}

// isCode tells whether a declaration says Code or engine.Code.
func isCode(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "Code"
	case *ast.SelectorExpr:
		return e.Sel.Name == "Code"
	}
	return false
}

// TestErrorCodesHaveOnePlace: scripts match on codes, so each is written once. One that two places need is a constant.
func TestErrorCodesHaveOnePlace(t *testing.T) {
	written, named := map[string][]finding{}, map[string]string{}
	for _, s := range sources(t) {
		if s.isTest() || s.in("engine/enginetest", "tui/tuitest") {
			continue
		}
		w, n := codesWritten(s)
		for code, f := range w {
			written[code] = append(written[code], f...)
		}
		for code, name := range n {
			named[code] = name
		}
	}
	if len(written) == 0 || len(named) == 0 {
		t.Fatalf("%d codes written, %d named: the sources were not read", len(written), len(named))
	}
	for code, places := range written {
		for _, f := range places {
			if name, ok := named[code]; ok {
				t.Errorf("%s has a name: %s", f, name)
			} else if len(places) > 1 {
				t.Errorf("%s is written in %d places: give it a name", f, len(places))
			}
		}
	}
}
