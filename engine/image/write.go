package image

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"rig/engine"
)

const maxFile = 8 << 20 // bytes of one supplementary file

// Write makes a new image below Home. It is written beside the library, and
// renamed into it when every byte is on disk.
func (l *Library) Write(ctx context.Context, n engine.NewImage) (engine.Image, error) {
	at := engine.ImageRef{Root: Home, Name: n.Name, Version: n.Version}
	dir, err := l.dir(at)
	if err != nil {
		return engine.Image{}, err
	}
	if err := checkOp(n.Operation); err != nil {
		return engine.Image{}, err
	}
	root, err := l.root(Home)
	if err != nil {
		return engine.Image{}, err
	}
	fail := func(err error) (engine.Image, error) { return engine.Image{}, writeError(n.Name, err) }
	if err := os.MkdirAll(root.Path, 0o700); err != nil {
		return fail(err)
	}
	unlock, err := lock(ctx, root.Path)
	if err != nil {
		return engine.Image{}, err
	}
	defer unlock()
	if err := nameFolder(root.Path, n.Name); err != nil {
		return engine.Image{}, err
	}
	tmp := filepath.Join(root.Path, ".new-"+n.Operation)
	if err := os.Mkdir(tmp, 0o700); err != nil {
		return fail(err)
	}
	if err := l.fill(tmp, n); err != nil {
		return engine.Image{}, errors.Join(err, os.RemoveAll(tmp))
	}
	if _, err := os.Lstat(dir); err == nil {
		return engine.Image{}, errors.Join(engine.Errorf(engine.CodeImageExists, "agent image %s v%s is there already", n.Name, n.Version).
			WithHint("choose another version or name"), os.RemoveAll(tmp))
	}
	if err := os.Rename(tmp, dir); err != nil {
		return fail(errors.Join(err, os.RemoveAll(tmp)))
	}
	if err := syncDir(filepath.Dir(dir)); err != nil {
		return fail(err)
	}
	img, _, err := l.load(root, n.Name, n.Version, dir)
	return img, err
}

func writeError(name string, err error) error {
	return engine.Errorf(engine.CodeRecordReadOnly, "agent image %s cannot be written", name).Wrap(err).
		WithHint("check the permissions and the space of RIG_HOME/agent-images")
}

// checkOp keeps operation ids from reaching the file system as paths.
func checkOp(op string) error {
	if engine.CheckImageName("operation", op) != nil {
		return engine.Errorf(engine.CodeInternal, "an operation without a usable id")
	}
	return nil
}

// nameFolder makes the folder of a name. On a disk that does not tell upper from
// lower case, a name that is there in other letters is refused.
func nameFolder(root, name string) error {
	path := filepath.Join(root, name)
	err := os.Mkdir(path, 0o700)
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return writeError(name, err)
	}
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return engine.Errorf(engine.CodeImageExists, "%s is there, and it is no folder", path).WithHint("choose another name, or remove it")
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return writeError(name, err)
	}
	for _, e := range entries {
		if e.Name() == name {
			return nil
		}
	}
	return engine.Errorf(engine.CodeImageExists, "an agent image of this name in other letters is there, and this disk does not tell them apart").
		WithHint("choose another name")
}

// fill writes the files of an image into a folder.
func (l *Library) fill(dir string, n engine.NewImage) error {
	if faults := l.CheckFiles(n.Files); len(faults) > 0 {
		return faults[0]
	}
	for i, f := range n.Files {
		b, err := source(f)
		if err != nil {
			return err
		}
		if err := writeNew(filepath.Join(dir, f.Path), b); err != nil {
			return writeError(n.Name, err)
		}
		n.Files[i].Bytes = int64(len(b))
	}
	if n.Pin {
		if err := writeNew(filepath.Join(dir, pinName), pinText(n.CreatedAt)); err != nil {
			return writeError(n.Name, err)
		}
	}
	body := manifest(n.Image)
	b, err := json.Marshal(stats{Lineage: n.Lineage, SizeBytes: int64(len(body))})
	if err != nil {
		return err
	}
	if err := writeNew(filepath.Join(dir, statsName), append(b, '\n')); err != nil {
		return writeError(n.Name, err)
	}
	if err := writeNew(filepath.Join(dir, manifestName), body); err != nil {
		return writeError(n.Name, err)
	}
	return syncDir(dir)
}

