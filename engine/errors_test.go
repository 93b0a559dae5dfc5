package engine_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"rig/engine"
)

// TestSystemErrorsSayWhatToDo: an error of the system that reaches the edge as it is has a code that is no fault of the program,
// and a hint.
func TestSystemErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	at := func(err error) error {
		return fmt.Errorf("keep it: %w", &os.PathError{Op: "write", Path: "/x", Err: err})
	}
	for _, c := range []struct {
		err  error
		want engine.Code
	}{
		{at(syscall.ENOSPC), engine.CodeNoSpace},
		{at(syscall.EDQUOT), engine.CodeNoSpace},
		{at(syscall.EMFILE), engine.CodeUnavailable},
		{at(syscall.EAGAIN), engine.CodeUnavailable},
		{at(fs.ErrPermission), engine.CodeUnavailable},
		{at(syscall.EROFS), engine.CodeUnavailable},
		{at(syscall.EFBIG), engine.CodeUnavailable},
		{at(syscall.ENOTDIR), engine.CodeUnavailable},
		{at(syscall.EIO), engine.CodeUnavailable},
		{fmt.Errorf("look: %w", context.Canceled), engine.CodeCancelled},
		{fmt.Errorf("look: %w", context.DeadlineExceeded), engine.CodeUnavailable},
		{fmt.Errorf("who knows"), engine.CodeInternal},
		{fmt.Errorf("above: %w", engine.Errorf(engine.CodeConflict, "x").WithHint("y").Wrap(syscall.ENOSPC)), engine.CodeConflict},
	} {
		e := engine.AsError(c.err)
		if e.Code != c.want || e.Hint == "" || engine.CodeOf(c.err) != c.want {
			t.Errorf("%v: %s, hint %q", c.err, e.Code, e.Hint)
		}
		if b := engine.BlockerFrom(c.err); b.Code != c.want || b.Hint == "" || b.Message == "" {
			t.Errorf("%v as a blocker: %+v", c.err, b)
		}
	}
	if engine.CodeOf(nil) != "" {
		t.Error("no error has a code")
	}
}
