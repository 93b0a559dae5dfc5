package specs

import (
	"embed"
	"io/fs"
	"path"
	"sort"
	"strings"

	"rig/engine"
)

// Starter is a built-in rig.
type Starter struct {
	Name     string               `json:"name"`
	Summary  string               `json:"summary"`
	Seats    int                  `json:"seats"`
	Runtimes []engine.RuntimeName `json:"runtimes"` // what it needs, in alphabetical order
}

//go:embed starters/*.yaml
var starterFiles embed.FS

const starterPrefix = "builtin:"

// List gives the built-in starters in alphabetical order.
func List() []Starter {
	entries, err := fs.ReadDir(starterFiles, "starters")
	if err != nil {
		return nil // the folder is part of the binary
	}
	var out []Starter
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".yaml")
		data, ok := Open(name)
		if !ok {
			continue
		}
		spec := ParseRig(data, Options{File: starterPrefix + name}).Spec
		s := Starter{Name: name, Summary: spec.Summary, Seats: len(spec.Logicals())}
		needs := map[engine.RuntimeName]bool{}
		for _, p := range spec.Pods {
			for _, m := range p.Members {
				needs[m.Runtime] = true
			}
		}
		for rt := range needs {
			s.Runtimes = append(s.Runtimes, rt)
		}
		sort.Slice(s.Runtimes, func(i, j int) bool { return s.Runtimes[i] < s.Runtimes[j] })
		out = append(out, s)
	}
	return out
}

// Open gives the text of a built-in starter, false when there is none of that
// name. "builtin:NAME" is the same as "NAME".
func Open(name string) ([]byte, bool) {
	name = strings.TrimPrefix(name, starterPrefix)
	if !engine.ValidName(name) {
		return nil, false
	}
	data, err := starterFiles.ReadFile(path.Join("starters", name+".yaml"))
	return data, err == nil
}
