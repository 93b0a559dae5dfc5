package specs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rig/engine"
)

// Loader reads specs from files and from the built-in starters and resolves what
// they refer to: agents, profiles, startup files, working directories.
type Loader struct {
	// Dir is the caller's working directory, absolute. Relative references start
	// from it, and so do the working directories of a starter.
	Dir string
}

var _ engine.SpecSource = Loader{}

// IsStarter reports whether name is a built-in starter.
func (l Loader) IsStarter(name string) bool {
	_, ok := Open(name)
	return ok
}

// Load reads a spec by path or starter name and resolves it. A name has no slash
// and does not end in .yaml or .yml. The error is an *engine.Error: of
// CodeValidationFailed or CodeCycle with every fault of the spec as *Problems, or
// of CodeNotFound, CodeInvalid and CodeUnavailable when there is no text to read.
// Files are only read.
func (l Loader) Load(ctx context.Context, ref string, opts engine.SpecOptions) (engine.RigSpec, error) {
	if err := ctx.Err(); err != nil {
		return engine.RigSpec{}, engine.Errorf(engine.CodeCancelled, "reading the spec was cancelled").
			WithHint("run it again").On("read_spec", ref).Wrap(err)
	}
	if err := checkEnv(opts.Env); err != nil {
		return engine.RigSpec{}, err
	}
	data, o, err := l.open(ref)
	if err != nil {
		return engine.RigSpec{}, err
	}
	if opts.Cwd != "" {
		o.Cwd = resolve(l.Dir, opts.Cwd)
	}
	res := ParseRig(data, o)
	if err := res.Err(); err != nil {
		return engine.RigSpec{}, err
	}
	r := newResolver(res.report)
	spec := res.Spec
	r.rig(&spec, opts.Env)
	problems, advisories := r.all()
	if err := failure(o.File, problems); err != nil {
		return engine.RigSpec{}, err
	}
	spec.Advisories = asAdvisories(advisories)
	if !isName(ref) { // faults name the file as it was typed; the record is read from everywhere
		spec.Path = resolve(l.Dir, ref)
	}
	return spec, nil
}

// Validate checks the text of a spec without resolving what it refers to: the
// answer of `rig spec validate`. A file called agent.yaml is checked as an
// AgentSpec; its Result has no Spec. The error is that of a reference without
// text.
func (l Loader) Validate(ref string) (Result, error) {
	data, o, err := l.open(ref)
	if err != nil {
		return Result{}, err
	}
	if base := filepath.Base(ref); base == "agent.yaml" || base == "agent.yml" {
		a := ParseAgent(data, o.File)
		return Result{Problems: a.Problems, Advisories: a.Advisories, report: a.report}, nil
	}
	return ParseRig(data, o), nil
}

// LoadFragment reads and resolves a fragment that is to join the rig. Its paths
// start from the folder of the fragment. Errors are those of Load.
func (l Loader) LoadFragment(ctx context.Context, path string, rig engine.RigSpec) (engine.PodSpec, []engine.EdgeSpec, error) {
	if err := ctx.Err(); err != nil {
		return engine.PodSpec{}, nil, engine.Errorf(engine.CodeCancelled, "reading the fragment was cancelled").
			WithHint("run it again").On("read_spec", path).Wrap(err)
	}
	file := resolve(l.Dir, path)
	data, err := readFile(file, path)
	if err != nil {
		return engine.PodSpec{}, nil, err
	}
	res := ParseFragment(data, rig, Options{File: path, Root: filepath.Dir(file)})
	if err := res.Err(); err != nil {
		return engine.PodSpec{}, nil, err
	}
	r := newResolver(res.report)
	r.rig(&res.rig, nil)
	problems, _ := r.all()
	if err := failure(path, problems); err != nil {
		return engine.PodSpec{}, nil, err
	}
	return res.rig.Pods[0], res.rig.Edges, nil
}

// open finds the text of a reference.
func (l Loader) open(ref string) ([]byte, Options, error) {
	if ref == "" {
		return nil, Options{}, engine.Errorf(engine.CodeInvalid, "a spec is required").
			WithHint("name a file or a starter; `rig spec list` shows the starters").On("read_spec", ref)
	}
	if isName(ref) {
		data, ok := Open(ref)
		if !ok {
			return nil, Options{}, l.noStarter(ref)
		}
		return data, Options{File: starterPrefix + strings.TrimPrefix(ref, starterPrefix), Root: l.Dir}, nil
	}
	file := resolve(l.Dir, ref)
	data, err := readFile(file, ref)
	return data, Options{File: ref, Root: filepath.Dir(file)}, err
}

// isName tells a starter's name from a path.
func isName(ref string) bool {
	return !strings.ContainsAny(ref, `/\`) && !strings.HasSuffix(ref, ".yaml") && !strings.HasSuffix(ref, ".yml")
}

func (l Loader) noStarter(ref string) error {
	var names []string
	for _, s := range List() {
		names = append(names, s.Name)
	}
	hint := "starters: " + strings.Join(names, ", ") + "; a file is named with a slash or with .yaml"
	if near := nearest(ref, names); near != "" {
		hint = "did you mean " + near + "? " + hint
	}
	if _, err := os.Stat(resolve(l.Dir, ref)); err == nil {
		hint = "to read the file of that name write ./" + ref
	}
	return engine.Errorf(engine.CodeNotFound, "there is no starter of that name").WithHint("%s", hint).On("read_spec", ref)
}

// readFile reads a regular file up to the bound of a spec. It never opens a pipe
// or a device.
func readFile(file, shown string) ([]byte, error) {
	fail := func(code engine.Code, err error, msg, hint string) error {
		return engine.Errorf(code, "%s", msg).WithHint("%s", hint).On("read_spec", shown).Wrap(err)
	}
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fail(engine.CodeNotFound, nil, "there is no such file", "check the path; `rig spec list` shows the built-in starters")
	case err != nil:
		return nil, fail(engine.CodeUnavailable, err, "the file cannot be read", "check the path and its permissions")
	case info.IsDir():
		return nil, fail(engine.CodeInvalid, nil, "this is a folder", "name the YAML file in it")
	case !info.Mode().IsRegular():
		return nil, fail(engine.CodeInvalid, nil, "this is not a regular file", "name a YAML file")
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fail(engine.CodeUnavailable, err, "the file cannot be read", "check its permissions")
	}
	defer f.Close() //nolint:errcheck // nothing was written
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, fail(engine.CodeUnavailable, err, "the file cannot be read", "try again")
	}
	return data, nil
}

// checkEnv refuses variables that a flag may not set.
func checkEnv(env map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		why := EnvFault(name)
		if why == "" && strings.ContainsRune(env[name], 0) {
			why = name + " holds a NUL"
		}
		if why != "" {
			return engine.Errorf(engine.CodeInvalid, "%s", why).WithHint("choose another name or value").On("read_spec", "--env")
		}
	}
	return nil
}
