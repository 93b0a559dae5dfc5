package transcript

import (
	"path/filepath"
	"strings"
)

// Part is the beginning of a file, up to a byte offset.
type Part struct {
	Path string
	End  int64
}

// maxParts bounds the times that a thread was taken back that are followed.
const maxParts = 100

// TakenBack lists what a rollout builds on in the older files of its own thread, the
// oldest first. Each time a person takes a thread back to an earlier prompt, Codex
// begins a further file, whose header says how much of the one before still holds
// (observed with 0.171). What a fork builds on belongs to another thread and is not
// among them. complete is false when a file is gone or cannot be read; the parts are
// then those behind it. It fails like [ReadHead] for the path itself.
func TakenBack(path string) (parts []Part, complete bool, err error) {
	head, err := ReadHead(path, RuntimeCodex)
	if err != nil {
		return nil, false, err
	}
	home, thread, seen := homeOf(path), RolloutID(filepath.Base(path)), map[string]bool{}
	for head.BaseID != "" {
		loc, err := FindCodexBase(home, head.BaseID)
		switch {
		case err == nil && loc.Path == "" && head.ParentID != "", loc.Path != "" && RolloutID(filepath.Base(loc.Path)) != thread:
			return parts, true, nil // it is, or may be, the parent's
		case err != nil || loc.Path == "" || loc.Compressed || seen[loc.Path] || len(parts) == maxParts:
			return parts, false, nil
		}
		seen[loc.Path] = true
		parts = append([]Part{{loc.Path, head.BaseEnd}}, parts...)
		if head, err = ReadHead(loc.Path, RuntimeCodex); err != nil {
			return parts, false, nil //nolint:nilerr // the file itself was read
		}
	}
	return parts, true, nil
}

// homeOf is the directory of Codex in which a rollout is filed.
func homeOf(path string) string {
	dir := filepath.Dir(path)
	for range maxRolloutDepth - 1 { // day, month, year
		if strings.Trim(filepath.Base(dir), "0123456789") != "" {
			break
		}
		dir = filepath.Dir(dir)
	}
	return filepath.Dir(dir) // of sessions, or of archived_sessions
}

// ReadPart is [ReadFile] over the beginning of a file.
func ReadPart(p Part, rt Runtime, o Options, emit func(Message)) (Summary, error) {
	src, err := open(p.Path)
	if err != nil {
		return Summary{}, err
	}
	defer src.close()
	return readRange(src.f, 0, min(max(p.End, 0), src.size), rt, o, emit)
}
