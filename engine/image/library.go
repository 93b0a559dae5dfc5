package image

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"

	"rig/engine"
)

// Names of roots.
const (
	Home      = "home"      // below RIG_HOME; new images go here
	Workspace = "workspace" // below the caller's working folder
)

// Root is one folder of the library.
type Root struct {
	Label string // Home or Workspace
	Path  string // absolute
}

// Options say where a library is.
type Options struct {
	// Roots in ascending priority: an id in a later one hides the same id in an
	// earlier one. The first must be Home.
	Roots []Root
	// SpecRoots are the folders that are searched for references to images.
	SpecRoots []string
	// YAML reads the documents of a text into maps, lists and scalars as they are
	// spelled.
	YAML func([]byte) ([]any, error)
}

// Library is the library on disk. It is safe for concurrent use, also by several
// processes. It implements engine.Images.
type Library struct{ o Options }

var _ engine.Images = (*Library)(nil)

// New makes a library. It reads and creates nothing.
func New(o Options) *Library { return &Library{o} }

func (l *Library) root(label string) (Root, error) {
	for _, r := range l.o.Roots {
		if r.Label == label {
			return r, nil
		}
	}
	return Root{}, engine.Errorf(engine.CodeInvalid, "the library has no root %q", label).WithHint("this is a fault of the program: report it")
}

// dir is where an image is. It refuses names that could lead elsewhere.
func (l *Library) dir(at engine.ImageRef) (string, error) {
	r, err := l.root(at.Root)
	if err != nil {
		return "", err
	}
	if err := engine.CheckImageName("name", at.Name); err != nil {
		return "", err
	}
	if at.Version == "" {
		return filepath.Join(r.Path, at.Name), nil
	}
	if err := engine.CheckImageName("version", at.Version); err != nil {
		return "", err
	}
	return filepath.Join(r.Path, at.Name, at.Version), nil
}

// Scan reads every root. A root that is not there is empty; one that cannot be
// read is an error, because what it holds cannot be told.
func (l *Library) Scan(ctx context.Context) (engine.ImageScan, error) {
	scan := engine.ImageScan{Images: []engine.Image{}, Faults: []engine.ImageFault{}, Roots: []engine.ImageRoot{}}
	for _, r := range l.o.Roots {
		entries, err := os.ReadDir(r.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return scan, unreadable(r.Path, err)
		}
		scan.Roots = append(scan.Roots, engine.ImageRoot{Label: r.Label, Path: r.Path, Exists: err == nil})
		for _, e := range entries {
			if err := ctx.Err(); err != nil {
				return scan, engine.Errorf(engine.CodeCancelled, "reading the library was cancelled").Wrap(err).WithHint("run it again")
			}
			l.scanName(r, e, &scan)
		}
	}
	sort.SliceStable(scan.Images, func(i, j int) bool {
		a, b := scan.Images[i], scan.Images[j]
		if a.Name != b.Name {
			return a.Name < b.Name
		}
		return a.Version < b.Version
	})
	for i := range scan.Images {
		for j := i + 1; j < len(scan.Images); j++ { // the sort is stable: later roots stand later
			if scan.Images[i].ID == scan.Images[j].ID {
				scan.Images[i].Shadowed = true
			}
		}
	}
	return scan, nil
}

func unreadable(path string, err error) error {
	return engine.Errorf(engine.CodeUnavailable, "the library of agent images cannot be read").On("agent-image", path).Wrap(err).
		WithHint("correct the permissions of %s", path)
}

// scanName reads what stands under one name of a root. Hidden entries are the
// library's own work in progress.
func (l *Library) scanName(r Root, e fs.DirEntry, scan *engine.ImageScan) {
	name, path := e.Name(), filepath.Join(r.Path, e.Name())
	fault := func(version, path string, code engine.Code, text string) {
		scan.Faults = append(scan.Faults, engine.ImageFault{
			ImageRef: engine.ImageRef{Root: r.Label, Name: name, Version: version}, Source: path, Code: code, Error: text,
		})
	}
	switch {
	case name[0] == '.':
		return
	case engine.CheckImageName("name", name) != nil:
		fault("", path, engine.CodeImageName, "its name is none of an agent image")
		return
	case e.Type()&fs.ModeSymlink != 0:
		scan.Images = append(scan.Images, link(r, name, "", path))
		return
	case !e.IsDir():
		fault("", path, engine.CodeImageInvalid, "it is not a folder")
		return
	}
	versions, err := os.ReadDir(path)
	if err != nil {
		fault("", path, engine.CodeUnavailable, "it cannot be read")
		return
	}
	for _, v := range versions {
		version, dir := v.Name(), filepath.Join(path, v.Name())
		switch {
		case version[0] == '.':
		case v.Type()&fs.ModeSymlink != 0 && engine.CheckImageName("version", version) == nil:
			scan.Images = append(scan.Images, link(r, name, version, dir))
		case engine.CheckImageName("version", version) != nil || !v.IsDir():
			fault(version, dir, engine.CodeImageInvalid, "it is no folder of a version")
		default:
			img, text, err := l.load(r, name, version, dir)
			if err != nil {
				fault(version, filepath.Join(dir, manifestName), engine.CodeOf(err), engine.BlockerFrom(err).Message)
				scan.Faults[len(scan.Faults)-1].Text = text
				continue
			}
			scan.Images = append(scan.Images, img)
		}
	}
}

// link is a symbolic link in the place of an image.
func link(r Root, name, version, path string) engine.Image {
	return engine.Image{
		ImageRef: engine.ImageRef{Root: r.Label, Name: name, Version: version}, ID: engine.ImageID(name, version), Dir: path, Link: true,
		Lineage: []string{}, Files: []engine.ImageFile{},
	}
}
