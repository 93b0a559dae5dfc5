package specs

import (
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"rig/engine"
)

// kind is the shape of a value.
type kind int

const (
	kText    kind = iota // a text
	kVersion             // a text or a plain number, taken as written
	kBool                // true or false
	kInt                 // a decimal number
	kList                // a list of values
	kObject              // a map with known keys
	kMap                 // a map with keys of the author's choice
	kAny                 // anything: this version does not look inside
)

// standing says what this build does with a key.
type standing int

const (
	built    standing = iota // it has effect
	inert                    // accepted and kept, without effect: an advisory
	notBuilt                 // it would change what happens: refused as not_supported
	wrong                    // it never belongs here: refused with the note
)

// field is one key of an object, or the element of a list or map.
type field struct {
	name     string
	doc      string
	kind     kind
	required bool
	id       bool // a rig, pod or member name
	lines    bool // a text that may have several lines
	blank    bool // a text that may be empty
	secret   bool // a text that no message quotes; its pattern is for the schema
	path     bool // a path inside the folder of the spec
	enum     []string
	later    []string // texts that are known and not built: refused as not_supported with the note
	pattern  string   // of a text
	says     string   // the pattern in words
	min, max int64    // of a number, when max > 0
	least    int      // entries of a list
	def      any      // shown in the schema
	of       *field   // element of a list or map
	object   *object
	oneOf    []*object // alternatives; the object's own check decides
	standing standing
	note     string
}

// object is a map with known keys.
type object struct {
	name   string // of the schema's definition and of hints
	doc    string
	fields []field
	rules  []map[string]any // further JSON Schema rules
	// before looks at a map ahead of the table. It reports in its own words and
	// returns false to stop the table's checks of that map.
	before func(c *checker, n *yaml.Node, path string) bool
}

func (o *object) field(name string) *field {
	for i := range o.fields {
		if o.fields[i].name == name {
			return &o.fields[i]
		}
	}
	return nil
}

// checker walks a tree along a table.
type checker struct {
	*report
	t *tables
}

// object checks a map: unknown and repeated keys, missing keys, each value.
func (c *checker) object(n *yaml.Node, path string, o *object) {
	c.places[path] = place{n.Line, n.Column}
	if n.Kind != yaml.MappingNode {
		c.add(n, path, CodeWrongType, "", "%s must be a map with keys, not %s", o.name, kindName(n))
		return
	}
	if o.before != nil && !o.before(c, n, path) {
		return
	}
	first := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, val := n.Content[i], n.Content[i+1]
		at := join(path, key.Value)
		if key.Kind != yaml.ScalarNode {
			c.add(key, path, CodeWrongType, "", "a key of %s must be a word, not %s", o.name, kindName(key))
			continue
		}
		if prior, twice := first[key.Value]; twice {
			c.add(key, at, CodeDuplicate, "keep one of them", "%s is given twice, first at line %d and again at line %d",
				show(key.Value), prior.Line, key.Line)
			continue
		}
		first[key.Value] = key
		f := o.field(key.Value)
		if f == nil {
			c.add(key, at, CodeUnknownKey, c.t.hint(o, key.Value), "unknown key in %s", o.name)
			continue
		}
		c.keyed(key, val, at, f)
	}
	for i := range o.fields {
		f := &o.fields[i]
		if _, given := first[f.name]; f.required && !given {
			c.at(place{n.Line, n.Column}, join(path, f.name), CodeMissing, f.doc, "%s needs %s", o.name, f.name)
		}
	}
}

// keyed checks the value of a known key.
func (c *checker) keyed(key, val *yaml.Node, path string, f *field) {
	at := place{key.Line, key.Column}
	switch f.standing {
	case notBuilt:
		if emptyValue(val) {
			break
		}
		c.bad[val] = true
		c.at(at, path, engine.CodeNotSupported, f.note, "%s is known, but this version cannot do it", f.name)
		return
	case wrong:
		c.bad[val] = true
		c.at(at, path, CodeUnknownKey, "", "%s", f.note)
		return
	case inert:
		c.advise(at, path, CodeInert, f.note, "%s has no effect in this version", f.name)
	case built:
	}
	c.value(val, path, f)
}

// emptyValue reports an empty list or map, which asks for nothing.
func emptyValue(n *yaml.Node) bool {
	return (n.Kind == yaml.SequenceNode || n.Kind == yaml.MappingNode) && len(n.Content) == 0
}

// value checks one value by its kind.
func (c *checker) value(n *yaml.Node, path string, f *field) {
	c.places[path] = place{n.Line, n.Column}
	if isNull(n) {
		if f.required {
			c.add(n, path, CodeMissing, f.doc, "%s is empty, and it is required", leaf(path))
		} else {
			c.add(n, path, CodeWrongType, "leave the key out or give it a value", "%s is empty", leaf(path))
		}
		return
	}
	switch f.kind {
	case kText, kVersion:
		c.text(n, path, f)
	case kBool:
		if _, ok := boolOf(n); !ok {
			c.add(n, path, CodeWrongType, "", "must be true or false, not %s", kindName(n))
		}
	case kInt:
		c.number(n, path, f)
	case kList:
		c.list(n, path, f)
	case kObject:
		c.object(n, path, f.object)
	case kMap:
		c.anyMap(n, path, f)
	case kAny:
	}
}

