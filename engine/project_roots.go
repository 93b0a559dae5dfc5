package engine

import (
	"context"
	"path/filepath"
	"slices"
)

// ProjectRoots gives the position of a seat and the folders in which projects that
// concern it may be declared: its directory and the folders above, those above its
// rig's spec, and the repositories of the workspace that the spec names. A spec
// that cannot be read any more is a gap, not an error. An empty ref means no seat:
// then only cwd counts.
func (e *Engine) ProjectRoots(ctx context.Context, ref, cwd string) (at Position, roots, gaps []string, err error) {
	if ref == "" {
		return Position{Cwd: cwd}, above(nil, cwd), nil, nil
	}
	w, err := e.look(ctx)
	if err != nil {
		return at, nil, nil, err
	}
	seat, err := w.seat(ref)
	if err != nil {
		return at, nil, nil, err
	}
	rig := w.rigs[seat.RigID]
	at = Position{Rig: rig.Name, Seat: w.address(seat), Cwd: seat.Cwd}
	roots = above(above(nil, seat.Cwd), rig.Root)
	if rig.SpecPath == "" || e.d.Specs == nil {
		return at, roots, nil, nil
	}
	spec, err := e.d.Specs.Load(ctx, rig.SpecPath, SpecOptions{})
	switch {
	case err != nil:
		gaps = append(gaps, "the rig's spec cannot be read any more: "+AsError(err).Msg)
	case spec.Workspace != nil:
		base := absIn(rig.Root, spec.Workspace.Root)
		roots = add(roots, base)
		for _, r := range spec.Workspace.Repos {
			roots = add(roots, absIn(base, r.Path))
		}
	}
	return at, roots, gaps, nil
}

// above adds a folder and all above it.
func above(roots []string, dir string) []string {
	if !filepath.IsAbs(dir) {
		return roots
	}
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		roots = add(roots, dir)
		if dir == filepath.Dir(dir) {
			return roots
		}
	}
}

func add(roots []string, dir string) []string {
	if dir == "" || slices.Contains(roots, dir) {
		return roots
	}
	return append(roots, dir)
}

func absIn(base, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}
