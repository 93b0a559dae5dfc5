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
