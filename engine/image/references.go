package image

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"rig/engine"
)

// Bounds of the search for references. What lies beyond them counts as a
// reference to every image: nothing is removed on a guess.
const (
	maxEntries = 200_000
	maxSpec    = 5 << 20
)

// References walks the discovery roots, and the given files and folders, and
// collects every session_source of mode agent_image, at any depth of any YAML
// file. A file or folder that cannot be read is told in Unread.
func (l *Library) References(ctx context.Context, more []string) (engine.ImageReferences, error) {
	w := &walk{ctx: ctx, yaml: l.o.YAML, left: maxEntries, seen: map[string]bool{}}
	for _, r := range l.o.Roots { // what images carry along refers to nothing
		if real, err := filepath.EvalSymlinks(r.Path); err == nil {
			w.seen[real] = true
		}
	}
	w.refs.Found, w.refs.Unread, w.refs.Roots = []engine.ImageReference{}, []engine.UnreadSpec{}, []string{}
	for _, root := range append(append([]string{}, l.o.SpecRoots...), more...) {
		if root == "" || !filepath.IsAbs(root) {
			continue
		}
		w.refs.Roots = append(w.refs.Roots, root)
		w.visit(root, 0)
	}
	if err := ctx.Err(); err != nil {
		return w.refs, engine.Errorf(engine.CodeCancelled, "the search for references was cancelled").Wrap(err).WithHint("run it again")
	}
	sort.Strings(w.refs.Roots)
	w.refs.Roots = slices.Compact(w.refs.Roots)
	sort.SliceStable(w.refs.Found, func(i, j int) bool { return w.refs.Found[i].File < w.refs.Found[j].File })
	return w.refs, nil
}

type walk struct {
	ctx  context.Context
	yaml func([]byte) ([]any, error)
	left int
	full bool
	seen map[string]bool // real paths
	refs engine.ImageReferences
}

func (w *walk) unread(path, why, text string) {
	w.refs.Unread = append(w.refs.Unread, engine.UnreadSpec{File: path, Why: why, Text: text})
}

// visit looks at one file or folder, links followed, each once.
func (w *walk) visit(path string, depth int) {
	if w.ctx.Err() != nil {
		return
	}
	if w.left--; w.left < 0 || depth > 64 {
		if !w.full {
			w.full = true
			w.unread(path, "there is too much to look through; what lies beyond is not known", "")
		}
		return
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return // a link to nothing, or a folder that is gone, refers to nothing
	}
	if err != nil {
		w.unread(path, "it cannot be read", "")
		return
	}
	if w.seen[real] {
		return
	}
	w.seen[real] = true
	info, err := os.Stat(real)
	switch {
	case err != nil:
		w.unread(path, "it cannot be read", "")
	case info.IsDir():
		w.folder(path, depth)
	case info.Mode().IsRegular() && isYAML(path):
		w.file(path, info.Size())
	}
}

func isYAML(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".yaml" || ext == ".yml"
}

func (w *walk) folder(path string, depth int) {
	switch filepath.Base(path) {
	case ".git", "node_modules":
		return // no specs are kept there
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		w.unread(path, "the folder cannot be read", "")
		return
	}
	for _, e := range entries {
		if e.IsDir() || e.Type()&fs.ModeSymlink != 0 || isYAML(e.Name()) {
			w.visit(filepath.Join(path, e.Name()), depth+1)
		}
	}
}

func (w *walk) file(path string, size int64) {
	if size > maxSpec {
		w.unread(path, "it is too long for a spec", "")
		return
	}
	data, err := os.ReadFile(path)
	if err != nil {
		w.unread(path, "it cannot be read", "")
		return
	}
	w.refs.Files++
	docs, err := w.yaml(data)
	if err != nil {
		w.unread(path, "it is no YAML", string(data))
		return
	}
	agent := strings.TrimSuffix(strings.ToLower(filepath.Base(path)), filepath.Ext(path)) == "agent"
	for _, d := range docs {
		for _, ref := range find(d) {
			ref.File, ref.Agent = path, agent
			w.refs.Found = append(w.refs.Found, ref)
		}
	}
}

// find collects the mentions of images in a value at any depth. A block that only
// looks like one counts too: it protects an image, and costs nothing.
func find(v any) []engine.ImageReference {
	var out []engine.ImageReference
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			out = append(out, find(e)...)
		}
	case map[string]any:
		m := merged(v, 0)
		if m["kind"] == "image_name" {
			out = mention(out, m)
		}
		if ref, ok := m["ref"].(map[string]any); ok && m["mode"] == "agent_image" {
			if ref = merged(ref, 0); ref["kind"] != "image_name" { // such a one is found below, by itself
				out = mention(out, ref)
			}
		}
		for _, e := range v {
			out = append(out, find(e)...)
		}
	}
	return out
}

func mention(out []engine.ImageReference, ref map[string]any) []engine.ImageReference {
	name, ok := ref["value"].(string)
	if !ok {
		return out
	}
	version, _ := ref["version"].(string)
	return append(out, engine.ImageReference{Name: name, Version: version})
}

// merged is a map with what its merge keys bring in.
func merged(m map[string]any, depth int) map[string]any {
	base, ok := m["<<"]
	if !ok || depth > 16 {
		return m
	}
	out := map[string]any{}
	list, ok := base.([]any)
	if !ok {
		list = []any{base}
	}
	for i := len(list) - 1; i >= 0; i-- { // the first one wins
		if b, ok := list[i].(map[string]any); ok {
			maps.Copy(out, merged(b, depth+1))
		}
	}
	maps.Copy(out, m)
	return out
}
