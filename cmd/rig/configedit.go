package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"rig/engine"
	"rig/engine/runtimes"
)

// edit is a change of the configuration file, checked and not yet written.
type edit struct {
	path   string
	before string // value, "" = not set
	after  string
	text   []byte
}

// setConfig makes the text of the file with a key set to the given words, or
// without the key when there are none. Everything else in it stays, comments
// too. The outcome is checked as a whole: what would be refused later is refused
// now.
func setConfig(path, key string, words []string) (edit, error) {
	root, err := readNode(path)
	if err != nil {
		return edit{}, err
	}
	s, err := findSetting(settings(), key)
	if err != nil && !strings.HasPrefix(key, "keys.") {
		return edit{}, err
	}
	if err != nil {
		s = setting{Key: key, Kind: "words"} // one action of the console
	}
	e := edit{path: path}
	where := strings.SplitN(s.Key, ".", 2)
	if old := nodeAt(root, where); old != nil {
		e.before = nodeText(old)
	}
	if root == nil {
		root = &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode}}}
	}
	if len(words) == 0 {
		removeNode(root.Content[0], where)
	} else {
		value, err := valueNode(s, words)
		if err != nil {
			return edit{}, err
		}
		e.after = nodeText(value)
		putNode(root.Content[0], where, value)
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(root), enc.Close()); err != nil {
		return edit{}, engine.Errorf(engine.CodeInvalid, "the configuration cannot be written as YAML").On("config", key).Wrap(err).WithHint("edit %s by hand", path)
	}
	e.text = b.Bytes()
	if strings.TrimSpace(b.String()) == "{}" {
		e.text = nil
	}
	c, err := parseConfig(path, e.text)
	if err != nil && len(words) > 0 {
		return e, engine.Errorf(engine.CodeInvalid, "%s cannot be %s", key, strings.Join(words, " ")).On("config", key).Wrap(err).
			WithHint("it takes %s, such as %s; nothing was written", s.takes(), s.Default)
	}
	if err == nil {
		err = c.checkKeys()
	}
	return e, err
}

// valueNode reads words as the value of a setting: one word for a single value,
// all of them or one YAML list for words.
func valueNode(s setting, words []string) (*yaml.Node, error) {
	if s.Kind == "words" && (len(words) > 1 || !strings.HasPrefix(words[0], "[")) {
		n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, w := range words {
			word := &yaml.Node{}
			word.SetString(w)
			n.Content = append(n.Content, word)
		}
		return n, nil
	}
	if len(words) > 1 {
		return nil, engine.Errorf(engine.CodeInvalid, "%s takes one value", s.Key).On("config", s.Key).WithHint("quote it if it has spaces")
	}
	n := &yaml.Node{}
	if s.Kind == "text" {
		n.SetString(words[0])
		return n, nil
	}
	if err := yaml.Unmarshal([]byte(words[0]), n); err != nil || len(n.Content) != 1 {
		return nil, engine.Errorf(engine.CodeInvalid, "%q is no value for %s", words[0], s.Key).On("config", s.Key).WithHint("it takes %s, such as %s", s.takes(), s.Default)
	}
	return n.Content[0], nil
}

// putNode sets a value, making the mappings above it.
func putNode(n *yaml.Node, path []string, value *yaml.Node) {
	if n.Kind != yaml.MappingNode { // an empty document that says null
		*n = yaml.Node{Kind: yaml.MappingNode}
	}
	i := keyIndex(n, path[0])
	if i < 0 {
		name := &yaml.Node{}
		name.SetString(path[0])
		n.Content = append(n.Content, name, &yaml.Node{Kind: yaml.MappingNode})
		i = len(n.Content) - 2
	}
	if len(path) == 1 {
		value.LineComment = n.Content[i+1].LineComment
		n.Content[i+1] = value
		return
	}
	putNode(n.Content[i+1], path[1:], value)
}

// removeNode takes a key away, and the mapping above it when nothing is left.
func removeNode(n *yaml.Node, path []string) {
	if n.Kind != yaml.MappingNode {
		return
	}
	i := keyIndex(n, path[0])
	if i < 0 {
		return
	}
	if len(path) > 1 {
		removeNode(n.Content[i+1], path[1:])
		if len(n.Content[i+1].Content) > 0 {
			return
		}
	}
	n.Content = append(n.Content[:i], n.Content[i+2:]...)
}

// changeConfig makes the text of the file with a key set, as setConfig does, and writes it
// unless dry. Of two changes at the same time neither is lost.
func changeConfig(ctx context.Context, path, key string, words []string, dry bool) (edit, error) {
	if e, err := setConfig(path, key, words); dry || err != nil {
		return e, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return edit{}, unwritable(path, err)
	}
	file := path // a file or a folder that is a link stays one
	if real, err := filepath.EvalSymlinks(path); err == nil {
		file = real
	} else if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		file = filepath.Join(dir, filepath.Base(path))
	}
	ctx, cancel := context.WithTimeout(ctx, configWait)
	defer cancel()
	release, err := runtimes.LockFolder(ctx, filepath.Dir(file))
	if err != nil {
		return edit{}, err
	}
	defer release()
	e, err := setConfig(path, key, words) // it may have been changed meanwhile
	if err == nil {
		err = e.write(file)
	}
	return e, err
}

// configWait is how long is waited for somebody else who changes the configuration.
const configWait = 10 * time.Second

func unwritable(path string, err error) error {
	return engine.Errorf(engine.CodeUnavailable, "the configuration cannot be written").On("config", path).Wrap(err).WithHint("make it writable, or set RIG_CONFIG")
}

// write puts the new text into a file's place at once, so that a reader sees
// the old one or the new one.
func (e edit) write(path string) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".config-*") // mode 0600
	if err != nil {
		return unwritable(path, err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(e.text)
	if info, serr := os.Stat(path); serr == nil && err == nil {
		err = tmp.Chmod(info.Mode().Perm())
	}
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return unwritable(path, err)
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return unwritable(path, err)
	}
	return nil
}
