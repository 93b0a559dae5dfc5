package agentsim

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// codexConfig is config.toml flattened: "section.key" to its value. Only what
// the stand-in needs is understood: strings, booleans, numbers, one-line arrays.
type codexConfig struct {
	file   string
	values map[string]string
	lists  map[string][]string
}

// tomlKey splits a dotted key with quoted parts into its parts.
func tomlKey(s string) []string {
	var parts []string
	var cur strings.Builder
	var quote rune
	for _, r := range strings.TrimSpace(s) {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			cur.WriteRune(r)
		case r == '"' || r == '\'':
			quote = r
		case r == '.':
			parts = append(parts, strings.TrimSpace(cur.String()))
			cur.Reset()
		default:
			cur.WriteRune(r)
		}
	}
	return append(parts, strings.TrimSpace(cur.String()))
}

// keySep joins the parts of a flattened key; it cannot occur in one.
const keySep = "\x00"

// readCodexConfig reads config.toml; a missing or odd file gives what it gives.
func readCodexConfig(file string) codexConfig {
	c := codexConfig{file: file, values: map[string]string{}, lists: map[string][]string{}}
	b, err := os.ReadFile(file)
	if err != nil {
		return c
	}
	var section []string
	for _, l := range strings.Split(string(b), "\n") {
		l = strings.TrimSpace(l)
		switch {
		case l == "" || l[0] == '#':
		case l[0] == '[':
			section = tomlKey(strings.Trim(l, "[]"))
		default:
			c.assign(section, l)
		}
	}
	return c
}

// assign takes a line "key = value".
func (c *codexConfig) assign(section []string, l string) {
	i := assignAt(l)
	if i < 0 {
		return
	}
	key := strings.Join(append(append([]string{}, section...), tomlKey(l[:i])...), keySep)
	val := strings.TrimSpace(l[i+1:])
	if strings.HasPrefix(val, "[") {
		for _, v := range strings.Split(strings.Trim(val, "[]"), ",") {
			if v = strings.TrimSpace(v); v != "" {
				c.lists[key] = append(c.lists[key], tomlString(v))
			}
		}
		return
	}
	c.values[key] = tomlString(val)
}

// assignAt finds the equals sign outside of quotes.
func assignAt(l string) int {
	quoted := false
	for i, r := range l {
		if r == '"' {
			quoted = !quoted
		}
		if r == '=' && !quoted {
			return i
		}
	}
	return -1
}

func tomlString(v string) string {
	if len(v) > 0 && v[0] == '"' {
		if end := strings.LastIndexByte(v, '"'); end > 0 {
			if s, err := strconv.Unquote(v[:end+1]); err == nil {
				return s
			}
		}
	}
	if len(v) > 1 && v[0] == '\'' {
		return strings.Trim(v, "'")
	}
	v, _, _ = strings.Cut(v, " #")
	return strings.TrimSpace(v)
}

func (c *codexConfig) get(parts ...string) string { return c.values[strings.Join(parts, keySep)] }

// override takes the -c options and a profile.
func (c *codexConfig) override(profile string, pairs []string) {
	if profile == "" {
		profile = c.get("profile")
	}
	if profile != "" {
		prefix := "profiles" + keySep + profile + keySep
		for k, v := range c.values {
			if rest, ok := strings.CutPrefix(k, prefix); ok {
				c.values[rest] = v
			}
		}
	}
	for _, p := range pairs {
		if i := assignAt(p); i > 0 && !strings.HasPrefix(p, "projects.") {
			c.assign(nil, p[:i]+"="+p[i+1:])
		}
	}
}

// trusts tells whether config.toml calls a folder trusted.
func (c *codexConfig) trusts(dir string) bool {
	return c.get("projects", dir, "trust_level") == "trusted"
}

// trust writes that a folder is trusted, as accepting the dialog does.
func (c *codexConfig) trust(dir string) {
	c.add(fmt.Sprintf("\n[projects.%q]\ntrust_level = \"trusted\"\n", dir))
	c.values[strings.Join([]string{"projects", dir, "trust_level"}, keySep)] = "trusted"
}

func (c *codexConfig) add(text string) {
	b, err := os.ReadFile(c.file)
	if err != nil && !os.IsNotExist(err) {
		return
	}
	if len(b) > 0 && !bytes.HasSuffix(b, []byte("\n")) {
		b = append(b, '\n')
	}
	writeWhole(c.file, append(b, text...))
}

// gitRoot finds the checkout that a folder is in.
func gitRoot(dir string) (string, bool) {
	for ; ; dir = filepath.Dir(dir) {
		if fileExists(filepath.Join(dir, ".git")) {
			return dir, true
		}
		if dir == "/" || dir == "." {
			return "", false
		}
	}
}

// codexHome finds the state directory; a CODEX_HOME that is none is an error in
// the client's words.
func codexHome(e *Env) (string, error) {
	if dir := e.get("CODEX_HOME"); dir != "" {
		if st, err := os.Stat(dir); err != nil || !st.IsDir() {
			return "", fmt.Errorf("WARNING: proceeding, even though we could not create PATH aliases: CODEX_HOME points to %q, but that path does not exist\nError finding codex home: CODEX_HOME points to %q, but that path does not exist", dir, dir)
		}
		return dir, nil
	}
	dir := filepath.Join(e.get("HOME"), ".codex")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", says("Error finding codex home: %v", err)
	}
	return dir, nil
}
