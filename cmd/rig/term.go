package main

import (
	"os"
	"os/exec"

	"github.com/charmbracelet/x/term"
)

// isTerminal reports whether a file is a terminal.
func isTerminal(f *os.File) bool { return term.IsTerminal(f.Fd()) }

// terminalInput is the terminal as a screen reads it. gone is called when it
// cannot be read any more: its window was closed. A signal tells of that only
// where whoever started us passes it on, which make does not.
type terminalInput struct {
	*os.File
	gone func()
}

// Read reads the terminal.
func (t terminalInput) Read(b []byte) (int, error) {
	n, err := t.File.Read(b)
	if err != nil {
		t.gone()
	}
	return n, err
}

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
