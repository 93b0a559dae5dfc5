// Command mutants breaks the program's invariants on purpose, one at a time, and expects the tests to notice. Nothing in the tree is
// changed: the go command takes the broken file from an overlay. A mutant that no test notices is a missing test; one whose text
// is not in its file any more has to be written anew.
//
//	go run ./testdata/mutants [-run expression] [-list]
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// mutant is one invariant, broken on purpose.
type mutant struct {
	name string // of the invariant that is broken, in a few words
	file string // from the repository's root
	old  string // stands in the file exactly once
	new  string // what it is replaced by; the file must still compile
	pkg  string // the package with the tests
	kill string // the tests that must notice, as a -run expression without anchors
}

// testTime is how long the tests of one mutant may take; a mutant that makes them hang is noticed by it.
const testTime = "150s"

func main() {
	run := flag.String("run", "", "only the mutants whose name or file matches this expression")
	show := flag.Bool("list", false, "list them and run nothing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	status, err := all(ctx, *run, *show)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
	}
	os.Exit(status)
}

func all(ctx context.Context, only string, show bool) (int, error) {
	expr, err := regexp.Compile(only)
	if err != nil {
		return 2, err
	}
	var chosen []mutant
	for _, m := range mutants {
		if expr.MatchString(m.name) || expr.MatchString(m.file) {
			chosen = append(chosen, m)
		}
	}
	if show {
		for _, m := range chosen {
			fmt.Printf("%-48s %-32s %s %s\n", m.name, m.file, m.pkg, m.kill)
		}
		return 0, nil
	}
	temp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return 2, err
	}
	defer os.RemoveAll(temp)
	if err := healthy(ctx, chosen); err != nil {
		return 1, err
	}
	bad := 0
	for i, m := range chosen {
		began := time.Now()
		by, err := m.try(ctx, filepath.Join(temp, fmt.Sprint(i)))
		if ctx.Err() != nil {
			return 2, ctx.Err()
		}
		verdict := "noticed by " + by
		if err != nil {
			bad++
			verdict = "FAIL: " + err.Error()
		}
		fmt.Printf("%-48s %4.0fs  %s\n", m.name, time.Since(began).Seconds(), verdict)
	}
	fmt.Printf("%d passed, %d failed\n", len(chosen)-bad, bad)
	return min(bad, 1), nil
}

// healthy runs the tests of the mutants on the tree as it is: they must be there and pass.
func healthy(ctx context.Context, chosen []mutant) error {
	names := map[string][]string{}
	for _, m := range chosen {
		for _, name := range strings.Split(m.kill, "|") {
			if !slices.Contains(names[m.pkg], name) {
				names[m.pkg] = append(names[m.pkg], name)
			}
		}
	}
	for pkg, list := range names {
		if out, err := goTest(ctx, pkg, strings.Join(list, "|"), ""); err != nil {
			return fmt.Errorf("the tests of %s fail without a mutant:\n%s", pkg, tail(out))
		}
	}
	return nil
}

// mutated is the file with the invariant broken.
func (m mutant) mutated(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(text, []byte(m.old)); n != 1 {
		return nil, fmt.Errorf("its text stands %d times in %s: write it anew in testdata/mutants/list.go", n, m.file)
	}
	return bytes.Replace(text, []byte(m.old), []byte(m.new), 1), nil
}

// try runs the mutant's tests on the broken file and names the first one that noticed.
func (m mutant) try(ctx context.Context, temp string) (string, error) {
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	text, err := m.mutated(root)
	if err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, m.file): temp + ".go"}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(temp+".go", text, 0o600); err != nil {
		return "", err
	}
	if err := os.WriteFile(temp+".json", overlay, 0o600); err != nil {
		return "", err
	}
	out, err := goTest(ctx, m.pkg, m.kill, temp+".json")
	switch {
	case err == nil:
		return "", fmt.Errorf("it survives %s %s", m.pkg, m.kill)
	case strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]"):
		return "", fmt.Errorf("it does not compile:\n%s", tail(out))
	}
	for line := range strings.Lines(out) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "--- FAIL: "); ok {
			return strings.Fields(name)[0], nil
		}
	}
	return "a panic or its time", nil
}

// goTest runs tests by name, each once, on the tree or on an overlay.
func goTest(ctx context.Context, pkg, names, overlay string) (string, error) {
	args := []string{"test", "-vet=off", "-count=1", "-timeout=" + testTime, "-run=^(" + names + ")"}
	if overlay != "" {
		args = append(args, "-overlay="+overlay, "-failfast")
	}
	args = append(args, pkg)
	if pkg == engineTests { // a broken invariant is no regression to keep
		args = append(args, "-rapid.nofailfile", "-rapid.shrinktime=1s")
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	out, err := cmd.CombinedOutput()
	if err == nil && strings.Contains(string(out), "no tests to run") {
		err = fmt.Errorf("no test is called %s", names)
	}
	return string(out), err
}

// tail is the end of what a command printed.
func tail(out string) string {
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}
