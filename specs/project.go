package specs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"rig/engine"
)

// ProjectFile is the name, in a project's root, of the file in which it declares
// what whoever works on it should know.
const ProjectFile = "rig-project.yaml"

// maxProject bounds a project file, in bytes.
const maxProject = 1 << 20

// projectDoc is the file: every key but id is optional, unknown ones are refused.
type projectDoc struct {
	ID      string   `yaml:"id"`
	Intent  string   `yaml:"intent"`  // one or two sentences: what it is for
	Rigs    []string `yaml:"rigs"`    // names of the rigs that work on it
	Context []piece  `yaml:"context"` // files, in the order in which to read them
}

// piece is a path, or a path with its purpose.
type piece struct {
	Path    string `yaml:"path"`
	Purpose string `yaml:"purpose"`
}

// UnmarshalYAML accepts both forms.
func (p *piece) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return n.Decode(&p.Path)
	}
	type plain piece
	return n.Decode((*plain)(p))
}

// Project reads what the project in a folder declares. Without a file there it
// reports false. Declared pieces need not exist; they must stay inside the root.
func Project(root string) (engine.Project, bool, error) {
	path := filepath.Join(root, ProjectFile)
	refuse := func(hint, format string, args ...any) (engine.Project, bool, error) {
		return engine.Project{}, false, engine.Errorf(engine.CodeInvalid, format, args...).On("project", path).WithHint("%s", hint)
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return engine.Project{}, false, nil
	}
	if err == nil && !info.Mode().IsRegular() { // before it is opened: a pipe would wait for a writer
		err = errors.New("it is not a regular file")
	}
	var f *os.File
	if err == nil {
		f, err = os.Open(path)
	}
	if err != nil {
		return refuse("check that it is a file and that you may read it", "it cannot be read: %v", err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxProject+1))
	if err != nil || len(raw) > maxProject {
		return refuse("keep it short, and list files in it", "it cannot be read, or is longer than %d bytes", maxProject)
	}
	var doc projectDoc
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	if err := d.Decode(&doc); err != nil {
		return refuse("its keys are id, intent, rigs and context", "it has an error: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return refuse("declare one project in it", "it has more than one document")
	}
	if doc.ID == "" || strings.ContainsAny(doc.ID, " \t\n/") || len(doc.ID) > 64 {
		return refuse("write id: NAME, one word of at most 64 bytes", "it has no usable id")
	}
	p := engine.Project{ID: doc.ID, Root: root, Intent: strings.TrimSpace(doc.Intent), Rigs: doc.Rigs, Pieces: []engine.ProjectPiece{}}
	for _, c := range doc.Context {
		if c.Path == "" || pathFault(c.Path) != "" {
			return refuse("write paths relative to the project's root", "%q is no path inside the project", c.Path)
		}
		p.Pieces = append(p.Pieces, engine.ProjectPiece{Path: c.Path, Purpose: c.Purpose, Abs: filepath.Join(root, c.Path)})
	}
	return p, true, nil
}
