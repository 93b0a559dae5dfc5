package runtimes

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rig/engine"
)

// Relics lists what lies in run, spool and logs below RIG_HOME: the files of each
// occupant as one, tickets, logs, and what was left half-written. It follows no
// link, and leaves out what it cannot read or does not know.
func (f *Files) Relics() []engine.Relic {
	byID := map[string]*engine.Relic{}
	var out []engine.Relic
	occupant := func(id, path string) {
		if byID[id] == nil {
			byID[id] = &engine.Relic{Kind: engine.RelicOccupant, Name: id, Path: path}
		}
		weigh(byID[id], path)
	}
	alone := func(kind engine.RelicKind, path string) {
		r := engine.Relic{Kind: kind, Name: filepath.Base(path), Path: path}
		weigh(&r, path)
		out = append(out, r)
	}
	for _, name := range namesIn(filepath.Join(f.home, "run")) {
		path := filepath.Join(f.home, "run", name)
		id, _, _ := strings.Cut(name, ".")
		switch {
		case strings.HasPrefix(name, ".tmp-"):
			alone(engine.RelicTemporary, path)
		case strings.HasSuffix(name, ".ticket"):
			alone(engine.RelicTicket, path)
		case checkID(id) == nil && (name == id+launchSuffix || name == id+".json"):
			occupant(id, path)
		}
	}
	for _, name := range namesIn(filepath.Join(f.home, "spool")) {
		if checkID(name) == nil {
			occupant(name, f.SpoolDir(name))
		}
	}
	for _, name := range namesIn(filepath.Join(f.home, "logs")) {
		if strings.HasSuffix(name, ".log") {
			alone(engine.RelicLog, filepath.Join(f.home, "logs", name))
		}
	}
	for _, name := range namesIn(f.home) {
		if strings.HasPrefix(name, ".record-") || strings.HasPrefix(name, ".doctor-") {
			alone(engine.RelicTemporary, filepath.Join(f.home, name))
		}
	}
	for _, r := range byID {
		out = append(out, *r)
	}
	return out
}

// Discard removes a relic. What is a link, or another user's, is refused.
func (f *Files) Discard(r engine.Relic) error {
	if r.Kind == engine.RelicOccupant {
		return f.Forget(r.Name)
	}
	st, err := os.Lstat(r.Path)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return filesError(r.Path, err)
	}
	if st.Mode()&fs.ModeSymlink != 0 || !ownedByUs(st, os.Geteuid()) {
		return filesError(r.Path, errForeign)
	}
	if err := os.RemoveAll(r.Path); err != nil {
		return filesError(r.Path, err)
	}
	return nil
}

// namesIn lists a folder's entries that are no links; none when it cannot be read.
func namesIn(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink == 0 {
			out = append(out, e.Name())
		}
	}
	return out
}

// weigh adds a file's or folder's size to a relic, and its newest change.
func weigh(r *engine.Relic, path string) {
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it is gone already, or counted as nothing
		}
		if st, err := d.Info(); err == nil {
			if st.Mode().IsRegular() {
				r.Bytes += st.Size()
			}
			if st.ModTime().After(r.At) {
				r.At = st.ModTime()
			}
		}
		return nil
	})
}
