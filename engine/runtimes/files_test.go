package runtimes

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rig/engine"
)

func launchFile() engine.LaunchFile {
	return engine.LaunchFile{Argv: []string{"/bin/true"}, Env: []string{"PATH=/usr/bin:/bin", "RIG_SPOOL=/forged"}, Dir: "/", Seat: "dev-impl@shop"}
}

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	st, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return st.Mode()
}

func TestLaunchFileIsPrivateAndReadOnce(t *testing.T) {
	home := filepath.Join(t.TempDir(), "rig home")
	f := NewFiles(home, "/opt/rig bin/rig", "/opt/rig bin/rig")
	if _, err := os.Stat(home); err == nil {
		t.Fatal("a folder was made before the first launch")
	}
	argv, err := f.WriteLaunch("S1", launchFile())
	if err != nil || len(argv) != 3 || argv[0] != "/opt/rig bin/rig" || argv[1] != SupervisorVerb {
		t.Fatalf("argv %q %v", argv, err)
	}
	if m := mode(t, argv[2]); m != 0o600 {
		t.Errorf("launch file: %v", m)
	}
	for _, d := range []string{home, filepath.Join(home, "run"), f.SpoolDir("S1")} {
		if m := mode(t, d).Perm(); m != 0o700 {
			t.Errorf("%s: %v", d, m)
		}
	}
	l, err := readLaunch(argv[2])
	if err != nil || lookup(l.Env, SpoolEnv) != f.SpoolDir("S1") || l.Seat != "dev-impl@shop" {
		t.Errorf("read %+v %v", l, err)
	}
	if _, err := readLaunch(argv[2]); !os.IsNotExist(err) {
		t.Errorf("a second read: %v", err)
	}
	if err := f.RemoveLaunch("S1"); err != nil {
		t.Errorf("removing what is gone: %v", err)
	}
	if err := f.Forget("S1"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(f.SpoolDir("S1")); !os.IsNotExist(err) {
		t.Errorf("spool after forgetting: %v", err)
	}
}

func TestLaunchFileThatIsNotOurs(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "a.launch")
	b, err := json.Marshal(launchFile())
	if err != nil {
		t.Fatal(err)
	}
	write(t, good, string(b))
	link := filepath.Join(dir, "link.launch")
	if err := os.Symlink(good, link); err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(dir, "open.launch")
	write(t, open, string(b))
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(dir, "bad.launch")
	write(t, bad, `{"argv":`)
	for _, path := range []string{link, open, bad, dir, "rel.launch", filepath.Join(dir, "a.txt")} {
		if _, err := readLaunch(path); err == nil {
			t.Errorf("%s was accepted", path)
		}
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(good, 12345, 12345); err != nil {
			t.Fatal(err)
		}
		if _, err := readLaunch(good); err == nil {
			t.Error("another user's file was accepted")
		}
	}
}

