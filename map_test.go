package rig_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheMapOfTheEngineIsWhole holds the table of docs/developing.md against the
// folder: every file stands in one row, and no row names what is not there.
func TestTheMapOfTheEngineIsWhole(t *testing.T) {
	page, err := os.ReadFile("docs/developing.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "## The files of `engine`")
	section, _, _ := strings.Cut(rest, "\n## ")
	rows := map[string]int{}
	for _, m := range regexp.MustCompile("`([a-z_*]+\\.go)`").FindAllStringSubmatch(strings.ReplaceAll(section, "`map_test.go`", ""), -1) {
		files, err := filepath.Glob("engine/" + m[1])
		if err != nil || len(files) == 0 {
			t.Errorf("the map names %s, and there is no such file", m[1])
		}
		for _, f := range files {
			rows[f]++
		}
	}
	files, err := filepath.Glob("engine/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f, "_test.go") && rows[f] != 1 {
			t.Errorf("%s stands in %d rows of the map, want 1", f, rows[f])
		}
	}
}
