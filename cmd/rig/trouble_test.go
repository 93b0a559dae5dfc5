package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTroubleIsNoUsageError: what fails after the command line was understood is told
// as what it is, and never by pointing at the help.
func TestTroubleIsNoUsageError(t *testing.T) {
	for _, name := range []string{"logs", "run", "rig.db"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			spec := w.spec("one", "a:terminal")
			in := filepath.Join(w.dir, "rig", name)
			if name == "rig.db" {
				if err := os.MkdirAll(in, 0o700); err != nil {
					t.Fatal(err)
				}
			} else {
				w.write(filepath.Join("rig", name), "in the way")
			}
			var doc struct{ Code, Message, Hint string }
			r := w.into(&doc, "up", spec)
			if r.code == 0 || doc.Code == "internal" || doc.Hint == "" || strings.Contains(doc.Hint, "rig help") || strings.Contains(doc.Message, "disk") || !strings.Contains(doc.Message, in) {
				t.Errorf("exit %d\n%s", r.code, r.out)
			}
		})
	}
}

// TestUsageErrorsPointAtTheHelp: what cobra refuses is a usage error with every verb.
func TestUsageErrorsPointAtTheHelp(t *testing.T) {
	w := newWorld(t)
	for _, args := range [][]string{{"nothing"}, {"ps", "--nothing"}, {"op", "show"}, {"seat", "nothing"}, {"seat", "lunch", "dev.a"}, {"op", "nothing"}, {"agent-image", "nothing"}, {"up"}, {"restore-packet", "write"}} {
		var doc struct{ Code, Hint string }
		if r := w.into(&doc, args...); r.code != 2 || doc.Code == "internal" || doc.Hint == "" {
			t.Errorf("%v: exit %d\n%s", args, r.code, r.out)
		}
	}
	if r := w.run("seat", "lunch", "dev.a"); !strings.Contains(r.err, "did you mean `rig seat launch`?") {
		t.Errorf("no suggestion: %s", r.err)
	}
	if r := w.run("seat"); r.code != 0 || !strings.Contains(r.out, "rig seat [command]") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
}

// TestDoctorTellsWhatIsBroken: a client that is there and fails is not called missing, and a damaged record is red.
func TestDoctorTellsWhatIsBroken(t *testing.T) {
	w := newWorld(t)
	bad := w.write("bin/claude", "#!/bin/sh\nexit 3\n")
	if err := os.Chmod(bad, 0o700); err != nil {
		t.Fatal(err)
	}
	w.setenv("RIG_CLAUDE_COMMAND", bad)
	w.setenv("RIG_CODEX_COMMAND", filepath.Join(w.dir, "nowhere"))
	w.write("rig/rig.db", strings.Repeat("no record ", 1000))
	var doc struct{ Checks []check }
	r := w.into(&doc, "doctor")
	seen := map[string]check{}
	for _, k := range doc.Checks {
		seen[k.Name] = k
	}
	if k := seen["claude"]; k.Status != "yellow" || !strings.Contains(k.Found, "exit status 3") || k.Hint == "" {
		t.Errorf("%+v", k)
	}
	if k := seen["codex"]; k.Status != "yellow" || !strings.Contains(k.Found, "was not found") {
		t.Errorf("%+v", k)
	}
	if k := seen["record"]; k.Status != "red" || k.Hint == "" || r.code != 1 {
		t.Errorf("exit %d: %+v", r.code, k)
	}
}
