package engine

import (
	"context"
	"time"
)

// typingWait is how long a sender waits for its turn at a seat. A turn takes some tenths
// of a second, and some seconds at most.
const typingWait = 30 * time.Second

// turn waits until nobody else types into an occupant, and keeps everybody from it until
// release is called: other processes too. Between a paste and its Enter the text is a draft
// like any other, to which the next sender's would be appended, and submitted with it; and
// while the proof is waited for, the next sender's prompt would be taken for it.
func (e *Engine) turn(ctx context.Context, t target, verb string) (release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, typingWait)
	defer cancel()
	release, err = e.d.Occupants.Typing(ctx, t.session.ID)
	if CodeOf(err) == CodeInProgress {
		return nil, Errorf(CodeInProgress, "others write to it all the time").On(verb, t.address).Wrap(err).
			WithHint("nothing was typed; try again in a moment")
	}
	return release, err
}

// typist is what a runtime offers whose client makes something of a text that is typed,
// other than a message: Typed gives what must be typed to have it taken as it stands.
type typist interface {
	Typed(text string) string
}

// paste puts a text into a client's input box, so that the next Enter submits it.
func (e *Engine) paste(ctx context.Context, t target, text string) error {
	text = Sanitise(text) // a control in front of it would hide how it begins
	if r, ok := t.rt.(typist); ok {
		text = r.Typed(text)
	}
	return e.d.Mux.Paste(ctx, t.guard, text)
}

// boxTaken waits until a text that was submitted no longer stands in the input box, for a
// moment: until then the next sender would read it as a draft.
func (e *Engine) boxTaken(ctx context.Context, t target, text string) {
	if _, ok := t.rt.(draftReader); !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, enterAgain)
	defer cancel()
	for {
		draft, known := boxOf(t.rt, e.screen(ctx, t.pane.ID))
		if known && !standsFor(draft, text) || pause(ctx, submitLook) != nil {
			return
		}
	}
}
