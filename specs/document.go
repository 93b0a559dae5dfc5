package specs

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"gopkg.in/yaml.v3"
)

const (
	maxDocument      = 5 << 20 // bytes
	maxDocumentNodes = 200_000 // aliases counted each time they are followed
	maxDocumentDepth = 100
)

// Documents reads the documents of a YAML text into maps, lists and scalars:
// map[string]any, []any, string, and nil for an empty value. Every scalar keeps
// its spelling, so that 1.10 is no number and yes no truth. It is for files that
// are no specs, such as the manifest of an agent image, and for looking through
// specs of any dialect. A key that stands twice, an endless or a huge text is an
// error.
func Documents(data []byte) (docs []any, err error) {
	defer func() {
		if fault := recover(); fault != nil { // the reader panics on a few inputs
			docs, err = nil, fmt.Errorf("the YAML reader gave up: %v", fault)
		}
	}()
	if len(data) > maxDocument {
		return nil, fmt.Errorf("the text has %d bytes, more than %d", len(data), maxDocument)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	w := documentWalk{left: maxDocumentNodes}
	for {
		var root yaml.Node
		switch err := dec.Decode(&root); {
		case errors.Is(err, io.EOF):
			return docs, nil
		case err != nil:
			return nil, err
		}
		doc, err := w.value(&root, 0)
		if err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
}

type documentWalk struct{ left int }

var errDocumentSize = errors.New("the text is nested too deeply, or too large when its aliases are followed")

func (w *documentWalk) value(n *yaml.Node, depth int) (any, error) {
	if w.left--; w.left < 0 || depth > maxDocumentDepth {
		return nil, errDocumentSize
	}
	switch n.Kind {
	case yaml.DocumentNode:
		if len(n.Content) == 0 {
			return nil, nil //nolint:nilnil // an empty text is an empty value
		}
		return w.value(n.Content[0], depth+1)
	case yaml.AliasNode:
		return w.value(n.Alias, depth+1)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, e := range n.Content {
			v, err := w.value(e, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yaml.MappingNode:
		return w.mapping(n, depth)
	case yaml.ScalarNode:
	}
	if n.Kind == 0 || n.ShortTag() == "!!null" {
		return nil, nil //nolint:nilnil // an empty value
	}
	return n.Value, nil
}

func (w *documentWalk) mapping(n *yaml.Node, depth int) (any, error) {
	m := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		if k.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("line %d: a key must be a word", k.Line)
		}
		if _, twice := m[k.Value]; twice && k.Value != "<<" {
			return nil, fmt.Errorf("line %d: the key %s stands twice", k.Line, show(k.Value))
		}
		v, err := w.value(n.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		m[k.Value] = v
	}
	return m, nil
}
