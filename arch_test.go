package rig_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the path of this module; the import path of a room is the module's plus the room's folder.
const module = "rig"

// room is one folder of the house and what it may import beside the standard library.
type room struct {
	dir     string
	own     []string // rooms of this module; a room may always import packages below itself
	modules []string // other modules
}

// everything stands for all rooms: only the place that wires them together has it.
const everything = "*"

// rooms is the house. A package outside of it fails the test, so a new room is added here first, with what it may import.
var rooms = []room{
	{dir: "", own: nil},
	{dir: "cmd/rig", own: []string{everything}, modules: []string{
		"github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/oklog/ulid/v2", "github.com/google/uuid", "github.com/charmbracelet/x/term",
		"github.com/charmbracelet/x/ansi", "charm.land/bubbletea/v2", "golang.org/x/sys", "gopkg.in/yaml.v3",
	}},
	{dir: "cmd/rig-seat", own: []string{"engine/runtimes"}},
	{dir: "tui", own: []string{"engine"}, modules: []string{
		"charm.land/bubbletea/v2", "charm.land/bubbles/v2", "charm.land/lipgloss/v2", "github.com/charmbracelet/x/ansi",
		"github.com/charmbracelet/colorprofile", "github.com/sahilm/fuzzy",
	}},
	{dir: "engine"},
	{dir: "engine/transcript"},
	{dir: "engine/packet", own: []string{"engine", "engine/transcript"}},
	{dir: "engine/image", own: []string{"engine", "engine/transcript"}},
	{dir: "engine/runtimes", own: []string{"engine", "engine/transcript"}, modules: []string{"golang.org/x/sys"}},
	{dir: "engine/agentsim", own: []string{"engine", "engine/transcript"}, modules: []string{"golang.org/x/term"}},
	{dir: "store", own: []string{"engine"}, modules: []string{"modernc.org/sqlite"}},
	{dir: "tmuxctl", own: []string{"engine"}, modules: []string{"github.com/GianlucaP106/gotmux"}},
	{dir: "specs", own: []string{"engine"}, modules: []string{"gopkg.in/yaml.v3"}},
}

// testModules are modules for tests alone, in any room.
var testModules = []string{
	"pgregory.net/rapid", "go.uber.org/goleak", "github.com/santhosh-tekuri/jsonschema/v6",
}

// edges are modules that one file alone may import: their types must not spread through a room.
var edges = []string{"github.com/GianlucaP106/gotmux"}

// listed is what go list says about one package.
type listed struct {
	ImportPath, Dir                    string
	Standard                           bool
	Imports, TestImports, XTestImports []string
	Deps                               []string
}

// list is all packages of the module and all they depend on, by import path. It does not need them to compile.
func list(t *testing.T) map[string]listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-deps", "-json=ImportPath,Dir,Standard,Imports,TestImports,XTestImports,Deps", "./...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := map[string]listed{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		packages[p.ImportPath] = p
	}
}

// folder is the folder of a package of this module; the second result is false for any other package.
func folder(path string) (string, bool) {
	if path == module {
		return "", true
	}
	return strings.CutPrefix(path, module+"/")
}

// roomOf is the room that the folder belongs to: the nearest one above it. The root holds no room but itself.
func roomOf(dir string) (room, bool) {
	var best room
	found := false
	for _, r := range rooms {
		if dir == r.dir || r.dir != "" && within(dir, r.dir) && len(r.dir) >= len(best.dir) {
			best, found = r, true
		}
	}
	return best, found
}

// within tells whether the slash-separated path is dir or lies below it.
func within(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// mayImport tells whether the room may import the package; production code and tests have different allowances.
func (r room) mayImport(path string, standard, test bool) bool {
	if standard {
		return true
	}
	dir, own := folder(path)
	if !own {
		allowed := r.modules
		if test {
			allowed = slices.Concat(r.modules, testModules)
		}
		return slices.ContainsFunc(allowed, func(m string) bool { return within(path, m) })
	}
	target, known := roomOf(dir)
	switch {
	case !known:
		return false
	case target.dir == r.dir || slices.Contains(r.own, everything):
		return true
	case test:
		// A test may wire rooms together, as cmd does, but the console stays on top.
		return target.dir != "tui"
	default:
		return slices.Contains(r.own, target.dir)
	}
}

func TestImportArrows(t *testing.T) {
	packages := list(t)
	for path, p := range packages {
		dir, own := folder(path)
		if !own {
			continue
		}
		r, known := roomOf(dir)
		if !known {
			t.Errorf("%s: no room of the house is there: see the table in arch_test.go", path)
			continue
		}
		check := func(imports []string, test bool) {
			for _, imported := range imports {
				if !r.mayImport(imported, standard(packages, imported), test) {
					t.Errorf("%s: %q may not import %s: see the table in arch_test.go", p.Dir, r.dir, imported)
				}
			}
		}
		check(p.Imports, false)
		check(p.TestImports, true)
		check(p.XTestImports, true)
	}
}

// standard tells whether the package is of the standard library. Packages that only tests import are not listed; those of the
// standard library have no dot in their first element.
func standard(packages map[string]listed, path string) bool {
	if p, ok := packages[path]; ok {
		return p.Standard
	}
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".") && first != module
}

