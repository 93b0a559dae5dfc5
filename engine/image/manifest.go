package image

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"rig/engine"
)

// CodeManifestBroken says that the manifest of an image cannot be read as one.
const CodeManifestBroken engine.Code = "manifest_parse_error"

const (
	manifestName = "manifest.yaml"
	statsName    = "stats.json"
	pinName      = ".pinned"
	maxManifest  = 1 << 20
)

// suffixes are the kinds of supplementary files: texts that an agent can read.
var suffixes = []string{".md", ".markdown", ".yaml", ".yml", ".txt", ".json"}

// load reads one image. The text of a manifest that cannot be used is given
// back, for the guard.
func (l *Library) load(r Root, name, version, dir string) (img engine.Image, text string, err error) {
	data, err := readPlain(filepath.Join(dir, manifestName), maxManifest)
	switch {
	case os.IsNotExist(err):
		return img, "", engine.Errorf("manifest_missing", "it has no %s", manifestName).WithHint("bring the file back, or remove the folder")
	case err != nil:
		return img, "", engine.Errorf(engine.CodeUnavailable, "its %s cannot be read: %s", manifestName, reason(err))
	}
	docs, err := l.o.YAML(data)
	if err != nil || len(docs) != 1 {
		return img, string(data), engine.Errorf(CodeManifestBroken, "its %s is no YAML of one document", manifestName).WithHint("correct the file, or remove the folder")
	}
	m, ok := docs[0].(map[string]any)
	if !ok {
		return img, string(data), engine.Errorf(CodeManifestBroken, "its %s is no map", manifestName).WithHint("correct the file, or remove the folder")
	}
	img, err = decodeManifest(m)
	if err != nil {
		return img, string(data), err
	}
	if img.Name != name || img.Version != version {
		return img, string(data), engine.Errorf(engine.CodeImageInvalid, "its manifest is that of %s v%s", printable(img.Name), printable(img.Version))
	}
	img.Root, img.Dir, img.Digest = r.Label, dir, digest(data)
	l.measure(&img)
	return img, "", nil
}

// decodeManifest reads the fields of a manifest, in either spelling of the keys.
func decodeManifest(m map[string]any) (engine.Image, error) {
	d := fields{m: m}
	img := engine.Image{
		ImageRef: engine.ImageRef{Name: d.need("name"), Version: d.need("version")}, Runtime: engine.RuntimeName(d.need("runtime")),
		SourceSeat: d.need("source_seat"), SourceCwd: d.text("source_cwd"), Model: d.text("model"), Effort: d.text("effort"),
		CreatedAt: d.time("created_at"), CreatedBy: d.text("created_by"), Operation: d.text("operation"), Notes: d.text("notes"),
		EstimatedTokens: d.number("estimated_tokens"), Lineage: d.texts("lineage"),
		Homes:   engine.Homes{Home: d.text("source_home"), ClaudeDir: d.text("source_claude_dir"), CodexDir: d.text("source_codex_dir")},
		Capture: engine.ImageCapture{Length: d.number("transcript_length"), LastUUID: d.text("transcript_last")},
	}
	token := d.need("source_resume_token")
	img.ID = engine.ImageID(img.Name, img.Version)
	img.Files = d.files()
	if d.fault == "" && img.Runtime != engine.RuntimeClaude && img.Runtime != engine.RuntimeCodex {
		d.fault = "its runtime is neither claude-code nor codex"
	}
	if d.fault == "" {
		if _, err := engine.CheckNativeID(img.Runtime, token); err != nil {
			d.fault = "its source_resume_token is no id of a conversation"
		}
	}
	img.Parent = engine.NewParentToken(token)
	for what, text := range map[string]string{"name": img.Name, "version": img.Version} {
		if err := engine.CheckImageName(what, text); err != nil && d.fault == "" {
			d.fault = "its " + what + " cannot be one"
		}
	}
	if d.fault != "" {
		return engine.Image{}, engine.Errorf(engine.CodeImageInvalid, "%s", d.fault)
	}
	return img, nil
}

// fields reads a manifest and keeps the first fault. Values are never quoted.
type fields struct {
	m     map[string]any
	fault string
}

func (f *fields) get(key string) any {
	if v, ok := f.m[key]; ok {
		return v
	}
	words := strings.Split(key, "_")
	for i := 1; i < len(words); i++ {
		words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
	}
	return f.m[strings.Join(words, "")]
}

func (f *fields) note(format string, args ...any) {
	if f.fault == "" {
		f.fault = fmt.Sprintf(format, args...)
	}
}

