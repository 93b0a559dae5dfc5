package engine

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// CodeProjectRequired refuses to choose between projects.
const CodeProjectRequired Code = "project_required"

// Project is what a project declares about itself: files that whoever works on it
// should know, beside the work in flight.
type Project struct {
	ID     string         `json:"id"`
	Root   string         `json:"root"` // absolute
	Intent string         `json:"intent,omitempty"`
	Rigs   []string       `json:"rigs,omitempty"` // names of the rigs that work on it
	Pieces []ProjectPiece `json:"context"`
}

// ProjectPiece is one declared file.
type ProjectPiece struct {
	Path    string `json:"path"` // as declared, relative to the project's root
	Purpose string `json:"purpose,omitempty"`
	Abs     string `json:"abs"`
}

// Position is from where a project is chosen.
type Position struct {
	Rig  string `json:"rig,omitempty"`
	Seat string `json:"seat,omitempty"`
	Cwd  string `json:"cwd"`
	// SelectedBy says how the project was chosen: flag, only_project, rig_claim,
	// deepest_root or only_unclaimed.
	SelectedBy string `json:"selected_by,omitempty"`
}

// SelectProject chooses the project that a position belongs to: the one named by
// id; the only one there is; the only one that claims the position's rig; the one
// with the deepest root above its directory; the only one that no rig claims. It
// never guesses: anything else is project_required, with the ids.
func SelectProject(all []Project, id string, at *Position) (Project, error) {
	ids := make([]string, len(all))
	for i, p := range all {
		ids[i] = p.ID
	}
	choose := func(p Project, by string) (Project, error) {
		at.SelectedBy = by
		return p, nil
	}
	one := func(keep func(Project) bool) (Project, bool) {
		var found []Project
		for _, p := range all {
			if keep(p) {
				found = append(found, p)
			}
		}
		if len(found) != 1 {
			return Project{}, false
		}
		return found[0], true
	}
	if id != "" {
		if p, ok := one(func(p Project) bool { return p.ID == id }); ok {
			return choose(p, "flag")
		}
		return Project{}, Errorf(CodeNotFound, "no project %q is declared", id).On("context work-install", id).
			WithHint("declared: %s", cmp.Or(strings.Join(ids, ", "), "none")).With("projects", ids)
	}
	if len(all) == 0 {
		return Project{}, Errorf(CodeNotFound, "no project is declared").On("context work-install", at.Cwd).
			WithHint("put a rig-project.yaml into the root of one")
	}
	if len(all) == 1 {
		return choose(all[0], "only_project")
	}
	if p, ok := one(func(p Project) bool { return at.Rig != "" && slices.Contains(p.Rigs, at.Rig) }); ok {
		return choose(p, "rig_claim")
	}
	if p, ok := deepest(all, at.Cwd); ok {
		return choose(p, "deepest_root")
	}
	if p, ok := one(func(p Project) bool { return len(p.Rigs) == 0 }); ok {
		return choose(p, "only_unclaimed")
	}
	return Project{}, Errorf(CodeProjectRequired, "several projects are declared, and nothing says which is meant").
		WithHint("name one: --project %s", strings.Join(ids, " or --project ")).With("projects", ids)
}

// deepest finds the project whose root is nearest above a directory; two of one
// depth decide nothing.
func deepest(all []Project, cwd string) (Project, bool) {
	best, depth, tie := Project{}, -1, false
	for _, p := range all {
		rel, err := filepath.Rel(p.Root, cwd)
		if cwd == "" || err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
			continue
		}
		switch n := len(filepath.Clean(p.Root)); {
		case n > depth:
			best, depth, tie = p, n, false
		case n == depth:
			tie = true
		}
	}
	return best, depth >= 0 && !tie
}
