package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestConfigChangesAtOnce: of changes by several commands at the same time none is lost,
// and one that is refused makes no folder.
func TestConfigChangesAtOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "below", "config.yaml")
	if _, err := changeConfig(t.Context(), path, "launch.width", []string{"3"}, false); err == nil {
		t.Error("a width of 3 was taken")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("a refusal leaves %v %v", left, err)
	}
	var all sync.WaitGroup
	for key, value := range map[string]string{"launch.width": "150", "launch.height": "44", "launch.parallel": "7", "console.bell": "true", "console.notify": "true", "snapshots.off": "true"} {
		all.Go(func() {
			if _, err := changeConfig(t.Context(), path, key, []string{value}, false); err != nil {
				t.Errorf("%s: %v", key, err)
			}
		})
	}
	all.Wait()
	c, err := readConfig(path)
	if err != nil || c.Launch.Width != 150 || c.Launch.Height != 44 || c.Launch.Parallel != 7 || !c.Console.Bell || !c.Console.Notify || !c.Snapshots.Off {
		b, _ := os.ReadFile(path)
		t.Errorf("%v\n%s", err, b)
	}
}

// TestConfigEdit sets and unsets values in a file that a person wrote: comments
// stay, a value that would be refused later is refused now, and nothing is
// written then.
func TestConfigEdit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "below", "config.yaml")
	set := func(key string, words ...string) error {
		_, err := changeConfig(t.Context(), path, key, words, false)
		return err
	}
	text := func() string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, words := range [][]string{
		{"launch.parallel", "8"},
		{"claude.command", "claude", "--permission-mode", "plan"},
		{"terminal.shell", "yes"},
		{"snapshots.every", "90s"},
		{"keys.handover", "ctrl+x"},
		{"keys", "{fork: [F, ctrl+f]}"},
		{"images.spec_roots", "[/a, /b]"},
		{"snapshots.off", "true"},
	} {
		if err := set(words[0], words[1:]...); err != nil {
			t.Fatalf("set %v: %v", words, err)
		}
	}
	c, err := readConfig(path)
	if err != nil || c.Launch.Parallel != 8 || len(c.Claude.Command) != 3 || c.Terminal.Shell != "yes" || len(c.Images.SpecRoots) != 2 || len(c.Keys["fork"]) != 2 {
		t.Fatalf("%+v %v\n%s", c, err, text())
	}
	if err := os.WriteFile(path, []byte("# mine\ntmux:\n  socket: default # the one I work in\nlaunch: {width: 100}\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	before := text()
	for want, words := range map[string][]string{
		"there is no setting": {"lunch", "1"}, "such as 30s": {"launch.ready_timeout", "4"}, "at least 40": {"launch.width", "3"},
		"means both": {"keys.handover", "j"}, "there is no action": {"keys.fly", "x"}, "takes one value": {"launch.width", "90", "91"},
		"it takes a number": {"launch.parallel", "many"}, "it takes words": {"claude.command", ""},
	} {
		if err := set(words[0], words[1:]...); err == nil || !strings.Contains(err.Error()+" "+hintOf(err), want) {
			t.Errorf("%v: %v → %s, want %s", words, err, hintOf(err), want)
		}
	}
	if text() != before {
		t.Errorf("a refused value was written:\n%s", text())
	}
	if err := set("tmux.socket", "work"); err != nil {
		t.Fatal(err)
	}
	if err := set("launch.width"); err != nil {
		t.Fatal(err)
	}
	if got := text(); got != "# mine\ntmux:\n  socket: work # the one I work in\n" {
		t.Errorf("%q", got)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

// TestSettingsInForce says of each value where it comes from.
func TestSettingsInForce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(path, []byte("tmux:\n  socket: default\nlaunch:\n  width: 100\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("RIG_TMUX_SOCKET", "/tmp/x")
	t.Setenv("RIG_CLAUDE_COMMAND", "")
	root, err := readNode(path)
	if err != nil {
		t.Fatal(err)
	}
	list := settingsInForce(path, root)
	want := map[string]string{
		"tmux.socket": "/tmp/x from environment RIG_TMUX_SOCKET", "launch.width": "100 from " + path + ":4",
		"claude.command": "[claude] from default", "snapshots.every": "5m from default",
	}
	for _, s := range list {
		if got := s.Value + " from " + s.Source; want[s.Key] != "" && want[s.Key] != got {
			t.Errorf("%s: %s, want %s", s.Key, got, want[s.Key])
		}
		if s.Help == "" || s.Default == "" {
			t.Errorf("%s has no help or no default in its tags", s.Key)
		}
	}
}
