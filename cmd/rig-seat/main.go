// Command rig-seat is the part of rig that runs beside every agent: the supervisor of
// a pane, and what a client starts on each of its events. It does what the hidden
// verbs of rig of the same names do, without the console, the record and the
// libraries of both, so that it starts in a third of the time and stays small: a
// fleet has one supervisor a seat. rig uses it when it lies beside rig, and does
// without it otherwise.
package main

import (
	"os"

	"rig/engine/runtimes"
)

func main() { os.Exit(run(os.Args[1:])) }

// run gives the exit code of a verb, 2 for a word that is none.
func run(args []string) int {
	if len(args) == 0 {
		return 2
	}
	switch args[0] {
	case runtimes.SupervisorVerb:
		return runtimes.Supervise(args[1:], os.Environ())
	case runtimes.HookVerb: // without a writer of packets: rig itself is started for the event that needs one
		return runtimes.Hook(os.Stdin, os.Stdout, os.Environ(), args[1:], nil)
	case runtimes.StatusLineVerb:
		return runtimes.StatusLine(os.Stdin, os.Stdout, os.Environ())
	}
	return 2
}
