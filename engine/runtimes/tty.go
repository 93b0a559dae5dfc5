package runtimes

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminal is the pane's terminal on standard input, with the modes it had when
// we began.
type terminal struct {
	ok    bool
	modes *unix.Termios
}

// openTerminal looks at standard input; what is no terminal gives a value whose
// methods do nothing.
func openTerminal() terminal {
	modes, err := unix.IoctlGetTermios(0, ioctlGetModes)
	if err != nil {
		return terminal{}
	}
	return terminal{ok: true, modes: modes}
}

// controls reports whether it is the terminal of our session, in which groups can be
// put in front.
func (t terminal) controls() bool {
	if !t.ok {
		return false
	}
	_, err := unix.IoctlGetInt(0, unix.TIOCGPGRP)
	return err == nil
}

// giveTo puts a process group in front.
func (t terminal) giveTo(group int) {
	if t.ok {
		_ = unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, group) // the group may be gone already
	}
}

// resetScreen undoes what a client that died may have left switched on: mouse
// and focus reports, bracketed paste, extended keys, the alternate screen, a
// hidden cursor, colours.
const resetScreen = "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[<u\x1b[>4m" +
	"\x1b[?1l\x1b>\x1b[?1049l\x1b[?25h\x1b[0m"

// takeBack puts us in front again and restores the modes. After a death by
// signal the screen is reset too; a client that ended by itself has done that.
func (t terminal) takeBack(died bool) {
	if !t.ok {
		return
	}
	t.giveTo(unix.Getpgrp())
	_ = unix.IoctlSetTermios(0, ioctlSetModes, t.modes) // a pane that just went away needs none
	if died {
		_, _ = os.Stdout.WriteString(resetScreen)
	}
}
