//go:build linux

// Command chaos runs a fleet of simulated seats and breaks everything around it.
//
// Four command lines and two consoles act on two rigs at once, while processes are killed, the disk fills up, the record is
// locked, read-only or cut, the clock jumps and no process can be started. After each round the faults end, what was cut off is
// finished or rolled back with rig's own verbs, and a program that shares no code with rig (./check) reads from the record and
// from tmux whether anything was lost. The same seed makes the same choices; when each falls is up to the machine.
//
//	bin/chaos -rig bin/rig-chaos -check bin/chaos-check -seed 7
//
// Everything lives in process and mount namespaces of its own where the system allows that, under a user id that limits apply
// to. Elsewhere it runs in a temporary folder, and a limit on the size of files stands in for the full disk.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// options are the experiment.
type options struct {
	rig, check string        // the programs: rig built with -tags chaos, and the independent check
	seed       int64         // of every choice
	rounds     int           // storms, each followed by a calm and a check
	ops        int           // operations in the journal that the run must reach
	faults     int           // faults that the run must reach
	limit      time.Duration // the whole run
	keep       bool          // leave the folder for a look, also when nothing was wrong
	dir        string        // of the world; set by the program itself
	stage      string        // how far into the namespaces we are; set by the program itself
	args       []string
}

func main() {
	var o options
	flag.StringVar(&o.rig, "rig", "bin/rig-chaos", "rig, built with -tags chaos")
	flag.StringVar(&o.check, "check", "bin/chaos-check", "the independent check")
	flag.Int64Var(&o.seed, "seed", 0, "seed of every choice (0: from the clock)")
	flag.IntVar(&o.rounds, "rounds", 10, "storms, each followed by a calm and a check")
	flag.IntVar(&o.ops, "ops", 500, "operations that the journal must hold in the end")
	flag.IntVar(&o.faults, "faults", 200, "faults to inject in all")
	flag.DurationVar(&o.limit, "limit", 20*time.Minute, "the longest the run may take")
	flag.BoolVar(&o.keep, "keep", false, "leave the folder for a look, also when nothing was wrong")
	flag.StringVar(&o.dir, "dir", "", "used by the program itself")
	flag.StringVar(&o.stage, "stage", "", "used by the program itself")
	flag.Parse()
	o.args = flag.Args()
	if o.seed == 0 {
		o.seed = time.Now().UnixNano() % 1_000_000
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	code, err := start(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		code = 1
	}
	os.Exit(code)
}

// run is the whole experiment inside its world; the result is the exit status.
func run(ctx context.Context, o options) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	w, err := newWorld(ctx, o)
	if err != nil {
		return 1, err
	}
	defer w.remove()
	fmt.Printf("seed %d · %d seats in 2 rigs · %s\n", o.seed, len(w.seats), w.manner)
	began := time.Now()
	for round := 1; round <= o.rounds && ctx.Err() == nil; round++ {
		w.storm(ctx, round)
		if err := w.calm(ctx, round); err != nil {
			w.wrong("round %d: %v", round, err)
		}
		figures := w.verify(ctx)
		w.count(ctx)
		fmt.Printf("round %d: %d operations on record, %d commands, %d faults, %s\n", round, w.onRecord, w.tried.Load(), w.injected(), figures)
	}
	return w.report(ctx, time.Since(began)), nil
}
