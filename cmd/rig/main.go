// Command rig is the console over rigs of coding agents and the same verbs as a
// command line. This package wires the adapters to the engine and prints; it is
// the only one that imports all of them.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"rig/cmd/rig/early"
)

// Set by the linker: `make build` gives the tag and the commit.
var (
	version = "0.0.0-dev"
	commit  = "unknown"
)

// buildName is how operations, receipts and `rig version` call this build.
func buildName() string { return version + " (" + commit + ")" }

func main() { os.Exit(Main(os.Args[1:])) }

// Main runs one command line and gives its exit code: 0 done, 1 refused or not
// clean, 2 usage or unknown state. Verbs that a client starts on every event go
// first and touch nothing else, because they must be fast.
func Main(args []string) int {
	early.GiveBack()
	if len(args) > 0 {
		if run, ok := hidden[args[0]]; ok {
			return run(args[1:])
		}
		if args[0] == "--version" {
			fmt.Println("rig " + buildName())
			return 0
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	defer stop()
	return runCLI(ctx, args)
}

// endings are the signals that end a verb in good order. The loss of the terminal
// is one of them, except for a caller who asked to outlive it (nohup).
func endings() []os.Signal {
	s := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		s = append(s, syscall.SIGHUP)
	}
	return s
}
