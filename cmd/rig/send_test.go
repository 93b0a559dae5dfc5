package main

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
)

// TestAMessageIsDeliveredWhileTheRecordIsHeld: what was typed is no failure because the
// record cannot be written: "try again" would have it done twice.
func TestAMessageIsDeliveredWhileTheRecordIsHeld(t *testing.T) {
	w := newWorld(t)
	w.must("up", w.spec("held", "impl:claude-code", "qa:codex", "more:claude-code"))
	db, err := sql.Open("sqlite", filepath.Join(w.dir, "rig", "rig.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err == nil {
		_, err = tx.Exec("UPDATE rigs SET name = name") // the lock of a writer
	}
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	results := make(chan result, 3)
	for _, args := range [][]string{
		{"send", "dev.impl", "first", "--verify"},
		{"broadcast", "second", "--seats", "dev.qa", "--verify", "--json"},
		{"broadcast", "third", "--seats", "dev.more", "--verify"},
	} {
		go func() { results <- w.run(args...) }()
	}
	for range 3 {
		r := <-results
		all := r.out + r.err
		if r.code != 0 || !strings.Contains(all, "not on record: another process holds the record") || strings.Contains(all, "try again") || strings.Contains(all, "refused") {
			t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
		}
	}
}
