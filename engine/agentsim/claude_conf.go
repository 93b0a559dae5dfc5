package agentsim

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"
)

// claudePaths are the files of a configuration directory.
type claudePaths struct {
	home string
	dir  string // ~/.claude, or CLAUDE_CONFIG_DIR
	main string // .claude.json, beside the directory or in it
}

func newClaudePaths(e *Env) claudePaths {
	home := e.get("HOME")
	if dir := e.get("CLAUDE_CONFIG_DIR"); dir != "" {
		return claudePaths{home, dir, filepath.Join(dir, ".claude.json")}
	}
	return claudePaths{home, filepath.Join(home, ".claude"), filepath.Join(home, ".claude.json")}
}

// claudeSlug is the folder name of a working directory: its real path with each
// UTF-16 unit outside letters and digits made a dash, cut at 200 with a hash.
func claudeSlug(dir string) string {
	target, err := filepath.EvalSymlinks(dir)
	if err != nil {
		target = filepath.Clean(dir)
	}
	var b strings.Builder
	units := utf16.Encode([]rune(target))
	for _, u := range units {
		if u >= '0' && u <= '9' || u >= 'a' && u <= 'z' || u >= 'A' && u <= 'Z' {
			b.WriteByte(byte(u))
		} else {
			b.WriteByte('-')
		}
	}
	if s := b.String(); len(s) <= 200 {
		return s
	}
	return b.String()[:200] + "-" + base36Hash(units)
}

// base36Hash is the client's 32-bit string hash, written in base 36.
func base36Hash(units []uint16) string {
	var h int32
	for _, u := range units {
		h = h<<5 - h + int32(u)
	}
	n := int64(h)
	if n < 0 {
		n = -n
	}
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	s := ""
	for {
		s = string(digits[n%36]) + s
		if n /= 36; n == 0 {
			return s
		}
	}
}

// readMain reads .claude.json as an open object; a damaged one counts as empty.
func (p claudePaths) readMain() map[string]any {
	m := map[string]any{}
	if b, err := os.ReadFile(p.main); err == nil {
		if json.Unmarshal(b, &m) != nil {
			return map[string]any{}
		}
	}
	return m
}

// changeMain rewrites .claude.json through a temporary file.
func (p claudePaths) changeMain(change func(m map[string]any)) {
	m := p.readMain()
	change(m)
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return
	}
	writeWhole(p.main, b)
}

// writeWhole replaces a file in one step. A stand-in has nobody to tell about a
// full disk: the missing file tells it.
func writeWhole(path string, b []byte) {
	if os.MkdirAll(filepath.Dir(path), 0o755) != nil {
		return
	}
	tmp := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	if os.WriteFile(tmp, b, 0o600) == nil && os.Rename(tmp, path) != nil {
		_ = os.Remove(tmp)
	}
}

// trusted tells whether a folder, or one above it, was accepted. What was accepted
// above a git repository does not count inside it (seen with 2.1.332).
func trusted(m map[string]any, dir string) bool {
	projects, _ := m["projects"].(map[string]any)
	for d := dir; ; d = filepath.Dir(d) {
		if p, ok := projects[d].(map[string]any); ok && p["hasTrustDialogAccepted"] == true {
			return true
		}
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil || d == "/" || d == "." {
			return false
		}
	}
}

// claudeSettings is what the settings files say together.
type claudeSettings struct {
	hooks      hookSet
	status     string // command of the status line
	mode       string
	model      string
	skipBypass bool
	noCompact  bool // autoCompactEnabled is false

	noIdleCompact bool // idleCompaction is false
	problems      []string
	problemFile   string
	fatal         bool // a wrong type, not only an unknown hook event
}

