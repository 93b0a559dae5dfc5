package tmuxctl

import (
	"fmt"
	"os/exec"
	"testing"

	"rig/engine"
	"rig/tmuxctl/tmuxtest"
)

// TestCreateWhileTheServerExits: a server ends with its last session, and for a moment it still answers on its socket. A session
// that is created in that moment is on the next server.
func TestCreateWhileTheServerExits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	last := tmuxtest.Holder
	for i := range 40 {
		kill := exec.Command("tmux", "-S", f.socket, "kill-session", "-t", "="+last) // the operator's own
		if err := kill.Start(); err != nil {
			t.Fatal(err)
		}
		last = fmt.Sprintf("s%d", i)
		_, err := f.Create(f.ctx, engine.SessionSpec{Name: last, Dir: f.dir, Argv: []string{"sleep", "600"}, Seat: "seat", Gen: "1"})
		_ = kill.Wait() // the server may end before it has answered
		if err != nil {
			t.Fatalf("turn %d: %v", i, err)
		}
	}
}
