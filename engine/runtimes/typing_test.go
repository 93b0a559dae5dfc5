package runtimes

import (
	"context"
	"testing"

	"rig/engine"
)

// TestOneTypesAtATime: two processes never have the right to type into one session
// together; another session's is free.
func TestOneTypesAtATime(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	one, other := NewFiles(home, "/rig", "/rig"), NewFiles(home, "/rig", "/rig")
	release, err := one.Typing(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := other.Typing(over, "s1"); engine.CodeOf(err) != engine.CodeInProgress {
		t.Errorf("while the first types: %v", err)
	}
	if free, err := other.Typing(t.Context(), "s2"); err != nil {
		t.Errorf("another session: %v", err)
	} else {
		free()
	}
	got := make(chan error, 1)
	go func() {
		next, err := other.Typing(t.Context(), "s1")
		if err == nil {
			next()
		}
		got <- err
	}()
	release()
	if err := <-got; err != nil {
		t.Errorf("after the first: %v", err)
	}
	if _, err := one.Typing(t.Context(), "../s1"); engine.CodeOf(err) != engine.CodeInvalid {
		t.Errorf("an id that is a path: %v", err)
	}
}
