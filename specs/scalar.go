package specs

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

// Number and time spellings of YAML 1.1 and 1.2 together: an unquoted text that
// some reader would not keep as it is written.
var (
	numberRE = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[-+]?(0[xX][0-9A-Fa-f]+|0[oO]?[0-7]+|0[bB][01]+|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?|\.(inf|Inf|INF)|[0-9]+(:[0-5]?[0-9])+(\.[0-9]*)?)$|^\.(nan|NaN|NAN)$`)
	})
	timeRE = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?$`)
	})
)

// spelling says what YAML may take an unquoted text for, "" when every reader
// keeps it as text.
func spelling(s string) string {
	switch strings.ToLower(s) {
	case "", "~", "null":
		return "nothing at all"
	case "y", "n", "yes", "no", "on", "off", "true", "false":
		return "a boolean"
	case "=", "<<":
		return "a special key"
	}
	if c := s[0]; c != '.' && c != '-' && c != '+' && (c < '0' || c > '9') {
		return ""
	}
	switch {
	case timeRE().MatchString(s):
		return "a date"
	case numberRE().MatchString(strings.ReplaceAll(s, "_", "")):
		return "a number"
	}
	return ""
}

// plain reports an unquoted scalar, the only kind whose spelling matters.
func plain(n *yaml.Node) bool {
	const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	return n.Kind == yaml.ScalarNode && n.Style&quoted == 0
}

// isNull reports a value that was left empty or written as null.
func isNull(n *yaml.Node) bool {
	return plain(n) && spelling(n.Value) == "nothing at all"
}

// boolOf reads true and false, and no other spelling.
func boolOf(n *yaml.Node) (v, ok bool) {
	if !plain(n) {
		return false, false
	}
	return n.Value == "true", n.Value == "true" || n.Value == "false"
}

// intOf reads a plain decimal number.
func intOf(n *yaml.Node) (int64, bool) {
	if !plain(n) {
		return 0, false
	}
	v, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil || strconv.FormatInt(v, 10) != n.Value {
		return 0, false
	}
	return v, true
}

// versionText reads a version that may stand unquoted: it is taken as written,
// so 1.10 stays 1.10. Spellings that are no version number are refused.
func versionText(n *yaml.Node) bool {
	if !plain(n) {
		return n.Kind == yaml.ScalarNode
	}
	if spelling(n.Value) == "" {
		return true
	}
	for _, part := range strings.Split(n.Value, ".") {
		if part == "" || strings.Trim(part, "0123456789") != "" || len(part) > 1 && part[0] == '0' {
			return false
		}
	}
	return true
}

// badRune finds the first character that a text may not hold. Line ends and tabs
// are allowed in texts of several lines.
func badRune(s string, lines bool) (rune, bool) {
	for _, c := range s {
		if (c == '\n' || c == '\t') && lines {
			continue
		}
		if hidden(c) || c == 0xfffd {
			return c, true
		}
	}
	return 0, false
}

func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		if isNull(n) {
			return "nothing"
		}
		return show(n.Value)
	case yaml.DocumentNode, yaml.AliasNode:
	}
	return "something else"
}
