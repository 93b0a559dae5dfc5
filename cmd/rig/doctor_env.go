package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// mayWrite reports whether this user may write a folder. Nothing is tried.
func mayWrite(dir string) bool { return unix.Access(dir, unix.W_OK) == nil }

// lowSpace is how much room on the disk is too little, in bytes: a record that
// cannot grow refuses every change.
const lowSpace = 200 << 20

// noSpace is where it cannot grow any more.
const noSpace = 1 << 20

func spaceCheck(dir string) check {
	for !onDisk(dir) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return check{"space", "unknown", dir + ": " + err.Error(), "look at the disk"}
	}
	return roomCheck(int64(st.Bavail) * int64(st.Bsize)) //nolint:unconvert,gosec // the types differ from system to system
}

// roomCheck judges how many bytes are free.
func roomCheck(free int64) check {
	k := check{Name: "space", Status: "green", Found: fmt.Sprintf("%d MB free", free>>20)}
	switch {
	case free < noSpace:
		k.Status, k.Hint = "red", "make room elsewhere on that disk: until then nothing can be changed"
	case free < lowSpace:
		k.Status, k.Hint = "yellow", "make room: `rig gc` removes what is old"
	}
	return k
}

func onDisk(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// terminalChecks look at what the console will meet on this terminal.
func terminalChecks(ctx context.Context) []check {
	term := check{Name: "terminal", Status: "green", Found: cmp.Or(os.Getenv("TERM"), "no TERM")}
	if t := os.Getenv("TERM"); t == "" || t == "dumb" {
		term.Status, term.Hint = "yellow", "the console falls back to lines (plain mode); set TERM to what the terminal is"
	} else if c := os.Getenv("COLORTERM"); c != "" {
		term.Found += ", " + c
	}
	loc := ""
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if loc = os.Getenv(name); loc != "" {
			break
		}
	}
	locale := check{Name: "locale", Status: "green", Found: cmp.Or(loc, "none")}
	if u := strings.ToUpper(loc); !strings.Contains(u, "UTF-8") && !strings.Contains(u, "UTF8") {
		locale.Status, locale.Hint = "yellow", "export LANG=C.UTF-8, or the console draws signs that this locale does not have (rig tui --ascii does without)"
	}
	out := []check{term, locale}
	if k, ok := escapeCheck(ctx); ok {
		out = append(out, k)
	}
	return out
}

// slowEscape is the wait after Esc, in milliseconds, from which a person feels it.
const slowEscape = 100

// escapeCheck looks at the tmux that this terminal is in, if it is: its wait after
// Esc is felt in the console and in every client.
func escapeCheck(ctx context.Context) (check, bool) {
	if os.Getenv("TMUX") == "" {
		return check{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	b, err := exec.CommandContext(ctx, "tmux", "show-options", "-sv", "escape-time").Output()
	ms, perr := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || perr != nil {
		return check{}, false
	}
	k := check{Name: "escape-time", Status: "green", Found: fmt.Sprintf("%d ms in the tmux around this terminal", ms)}
	if ms > slowEscape {
		k.Status, k.Hint = "yellow", "Esc is slow here: put `set -sg escape-time 10` into ~/.tmux.conf"
	}
	return k, true
}
