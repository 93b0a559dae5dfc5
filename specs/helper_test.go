package specs

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rig/engine"
)

var update = flag.Bool("update", false, "rewrite the goldens of this package")

// head begins a rig of one pod; members and what follows are appended.
const head = `version: "0.2"
name: shop
pods:
  - id: dev
    label: Development
    members:
`

// agent is a member without faults; keys are added to it.
const agent = `      - id: impl
        runtime: claude-code
        agent_ref: builtin:agent
        profile: default
        cwd: .
`

const shell = `      - id: sh
        runtime: terminal
        agent_ref: "builtin:terminal"
        profile: none
        cwd: .
`

const parentID = "0b0165d7-cb4d-4650-90de-15c0a1ede9e6"

// keys indents lines to the keys of a member.
func keys(lines string) string {
	return "        " + strings.ReplaceAll(strings.TrimSpace(lines), "\n", "\n        ") + "\n"
}

func parse(text string) Result {
	return ParseRig([]byte(text), Options{File: "rig.yaml", Root: "/srv/shop"})
}

// fault is one expected problem: "line:col code path" and words of the message.
type fault struct{ at, words string }

// brief writes a problem the way the tables expect it.
func brief(p Problem) string {
	place := strings.TrimPrefix(p.Place(), p.File+":")
	return strings.TrimSpace(place + " " + string(p.Code) + " " + p.Path)
}

// expect compares all problems with the expected ones, in order. Every problem
// must have a hint or say all in its message.
func expect(t *testing.T, got []Problem, want []fault) {
	t.Helper()
	for i, p := range got {
		if i >= len(want) {
			t.Errorf("unexpected: %s", p.Error())
			continue
		}
		if brief(p) != want[i].at || !strings.Contains(p.Error(), want[i].words) {
			t.Errorf("got   %s | %s\nwant  %s | %s", brief(p), p.Error(), want[i].at, want[i].words)
		}
	}
	for _, w := range want[min(len(got), len(want)):] {
		t.Errorf("missing: %s %s", w.at, w.words)
	}
}

// golden compares text with a file of testdata at the top of the repository.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run with -update if the change is meant\n--- got\n%s--- want\n%s", name, got, want)
	}
}

// write puts files into a fresh folder and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func codeOf(t *testing.T, err error, want engine.Code) *engine.Error {
	t.Helper()
	e, ok := err.(*engine.Error)
	if !ok || e.Code != want || e.Hint == "" {
		t.Fatalf("want an error of code %s with a hint, got %#v", want, err)
	}
	return e
}
