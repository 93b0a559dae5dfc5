package engine

import (
	"context"
	"os"
	"time"
)

const (
	writtenWait  = time.Second            // for a client to write what it has reported
	writtenFresh = 2 * time.Second        // after which a report says nothing of what is still to be written
	stopAhead    = 150 * time.Millisecond // by which the end of a turn may be reported after its last line was written
)

// awaitWritten waits until the conversation of an occupant, as find names its file, has
// been written since its client last reported a prompt or the end of a turn, and says
// whether it had to. A client reports before it writes (seen: Claude Code, by some
// hundredths of a second), and a packet that is made in between lacks the last turn. A
// client that does not write in time is not waited for any longer.
func (e *Engine) awaitWritten(ctx context.Context, session Session, find func() string) (waited bool) {
	sig, err := e.d.Occupants.Signals(session.ID)
	if err != nil {
		return false
	}
	var need time.Time
	for _, h := range sig.Hooks {
		switch h.Event {
		case "UserPromptSubmit":
			need = h.At
		case "Stop":
			need = h.At.Add(-stopAhead)
		}
	}
	began := e.d.Clock.Now()
	if need.IsZero() || Passed(need, began, writtenFresh) {
		return false
	}
	for {
		info, err := os.Stat(find())
		if err == nil && !info.ModTime().Before(need) || Passed(began, e.d.Clock.Now(), writtenWait) || pause(ctx, 20*time.Millisecond) != nil {
			return waited
		}
		waited = true
	}
}
