package specs

import (
	"regexp"
	"sync"
)

// tables are all objects of both spec kinds. They are built on first use, so that
// a program start that reads no spec pays nothing.
type tables struct {
	rig, pod, member, fragment, barePod, agent *object
	fork, rebuild, image                       *object
	startupFile, startupAction                 *object

	all []*object

	mu sync.Mutex
	re map[string]*regexp.Regexp
}

var theTables = sync.OnceValue(buildTables)

// pattern compiles a pattern of the table once.
func (t *tables) pattern(p string) *regexp.Regexp {
	t.mu.Lock()
	defer t.mu.Unlock()
	re := t.re[p]
	if re == nil {
		re = regexp.MustCompile(p)
		t.re[p] = re
	}
	return re
}

func buildTables() *tables {
	t := &tables{re: map[string]*regexp.Regexp{}}
	startup := t.startupTables()
	source := t.sourceTables()
	edge := edgeTable()
	t.member = memberTable(startup, source)
	t.pod = podTable(startup, t.member, edge)
	t.rig = t.rigTable(startup, edge)
	t.fragmentTables(edge)
	t.agentTables(startup)
	t.collect(t.rig)
	t.collect(t.fragment)
	t.collect(t.agent)
	return t
}

// collect lists every object that can be reached, once.
func (t *tables) collect(o *object) {
	for _, known := range t.all {
		if known == o {
			return
		}
	}
	t.all = append(t.all, o)
	for i := range o.fields {
		for f := &o.fields[i]; f != nil; f = f.of {
			if f.object != nil {
				t.collect(f.object)
			}
			for _, alt := range f.oneOf {
				t.collect(alt)
			}
		}
	}
}

// Shorthands of the table.

func text(name, doc string) field { return field{name: name, doc: doc, kind: kText} }

func need(f field) field { f.required = true; return f }

func oneText(name, doc string, allowed ...string) field {
	return field{name: name, doc: doc, kind: kText, enum: allowed}
}

func idText(doc string) field {
	return field{name: "id", doc: doc, kind: kText, id: true, required: true}
}

func pathText(name, doc string) field {
	return field{name: name, doc: doc, kind: kText, path: true}
}

func prose(name, doc string) field { return field{name: name, doc: doc, kind: kText, lines: true} }

func yesNo(name, doc string) field { return field{name: name, doc: doc, kind: kBool} }

func listOf(name, doc string, of field) field {
	return field{name: name, doc: doc, kind: kList, of: &of}
}

func sub(name, doc string, o *object) field {
	return field{name: name, doc: doc, kind: kObject, object: o}
}

func elem(o *object) field { return field{kind: kObject, object: o} }

func (f field) inert(note string) field {
	f.standing, f.note = inert, note
	return f
}

func (f field) fits(pattern, says string) field {
	f.pattern, f.says = pattern, says
	return f
}

// anything stands for a key whose inside this version does not read.
func anything(name, doc string, s standing, note string) field {
	return field{name: name, doc: doc, kind: kAny, standing: s, note: note}
}
