package specs

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rig/engine"
)

func TestProjectFiles(t *testing.T) {
	for name, tt := range map[string]struct {
		text, want string
	}{
		"whole":       {"id: shop\nintent: Sell.\nrigs: [shop, qa]\ncontext:\n  - docs/a.md\n  - {path: docs/b.md, purpose: how}\n", ""},
		"only an id":  {"id: shop\n", ""},
		"no id":       {"intent: Sell.\n", "no usable id"},
		"empty":       {"", "EOF"},
		"unknown key": {"id: shop\nrig: x\n", "rig"},
		"outside":     {"id: shop\ncontext: [../secret]\n", "no path inside"},
		"absolute":    {"id: shop\ncontext: [/etc/passwd]\n", "no path inside"},
		"a list":      {"- id\n", "error"},
	} {
		root := t.TempDir()
		if err := os.WriteFile(filepath.Join(root, ProjectFile), []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, found, err := Project(root)
		if tt.want == "" {
			if err != nil || !found || p.ID != "shop" || p.Root != root {
				t.Errorf("%s: %+v %v %v", name, p, found, err)
			}
			continue
		}
		if engine.CodeOf(err) != engine.CodeInvalid || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, found, err := Project(t.TempDir()); found || err != nil {
		t.Errorf("no file: %v %v", found, err)
	}
}

// TestAProjectFileThatIsNone: a pipe would wait for a writer for ever, and what a
// second document declares would be dropped without a word.
func TestAProjectFileThatIsNone(t *testing.T) {
	pipe, two := t.TempDir(), t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(pipe, ProjectFile), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(two, ProjectFile), []byte("id: a\n---\nid: b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{pipe, two} {
		if _, found, err := Project(dir); found || engine.CodeOf(err) != engine.CodeInvalid {
			t.Errorf("%s: %v %v", dir, found, err)
		}
	}
}
