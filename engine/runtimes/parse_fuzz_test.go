package runtimes

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rig/engine"
)

func FuzzParseCommand(f *testing.F) {
	for _, s := range []string{"", "claude", "/opt/my claude", `["a","b"]`, `[]`, `[""]`, `["a\u0000b"]`, `[1]`, "[", "$(x) y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		words, err := ParseCommand(s, "fallback")
		if err != nil {
			if engine.CodeOf(err) != engine.CodeInvalid {
				t.Errorf("%q: %v", s, err)
			}
			return
		}
		if len(words) == 0 || strings.TrimSpace(words[0]) == "" {
			t.Errorf("%q: %q", s, words)
		}
		if !strings.HasPrefix(strings.TrimSpace(s), "[") && len(words) != 1 {
			t.Errorf("%q was split: %q", s, words)
		}
	})
}

func FuzzEventName(f *testing.F) {
	f.Add("01795977928159974046-SessionStart.json")
	f.Add("../../../etc/passwd")
	f.Add("00000000000000000001-../x.json")
	f.Add("-.json")
	f.Fuzz(func(t *testing.T, name string) {
		stamp, event, ok := parseEventName(name)
		if ok && (strings.ContainsAny(event, "/.\x00") || stamp >= 0 && eventName(stamp, event) != name) {
			t.Errorf("%q: %d %q", name, stamp, event)
		}
	})
}

// FuzzRunState reads what a supervisor reports, from a file that anything may
// have written to.
func FuzzRunState(f *testing.F) {
	f.Add([]byte(`{"pid":1,"pid_start":"2","exited":true,"exit_code":137}`))
	f.Add([]byte(`{"pid":1e999}`))
	f.Add([]byte("\x00\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "S.json")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := loadRunState(path); err == nil && !json.Valid(b) {
			t.Errorf("%q was taken", b)
		}
	})
}

// FuzzLaunch reads a launch file: whatever it holds is refused or names a program,
// and it is deleted when it was taken.
func FuzzLaunch(f *testing.F) {
	f.Add([]byte(`{"argv":["/bin/true"],"env":["A=1"],"dir":"/"}`))
	f.Add([]byte(`{"argv":[""]}`))
	f.Add([]byte(`{"argv":null}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "S"+launchSuffix)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := readLaunch(path)
		if err == nil && (len(l.Argv) == 0 || l.Argv[0] == "") {
			t.Errorf("%q: %+v", b, l)
		}
		if _, serr := os.Stat(path); err == nil && !os.IsNotExist(serr) {
			t.Error("the launch file is still there")
		}
	})
}
