package tmuxctl

import (
	"context"
	"fmt"

	"github.com/GianlucaP106/gotmux/gotmux"

	"rig/engine"
)

// This file is the only one that uses gotmux, and only for named calls on ids that
// change how a window looks. Nothing here decides: gotmux drops stderr, takes bare
// names as targets, which tmux matches by prefix, and panics when a title holds its
// separator. Whatever it does is caught and told as an error.

// cosmetic gives gotmux the socket directly: its constructor runs a command first
// and refuses a socket whose server is not up yet.
func (m *Mux) cosmetic(ctx context.Context, op, window string, words ...string) (err error) {
	if !isID(window, "@") {
		return engine.Errorf(engine.CodeInvalid, "%q is not a tmux window id", clip(window, 40)).
			WithHint("window ids look like @3; `rig ps --json` shows them").On(op, window)
	}
	if ctx.Err() != nil { // gotmux takes no context; its calls are short
		return engine.Errorf(ctxCode(ctx.Err()), "not started").WithHint("try again").On(op, window).Wrap(ctx.Err())
	}
	defer func() {
		if p := recover(); p != nil {
			err = engine.Errorf(engine.CodeInternal, "gotmux panicked: %v", p).WithHint("report this").On(op, window)
		}
	}()
	t := &gotmux.Tmux{Socket: &gotmux.Socket{Path: m.run.socket}}
	if _, err := t.Command(words...); err != nil {
		return engine.Errorf(engine.CodeTmuxProbeFailed, "the window was not changed").
			WithHint("`rig ps` shows whether it is still there").On(op, window).Wrap(err)
	}
	return nil
}

// RenameWindow gives a window a name for people to read. Nothing else depends on
// it. Window is an id such as @3.
func (m *Mux) RenameWindow(ctx context.Context, window, name string) error {
	name = engine.Sanitise(name)
	if name == "" {
		return engine.Errorf(engine.CodeInvalid, "a window name cannot be empty").
			WithHint("give a name").On("rename_window", window)
	}
	return m.cosmetic(ctx, "rename_window", window, "rename-window", "-t", window, "--", argWord(name))
}

// Layout arranges the panes of a window.
type Layout string

// The layouts that tmux knows by name. gotmux's own constant for main-vertical holds
// another one.
const (
	LayoutTiled          Layout = "tiled"
	LayoutEvenHorizontal Layout = "even-horizontal"
	LayoutEvenVertical   Layout = "even-vertical"
	LayoutMainHorizontal Layout = "main-horizontal"
	LayoutMainVertical   Layout = "main-vertical"
)

// SelectLayout arranges the panes of a window. Window is an id such as @3.
func (m *Mux) SelectLayout(ctx context.Context, window string, l Layout) error {
	switch l {
	case LayoutTiled, LayoutEvenHorizontal, LayoutEvenVertical, LayoutMainHorizontal, LayoutMainVertical:
	default:
		return engine.Errorf(engine.CodeInvalid, "%q is no layout", string(l)).
			WithHint("%s", fmt.Sprintf("use %s, %s, %s, %s or %s", LayoutTiled, LayoutEvenHorizontal, LayoutEvenVertical,
				LayoutMainHorizontal, LayoutMainVertical)).On("select_layout", window)
	}
	return m.cosmetic(ctx, "select_layout", window, "select-layout", "-t", window, string(l))
}
