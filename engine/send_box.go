package engine

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"
)

// draftReader is what a runtime offers when it can read the input box of its
// client from a screen: the text that stands in it, and whether a box is shown.
type draftReader interface {
	InputBox(screen Screen) (text string, shown bool)
}

// hasBox reports whether a runtime's client has an input box to be read.
func hasBox(rt Runtime) bool {
	_, ok := rt.(draftReader)
	return ok
}

// boxOf reads a client's input box: what stands in it, and whether that is known. The box
// is not on the screen where its upper edge is out of sight, where something else of the
// client stands in its place, and where there is no screen; every client that is at rest
// or at work shows it (seen in each state), so nothing is typed blindly into one that
// does not. A shell has no box, and nothing that stands in one.
func boxOf(rt Runtime, screen Screen) (draft string, known bool) {
	r, ok := rt.(draftReader)
	if !ok {
		return "", true
	}
	draft, known = r.InputBox(screen)
	return strings.TrimSpace(draft), known
}

// boxScreen gives a screen that shows the client's input box, if there is one within a
// moment: the client may be drawing it at the first look.
func (e *Engine) boxScreen(ctx context.Context, t target, screen Screen) Screen {
	for range boxLooks {
		if _, known := boxOf(t.rt, screen); known || pause(ctx, confirmEvery) != nil {
			break
		}
		screen = e.screen(ctx, t.pane.ID)
	}
	return screen
}

// boxLooks is how often is looked again for an input box.
const boxLooks = 4

// mayAppend refuses to type where somebody's draft stands, or where nobody can tell: the
// text would be appended to it, and submitted with it.
func (t target) mayAppend(verb string, screen Screen) error {
	switch draft, known := boxOf(t.rt, screen); {
	case !known && screen.Lines == nil:
		return Errorf(CodeDraftUnknown, "its screen cannot be read, so nobody can tell whether a draft stands in its input box").On(verb, t.address).
			WithHint("`rig doctor` says what is wrong with tmux; look at it: rig attach %s", t.address)
	case !known:
		return Errorf(CodeDraftUnknown, "its input box cannot be read, so nobody can tell whether a draft stands in it").On(verb, t.address).
			WithHint("make the pane larger, or look at it: rig attach %s", t.address)
	case draft != "":
		return Errorf(CodeDraftPresent, "somebody's draft stands in its input box").On(verb, t.address).
			WithHint("send or clear the draft in the pane first: rig attach %s", t.address).With("draft_characters", utf8.RuneCountInString(draft))
	}
	return nil
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
		if draft, _ := boxOf(t.rt, e.screen(rest, t.pane.ID)); draft != "" {
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
	if _, ok := t.rt.(draftReader); ok {
		return boxOf(t.rt, screen)
	}
	if echoed(screen.Lines, text) {
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
