package transcript

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// FindCodex finds the rollout of a thread. home is Codex's own directory
// (~/.codex unless CODEX_HOME says otherwise). Archived and compressed files
// are found and marked; several files of one thread are one Location, the
// plainest first and of those the newest, which is the one that goes on: when a
// person takes a thread back to an earlier prompt, Codex begins another file of it
// (observed with 0.171). Nothing found is not an error: Path is empty and Reason says
// where was looked. [ErrBadID] is returned for an impossible id, and the
// system's error when the folders cannot be read.
func FindCodex(home, id string) (Location, error) { return findCodex(home, id, RolloutID) }

// FindCodexBase finds what another rollout builds on ([Summary.BaseID]): one file,
// which is the whole thread of that id, or its first file, or a further one. It answers
// like [FindCodex].
func FindCodexBase(home, id string) (Location, error) { return findCodex(home, id, rolloutFile) }

func findCodex(home, id string, idOf func(name string) string) (Location, error) {
	if !validID(id) {
		return Location{}, fmt.Errorf("find rollout: %w", ErrBadID)
	}
	var found []string
	match := func(path string) bool {
		if idOf(filepath.Base(path)) == id {
			found = append(found, path)
		}
		return true
	}
	sessions, archive := filepath.Join(home, "sessions"), filepath.Join(home, "archived_sessions")
	since := firstDay(id)
	if err := eachRollout(sessions, since, match); err != nil {
		return Location{}, err
	}
	if len(found) == 0 && since != "" {
		if err := eachRollout(sessions, "", match); err != nil {
			return Location{}, err
		}
	}
	if err := eachRollout(archive, "", match); err != nil {
		return Location{}, err
	}
	if len(found) == 0 {
		return Location{Reason: "no rollout of that id under " + sessions + " or " + archive}, nil
	}
	return codexLocation(found, archive), nil
}

// codexLocation makes one Location of a thread's files.
func codexLocation(found []string, archive string) Location {
	rank := func(path string) int {
		r := 0
		if isCompressedName(path) {
			r++
		}
		if strings.HasPrefix(path, archive+string(filepath.Separator)) {
			r += 2
		}
		return r
	}
	slices.SortStableFunc(found, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(filepath.Base(b), filepath.Base(a)))
	})
	r := rank(found[0])
	loc := Location{Path: found[0], Compressed: r&1 != 0, Archived: r&2 != 0, Others: found[1:]}
	var reasons []string
	if info, err := os.Stat(loc.Path); err == nil && info.Size() == 0 {
		loc.Empty = true
		reasons = append(reasons, "the rollout is empty")
	}
	if loc.Archived {
		reasons = append(reasons, "the session is archived and must be unarchived before it can be resumed")
	}
	if loc.Compressed {
		reasons = append(reasons, "the rollout is compressed; its text cannot be read here")
	} else if head, err := ReadHead(loc.Path, RuntimeCodex); err == nil {
		loc.RecordedCwd = head.StartCwd
	}
	if len(loc.Others) > 0 {
		reasons = append(reasons, fmt.Sprintf("%d files of one session", len(found)))
	}
	loc.Reason = strings.Join(reasons, "; ")
	return loc
}

func isCompressedName(path string) bool { return !strings.HasSuffix(path, ".jsonl") }

// RolloutID takes the thread id from a rollout's name: rollout-<time>-<id>.jsonl,
// perhaps with a compression suffix. A further file of the thread, begun when it was
// taken back to an earlier prompt, has an id of its own behind it:
// rollout-<time>-<id>_<file>.jsonl. "" for another name.
func RolloutID(name string) string {
	id, _, _ := strings.Cut(rolloutIDs(name), "_")
	return id
}

// rolloutFile is the id of the file alone: that of the thread for its first one.
func rolloutFile(name string) string {
	id, file, further := strings.Cut(rolloutIDs(name), "_")
	if further {
		return file
	}
	return id
}

func rolloutIDs(name string) string {
	name, ok := strings.CutPrefix(name, "rollout-")
	if !ok {
		return ""
	}
	for _, suffix := range []string{".jsonl", ".jsonl.zst", ".jsonl.gz"} {
		if stem, ok := strings.CutSuffix(name, suffix); ok {
			const stamp = len("2006-01-02T15-04-05-")
			if len(stem) > stamp {
				return stem[stamp:]
			}
		}
	}
	return ""
}

// maxRolloutDepth is year, month, day, file; anything deeper is not Codex's.
const maxRolloutDepth = 4

// eachRollout calls fn for the rollouts under a folder until it returns false; since
// leaves out the days before that one, named as their folders are. A missing folder
// has none; folders that cannot be read are an error, because "not found" must not be
// said of a place that was not looked at.
func eachRollout(root, since string, fn func(path string) bool) error {
	real, err := filepath.EvalSymlinks(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("search rollouts: %w", err)
	}
	err = filepath.WalkDir(real, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		rel, relErr := filepath.Rel(real, path)
		if relErr != nil {
			return relErr
		}
		if d.IsDir() && strings.Count(rel, string(filepath.Separator)) >= maxRolloutDepth-1 {
			return fs.SkipDir
		}
		if d.IsDir() && rel != "." && rel < since[:min(len(rel), len(since))] {
			return fs.SkipDir
		}
		if !d.IsDir() && RolloutID(d.Name()) != "" && !fn(filepath.Join(root, rel)) {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("search rollouts: %w", err)
	}
	return nil
}

// firstDay names the folder of the first day in which a thread's rollout should be, as
// year/month/day: its id is a UUIDv7 and carries the time it was made. "" where the id
// does not say.
func firstDay(id string) string {
	hex := strings.ReplaceAll(id, "-", "")
	if len(hex) != 32 || hex[12] != '7' {
		return ""
	}
	ms, err := strconv.ParseInt(hex[:12], 16, 64)
	if err != nil {
		return ""
	}
	return time.UnixMilli(ms).UTC().AddDate(0, 0, -1).Format(filepath.FromSlash("2006/01/02"))
}