func (f *fields) text(key string) string {
	switch v := f.get(key).(type) {
	case string:
		return v
	case nil:
	default:
		f.note("its %s is no text", key)
	}
	return ""
}

func (f *fields) need(key string) string {
	v := f.text(key)
	if strings.TrimSpace(v) == "" {
		f.note("it has no %s", key)
	}
	return v
}

func (f *fields) number(key string) int64 {
	v := f.text(key)
	if v == "" {
		return 0
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < 0 {
		f.note("its %s is no number", key)
	}
	return n
}

func (f *fields) time(key string) time.Time {
	v := f.text(key)
	if v == "" {
		return time.Unix(0, 0).UTC()
	}
	at, err := time.Parse(time.RFC3339, v)
	if err != nil {
		f.note("its %s is no time", key)
	}
	return at.UTC()
}

func (f *fields) texts(key string) []string {
	out := []string{}
	switch v := f.get(key).(type) {
	case nil:
	case []any:
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				f.note("its %s is no list of texts", key)
				continue
			}
			out = append(out, s)
		}
	default:
		f.note("its %s is no list of texts", key)
	}
	return out
}

func (f *fields) files() []engine.ImageFile {
	out := []engine.ImageFile{}
	list, ok := f.get("files").([]any)
	if !ok && f.get("files") != nil {
		f.note("its files are no list")
	}
	for _, e := range list {
		m, ok := e.(map[string]any)
		if !ok {
			f.note("an entry of its files is no map")
			continue
		}
		sub := fields{m: m}
		file := engine.ImageFile{Path: sub.need("path"), Role: sub.need("role"), Summary: sub.text("summary")}
		if sub.fault != "" {
			f.note("an entry of its files: %s", sub.fault)
		}
		if why := fileFault(file.Path); why != "" {
			f.note("an entry of its files %s", why)
		}
		out = append(out, file)
	}
	return out
}

// fileFault says why a path cannot be that of a supplementary file.
func fileFault(path string) string {
	switch {
	case path == "" || !filepath.IsLocal(path) || strings.ContainsAny(path, "\\\x00\r\n"):
		return "leads out of its folder"
	case strings.HasPrefix(filepath.Base(path), ".") || path == manifestName || path == statsName:
		return "has a name that the library uses itself"
	case !slices.Contains(suffixes, strings.ToLower(filepath.Ext(path))):
		return "is of no kind that is kept: " + strings.Join(suffixes, " ")
	}
	return ""
}

// measure adds what the folder itself says: sizes, statistics, the pin.
func (l *Library) measure(img *engine.Image) {
	for i, f := range img.Files {
		img.Files[i].Bytes = -1
		if info, err := os.Lstat(filepath.Join(img.Dir, f.Path)); err == nil && info.Mode().IsRegular() {
			img.Files[i].Bytes = info.Size()
		}
	}
	img.Stats = readStats(img.Dir)
	img.Stats.SizeBytes = folderSize(img.Dir)
	if info, err := os.Lstat(filepath.Join(img.Dir, pinName)); err == nil {
		img.Pinned, img.PinnedAt = true, info.ModTime().UTC() // whatever it says: it is there
		if b, err := readPlain(filepath.Join(img.Dir, pinName), 1024); err == nil {
			if at, err := time.Parse(time.RFC3339, strings.TrimSpace(string(b))); err == nil {
				img.PinnedAt = at.UTC()
			}
		}
	}
}

// stats is stats.json.
type stats struct {
	ForkCount  int64     `json:"forkCount"`
	LastUsedAt time.Time `json:"lastUsedAt,omitzero"`
	SizeBytes  int64     `json:"estimatedSizeBytes"`
	Lineage    []string  `json:"lineage"`
}

// readStats gives zeros for statistics that are missing or malformed.
func readStats(dir string) engine.ImageStats {
	var s stats
	b, err := readPlain(filepath.Join(dir, statsName), maxManifest)
	if err != nil || json.Unmarshal(b, &s) != nil || s.ForkCount < 0 {
		return engine.ImageStats{}
	}
	return engine.ImageStats{ForkCount: s.ForkCount, LastUsedAt: s.LastUsedAt.UTC()}
}

func folderSize(dir string) int64 {
	var n int64
	_ = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error { // what cannot be read has no size
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

// readPlain reads a regular file of a bounded size and follows no link.
func readPlain(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("it is not a plain file")
	case info.Size() > limit:
		return nil, fmt.Errorf("it has %d bytes, more than %d", info.Size(), limit)
	}
	b := make([]byte, info.Size())
	n, err := f.ReadAt(b, 0)
	if int64(n) == info.Size() {
		err = nil
	}
	return b[:n], err
}
