package specs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Bounds of a spec. A rig of a thousand seats is about 150 KB and 5 levels deep.
const (
	maxBytes = 1 << 20
	maxDepth = 24
	maxNodes = 120_000
)

// read turns the bytes of one file into one YAML tree without anchors, aliases,
// tags or merge keys. It returns nil after reporting why there is none.
func (r *report) read(data []byte) *yaml.Node {
	if len(data) > maxBytes {
		r.at(place{1, 1}, "", CodeTooLarge, "a spec is at most 1 MiB; is this the right file?",
			"the file has more than %d bytes", maxBytes)
		return nil
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if !r.cleanText(data) {
		return nil
	}
	root := r.document(data)
	if root == nil {
		return nil
	}
	before := len(r.problems)
	nodes := 0
	r.plainYAML(root, 0, &nodes)
	if len(r.problems) > before {
		return nil
	}
	return root
}

// cleanText refuses bytes that are not UTF-8, and characters that could hide or
// move text on a screen.
func (r *report) cleanText(data []byte) bool {
	line, col := 1, 1
	for i := 0; i < len(data); {
		c, size := utf8.DecodeRune(data[i:])
		switch {
		case c == utf8.RuneError && size == 1:
			r.at(place{line, col}, "", CodeEncoding, "save the file as UTF-8", "byte 0x%02X is not UTF-8", data[i])
			return false
		case c == '\n':
			line, col = line+1, 0
		case c == '\r' && (i+1 >= len(data) || data[i+1] != '\n'):
			line, col = line+1, 0
		case c != '\t' && c != '\r' && hidden(c):
			r.at(place{line, col}, "", CodeEncoding, "remove it; in a quoted text write an escape only where the key allows it",
				"the character U+%04X is not allowed in a spec", c)
			return false
		}
		i += size
		col++
	}
	return true
}

// hidden reports characters that are invisible and change how text is read or
// drawn: controls, line and paragraph separators, and direction overrides.
func hidden(c rune) bool {
	return c < 0x20 || c >= 0x7f && c < 0xa0 ||
		c == 0x2028 || c == 0x2029 || c == 0xfeff ||
		c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069
}

// document decodes exactly one document.
func (r *report) document(data []byte) (root *yaml.Node) {
	defer func() {
		// The YAML reader panics on a few inputs that it should refuse; for the
		// author that is one more text that is not YAML.
		if fault := recover(); fault != nil {
			r.at(place{1, 1}, "", CodeSyntax, "", "the YAML reader gave up: %v", fault)
			root = nil
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		r.at(place{1, 1}, "", CodeMissing, "start from `rig spec list`", "the file is empty")
		return nil
	}
	if err != nil {
		r.syntax(data, err)
		return nil
	}
	switch err = dec.Decode(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		r.syntax(data, err)
		return nil
	default:
		r.at(place{max(second.Line, 1), max(second.Column, 1)}, "", CodeYAMLFeature, "put each spec into a file of its own",
			"a second YAML document begins here")
		return nil
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		r.at(place{1, 1}, "", CodeMissing, "start from `rig spec list`", "the file is empty")
		return nil
	}
	return doc.Content[0]
}

// syntax reports what the YAML reader refused. The reader gives a line at most;
// its parser, unlike its scanner, counts lines from 0.
func (r *report) syntax(data []byte, err error) {
	msg := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if rest, ok := strings.CutPrefix(msg, "line "); ok {
		if num, text, ok := strings.Cut(rest, ": "); ok {
			if n, bad := strconv.Atoi(num); bad == nil {
				line, msg = n, text
				if fromParser(text) {
					line++
				}
			}
		}
	}
	lines := bytes.Split(data, []byte("\n"))
	line = min(line, len(lines))
	col := 1
	if text := lines[line-1]; len(bytes.TrimSpace(text)) > 0 {
		col += len(text) - len(bytes.TrimLeft(text, " \t"))
	}
	r.at(place{line, col}, "", CodeSyntax, "look at this line and at the block around it", "not valid YAML: %s", msg)
}

// fromParser reports messages of the reader's grammar, as opposed to its scanner.
func fromParser(msg string) bool {
	return strings.HasPrefix(msg, "did not find expected") && !strings.Contains(msg, "whitespace") &&
		!strings.Contains(msg, "alphabetic") && !strings.Contains(msg, "digit") ||
		strings.HasPrefix(msg, "found undefined tag handle")
}

// plainYAML refuses what can make a file mean more than it shows, and bounds its
// size as a tree.
func (r *report) plainYAML(n *yaml.Node, depth int, nodes *int) bool {
	*nodes++
	fault := ""
	hint := "write the value out"
	switch {
	case *nodes > maxNodes:
		r.add(n, "", CodeTooLarge, "split the rig", "the file has more than %d values", maxNodes)
		return false
	case depth > maxDepth:
		r.add(n, "", CodeTooLarge, "a spec is 8 levels deep at most", "the nesting is deeper than %d levels", maxDepth)
		return true
	case n.Kind == yaml.AliasNode:
		fault = fmt.Sprintf("the alias *%s is not allowed", n.Value)
	case n.Anchor != "":
		fault = fmt.Sprintf("the anchor &%s is not allowed", n.Anchor)
	case n.Style&yaml.TaggedStyle != 0:
		fault = fmt.Sprintf("the tag %s is not allowed", show(n.Tag))
		hint = "leave the tag out; quote the value if it must be text"
	case n.Kind == yaml.ScalarNode && n.Tag == "!!merge":
		fault = "the merge key << is not allowed"
		hint = "write the keys out"
	}
	if fault != "" {
		r.add(n, "", CodeYAMLFeature, hint, "%s", fault)
	}
	if n.Kind == yaml.AliasNode {
		return true
	}
	for _, child := range n.Content {
		if !r.plainYAML(child, depth+1, nodes) {
			return false
		}
	}
	return true
}
