package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"rig/engine"
	"rig/engine/runtimes"
)

// doctor looks at everything the product needs and says what it found. It
// changes nothing but a file that it removes again.
func doctor(ctx context.Context) []check {
	out := []check{tmuxCheck(ctx)}
	for _, cl := range []struct{ name, env string }{{"claude", "RIG_CLAUDE_COMMAND"}, {"codex", "RIG_CODEX_COMMAND"}} {
		out = append(out, clientCheck(ctx, cl.name, cl.env))
	}
	p, err := findPaths()
	if err != nil {
		return append(out, check{"home", "red", err.Error(), "set RIG_HOME"})
	}
	if err := homeWritable(p.home); err != nil {
		out = append(out, check{"home", "red", p.home + ": " + err.Error(), "set RIG_HOME to a folder that you may write"})
	} else {
		out = append(out, check{Name: "home", Status: "green", Found: p.home})
	}
	return append(out, recordChecks(ctx)...)
}

func tmuxCheck(ctx context.Context) check {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	b, err := exec.CommandContext(ctx, "tmux", "-V").Output()
	if err != nil {
		return check{"tmux", "red", "tmux cannot be started", "install tmux 3.2a or newer"}
	}
	return check{Name: "tmux", Status: "green", Found: strings.TrimSpace(string(b))}
}

func clientCheck(ctx context.Context, name, env string) check {
	words, err := runtimes.ParseCommand(os.Getenv(env), name)
	if err != nil {
		return check{name, "red", err.Error(), "correct " + env}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	b, err := exec.CommandContext(ctx, words[0], append(append([]string{}, words[1:]...), "--version")...).Output()
	if err != nil {
		return check{name, "yellow", "not found", "install it, or set " + env + "; seats of that runtime cannot start without it"}
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	return check{Name: name, Status: "green", Found: line}
}

// recordChecks reads the record and asks the tmux server.
func recordChecks(ctx context.Context) []check {
	a, err := openApp(appRead)
	if err != nil {
		status := "unknown"
		if engine.CodeOf(err) == engine.CodeInvalid {
			status = "red"
		}
		return []check{{"record", status, err.Error(), hintOf(err)}}
	}
	defer a.close()
	f, err := a.engine().Fleet(ctx)
	if err != nil {
		return []check{{"record", "unknown", err.Error(), hintOf(err)}}
	}
	out := []check{{Name: "record", Status: "green", Found: fmt.Sprintf("%s (%d rigs, %d seats)", a.paths.record(), f.Totals.Rigs, f.Totals.Seats)}}
	switch f.Server.State {
	case engine.Present:
		out = append(out, check{Name: "tmux server", Status: "green", Found: "answers on " + f.Server.Socket})
	case engine.Absent:
		out = append(out, check{Name: "tmux server", Status: "green", Found: "none yet on " + f.Server.Socket + "; the first launch starts it"})
	case engine.Unknown:
		out = append(out, check{"tmux server", "unknown", f.Server.Why, "look at the socket " + f.Server.Socket})
	}
	for _, op := range f.Ops {
		if op.State == engine.OpUnfinished {
			out = append(out, check{"operation " + op.ID, "red", string(op.Verb) + " of " + op.Target + " was cut off", "rig op show " + op.ID})
		}
	}
	return out
}

func hintOf(err error) string {
	if e, ok := err.(*engine.Error); ok { //nolint:errorlint // only a hint
		return e.Hint
	}
	return ""
}
