package transcript

import "strings"

// toolMessage describes one tool call from its raw input.
func toolMessage(name string, input []byte, scratch *[]byte) Message {
	m := Message{Role: RoleTool, ToolName: name}
	ps := pathSet{}
	if isString(input) {
		// Older records, and patches, carry the input as one string, which may
		// be JSON again.
		s := text(input, scratch)
		if trimmed := strings.TrimSpace(s); strings.HasPrefix(trimmed, "{") {
			collectPaths([]byte(trimmed), &ps, scratch, 0)
			m.Text = inputLine([]byte(trimmed), scratch)
		} else {
			patchPaths(s, &ps)
			m.Text = firstLine(s, maxInputLine)
		}
	} else {
		collectPaths(input, &ps, scratch, 0)
		m.Text = inputLine(input, scratch)
	}
	m.Paths = ps.list
	return m
}

const (
	maxInputLine = 200
	maxCallPaths = 200 // of one call
	maxPath      = 1024
)

// pathSet collects distinct paths in order.
type pathSet struct{ list []string }

func (ps *pathSet) add(p string) {
	p = strings.TrimSpace(p)
	if p == "" || len(p) > maxPath || strings.ContainsAny(p, "\n\x00") || len(ps.list) >= maxCallPaths {
		return
	}
	for _, have := range ps.list {
		if have == p {
			return
		}
	}
	ps.list = append(ps.list, p)
}

// pathKey tells the member names under which tools name a file or directory.
func pathKey(key []byte) bool {
	switch string(key) {
	case "file_path", "filePath", "notebook_path", "path", "file", "filename", "old_path",
		"new_path", "paths", "files", "file_paths", "workdir":
		return true
	}
	return false
}

// commandKey tells the members that hold shell commands, in which paths are
// found as in prose.
func commandKey(key []byte) bool {
	switch string(key) {
	case "command", "cmd", "script":
		return true
	}
	return false
}

// collectPaths walks a tool input. Contents (new text, prompts, queries) are
// never searched: text that was written into a file is not a touched file.
func collectPaths(raw []byte, ps *pathSet, scratch *[]byte, depth int) {
	if depth > 4 || len(raw) == 0 {
		return
	}
	if raw[0] == '[' {
		c := arrayCursor(raw)
		for c.element() {
			v := c.value()
			if v == nil {
				return
			}
			collectPaths(v, ps, scratch, depth+1)
		}
		return
	}
	c := objectCursor(raw)
	for c.member() {
		key := c.key
		v := c.value()
		switch {
		case v == nil:
			return
		case pathKey(key):
			pathValues(v, ps, scratch, depth)
		case commandKey(key):
			eachString(v, scratch, func(s string) {
				patchPaths(s, ps)
				PathsInText(s, ps.add)
			})
		case string(key) == "input" || string(key) == "patch":
			eachString(v, scratch, func(s string) { patchPaths(s, ps) })
		case string(key) == "edits" || string(key) == "changes":
			collectPaths(v, ps, scratch, depth+1)
		}
	}
}

// pathValues takes one path, a list of them, or objects that hold them.
func pathValues(v []byte, ps *pathSet, scratch *[]byte, depth int) {
	if v[0] == '[' {
		c := arrayCursor(v)
		for c.element() {
			e := c.value()
			if e == nil {
				return
			}
			pathValues(e, ps, scratch, depth+1)
			if len(ps.list) >= maxCallPaths || depth > 4 {
				return
			}
		}
		return
	}
	if isString(v) {
		ps.add(short(v, maxPath+1))
		return
	}
	collectPaths(v, ps, scratch, depth+1)
}

// eachString calls fn for a string or for each string of a list.
func eachString(v []byte, scratch *[]byte, fn func(string)) {
	if isString(v) {
		fn(text(v, scratch))
		return
	}
	c := arrayCursor(v)
	for c.element() {
		e := c.value()
		if e == nil {
			return
		}
		if isString(e) {
			fn(text(e, scratch))
		}
	}
}

// lineKeys are the input members that say best what a call does, in order.
var lineKeys = []string{
	"command", "cmd", "file_path", "notebook_path", "path", "pattern", "query",
	"url", "description", "prompt",
}

// inputLine is one line for a person about a call's input.
func inputLine(input []byte, scratch *[]byte) string {
	if len(input) == 0 || input[0] != '{' {
		return ""
	}
	for _, key := range lineKeys {
		v := field(input, key)
		line := ""
		if isString(v) {
			line = firstLine(short(v, 4*maxInputLine), maxInputLine)
		} else if len(v) > 0 && v[0] == '[' {
			var words []string
			eachString(v, scratch, func(s string) { words = append(words, s) })
			line = firstLine(strings.Join(words, " "), maxInputLine)
		}
		if line != "" {
			return line
		}
	}
	return ""
}

// patchHeads open the file sections of the patch format both clients' models
// use.
var patchHeads = []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "}

// patchPaths takes the file names from a patch.
func patchPaths(s string, ps *pathSet) {
	if !strings.Contains(s, "*** ") {
		return
	}
	for line := range strings.SplitSeq(s, "\n") {
		for _, head := range patchHeads {
			if name, ok := strings.CutPrefix(line, head); ok {
				ps.add(name)
			}
		}
	}
}
