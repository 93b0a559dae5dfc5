package runtimes

import (
	"path/filepath"
	"syscall"
	"testing"

	"rig/engine"
)

// withoutFiles calls fn while this process may not open a single file.
func withoutFiles(t *testing.T, fn func()) {
	t.Helper()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	none := was
	none.Cur = 0
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	fn()
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
}

// TestChildrenThatCannotBeReadAreNotNone: a freeze or a kill that took a tree for a single process would leave the rest running.
func TestChildrenThatCannotBeReadAreNotNone(t *testing.T) {
	var kids []int
	var err error
	withoutFiles(t, func() { kids, err = childrenOf(1) })
	if err == nil {
		t.Errorf("no children, without a look: %v", kids)
	}
	if _, err := childrenOf(1 << 22); err != nil { // beyond any pid: it has ended
		t.Errorf("a process that is gone: %v", err)
	}
}

// TestAConversationThatMayBeOpenIsNotCalledFree: where it cannot be told whether a client has a conversation open, nothing is started on it.
func TestAConversationThatMayBeOpenIsNotCalledFree(t *testing.T) {
	home := t.TempDir()
	h := engine.Homes{Home: home, ClaudeDir: filepath.Join(home, ".claude")}
	write(t, filepath.Join(h.ClaudeDir, "projects", "-home-op-project", id1+".jsonl"), userRecord(id1, "/home/op/project"))
	rt := NewClaude(Config{})
	if st := rt.Conversation(t.Context(), id1, "/home/op/project", h); st.Exists != engine.Present {
		t.Fatalf("%+v", st)
	}
	write(t, filepath.Join(h.ClaudeDir, "sessions"), "a file where the clients' registry was")
	if st := rt.Conversation(t.Context(), id1, "/home/op/project", h); st.Exists != engine.Unknown || st.Why == "" {
		t.Errorf("%+v", st)
	}
}
