package transcript

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf16"
)

// ErrBadID is returned for a session id that no client could have given out. It
// also keeps ids from reaching the file system as paths.
var ErrBadID = errors.New("not a session id")

// slugLimit is the length from which Claude Code shortens a folder name and
// adds a hash of its own.
const slugLimit = 200

// ClaudeSlug returns the name of the folder under "projects" in which Claude
// Code files the conversations of a directory: every UTF-16 code unit outside
// ASCII letters and digits becomes one dash. cwd must be absolute and resolved
// (see [RealDir]). exact is false for long paths, whose name ends in a hash
// that cannot be computed here; such a conversation is found by its id.
func ClaudeSlug(cwd string) (slug string, exact bool) {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(cwd)) {
		letter := unit|0x20 >= 'a' && unit|0x20 <= 'z' && unit < 0x80
		if letter || unit >= '0' && unit <= '9' {
			b.WriteByte(byte(unit))
		} else {
			b.WriteByte('-')
		}
	}
	slug = b.String()
	return slug, len(slug) <= slugLimit
}

// RealDir resolves a directory the way the clients do before they file
// anything: absolute, symbolic links followed. Of a directory that is gone, the
// part that still exists is resolved and the rest kept, without an error.
func RealDir(dir string) string {
	dir = filepath.Clean(dir)
	rest := ""
	for probe := dir; ; probe = filepath.Dir(probe) {
		real, err := filepath.EvalSymlinks(probe)
		if err == nil {
			return filepath.Join(real, rest)
		}
		if probe == filepath.Dir(probe) {
			return dir
		}
		rest = filepath.Join(filepath.Base(probe), rest)
	}
}

// Location is where a conversation's record is.
type Location struct {
	// Path is the file; empty when none was found.
	Path string `json:"path,omitempty"`
	// FoundElsewhere is set when the file is not where the directory's name
	// says, but was found by its id (Claude).
	FoundElsewhere bool `json:"found_elsewhere,omitempty"`
	// RecordedCwd is the directory the file itself says it began in, as far as
	// it was looked up. The conversation must be resumed there.
	RecordedCwd string `json:"recorded_cwd,omitempty"`
	// CwdMismatch is set when that is not the directory that was asked for.
	CwdMismatch bool `json:"cwd_mismatch,omitempty"`
	// Archived and Compressed are the states in which Codex keeps old files.
	Archived   bool `json:"archived,omitempty"`
	Compressed bool `json:"compressed,omitempty"`
	// Others are further files of the same conversation.
	Others []string `json:"others,omitempty"`
	// Empty is set for a file without content: nothing to resume.
	Empty bool `json:"empty,omitempty"`
	// Reason explains every flag above, or why nothing was found.
	Reason string `json:"reason,omitempty"`
}

// validID accepts what the clients use as ids: UUIDs, and nothing that could be
// more than one path element.
func validID(id string) bool {
	if len(id) < 8 || len(id) > 128 || strings.HasPrefix(id, "agent-") {
		return false
	}
	for i := range len(id) {
		ch := id[i]
		if ch != '-' && (ch < '0' || ch > '9') && (ch|0x20 < 'a' || ch|0x20 > 'z') {
			return false
		}
	}
	return true
}

// FindClaude finds the transcript of a session. configDir is Claude Code's
// configuration directory (~/.claude unless CLAUDE_CONFIG_DIR says otherwise),
// cwd the directory the session was started in; it may be empty when unknown.
//
// First the folder of that directory is tried, then all folders are searched
// for the id. Sub-agent files are never taken. A file found elsewhere that
// records another directory is returned with CwdMismatch, so that the caller
// can name both. Nothing found is not an error: Path is empty and Reason says
// where was looked. [ErrBadID] is returned for an impossible id, and the
// system's error when the folders cannot be read.
func FindClaude(configDir, id, cwd string) (Location, error) {
	if !validID(id) {
		return Location{}, fmt.Errorf("find transcript: %w", ErrBadID)
	}
	projects := filepath.Join(configDir, "projects")
	real, shortened := "", ""
	if cwd != "" {
		real = RealDir(cwd)
		slug, exact := ClaudeSlug(real)
		if !exact {
			shortened = slug[:slugLimit] + "-"
		} else {
			path := filepath.Join(projects, slug, id+".jsonl")
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				return checkedClaude(Location{Path: path, Empty: info.Size() == 0}, real), nil
			}
		}
	}
	found, err := claudeByID(projects, id)
	if err != nil {
		return Location{}, err
	}
	if len(found) == 0 {
		return Location{Reason: "no transcript of that id under " + projects}, nil
	}
	return pickClaude(found, real, shortened), nil
}

// claudeByID searches every project folder for the id.
func claudeByID(projects, id string) ([]string, error) {
	dirs, err := os.ReadDir(projects)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find transcript: %w", err)
	}
	var found []string
	for _, d := range dirs {
		path := filepath.Join(projects, d.Name(), id+".jsonl")
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			found = append(found, path)
		}
	}
	return found, nil
}

// pickClaude prefers the file that records the directory asked for. shortened
// is how the folder of an overlong directory begins, empty for others.
func pickClaude(found []string, real, shortened string) Location {
	best := Location{}
	for i, path := range found {
		loc := Location{Path: path, FoundElsewhere: true}
		if shortened != "" && strings.HasPrefix(filepath.Base(filepath.Dir(path)), shortened) {
			loc.FoundElsewhere = false
		}
		if info, err := os.Stat(path); err == nil {
			loc.Empty = info.Size() == 0
		}
		loc = checkedClaude(loc, real)
		if i == 0 || best.CwdMismatch && !loc.CwdMismatch {
			best = loc
		}
	}
	for _, path := range found {
		if path != best.Path {
			best.Others = append(best.Others, path)
		}
	}
	if best.Reason == "" && best.FoundElsewhere {
		best.Reason = "found by its id in another project folder"
	}
	return best
}

// checkedClaude compares the directory a transcript records with the one asked
// for. Two directories can share a folder name, so this is done for every find.
func checkedClaude(loc Location, real string) Location {
	if loc.Empty {
		loc.Reason = "the transcript is empty"
		return loc
	}
	head, err := ReadHead(loc.Path, RuntimeClaude)
	if err != nil {
		loc.Reason = "the transcript exists but could not be read"
		return loc
	}
	loc.RecordedCwd = head.StartCwd
	if real != "" && head.StartCwd != "" && head.StartCwd != real && RealDir(head.StartCwd) != real {
		loc.CwdMismatch = true
		loc.Reason = fmt.Sprintf("the conversation began in %s, not in %s", head.StartCwd, real)
	}
	return loc
}
