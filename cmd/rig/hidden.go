package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"rig/engine/agentsim"
	"rig/engine/runtimes"
)

// hidden are the verbs that clients and the product itself start, never a
// person. They are dispatched before the command tree is built.
var hidden = map[string]func(args []string) int{
	"hook": func(args []string) int {
		return runtimes.Hook(os.Stdin, os.Stdout, os.Environ(), args, hookPacket)
	},
	"statusline": func([]string) int {
		return runtimes.StatusLine(os.Stdin, os.Stdout, os.Environ())
	},
	"seat-exec":  func(args []string) int { return runtimes.Supervise(args, os.Environ()) },
	"op-exec":    opExec,
	"agentsim":   agentsim.Process,
	"demo-guard": demoGuard,
}

// opLimit ends an operation that hangs in spite of the limits of its own waits. What keeps
// its undo window open lasts as long as that.
const opLimit = 24 * time.Hour

// opExec is the detached process of an operation: it reads its ticket, applies
// it, and ends. The descriptor 3, when there, is closed as soon as the journal is
// on record; the caller waits for that.
func opExec(args []string) int {
	if len(args) != 1 {
		return 2
	}
	t, err := readTicket(args[0])
	begun := os.NewFile(3, "begun")
	defer begun.Close()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	a, err := openApp(appWrite)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	defer a.close()
	a.deps.Spawner = nil
	ctx, cancel := context.WithTimeout(context.Background(), opLimit)
	defer cancel()
	if _, err := a.engine().ApplyTicket(ctx, t, func() { begun.Close() }); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := a.engine().Linger(context.Background(), t.OpID); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
