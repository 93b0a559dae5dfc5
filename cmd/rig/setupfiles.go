package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// completionPath is where the completion of this user's shell belongs, "" for a
// shell that rig has none for.
func completionPath() (shell, path string) {
	switch shell = filepath.Base(os.Getenv("SHELL")); shell {
	case "bash":
		return shell, filepath.Join(xdg("XDG_DATA_HOME", ".local/share"), "bash-completion", "completions", "rig")
	case "zsh":
		return shell, filepath.Join(xdg("XDG_DATA_HOME", ".local/share"), "zsh", "site-functions", "_rig")
	case "fish":
		return shell, filepath.Join(xdg("XDG_CONFIG_HOME", ".config"), "fish", "completions", "rig.fish")
	}
	return shell, ""
}

// completionThere reports whether the completion of this shell is installed, and
// where; "" when rig has none for the shell.
func completionThere() (there bool, where string) {
	_, path := completionPath()
	return path != "" && onDisk(path), path
}

// completionItem is the completion script of this user's shell; known is false
// for a shell that rig has none for.
func completionItem(root *cobra.Command) (it setupItem, known bool, err error) {
	shell, path := completionPath()
	if path == "" {
		return setupItem{}, false, nil
	}
	var b bytes.Buffer
	err = writeCompletion(root, shell, &b)
	it = fileItem("completion", "completion of rig for "+shell, map[string][]byte{path: b.Bytes()})
	it.Path = path
	switch shell {
	case "zsh":
		it.What += "; its folder must be in fpath"
	case "bash":
		it.What += "; it is loaded by the package bash-completion"
	}
	return it, true, err
}

// manItem is the man pages, where man looks for a user's own.
func manItem(root *cobra.Command) setupItem {
	dir := filepath.Join(xdg("XDG_DATA_HOME", ".local/share"), "man", "man1")
	files := map[string][]byte{}
	for name, page := range manPages(root) {
		files[filepath.Join(dir, name)] = page
	}
	it := fileItem("man pages", "rig(1) and one for each verb; man finds them with ~/.local/bin in PATH, or with the folder in MANPATH", files)
	it.Path = filepath.Join(dir, "rig.1")
	return it
}

// fileItem is files of ours that are made anew when they are not as they should be.
func fileItem(name, what string, files map[string][]byte) setupItem {
	it := setupItem{Name: name, State: "there", What: what}
	for path, text := range files {
		if old, err := os.ReadFile(path); err != nil || !bytes.Equal(old, text) {
			it.State = "missing"
		}
	}
	it.do = func(context.Context) error {
		for path, text := range files {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // as other programs make it
				return err
			}
			if err := os.WriteFile(path, text, 0o644); err != nil { //nolint:gosec // completions and man pages are for everybody
				return err
			}
		}
		return nil
	}
	return it
}
