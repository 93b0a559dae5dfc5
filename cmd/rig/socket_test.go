package main

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"rig/engine"
)

func TestSocketsOfOthersAreRefused(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("/tmp", "sk") // short: a socket path has about a hundred bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	mine := filepath.Join(dir, "s")
	l, err := net.Listen("unix", mine) //nolint:noctx // it only has to be there
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(mine, link); err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(dir, "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	me := os.Geteuid()
	for name, c := range map[string]struct {
		path string
		uid  int
		want engine.Code
	}{
		"ours":                         {mine, me, ""},
		"a link to ours":               {link, me, ""},
		"none yet":                     {filepath.Join(dir, "new"), me, ""},
		"no folder yet":                {filepath.Join(dir, "new", "s"), me, ""},
		"in a sticky folder":           {"/tmp/no-such-socket", me, ""},
		"of another user":              {mine, me + 1, codeSocketForeign},
		"a link to another user's":     {link, me + 1, codeSocketForeign},
		"in a folder that all may use": {filepath.Join(open, "s"), me, codeSocketForeign},
		"a file":                       {file, me, engine.CodeInvalid},
		"a folder":                     {open, me, engine.CodeInvalid},
	} {
		if err := checkSocket(c.path, c.uid); engine.CodeOf(err) != c.want {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestHomeIsForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "home")
	if err := ownHome(dir, os.Geteuid()); err != nil || exists(dir) {
		t.Errorf("a home that is not there: %v", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o775); err != nil {
		t.Fatal(err)
	}
	if err := ownHome(dir, os.Geteuid()+1); engine.CodeOf(err) != codeHomeForeign {
		t.Errorf("another user's: %v", err)
	}
	if err := ownHome(dir, os.Geteuid()); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ownHome(file, os.Geteuid()); engine.CodeOf(err) != engine.CodeInvalid {
		t.Errorf("a file: %v", err)
	}
}
