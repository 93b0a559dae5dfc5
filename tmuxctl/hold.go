package tmuxctl

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// hold ties the program of a control session to its client: the program reads a
// named pipe whose only writer the client process is, though it never writes.
// However the client ends, the system then closes the pipe, the program reads the
// end of its input and exits, and the session goes with it.
//
// The order matters. Were the session gone before the client, the server would keep
// a client without a session for a moment, which 3.3a does not survive in every case.
type hold struct {
	path string
	file *os.File // for the client to inherit
}

// holdProgram opens the pipe, removes its name and waits for the end. The first open
// never blocks, and makes the second one not block either when the client is gone
// already; with it closed again, the client is the only writer.
const holdProgram = `exec 3<>"$1" && exec 4<"$1" && exec 3>&- && rm -f "$1" && exec cat <&4`

// newHold makes the pipe; name makes it unique.
func newHold(name string) (*hold, error) {
	path := filepath.Join(os.TempDir(), name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		return nil, &os.PathError{Op: "mkfifo", Path: path, Err: err}
	}
	// Read and write: opening for writing alone waits for the reader, which the
	// client has yet to make.
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		_ = os.Remove(path)
		return nil, err
	}
	return &hold{path: path, file: f}, nil
}

// argv is the program that the session runs.
func (h *hold) argv() []string { return []string{"sh", "-c", holdProgram, "sh", h.path} }

// remove deletes the name, in case the program never came to it.
func (h *hold) remove() { _ = os.Remove(h.path) }

// sweep removes control sessions without a client: those of a build or a machine on
// which the hold did not work.
func (c *control) sweep(ctx context.Context) {
	answers, err := c.do(ctx, []string{"list-sessions -F '#{session_attached} #{session_name}'"})
	if err != nil || answers[0].err != nil {
		return
	}
	for _, line := range strings.Split(answers[0].out, "\n") {
		name, ok := strings.CutPrefix(line, "0 "+controlPrefix)
		if !ok {
			continue
		}
		if t, err := Session(controlPrefix + name); err == nil {
			_, _ = c.do(ctx, []string{"kill-session -t '" + t.String() + "'"})
		}
	}
}
