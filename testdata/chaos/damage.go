//go:build linux

package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// cutRecord copies the record as it lies there, cuts the copy at a random place, and lets rig loose on it, beside a tmux server
// that does not exist. Whatever rig makes of it, it must say so: a refusal, or the state of an earlier moment. Then a whole
// copy is put in its place, which must be taken.
func cutRecord(ctx context.Context, w *world) bool {
	copyHome := filepath.Join(w.dir, "cut")
	defer os.RemoveAll(copyHome)
	if os.MkdirAll(copyHome, 0o700) != nil || !w.copyRecord(ctx, copyHome) {
		return false
	}
	whole := filepath.Join(copyHome, "whole")
	if copyFile(filepath.Join(copyHome, "rig.db"), whole) != nil {
		return false
	}
	victim := filepath.Join(copyHome, "rig.db")
	info, err := os.Stat(victim)
	if err != nil || os.Truncate(victim, int64(w.pick(int(info.Size())))) != nil {
		return false
	}
	other := *w.elsewhere(copyHome)
	for _, args := range [][]string{{"ps"}, {"doctor"}, {"op", "list"}, {"down", "alpha", "--dry-run"}, {"launch", "alpha"}, {"seat", "stop", w.anySeat("").Address, "--reason", "r"}} {
		r := other.do(ctx, args...)
		if r.code == 0 && args[0] != "op" && args[0] != "ps" && args[0] != "doctor" {
			w.wrong("a cut record was acted on: rig %v: %.400s", args, r.text)
		}
		if r.code > 0 && r.doc.Code == "" && args[0] != "doctor" && !strings.Contains(r.text, "{") {
			w.wrong("a cut record is not named: rig %v: %.400s", args, r.text)
		}
	}
	for _, name := range []string{"rig.db", "rig.db-wal", "rig.db-shm"} {
		if err := os.Remove(filepath.Join(copyHome, name)); err != nil && !os.IsNotExist(err) {
			return false
		}
	}
	if copyFile(whole, victim) != nil {
		return false
	}
	if r := other.do(ctx, "ps"); r.code != 0 || !strings.Contains(r.text, "dev-t1@alpha") {
		w.wrong("a whole copy was not taken: exit %d: %.400s", r.code, r.text)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problems = append(w.problems, other.problems...)
	return true
}

// copyRecord writes a copy of the record, as of one moment, into a folder.
func (w *world) copyRecord(ctx context.Context, dir string) bool {
	db, err := w.open("ro")
	if err != nil {
		return false
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", filepath.Join(dir, "rig.db"))
	return err == nil
}

// elsewhere is a world over another record, without a tmux server.
func (w *world) elsewhere(home string) *world {
	env := slices.Clone(w.env)
	for i, kv := range env {
		switch {
		case strings.HasPrefix(kv, "RIG_HOME="):
			env[i] = "RIG_HOME=" + home
		case strings.HasPrefix(kv, "RIG_TMUX_SOCKET="):
			env[i] = "RIG_TMUX_SOCKET=" + filepath.Join(home, "none")
		}
	}
	return &world{options: w.options, home: home, project: w.project, env: env, out: w.out, codes: map[string]int{}, faultsOn: map[string]int{}}
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}