func (c *checker) text(n *yaml.Node, path string, f *field) {
	if n.Kind != yaml.ScalarNode {
		c.add(n, path, CodeWrongType, "", "must be a text, not %s", kindName(n))
		return
	}
	if f.kind == kVersion && plain(n) && versionText(n) {
		return
	}
	if as := spelling(n.Value); plain(n) && as != "" {
		c.add(n, path, CodeQuoteIt, "write "+strconv.Quote(n.Value), "quote it: unquoted, %s may be read as %s", n.Value, as)
		return
	}
	if r, bad := badRune(n.Value, f.lines); bad && !f.id {
		c.add(n, path, CodeBadValue, "", "the character U+%04X is not allowed here", r)
		return
	}
	if strings.TrimSpace(n.Value) == "" && !f.blank {
		if f.required {
			c.add(n, path, CodeMissing, f.doc, "%s is blank, and it is required", leaf(path))
		} else {
			c.add(n, path, CodeBadValue, "leave the key out or give it a value", "%s is blank", leaf(path))
		}
		return
	}
	switch {
	case f.id:
		c.name(n, path)
	case f.path:
		c.safePath(n, path)
	case slices.Contains(f.later, n.Value):
		c.bad[n] = true
		c.add(n, path, engine.CodeNotSupported, f.note, "%s is known, but this version cannot do it", n.Value)
	case len(f.enum) > 0:
		c.oneOf(n, path, f.enum)
	case f.pattern != "" && !f.secret && !c.t.pattern(f.pattern).MatchString(n.Value):
		c.add(n, path, CodeBadValue, "allowed: "+f.says, "%s does not fit", show(n.Value))
	}
}

// oneOf checks a text against a closed list.
func (c *checker) oneOf(n *yaml.Node, path string, allowed []string) {
	if slices.Contains(allowed, n.Value) {
		return
	}
	hint := "one of: " + strings.Join(allowed, ", ")
	if near := nearest(n.Value, allowed); near != "" {
		hint = "did you mean " + near + "? " + hint
	}
	c.add(n, path, CodeBadValue, hint, "%s is not a value of %s", show(n.Value), leaf(path))
}

func (c *checker) number(n *yaml.Node, path string, f *field) {
	v, ok := intOf(n)
	if !ok {
		c.add(n, path, CodeWrongType, "", "must be a whole number in plain digits, not %s", kindName(n))
		return
	}
	if f.max > 0 && (v < f.min || v > f.max) {
		c.add(n, path, CodeBadValue, "", "%d is not within %d to %d", v, f.min, f.max)
	}
}

func (c *checker) list(n *yaml.Node, path string, f *field) {
	if n.Kind != yaml.SequenceNode {
		hint := "begin each entry with a dash, or write [ … ]"
		c.add(n, path, CodeWrongType, hint, "%s must be a list, not %s", leaf(path), kindName(n))
		return
	}
	if len(n.Content) < f.least {
		c.add(n, path, CodeMissing, f.doc, "%s needs at least one entry", leaf(path))
	}
	for i, item := range n.Content {
		c.value(item, path+"["+strconv.Itoa(i)+"]", f.of)
	}
}

// anyMap checks a map whose keys the author chooses.
func (c *checker) anyMap(n *yaml.Node, path string, f *field) {
	if n.Kind != yaml.MappingNode {
		c.add(n, path, CodeWrongType, "", "%s must be a map, not %s", leaf(path), kindName(n))
		return
	}
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, val := n.Content[i], n.Content[i+1]
		at := join(path, key.Value)
		if key.Kind != yaml.ScalarNode || plain(key) && spelling(key.Value) != "" {
			c.add(key, path, CodeQuoteIt, "", "a key must be a text; quote it")
			continue
		}
		if line, twice := first[key.Value]; twice {
			c.add(key, at, CodeDuplicate, "keep one of them", "%s is given twice, first at line %d and again at line %d",
				show(key.Value), line, key.Line)
			continue
		}
		first[key.Value] = key.Line
		c.value(val, at, f.of)
	}
}

// join writes a path. Keys that are no plain words are quoted, so that a hostile
// key cannot forge a path or a line.
func join(path, key string) string {
	if !wordText(key) || strings.Contains(key, ".") {
		key = show(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// wordText reports text of letters, digits, dots, - and _, which is safe to show.
func wordText(s string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '-' && r != '_' {
			return false
		}
	}
	return s != ""
}

// leaf is the last part of a path, for messages.
func leaf(path string) string {
	return path[strings.LastIndexByte(path, '.')+1:]
}
