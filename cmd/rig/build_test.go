package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rig/store"
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
	if out := w.must("op", "show", rec.Operation.ID, "--json"); !strings.Contains(out, `"build":"v0.2.0 `) {
		t.Errorf("the operation: %s", out)
	}
	if out := w.run("doctor").out; !strings.Contains(out, "is of the older build v0.1.0") {
		t.Errorf("doctor: %s", out)
	}

	// A handover stays in a process of its own build until its undo window closes.
	w.must("handover", "dev.a", "--reason", "r")
	w.setenv("TEST_BUILD", "v0.3.0")
	if out := w.run("doctor").out; !strings.Contains(out, "rig handover of dev-a@b (process ") || !strings.Contains(out, "is of the older build v0.2.0") ||
		!strings.Contains(out, "until its undo window closes") {
		t.Errorf("doctor does not name the operation's process: %s", out)
	}

	w.setenv("TEST_BUILD", "v0.1.0")
	if out := w.must("seat", "stop", "dev.a", "--reason", "r", "--dry-run"); !strings.Contains(out, "the newer build v0.2.0 ") {
		t.Errorf("the older build is not named in its own plan: %s", out)
	}

	// The processes are named also when the record is of a version that this build does not read.
	w.setenv("TEST_BUILD", "v0.4.0")
	db, err := sql.Open("sqlite", filepath.Join(w.dir, "rig", "rig.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("PRAGMA user_version = 9001"); err != nil {
		t.Fatal(err)
	}
	if out := w.run("doctor").out; !strings.Contains(out, "is of the older build v0.1.0") || !strings.Contains(out, "9001") {
		t.Errorf("doctor over a newer record: %s", out)
	}
	if _, err := db.Exec(fmt.Sprintf("PRAGMA user_version = %d", store.SchemaVersion())); err != nil {
		t.Fatal(err)
	}

	if err := watch.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = watch.Wait() // it was killed
	if out := w.run("doctor").out; strings.Contains(out, "rig watch (process") {
		t.Errorf("doctor names a dead process: %s", out)
	}
}
