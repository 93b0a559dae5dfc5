package main

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"rig/engine"
)

// setting is one key of config.yaml with the value that is in force.
type setting struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	Source  string `json:"source"` // default, file:line, or environment NAME
	Default string `json:"default"`
	Env     string `json:"env,omitempty"` // the variable that goes before the file
	Kind    string `json:"kind"`          // text, words, duration, number, yes/no, map
	Help    string `json:"help"`

	field []int
}

// settings lists every key in the order of the file, with its default in force.
func settings() []setting { return fields(reflect.TypeFor[config](), "", nil) }

func fields(t reflect.Type, prefix string, index []int) []setting {
	var out []setting
	for i := range t.NumField() {
		f := t.Field(i)
		key, at := prefix+f.Tag.Get("yaml"), append(slices.Clone(index), i)
		if f.Type.Kind() == reflect.Struct {
			out = append(out, fields(f.Type, key+".", at)...)
			continue
		}
		out = append(out, setting{
			Key: key, Value: f.Tag.Get("default"), Source: "default", Default: f.Tag.Get("default"), Env: f.Tag.Get("env"),
			Kind: kindOf(f.Type), Help: f.Tag.Get("help"), field: at,
		})
	}
	return out
}

// takes names the kind of a setting's value in a sentence.
func (s setting) takes() string {
	if s.Kind == "words" || s.Kind == "yes/no" || s.Kind == "text" {
		return s.Kind
	}
	return "a " + s.Kind
}

func kindOf(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return "duration"
	case t.Kind() == reflect.Int:
		return "number"
	case t.Kind() == reflect.Bool:
		return "yes/no"
	case t.Kind() == reflect.Slice:
		return "words"
	case t.Kind() == reflect.Map:
		return "map"
	}
	return "text"
}

// settingsInForce fills in what the file and the environment say. root is the
// file's text as YAML, nil when there is none.
func settingsInForce(path string, root *yaml.Node) []setting {
	list := settings()
	for i := range list {
		s := &list[i]
		if n := nodeAt(root, strings.Split(s.Key, ".")); n != nil {
			s.Value, s.Source = nodeText(n), fmt.Sprintf("%s:%d", path, n.Line)
		}
		if v := os.Getenv(s.Env); s.Env != "" && v != "" {
			s.Value, s.Source = v, "environment "+s.Env
		}
	}
	return list
}

// findSetting gives a key's setting. A key that does not exist is refused with
// those that look like it.
func findSetting(list []setting, key string) (setting, error) {
	like := []string{}
	for _, s := range list {
		if s.Key == key {
			return s, nil
		}
		if strings.Contains(s.Key, key) || strings.HasPrefix(key, s.Key+".") || strings.Contains(key, strings.Split(s.Key, ".")[0]) {
			like = append(like, s.Key)
		}
	}
	hint := "`rig config` lists every key"
	if len(like) > 0 {
		hint = "meant is perhaps " + strings.Join(like, ", ")
	}
	return setting{}, engine.Errorf(engine.CodeInvalid, "there is no setting %q", key).On("config", key).WithHint("%s", hint)
}

// nodeAt finds a value in a YAML document, nil when it is not there.
func nodeAt(n *yaml.Node, path []string) *yaml.Node {
	if n != nil && n.Kind == yaml.DocumentNode {
		if len(n.Content) == 0 {
			return nil
		}
		n = n.Content[0]
	}
	for _, name := range path {
		if n == nil || n.Kind != yaml.MappingNode {
			return nil
		}
		i := keyIndex(n, name)
		if i < 0 {
			return nil
		}
		n = n.Content[i+1]
	}
	return n
}

// keyIndex is the place of a key in a mapping, -1 when it is not there.
func keyIndex(n *yaml.Node, name string) int {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return i
		}
	}
	return -1
}

// nodeText is a value on one line, as the file could have it.
func nodeText(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return n.Value
	}
	flow := *n
	flow.Style = yaml.FlowStyle
	b, err := yaml.Marshal(&flow)
	if err != nil {
		return "?"
	}
	return strings.TrimSpace(string(b))
}

// readNode reads the file as a YAML tree, so that comments stay; nil when there
// is no file or nothing in it.
func readNode(path string) (*yaml.Node, error) {
	b, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, engine.Errorf(engine.CodeInvalid, "the configuration cannot be read").On("config", path).Wrap(err).WithHint("correct its permissions, or set RIG_CONFIG")
	}
	var n yaml.Node
	if err := yaml.Unmarshal(b, &n); err != nil {
		return nil, engine.Errorf(engine.CodeInvalid, "the configuration has an error: %s", strings.TrimPrefix(err.Error(), "yaml: ")).
			On("config", path).WithHint("correct the line, or remove it")
	}
	if n.Kind == 0 {
		return nil, nil
	}
	return &n, nil
}