func TestEdgeModulesHaveOneFile(t *testing.T) {
	for _, edge := range edges {
		var files []string
		for _, s := range sources(t) {
			for _, spec := range s.file.Imports {
				if path, err := strconv.Unquote(spec.Path.Value); err == nil && within(path, edge) && !s.isTest() {
					files = append(files, s.path)
				}
			}
		}
		if len(files) > 1 {
			t.Errorf("%s is imported by %v: one edge file keeps it in", edge, files)
		}
	}
}

// A module in the table that nobody imports is a claim about the house that is not true.
func TestModulesOfTheTableAreUsed(t *testing.T) {
	used := map[string]bool{}
	for path, p := range list(t) {
		dir, own := folder(path)
		if r, known := roomOf(dir); own && known {
			for _, imported := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
				for _, m := range slices.Concat(r.modules, testModules) {
					if within(imported, m) {
						used[r.dir+" "+m], used[m] = true, true
					}
				}
			}
		}
	}
	for _, r := range rooms {
		for _, m := range r.modules {
			if !used[r.dir+" "+m] {
				t.Errorf("%s may import %s and does not", r.dir, m)
			}
		}
	}
	for _, m := range testModules {
		if !used[m] {
			t.Errorf("tests may import %s and do not", m)
		}
	}
}

// The README gives a reason for each module that is asked for in go.mod, and for no other.
func TestDependenciesHaveReasons(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	short := func(path string) string {
		parts := strings.Split(path, "/")
		for len(parts) > 1 && regexp.MustCompile(`^v\d+$`).MatchString(parts[len(parts)-1]) {
			parts = parts[:len(parts)-1]
		}
		return parts[len(parts)-1]
	}
	asked, reasons := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(mod)) {
		if f := strings.Fields(line); len(f) == 2 && strings.HasPrefix(f[1], "v") {
			asked[short(f[0])] = true
		}
	}
	_, table, _ := strings.Cut(string(readme), "## Dependencies, with reasons")
	table, _, _ = strings.Cut(table, "\n## ")
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || strings.Contains(cells[1], "module") || strings.Contains(cells[1], "---") {
			continue
		}
		for _, name := range strings.Split(cells[1], ",") {
			reasons[short(strings.Fields(name)[0])] = true
		}
	}
	if len(asked) < 10 {
		t.Fatalf("go.mod asks for %v", asked)
	}
	for name := range asked {
		if !reasons[name] {
			t.Errorf("the README gives no reason for %s", name)
		}
	}
	for name := range reasons {
		if !asked[name] {
			t.Errorf("the README gives a reason for %s, which go.mod does not ask for", name)
		}
	}
}

// The engine stands on the standard library alone, through all that it imports.
func TestEngineStandsOnTheStandardLibrary(t *testing.T) {
	packages := list(t)
	for _, dep := range packages[module+"/engine"].Deps {
		if !standard(packages, dep) {
			t.Errorf("engine depends on %s", dep)
		}
	}
}

// The rules of the table must be able to say no.
func TestArrowsNoticeAWrongTurn(t *testing.T) {
	cases := []struct {
		from, to string
		test     bool
		want     bool
	}{
		{"engine", "rig/store", false, false},
		{"engine", "github.com/spf13/cobra", false, false},
		{"engine", "pgregory.net/rapid", false, false},
		{"engine", "pgregory.net/rapid", true, true},
		{"engine", "rig/tui", true, false},
		{"store", "rig/engine", false, true},
		{"store", "rig/tmuxctl", false, false},
		{"store", "modernc.org/sqlite/lib", false, true},
		{"store", "modernc.org/sqlitefake", false, false},
		{"specs", "rig/engine/transcript", false, false},
		{"engine/runtimes", "rig/engine/transcript", false, true},
		{"engine/runtimes/claude", "rig/engine/runtimes", false, true},
		{"tui", "rig/store", false, false},
		{"tui/frame", "rig/engine", false, true},
		{"cmd/rig", "rig/tui", false, true},
		{"engine/packet", "rig/tui", false, false},
	}
	for _, c := range cases {
		r, known := roomOf(c.from)
		if got := known && r.mayImport(c.to, false, c.test); got != c.want {
			t.Errorf("%s imports %s (test: %v): got %v, want %v", c.from, c.to, c.test, got, c.want)
		}
	}
	for _, dir := range []string{"internal/x", "pkg", "utils", "cmd/other", "enginex"} {
		if r, known := roomOf(dir); known {
			t.Errorf("%s counts as the room %q", dir, r.dir)
		}
	}
}
