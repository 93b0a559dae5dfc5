package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"rig/store"
)

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// trace renders everything that a dry run must leave alone: the record, the
// structure of the tmux server with its options, and every file of the world but
// the clients' own.
func (w *world) trace() string {
	w.t.Helper()
	db, err := store.OpenReadOnly(filepath.Join(w.dir, "rig", "rig.db"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	dump, err := db.Dump(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	parts := []string{dump}
	for _, args := range [][]string{
		{"list-panes", "-a", "-F", "#{session_name} #{window_id} #{pane_id} #{pane_pid} #{pane_dead} #{@rig_seat} #{@rig_gen} #{@rig_op}"},
		{"show-options", "-g"},
		{"show-options", "-s"},
		{"show-environment", "-g"},
		{"list-buffers"},
	} {
		out, err := w.tryTmux(args...)
		if err != nil {
			out = "error"
		}
		parts = append(parts, out)
	}
	return strings.Join(append(parts, w.files()...), "\n")
}

// files hashes every file of the world except shared memory and what the clients
// write themselves.
func (w *world) files() []string {
	w.t.Helper()
	var out []string
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(w.dir, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (rel == "home/.claude" || rel == "home/.codex" || rel == "rig/spool"):
			return filepath.SkipDir
		case d.IsDir() || strings.HasSuffix(path, "-shm") || d.Type()&fs.ModeSocket != 0:
			return nil
		}
		if d.Type()&^fs.ModeSymlink != 0 { // a pipe would hold the reader up
			out = append(out, rel+" "+d.Type().String())
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(b)
		out = append(out, rel+" "+hex.EncodeToString(sum[:6]))
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	sort.Strings(out)
	return out
}
