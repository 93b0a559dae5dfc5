package rig_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheReleaseNamesWhatThereIs holds .goreleaser.yaml, which runs only at a release, against the sources: the folders that it
// builds, the variables that it sets, the files that the cask installs, and the environment that docs/developing.md asks for.
func TestTheReleaseNamesWhatThereIs(t *testing.T) {
	texts := map[string]string{}
	for _, name := range []string{".goreleaser.yaml", ".ci/release-files", "docs/developing.md"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(b)
	}
	release := texts[".goreleaser.yaml"]
	all := func(pattern string) []string {
		t.Helper()
		var out []string
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(release, -1) {
			out = append(out, m[1])
		}
		if len(out) == 0 {
			t.Errorf("nothing in .goreleaser.yaml is like %s", pattern)
		}
		return out
	}
	var sources strings.Builder
	for _, dir := range all(`(?m)^ +main: (\S+)$`) {
		files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
		if len(files) == 0 {
			t.Errorf("%s has no program", dir)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			sources.Write(b)
		}
	}
	for _, name := range all(`-X main\.(\w+)=`) {
		if !regexp.MustCompile(`(?m)^(var|\t) ?` + name + `\b.*=`).MatchString(sources.String()) {
			t.Errorf("no program has a variable %s to set", name)
		}
	}
	built := " " + strings.Join(all(`(?m)^ +binary: (\S+)$`), " ") + " "
	for name := range strings.SplitSeq(all(`(?m)^ +binaries: \[(.*)\]$`)[0], ", ") {
		if !strings.Contains(built, " "+name+" ") {
			t.Errorf("the cask installs %s, which is not built", name)
		}
	}
	for _, name := range all(`[ {](?:bash|zsh|fish): completions/([\w.]+)`) {
		if !strings.Contains(texts[".ci/release-files"], ">bin/completions/"+name+"\n") {
			t.Errorf("the cask installs completions/%s, which .ci/release-files does not write", name)
		}
	}
	for _, name := range all(`\.Env\.(\w+)`) {
		if !strings.Contains(texts["docs/developing.md"], "`"+name+"`") {
			t.Errorf("docs/developing.md does not ask for %s", name)
		}
	}
}
