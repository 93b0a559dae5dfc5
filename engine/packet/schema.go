package packet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// node is the part of JSON Schema that our schema uses. Reading the published
// document instead of repeating it in code keeps the two from drifting apart.
type node struct {
	Type       typeList         `json:"type"`
	Enum       []any            `json:"enum"`
	Const      any              `json:"const"`
	MinLength  *int             `json:"minLength"`
	Minimum    *float64         `json:"minimum"`
	Pattern    string           `json:"pattern"`
	Format     string           `json:"format"`
	Required   []string         `json:"required"`
	Properties map[string]*node `json:"properties"`
	Additional *additional      `json:"additionalProperties"`
	Items      *node            `json:"items"`
	MinItems   *int             `json:"minItems"`
	MaxItems   *int             `json:"maxItems"`
}

// typeList is a type or a list of them.
type typeList []string

// UnmarshalJSON accepts both forms of the keyword.
func (t *typeList) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = typeList{one}
		return nil
	}
	var many []string
	if err := json.Unmarshal(b, &many); err != nil {
		return fmt.Errorf("schema type: %w", err)
	}
	*t = many
	return nil
}

// additional is false or a schema for members without one of their own.
type additional struct {
	closed bool
	schema *node
}

// UnmarshalJSON accepts both forms of the keyword.
func (a *additional) UnmarshalJSON(b []byte) error {
	var allowed bool
	if json.Unmarshal(b, &allowed) == nil {
		a.closed = !allowed
		return nil
	}
	return json.Unmarshal(b, &a.schema)
}

// theSchema is parsed at first use. The document is part of the program, so a
// fault in it is a fault of the program; a test reads it.
var theSchema = sync.OnceValues(func() (*node, error) {
	var root node
	if err := json.Unmarshal(Schema, &root); err != nil {
		return nil, fmt.Errorf("packet schema: %w", err)
	}
	return &root, nil
})

// checker collects all violations of one document.
type checker struct{ problems []Problem }

func (c *checker) add(path string, value any, keyword, format string, args ...any) {
	c.problems = append(c.problems, Problem{
		Field: path, Value: shown(value), Rule: keyword + ": " + fmt.Sprintf(format, args...), Severity: severityOf(path),
	})
}

// shown renders a value for a report, at most 80 characters, without secrets.
func shown(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "<unprintable>"
	}
	s, _ := Redact(string(b))
	if utf8.RuneCountInString(s) > 80 {
		s = string([]rune(s)[:79]) + "…"
	}
	return s
}

func (c *checker) check(n *node, v any, path string) {
	if len(n.Type) > 0 && !slices.ContainsFunc(n.Type, func(t string) bool { return isType(v, t) }) {
		c.add(path, v, "type", "must be %s", strings.Join(n.Type, " or "))
		return
	}
	if n.Const != nil && !same(n.Const, v) {
		c.add(path, v, "const", "must be %v", n.Const)
	}
	if n.Enum != nil && !slices.ContainsFunc(n.Enum, func(e any) bool { return same(e, v) }) {
		c.add(path, v, "enum", "must be one of %s", shown(n.Enum))
	}
	switch v := v.(type) {
	case string:
		c.text(n, v, path)
	case json.Number:
		if f, err := v.Float64(); n.Minimum != nil && (err != nil || f < *n.Minimum) {
			c.add(path, v, "minimum", "must be at least %g", *n.Minimum)
		}
	case []any:
		c.list(n, v, path)
	case map[string]any:
		c.object(n, v, path)
	}
}

func (c *checker) text(n *node, s, path string) {
	if n.MinLength != nil && utf8.RuneCountInString(s) < *n.MinLength {
		c.add(path, s, "minLength", "must not be empty")
	}
	if n.Pattern != "" {
		if re, err := regexp.Compile(n.Pattern); err != nil || !re.MatchString(s) {
			c.add(path, s, "pattern", "must match %s", n.Pattern)
		}
	}
	if n.Format == "date-time" {
		if _, err := time.Parse(time.RFC3339Nano, s); err != nil {
			c.add(path, s, "format", "must be an RFC 3339 time")
		}
	}
}

func (c *checker) list(n *node, list []any, path string) {
	if n.MinItems != nil && len(list) < *n.MinItems {
		c.add(path, list, "minItems", "must have at least %d", *n.MinItems)
	}
	if n.MaxItems != nil && len(list) > *n.MaxItems {
		c.add(path, list, "maxItems", "must have at most %d", *n.MaxItems)
	}
	if n.Items == nil {
		return
	}
	for i, v := range list {
		c.check(n.Items, v, path+"."+strconv.Itoa(i))
	}
}

func (c *checker) object(n *node, obj map[string]any, path string) {
	at := func(key string) string { return strings.TrimPrefix(path+"."+key, ".") }
	for _, key := range n.Required {
		if _, ok := obj[key]; !ok {
			c.problems = append(c.problems, Problem{Field: at(key), Value: "<missing>", Rule: "required: the key is missing", Severity: severityOf(at(key))})
		}
	}
	keys := make([]string, 0, len(obj))
	for key := range obj {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		switch child := n.Properties[key]; {
		case child != nil:
			c.check(child, obj[key], at(key))
		case n.Additional != nil && n.Additional.closed:
			c.add(at(key), obj[key], "additionalProperties", "the key is not part of the schema")
		case n.Additional != nil && n.Additional.schema != nil:
			c.check(n.Additional.schema, obj[key], at(key))
		}
	}
}

func isType(v any, name string) bool {
	switch v := v.(type) {
	case nil:
		return name == "null"
	case string:
		return name == "string"
	case bool:
		return name == "boolean"
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	case json.Number:
		_, err := v.Int64()
		return name == "number" || name == "integer" && err == nil
	}
	return false
}

// same compares a schema's value with a document's, numbers by value.
func same(want, have any) bool {
	if n, ok := have.(json.Number); ok {
		f, err := n.Float64()
		w, isNumber := want.(float64)
		return err == nil && isNumber && f == w
	}
	return want == have && want != nil
}

// decode reads one JSON document, keeping numbers exact. It refuses anything
// behind the document.
func decode(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("read %s: %w", SummaryName, err)
	}
	if d.More() {
		return nil, fmt.Errorf("read %s: something stands behind the document", SummaryName)
	}
	return v, nil
}

// checkSummary judges the bytes of a summary by the schema.
func checkSummary(raw []byte) ([]Problem, error) {
	root, err := theSchema()
	if err != nil {
		return nil, err
	}
	v, err := decode(raw)
	if err != nil {
		return []Problem{{Field: SummaryName, Value: "<invalid-json>", Rule: "json: " + err.Error(), Severity: SeverityError}}, nil
	}
	var c checker
	c.check(root, v, "")
	for i := range c.problems {
		if c.problems[i].Field == "" {
			c.problems[i].Field = SummaryName
		}
	}
	return c.problems, nil
}
