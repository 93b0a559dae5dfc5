package engine

import (
	"context"
	"time"
)

const (
	writtenWait  = time.Second     // for a client to write what it has reported
	writtenFresh = 2 * time.Second // after which a report says nothing of what is still to be written
)

// turnReader is what a runtime offers whose client writes its turns: since is when the
// latest one on file came to its state, ended whether that is an end. A conversation
// without a file has neither.
type turnReader interface {
	LatestTurn(ctx context.Context, s Session, cwd string) (since time.Time, ended bool)
}

// awaitWritten waits until the conversation of an occupant holds what its client last
// reported, a prompt or the end of a turn, and says whether it had to. Claude Code
// collects its lines for a tenth of a second (seen: lines of the session before the
// prompt, and the prompt before the answer), so a packet that is made in between lacks
// the last turn; the file's time says nothing. A client that does not write in time is
// not waited for any longer. What stops or ends a client calls it first: the lines that
// it holds back would be lost.
func (e *Engine) awaitWritten(ctx context.Context, seat Seat, session Session) (waited bool) {
	rt, ok := e.d.Runtimes[seat.Runtime].(turnReader)
	if !ok {
		return false
	}
	sig, err := e.d.Occupants.Signals(session.ID)
	if err != nil {
		return false
	}
	// The turn on file must be newer than after; a prompt is dated a little before its report.
	var reported, after, before time.Time
	ended := false
	for _, h := range sig.Hooks {
		switch h.Event {
		case "UserPromptSubmit":
			reported, after, ended = h.At, before, false
		case "Stop":
			reported, after, ended = h.At, before, true
		case "SessionStart":
		default:
			continue
		}
		before = h.At
	}
	began := e.d.Clock.Now()
	if reported.IsZero() || Passed(reported, began, writtenFresh) {
		return false
	}
	for {
		since, done := rt.LatestTurn(ctx, session, seat.Cwd)
		if since.After(after) && (done || !ended) || Passed(began, e.d.Clock.Now(), writtenWait) || pause(ctx, 20*time.Millisecond) != nil {
			return waited
		}
		waited = true
	}
}
