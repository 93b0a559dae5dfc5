package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestBuildsAreNamed runs two builds over one record: a watch of the older one
// goes on while the newer one acts, and then the older one is about to act.
func TestBuildsAreNamed(t *testing.T) {
	w := newWorld(t)
	w.setenv("TEST_BUILD", "v0.1.0")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	watch := exec.CommandContext(t.Context(), self, "watch")
	watch.Env, watch.Dir = w.env, w.project
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	here := filepath.Join(w.dir, "rig", "run", "*"+presenceSuffix)
	var files []string
	w.eventually("the watch is announced", func() (bool, string) {
		files, _ = filepath.Glob(here)
		return len(files) == 1, strings.Join(files, " ")
	})
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}

	w.setenv("TEST_BUILD", "v0.2.0")
	up := w.run("up", w.spec("b", "a:terminal"), "--json")
	if !strings.Contains(up.err, "rig watch (process ") || !strings.Contains(up.err, "is of the older build v0.1.0") || !strings.Contains(up.err, "this is v0.2.0") {
		t.Errorf("the running older build is not named: %s", up.err)
	}
	var rec struct {
		Operation struct{ ID, Build string } `json:"operation"`
	}
	if err := json.Unmarshal([]byte(up.out), &rec); err != nil || !strings.HasPrefix(rec.Operation.Build, "v0.2.0 ") {
		t.Errorf("the receipt: %+v, %v", rec, err)
	}
	if out := w.must("op", "show", rec.Operation.ID, "--json"); !strings.Contains(out, `"build": "v0.2.0 `) {
		t.Errorf("the operation: %s", out)
	}
	if out := w.run("doctor").out; !strings.Contains(out, "is of the older build v0.1.0") {
		t.Errorf("doctor: %s", out)
	}

	w.setenv("TEST_BUILD", "v0.1.0")
	if out := w.must("seat", "stop", "dev.a", "--reason", "r", "--dry-run"); !strings.Contains(out, "the newer build v0.2.0 ") {
		t.Errorf("the older build is not named in its own plan: %s", out)
	}

	if err := watch.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = watch.Wait() // it was killed
	if out := w.run("doctor").out; strings.Contains(out, "older build") {
		t.Errorf("doctor names a dead process: %s", out)
	}
}
