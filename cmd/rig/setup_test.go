package main

import (
	"strings"
	"testing"
)

// TestAnInstallerThatIsMissingIsSaid: a command that cannot run on this machine is not given as if it could.
func TestAnInstallerThatIsMissingIsSaid(t *testing.T) {
	t.Parallel()
	k := check{Name: "claude", Status: "yellow", Found: "claude was not found"}
	it := program("claude", k, []string{"no-such-installer", "install", "claude"}, nil)
	if it.State != "yours" || !strings.Contains(it.What, "claude was not found; the command needs no-such-installer, which is not here either") {
		t.Errorf("%+v", it)
	}
	if it := program("claude", k, []string{"sh", "-c", "true"}, nil); it.What != k.Found {
		t.Errorf("%+v", it)
	}
}
