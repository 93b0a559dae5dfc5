package specs

import (
	"strconv"

	"gopkg.in/yaml.v3"

	"rig/engine"
)

// mapping reads a checked map. Values that were reported as faulty read as
// absent, so that one fault is not reported twice.
type mapping struct {
	c    *checker
	n    *yaml.Node
	path string
}

// item is an entry of a list.
type item struct {
	n    *yaml.Node
	path string
}

func (m mapping) present() bool { return m.n != nil && m.n.Kind == yaml.MappingNode && !m.c.bad[m.n] }

// raw gives the first value of a key, faulty or not, nil when it is not there.
func (m mapping) raw(key string) *yaml.Node {
	if m.n == nil || m.n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(m.n.Content); i += 2 {
		if m.n.Content[i].Value == key {
			return m.n.Content[i+1]
		}
	}
	return nil
}

// get gives a value that has no reported fault.
func (m mapping) get(key string) *yaml.Node {
	if n := m.raw(key); n != nil && !m.c.bad[n] {
		return n
	}
	return nil
}

func (m mapping) at(key string) string { return join(m.path, key) }

// text reads a text, "" when it is absent or faulty.
func (m mapping) text(key string) string {
	if n := m.get(key); n != nil && n.Kind == yaml.ScalarNode {
		return n.Value
	}
	return ""
}

func (m mapping) flag(key string) (v, given bool) {
	if n := m.get(key); n != nil {
		return boolOf(n)
	}
	return false, false
}

func (m mapping) flagPtr(key string) *bool {
	if v, given := m.flag(key); given {
		return &v
	}
	return nil
}

func (m mapping) number(key string) (int64, bool) {
	if n := m.get(key); n != nil {
		return intOf(n)
	}
	return 0, false
}

func (m mapping) sub(key string) mapping {
	return mapping{c: m.c, n: m.get(key), path: m.at(key)}
}

func (m mapping) items(key string) []item {
	n := m.get(key)
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	out := make([]item, len(n.Content))
	for i, e := range n.Content {
		out[i] = item{e, m.at(key) + "[" + strconv.Itoa(i) + "]"}
	}
	return out
}

// subs reads the maps of a list; entries that are no maps were reported.
func (m mapping) subs(key string) []mapping {
	var out []mapping
	for _, it := range m.items(key) {
		if it.n.Kind == yaml.MappingNode {
			out = append(out, mapping{c: m.c, n: it.n, path: it.path})
		}
	}
	return out
}

// texts reads a list of texts, without the faulty ones.
func (m mapping) texts(key string) []string {
	var out []string
	for _, it := range m.items(key) {
		if it.n.Kind == yaml.ScalarNode && !m.c.bad[it.n] {
			out = append(out, it.n.Value)
		}
	}
	return out
}

// pairs reads a map of texts.
func (m mapping) pairs(key string) map[string]string {
	sub := m.sub(key)
	if !sub.present() || len(sub.n.Content) == 0 {
		return nil
	}
	out := map[string]string{}
	for i := 0; i+1 < len(sub.n.Content); i += 2 {
		if v := sub.n.Content[i+1]; v.Kind == yaml.ScalarNode && !m.c.bad[v] {
			out[sub.n.Content[i].Value] = v.Value
		}
	}
	return out
}

// fault reports at the value of a key, or at the map when the key is absent.
func (m mapping) fault(key string, code engine.Code, hint, format string, args ...any) {
	n := m.raw(key)
	if n == nil {
		n = &yaml.Node{Line: m.n.Line, Column: m.n.Column}
	}
	m.c.add(n, m.at(key), code, hint, format, args...)
}
