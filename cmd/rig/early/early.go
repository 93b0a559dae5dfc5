// Package early runs before the packages that look at the environment while they
// are initialised. Lip Gloss finds out there what the terminal can show, and
// inside tmux it starts `tmux info` for it and waits: a process before each verb,
// hook and pane, and no verb at all while that server hangs. So TMUX is hidden
// until the program itself begins.
//
// The order is the language's own: packages are initialised in the order of their
// import paths as soon as what they import is. This one imports syscall alone,
// and os, which Lip Gloss needs, waits for time, which comes after rig.
package early

import "syscall"

// hidden is the value of TMUX and whether there was one.
var hidden, was = hide()

func hide() (value string, ok bool) {
	if value, ok = syscall.Getenv("TMUX"); ok {
		_ = syscall.Unsetenv("TMUX") // a variable that was there can be taken away
	}
	return value, ok
}

// GiveBack puts the environment back as it was.
func GiveBack() {
	if was {
		_ = syscall.Setenv("TMUX", hidden)
	}
}