// TestUnreadLaunchesOfAnOperationAreRemoved: they hold the environment and may
// name the conversation that a fork starts from.
func TestUnreadLaunchesOfAnOperationAreRemoved(t *testing.T) {
	t.Parallel()
	f := NewFiles(t.TempDir(), "/bin/rig", "/bin/rig")
	for id, op := range map[string]string{"S1": "A", "S2": "A", "S3": "B"} {
		if _, err := f.WriteLaunch(id, engine.LaunchFile{Argv: []string{"x"}, Dir: "/", Op: op}); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.RemoveUnread("A"); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(f.runPath("*", launchSuffix))
	if err != nil || len(left) != 1 || left[0] != f.runPath("S3", launchSuffix) {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestFoldersThatAreLinksAreRefused(t *testing.T) {
	home := t.TempDir()
	if err := os.Symlink(t.TempDir(), filepath.Join(home, "run")); err != nil {
		t.Fatal(err)
	}
	if _, err := NewFiles(home, "/rig", "/rig").WriteLaunch("S1", launchFile()); engine.CodeOf(err) != engine.CodeUnavailable {
		t.Errorf("run is a link: %v", err)
	}
	home = t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "run"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := NewFiles(home, "/rig", "/rig").WriteLaunch("S1", launchFile()); err != nil || mode(t, filepath.Join(home, "run")).Perm() != 0o700 {
		t.Errorf("a folder that is too open is closed: %v", err)
	}
	f := NewFiles(t.TempDir(), "/rig", "/rig")
	for _, id := range []string{"", "..", "a/b", strings.Repeat("x", 65), "a\x00"} {
		if _, err := f.WriteLaunch(id, launchFile()); engine.CodeOf(err) != engine.CodeInvalid {
			t.Errorf("%q: %v", id, err)
		}
		if _, _, err := f.RunState(id); err == nil {
			t.Errorf("run state of %q", id)
		}
		if _, err := f.Signals(id); err == nil {
			t.Errorf("signals of %q", id)
		}
	}
}

func TestRunState(t *testing.T) {
	f := NewFiles(t.TempDir(), "/rig", "/rig")
	if _, ok, err := f.RunState("S1"); ok || err != nil {
		t.Errorf("nothing yet: %v %v", ok, err)
	}
	if s, err := f.Signals("S1"); err != nil || len(s.Hooks) != 0 {
		t.Errorf("no spool: %+v %v", s, err)
	}
	path := f.runPath("S1", ".json")
	write(t, path, `{"supervisor_pid":5,"pid":6,"pid_start":"7"}`)
	if s, ok, err := f.RunState("S1"); err != nil || !ok || s.PID != 6 || s.PIDStart != "7" || s.Exited {
		t.Errorf("got %+v %v %v", s, ok, err)
	}
	write(t, path, `{"pid":6`)
	if _, _, err := f.RunState("S1"); engine.CodeOf(err) != engine.CodeUnavailable {
		t.Errorf("half a file: %v", err)
	}
}

func TestSettingsValue(t *testing.T) {
	f := NewFiles("/home/op/.rig", "/opt/my tools/rig", "/opt/my tools/rig-seat")
	claude := engine.Seat{Runtime: engine.RuntimeClaude}
	v := f.SettingsFor(claude, "S1", 3, true)
	var s struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Type, Command string
				Timeout       int
			}
		}
		StatusLine     struct{ Type, Command string }
		IdleCompaction *bool
	}
	if err := json.Unmarshal([]byte(v), &s); err != nil {
		t.Fatal(err)
	}
	if s.IdleCompaction == nil || *s.IdleCompaction || s.StatusLine.Command != "'/opt/my tools/rig-seat' statusline" || s.StatusLine.Type != "command" {
		t.Errorf("got %s", v)
	}
	valid := readFile(t, filepath.Join(fixtures, "claude-2.1.197-pane-settings-warning.txt"))
	for ev, m := range s.Hooks {
		if !strings.Contains(valid, ev+",") {
			t.Errorf("an older client does not know %s", ev)
		}
		program := "'/opt/my tools/rig-seat'"
		if ev == "PreCompact" { // it writes a packet, which the small program cannot
			program = "'/opt/my tools/rig'"
		}
		if len(m) != 1 || len(m[0].Hooks) != 1 || m[0].Hooks[0].Command != program+" hook "+ev || m[0].Hooks[0].Timeout < 5 {
			t.Errorf("%s: %+v", ev, m)
		}
	}
	if len(s.Hooks) != len(hookEvents) {
		t.Errorf("%d events", len(s.Hooks))
	}
	if v := f.SettingsFor(claude, "S1", 3, false); strings.Contains(v, "idleCompaction") {
		t.Errorf("not asked for: %s", v)
	}
	if v := f.SettingsFor(engine.Seat{Runtime: engine.RuntimeCodex}, "S1", 3, true); v != "" {
		t.Errorf("codex: %s", v)
	}
}