// claudeEvents are the hook events that 2.1.332 knows, in the order it lists them.
var claudeEvents = []string{
	"PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "Notification", "UserPromptSubmit",
	"UserPromptExpansion", "SessionStart", "SessionEnd", "Stop", "StopFailure", "SubagentStart", "SubagentStop",
	"PreCompact", "PostCompact", "PreModelSwitch", "PostModelSwitch", "PermissionRequest", "PermissionDenied",
	"Setup", "TeammateIdle", "TaskCreated", "TaskCompleted", "Elicitation", "ElicitationResult", "ConfigChange",
	"WorktreeCreate", "WorktreeRemove", "InstructionsLoaded", "CwdChanged", "FileChanged", "DirectoryAdded",
	"MessageDisplay", "PreSkillShellCommand",
}

// readClaudeSettings merges user, project and command-line settings. A missing
// file named on the command line is an error in the client's words.
func readClaudeSettings(e *Env, p claudePaths, arg string) (claudeSettings, error) {
	s := claudeSettings{hooks: hookSet{}}
	for _, f := range []string{
		filepath.Join(p.dir, "settings.json"),
		filepath.Join(e.Dir, ".claude", "settings.json"),
		filepath.Join(e.Dir, ".claude", "settings.local.json"),
	} {
		if b, err := os.ReadFile(f); err == nil {
			s.take(b, f)
		}
	}
	if arg == "" {
		return s, nil
	}
	if json.Valid([]byte(arg)) && strings.HasPrefix(strings.TrimSpace(arg), "{") {
		s.take([]byte(arg), fmt.Sprintf("/tmp/claude-%d/claude-settings-%s.json", os.Getuid(), e.hex(16)))
		return s, nil
	}
	if !filepath.IsAbs(arg) {
		arg = filepath.Join(e.Dir, arg)
	}
	b, err := os.ReadFile(arg)
	if err != nil {
		return s, says("Error: Settings file not found: %s", arg)
	}
	s.take(b, arg)
	return s, nil
}

// take adds one file; a file with a wrong type is left out whole.
func (s *claudeSettings) take(b []byte, file string) {
	var m map[string]any
	if json.Unmarshal(b, &m) != nil {
		s.note(file, true, "Invalid or malformed JSON")
		return
	}
	bad := false
	for _, k := range []string{"idleCompaction", "autoCompactEnabled", "skipDangerousModePermissionPrompt", "includeCoAuthoredBy"} {
		if v, ok := m[k]; ok && typeName(v) != "boolean" {
			s.note(file, true, k+": Expected boolean, but received "+typeName(v))
			bad = true
		}
	}
	if bad {
		return
	}
	hooks, _ := m["hooks"].(map[string]any)
	for _, event := range sortedKeys(hooks) {
		if !slices.Contains(claudeEvents, event) {
			s.note(file, false, fmt.Sprintf("hooks.%s: Unknown hook event %q was ignored. Valid events: %s", event, event, strings.Join(claudeEvents, ", ")))
		}
	}
	s.hooks.merge(readHooks(b))
	s.apply(m)
}

func (s *claudeSettings) apply(m map[string]any) {
	if st, ok := m["statusLine"].(map[string]any); ok {
		s.status, _ = st["command"].(string)
	}
	if perm, ok := m["permissions"].(map[string]any); ok {
		if mode, ok := perm["defaultMode"].(string); ok {
			s.mode = mode
		}
	}
	if model, ok := m["model"].(string); ok {
		s.model = model
	}
	if m["skipDangerousModePermissionPrompt"] == true {
		s.skipBypass = true
	}
	if on, ok := m["autoCompactEnabled"].(bool); ok {
		s.noCompact = !on
	}
	if on, ok := m["idleCompaction"].(bool); ok {
		s.noIdleCompact = !on
	}
}

func (s *claudeSettings) note(file string, fatal bool, problem string) {
	if s.problemFile == "" || fatal && !s.fatal {
		s.problemFile, s.problems = file, nil
	}
	s.fatal = s.fatal || fatal
	s.problems = append(s.problems, problem)
}

// typeName is the client's word for a JSON type.
func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
