package transcript

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"
)

// FindCodex finds the rollout of a thread. home is Codex's own directory
// (~/.codex unless CODEX_HOME says otherwise). Archived and compressed files
// are found and marked; several files of one thread are one Location, the
// plainest first. Nothing found is not an error: Path is empty and Reason says
// where was looked. [ErrBadID] is returned for an impossible id, and the
// system's error when the folders cannot be read.
func FindCodex(home, id string) (Location, error) {
	if !validID(id) {
		return Location{}, fmt.Errorf("find rollout: %w", ErrBadID)
	}
	var found []string
	match := func(path string) bool {
		if rolloutID(filepath.Base(path)) == id {
			found = append(found, path)
		}
		return true
	}
	sessions, archive := filepath.Join(home, "sessions"), filepath.Join(home, "archived_sessions")
	for _, day := range likelyDays(sessions, id) {
		if err := eachRollout(day, match); err != nil {
			return Location{}, err
		}
	}
	if len(found) == 0 {
		if err := eachRollout(sessions, match); err != nil {
			return Location{}, err
		}
	}
	if err := eachRollout(archive, match); err != nil {
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
	sort.SliceStable(found, func(i, j int) bool { return rank(found[i]) < rank(found[j]) })
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

// rolloutID takes the thread id from a rollout's name, which ends in it:
// rollout-<time>-<id>.jsonl, perhaps with a compression suffix.
func rolloutID(name string) string {
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

// eachRollout calls fn for the rollouts under a folder until it returns false.
// A missing folder has none; folders that cannot be read are an error, because
// "not found" must not be said of a place that was not looked at.
func eachRollout(root string, fn func(path string) bool) error {
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
		if !d.IsDir() && rolloutID(d.Name()) != "" && !fn(filepath.Join(root, rel)) {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("search rollouts: %w", err)
	}
	return nil
}

// likelyDays names the day folders in which a thread's rollout should be: its
// id is a UUIDv7 and carries the time it was made.
func likelyDays(sessions, id string) []string {
	hex := strings.ReplaceAll(id, "-", "")
	if len(hex) != 32 || hex[12] != '7' {
		return nil
	}
	ms, err := strconv.ParseInt(hex[:12], 16, 64)
	if err != nil {
		return nil
	}
	made := time.UnixMilli(ms).UTC()
	var days []string
	for shift := -1; shift <= 1; shift++ {
		day := made.AddDate(0, 0, shift)
		days = append(days, filepath.Join(sessions, day.Format("2006"), day.Format("01"), day.Format("02")))
	}
	return days
}
