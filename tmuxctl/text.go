package tmuxctl

import (
	"context"
	"errors"
	"regexp"
	"sync"
	"time"

	"rig/engine"
)

// SubmitPause is how long Deliver waits between the text and Enter when the caller
// gives no time. Clients take an Enter in the same burst for a line break; 300 ms
// was enough for every one that was observed.
const SubmitPause = 300 * time.Millisecond

// maxText bounds one delivery, in bytes.
const maxText = 1 << 20

// cleanupTime bounds the removal of a paste buffer after a failure.
const cleanupTime = 5 * time.Second

// Paste delivers text as one bracketed paste and does not submit it. It goes
// through a buffer of its own name, so parallel deliveries cannot cross and the
// operator's buffers stay; the buffer is gone afterwards, also on failure. tmux
// sends the line breaks inside a paste as CR, as a terminal does; a program that
// never switched bracketed paste on takes each of them for Enter. A dead pane is
// refused (CodePaneDead): before 3.4 pasting into one ends the whole server.
func (m *Mux) Paste(ctx context.Context, g engine.Guard, text string) error {
	defer m.locks.lock(string(g.Pane))()
	return m.paste(ctx, g, text)
}

func (m *Mux) paste(ctx context.Context, g engine.Guard, text string) error {
	const op = "paste"
	clean := engine.Sanitise(text)
	switch {
	case clean == "":
		return engine.Errorf(engine.CodeInvalid, "there is no text to deliver").
			WithHint("give some text; control characters are dropped").On(op, string(g.Pane))
	case len(clean) > maxText:
		return engine.Errorf(engine.CodeInvalid, "the text has %d bytes; %d is the most", len(clean), maxText).
			WithHint("put it in a file and deliver its path").On(op, string(g.Pane))
	}
	buffer := "rig-" + newNonce()
	pasteIt, err := commandLine("paste-buffer", "-d", "-p", "-b", buffer, "-t", string(g.Pane))
	if err != nil {
		return err
	}
	drop, err := commandLine("delete-buffer", "-b", buffer)
	if err != nil {
		return err
	}
	err = m.guarded(ctx, op, check{guard: g, input: true}, action{
		do: pasteIt, otherwise: drop,
		before: []string{"load-buffer", "-b", buffer, "-"}, stdin: []byte(clean),
	})
	if err != nil && leavesBuffer(err) {
		m.dropBuffer(ctx, buffer)
	}
	return err
}

// leavesBuffer tells whether the run may have ended between load and paste. A
// refusing guard has already deleted the buffer.
func leavesBuffer(err error) bool {
	switch engine.CodeOf(err) {
	case engine.CodePaneMismatch, engine.CodePaneDead, engine.CodeInvalid:
		return false
	}
	return true
}

// dropBuffer deletes a buffer of ours, on a context that the caller's end does not
// reach. It fails when there is no such buffer, which is what is wanted.
func (m *Mux) dropBuffer(ctx context.Context, buffer string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	_, _ = m.run.run(ctx, runSpec{words: []string{"delete-buffer", "-b", buffer}})
}

// Deliver pastes text, waits for pause (SubmitPause when 0) and presses Enter, and
// keeps every other delivery to that pane out meanwhile. Enter is guarded again:
// when the pane changed during the pause the text stays unsent and the error says
// so. A nil error means that tmux passed both on, not that the program took them.
func (m *Mux) Deliver(ctx context.Context, g engine.Guard, text string, pause time.Duration) error {
	defer m.locks.lock(string(g.Pane))()
	if err := m.paste(ctx, g, text); err != nil {
		return err
	}
	if pause <= 0 {
		pause = SubmitPause
	}
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return engine.Errorf(ctxCode(ctx.Err()), "the text was pasted but not submitted").
			WithHint("press Enter in the pane, or clear its input").On("submit", string(g.Pane)).Wrap(ctx.Err())
	case <-t.C:
	}
	err := m.keys(ctx, g, "Enter")
	var e *engine.Error
	if errors.As(err, &e) {
		return e.WithHint("the text was pasted but not submitted: look at the pane before sending again")
	}
	return err
}

// keyRE is what tmux takes as the name of a key here: an optional run of modifiers,
// then a letter or digit with a modifier, or a named key.
var keyRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(?:[CMS]-)+[a-z0-9]|(?:[CMS]-)*(?:Enter|Escape|Tab|BTab|Space|BSpace|Up|Down|Left|Right|Home|End|PageUp|PageDown|PPage|NPage|IC|DC|F[1-9]|F1[0-2]))$`)
})

// Keys presses named keys in a guarded pane: "Enter", "Escape", "C-c", "Up" and the
// like. Text is refused; it goes through Paste. A pane that an operator scrolls is
// taken out of its copy mode first, because the mode would swallow the keys.
func (m *Mux) Keys(ctx context.Context, g engine.Guard, keys ...string) error {
	defer m.locks.lock(string(g.Pane))()
	return m.keys(ctx, g, keys...)
}

func (m *Mux) keys(ctx context.Context, g engine.Guard, keys ...string) error {
	const op = "keys"
	if len(keys) == 0 || len(keys) > 64 {
		return engine.Errorf(engine.CodeInvalid, "%d keys at once", len(keys)).
			WithHint("press 1 to 64 keys").On(op, string(g.Pane))
	}
	for _, k := range keys {
		if !keyRE().MatchString(k) {
			return engine.Errorf(engine.CodeInvalid, "%q is not the name of a key", clip(k, 40)).
				WithHint("use Enter, Escape, Tab, Up, C-c, M-x, F1 …; text is pasted").On(op, string(g.Pane))
		}
	}
	leave, err := commandLine("if-shell", "-F", "-t", string(g.Pane), "#{pane_in_mode}", "copy-mode -q -t "+string(g.Pane))
	if err != nil {
		return err
	}
	press, err := commandLine(append([]string{"send-keys", "-t", string(g.Pane)}, keys...)...)
	if err != nil {
		return err
	}
	return m.guarded(ctx, op, check{guard: g, input: true}, action{do: leave + " ; " + press})
}
