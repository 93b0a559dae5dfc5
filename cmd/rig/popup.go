package main

import (
	"context"
	"os"
	"os/exec"
	"strings"

	"rig/engine"
)

// popupEnv names, in a console that is a popup, the client that it covers; "any"
// when nobody said which.
const popupEnv = "RIG_POPUP_CLIENT"

// inPopup reports whether this console was opened as a popup.
func inPopup() bool { return os.Getenv(popupEnv) != "" }

// popupSelf opens the console in a popup over a client of the tmux server that
// this process runs in, and waits until it is closed.
func (c *cli) popupSelf(ctx context.Context, f tuiFlags) error {
	socket, _, _ := strings.Cut(os.Getenv("TMUX"), ",")
	if socket == "" {
		return engine.Errorf(engine.CodeInvalid, "a popup needs tmux around it, and this is not inside tmux").On("tui", "popup").
			WithHint("rig tui, or in tmux.conf: bind-key R run-shell -b \"rig tui --popup --client '#{client_name}'\"")
	}
	self, err := os.Executable()
	if err != nil {
		return engine.Errorf(engine.CodeInternal, "this program's own path is not known").Wrap(err).WithHint("start rig by its path")
	}
	argv := []string{"tmux", "-u", "-S", socket, "-N", "display-popup", "-E", "-w", "95%", "-h", "95%"}
	client := f.client
	switch {
	case client != "":
		argv = append(argv, "-c", client)
	default:
		client = "any"
		if pane := os.Getenv("TMUX_PANE"); pane != "" {
			argv = append(argv, "-t", pane)
		}
	}
	argv = append(argv, "--", "env", popupEnv+"="+client)
	argv = append(argv, settingEnv("RIG_TUI_MARKER")...) // a popup has the server's environment
	return runPopup(ctx, append(append(argv, self, "tui"), f.words()...))
}

// runPopup runs a display-popup until the popup is closed. tmux is found by the
// variables of this process, so they stay. The status is that of what ran inside
// and says nothing about the popup.
func runPopup(ctx context.Context, argv []string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var errs strings.Builder
	cmd.Stderr = &errs
	err := cmd.Run()
	if text := strings.TrimSpace(errs.String()); err != nil && text != "" {
		return engine.Errorf(engine.CodeUnavailable, "tmux opens no popup: %s", plain(text)).Wrap(err).
			WithHint("tmux 3.2 or newer draws popups, over a client that is attached")
	}
	return nil
}

// words are the flags again, for the console inside the popup.
func (f tuiFlags) words() []string {
	var out []string
	for name, on := range map[string]bool{"--read-only": f.readOnly, "--no-mouse": f.noMouse, "--ascii": f.ascii, "--bell": f.bell, "--notify": f.notify} {
		if on {
			out = append(out, name)
		}
	}
	if f.theme != "" {
		out = append(out, "--theme", f.theme)
	}
	return out
}
