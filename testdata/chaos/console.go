//go:build linux

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// operators is the socket of the tmux server in which the two consoles run: that of two people's terminals.
func (w *world) operators() string { return filepath.Join(w.dir, "o") }

// typeName finds what the wizard wants typed before it applies a plan that cannot be undone.
var typeName = regexp.MustCompile(`type (\S+): `)

// console is a person at one of the two consoles: looks around, hands seats over with the wizard, and starts the console again
// whenever it was killed.
func (w *world) console(ctx context.Context, number int, stop <-chan struct{}) {
	name := fmt.Sprintf("person%d", number)
	for ctx.Err() == nil && !closed(stop) {
		if out, err := w.tmux(ctx, w.operators(), "list-panes", "-t", "="+name, "-F", "#{pane_dead}"); err != nil || out != "0" {
			_, _ = w.tmux(ctx, w.operators(), "kill-session", "-t", "="+name) // it may not be there
			args := []string{"new-session", "-d", "-s", name, "-x", "120", "-y", "40", "env"}
			args = append(append(args, w.env...), w.rig, "tui")
			if out, err := w.tmux(ctx, w.operators(), args...); err != nil {
				w.wrong("a console cannot be started: %s", out)
				return
			}
			w.sees(ctx, name, "dev", 5*time.Second)
		}
		for range w.pick(8) {
			w.press(ctx, name, []string{"j", "k", "j", "w", "e", "Escape", "8", "1"}[w.pick(8)])
		}
		if w.pick(2) == 0 {
			w.wizard(ctx, name)
		}
		wait(ctx, time.Duration(200+w.pick(600))*time.Millisecond)
	}
}

// press types named keys.
func (w *world) press(ctx context.Context, name string, keys ...string) {
	_, _ = w.tmux(ctx, w.operators(), append([]string{"send-keys", "-t", "=" + name + ":"}, keys...)...) // it may just have been killed
}

// screen is what the console shows.
func (w *world) screen(ctx context.Context, name string) string {
	out, err := w.tmux(ctx, w.operators(), "capture-pane", "-p", "-t", "="+name+":")
	if err != nil {
		return ""
	}
	return out
}

// sees waits a while for a text and gives the screen, or "".
func (w *world) sees(ctx context.Context, name, text string, limit time.Duration) string {
	for end := time.Now().Add(limit); time.Now().Before(end) && ctx.Err() == nil; wait(ctx, 50*time.Millisecond) {
		if s := w.screen(ctx, name); strings.Contains(s, text) {
			return s
		}
	}
	return ""
}

// wizard hands the seat under the cursor over, as far as the console lets us.
func (w *world) wizard(ctx context.Context, name string) {
	defer w.press(ctx, name, "Escape", "Escape", "Escape", "1")
	w.press(ctx, name, "Escape", "Escape", "1")
	w.press(ctx, name, "H")
	if w.sees(ctx, name, "Reason", 2*time.Second) == "" {
		return
	}
	w.tried.Add(1)
	w.press(ctx, name, "Tab")
	w.press(ctx, name, "c", "h", "a", "o", "s")
	w.press(ctx, name, "Enter")
	if w.sees(ctx, name, "nothing below can be undone", 3*time.Second) == "" {
		return
	}
	w.press(ctx, name, "a")
	m := typeName.FindStringSubmatch(w.sees(ctx, name, "type ", 2*time.Second))
	if m == nil {
		return
	}
	_, _ = w.tmux(ctx, w.operators(), "send-keys", "-t", "="+name+":", "-l", "--", m[1]) // it may just have been killed
	w.press(ctx, name, "Enter")
	w.byConsole.Add(1)
	wait(ctx, time.Duration(w.pick(2500))*time.Millisecond)
}
