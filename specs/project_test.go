package specs

import (
	"os"
	"path/filepath"
	"strings"
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
