package main

import (
	"os"
	"os/exec"

	"github.com/charmbracelet/x/term"
)

// isTerminal reports whether a file is a terminal.
func isTerminal(f *os.File) bool { return term.IsTerminal(f.Fd()) }

// lookPath finds a program as a shell would.
func lookPath(name string) (string, error) { return exec.LookPath(name) }

// terminalWidth gives the width of a terminal in cells, 80 when it does not say.
func terminalWidth(f *os.File) int {
	w, _, err := term.GetSize(f.Fd())
	if err != nil || w <= 0 {
		return 80
	}
	return w
}
