package engine

import (
	"context"
	"strings"
	"time"
)

// draftReader is what a runtime offers when it can read the input box of its
// client from a screen: the text that stands in it, and whether a box is shown.
type draftReader interface {
	InputBox(screen []string) (text string, shown bool)
}

// draftIn gives the text that stands in a client's input box; "" also where the
// runtime has no box that could be read.
func draftIn(rt Runtime, screen []string) string {
	if r, ok := rt.(draftReader); ok {
		if draft, shown := r.InputBox(screen); shown {
			return strings.TrimSpace(draft)
		}
	}
	return ""
}

// settled waits until a pasted text stands in the client's input box: from then on
// Enter submits it. Behind text that the client has not taken in yet Enter would
// be part of it, so a box that cannot be read gets the whole pause.
func (e *Engine) settled(ctx context.Context, t target) error {
	limit := e.d.Config.SubmitPause
	if _, ok := t.rt.(draftReader); !ok {
		return pause(ctx, limit)
	}
	rest, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for rest.Err() == nil {
		if draftIn(t.rt, e.screen(rest, t.pane.ID)) != "" {
			return nil
		}
		_ = pause(rest, submitLook) // its end is the loop's
	}
	return ctx.Err()
}

// submitLook is the time between looks for a pasted text.
const submitLook = 10 * time.Millisecond

// leftInBox gives what stands in the input box after a text was typed, and whether that
// is known. Where there is no box to read the pane itself says whether the text is there.
func (e *Engine) leftInBox(ctx context.Context, t target, text string) (left string, known bool) {
	screen := e.screen(ctx, t.pane.ID)
	if r, ok := t.rt.(draftReader); ok {
		left, known = r.InputBox(screen)
		return strings.TrimSpace(left), known
	}
	if echoed(screen, text) {
		return text, true
	}
	return "", false
}

// standsFor reports whether what an input box shows is a text that was pasted, or a
// part of it: the client breaks lines, scrolls, or draws a mark in place of a long one.
func standsFor(draft, text string) bool {
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
	shown := squeeze(draft)
	return shown != "" && (strings.Contains(squeeze(text), shown) || strings.HasPrefix(shown, "[Pasted"))
}
