package packet

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"rig/engine"
)

var _ engine.Recaps = Seats{}

// maxDraft is how much of a draft is read, in bytes; the limit on a recap is lower.
const maxDraft = 2 << 20

// ReadDraft implements engine.Recaps.
func (Seats) ReadDraft(path string) ([]byte, error) {
	refuse := func(err error, hint string) ([]byte, error) {
		return nil, engine.Errorf(engine.CodeInvalid, "the draft cannot be read").On(opRecap, path).Wrap(err).WithHint("%s", hint)
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a plain file")
	}
	if err != nil {
		return refuse(err, "name a plain file that you may read")
	}
	f, err := os.Open(path)
	if err != nil {
		return refuse(err, "check that you may read it")
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxDraft))
	if err != nil {
		return refuse(err, "check the file")
	}
	return b, nil
}

// Recap implements engine.Recaps.
func (s Seats) Recap(address string) (engine.Recap, error) {
	dir := s.Dir(address)
	path := filepath.Join(dir, recapName)
	out := engine.Recap{Path: path, Earlier: len(supersededRecaps(dir))}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxArtifact) {
		err = errors.New("it is not a plain file of at most 4 MiB")
	}
	var b []byte
	if err == nil {
		b, err = os.ReadFile(path)
	}
	if err != nil {
		return out, engine.Errorf(engine.CodeUnavailable, "the present recap cannot be read").On(opRecap, address).Wrap(err).
			WithHint("look at %s; nothing replaces it before it can be kept", path)
	}
	out.Text, out.Digest, out.Modified = string(b), digest(b), info.ModTime().UTC()
	return out, nil
}

// CheckRecap implements engine.Recaps.
func (Seats) CheckRecap(address string, draft []byte) ([]engine.RecapFinding, []error) {
	return advise(string(draft)), checkDraft(address, draft)
}

// TakeBackRecap implements engine.Recaps. It puts the newest of the earlier recaps
// back if that is the one that was there, and removes what was half written.
func (s Seats) TakeBackRecap(address, was, wrote string) error {
	dir := s.Dir(address)
	now, err := s.Recap(address)
	if err != nil {
		return err
	}
	path, kept := filepath.Join(dir, recapName), ""
	if list := supersededRecaps(dir); len(list) > 0 && was != "" {
		newest := list[len(list)-1]
		if b, err := os.ReadFile(newest); err == nil && digest(b) == was {
			kept = newest
		}
	}
	switch {
	case now.Digest == wrote && was == "":
		err = os.Remove(path)
	case now.Digest == wrote && kept != "":
		err = os.Rename(kept, path)
	case now.Digest == was && kept != "" && sameFile(path, kept): // kept already, and nothing published
		err = os.Remove(kept)
	case now.Digest == wrote:
		err = errors.New("the recap before it is not among the earlier ones")
	}
	if err != nil {
		return engine.Errorf(engine.CodeUnavailable, "the recap could not be taken back").On(opRecap, address).Wrap(err).
			WithHint("every recap is kept in %s", filepath.Join(dir, supersededName))
	}
	for _, left := range drafts(dir) {
		if err := os.Remove(left); err != nil {
			return engine.Errorf(engine.CodeUnavailable, "a half-written draft is left").On(opRecap, address).Wrap(err).WithHint("remove %s", left)
		}
	}
	syncDir(dir)
	return nil
}

// drafts lists what was staged and never published.
func drafts(dir string) []string {
	list, err := filepath.Glob(filepath.Join(globSafe(dir), draftPrefix+"*"))
	if err != nil {
		return nil
	}
	return list
}

// sameFile reports whether two names lead to one file.
func sameFile(a, b string) bool {
	one, err := os.Lstat(a)
	if err != nil {
		return false
	}
	other, err := os.Lstat(b)
	return err == nil && os.SameFile(one, other)
}