// CheckFiles says what is wrong with the texts that a new image would keep.
func (l *Library) CheckFiles(files []engine.ImageFile) []error {
	var out []error
	first := map[string]engine.ImageFile{} // by name, as a disk that does not tell upper from lower case has it
	for _, f := range files {
		if _, err := source(f); err != nil {
			out = append(out, err)
		}
		name := strings.ToLower(f.Path)
		if other, twice := first[name]; twice {
			out = append(out, engine.Errorf(engine.CodeInvalid, "the files %s and %s would have one name in the image", printable(other.From), printable(f.From)).
				WithHint("give one of them another name: an image keeps texts by their own names, without their folders"))
			continue
		}
		first[name] = f
	}
	return out
}

// source reads a text that an image is to keep.
func source(f engine.ImageFile) ([]byte, error) {
	if why := fileFault(f.Path); why != "" {
		return nil, engine.Errorf(engine.CodeInvalid, "the file %s %s", printable(f.From), why).WithHint("keep texts only, by their own names")
	}
	b, err := readSource(f.From)
	if err != nil {
		return nil, engine.Errorf(engine.CodeArtifactMissing, "the file %s cannot be kept: %s", printable(f.From), reason(err)).WithHint("give the path of a text of at most 8 MB")
	}
	return b, nil
}

func readSource(path string) ([]byte, error) {
	switch info, err := os.Stat(path); { // before it is opened: a pipe would wait for a writer
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(b) > maxFile {
		err = errors.New("it is too long")
	}
	return b, err
}

// manifest writes the manifest. Every text is quoted, so that no value can be
// read as anything but the text that it is.
func manifest(i engine.Image) []byte {
	var b strings.Builder
	text := func(key, value string) {
		if value != "" {
			b.WriteString(key + ": " + engine.QuoteYAML(value) + "\n")
		}
	}
	b.WriteString("# An agent image of rig. It holds the id of a conversation: keep it private.\n")
	text("name", i.Name)
	text("version", i.Version)
	text("runtime", string(i.Runtime))
	text("source_seat", i.SourceSeat)
	text("source_session_id", i.Parent.Reveal())
	text("source_resume_token", i.Parent.Reveal())
	text("source_cwd", i.SourceCwd)
	text("source_home", i.Homes.Home)
	text("source_claude_dir", i.Homes.ClaudeDir)
	text("source_codex_dir", i.Homes.CodexDir)
	text("model", i.Model)
	text("effort", i.Effort)
	text("created_at", i.CreatedAt.UTC().Format(time.RFC3339))
	text("created_by", i.CreatedBy)
	text("operation", i.Operation)
	text("notes", i.Notes)
	b.WriteString("estimated_tokens: " + strconv.FormatInt(i.EstimatedTokens, 10) + "\n")
	b.WriteString("transcript_length: " + strconv.FormatInt(i.Capture.Length, 10) + "\n")
	text("transcript_last", i.Capture.LastUUID)
	b.WriteString("lineage: [")
	for j, l := range i.Lineage {
		if j > 0 {
			b.WriteString(", ")
		}
		b.WriteString(engine.QuoteYAML(l))
	}
	b.WriteString("]\nfiles:")
	if len(i.Files) == 0 {
		b.WriteString(" []")
	}
	b.WriteString("\n")
	for _, f := range i.Files {
		b.WriteString("  - path: " + engine.QuoteYAML(f.Path) + "\n    role: " + engine.QuoteYAML(f.Role) + "\n")
		if f.Summary != "" {
			b.WriteString("    summary: " + engine.QuoteYAML(f.Summary) + "\n")
		}
	}
	return []byte(b.String())
}

// Withdraw removes what an operation has written: the half of an image beside
// the library, or the whole one in it.
func (l *Library) Withdraw(ctx context.Context, opID string) error {
	if err := checkOp(opID); err != nil {
		return err
	}
	root, err := l.root(Home)
	if err != nil {
		return err
	}
	scan, err := l.Scan(ctx)
	if err != nil {
		return err
	}
	for _, i := range scan.Images {
		if i.Root == Home && i.Operation == opID {
			if err := l.SetAside(ctx, opID, i.ImageRef); err != nil {
				return err
			}
			if err := l.Discard(ctx, opID, i.ImageRef); err != nil {
				return err
			}
		}
	}
	return os.RemoveAll(filepath.Join(root.Path, ".new-"+opID))
}

func pinText(at time.Time) []byte { return []byte(at.UTC().Format(time.RFC3339) + "\n") }

// writeNew writes a file that must not exist, private to this user.
func writeNew(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(b); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Sync(); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}
