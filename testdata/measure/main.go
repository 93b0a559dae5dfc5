//go:build linux

// Command measure tells what the console costs over a number of seats, as one row of a Markdown table.
//
// It makes a home and a tmux server of its own, brings up a rig of terminal seats with rig's own verbs, opens the console in a
// pseudo-terminal of 200x50, lets it settle, watches it while nobody touches it, and then presses keys. Everything happens in a
// process namespace of its own where the system allows that: then every process that starts there is counted and none of
// anybody else's, and all of them end with it.
//
//	bin/measure -seats 200 -kind busy
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// options are the experiment.
type options struct {
	rig    string        // the program under test
	seats  int           // how many seats there are
	kind   string        // idle: nothing moves in the panes; busy: each repaints a line five times a second
	warm   time.Duration // from the start of the console to the first sample
	window time.Duration // between the samples
	keys   int           // how many keys are pressed
	header bool          // print the head of the table first
	inside bool          // already in the namespace
	paint  bool          // be a busy pane in place of measuring
}

func main() {
	var o options
	flag.StringVar(&o.rig, "rig", "bin/rig", "program to measure")
	flag.IntVar(&o.seats, "seats", 20, "number of seats")
	flag.StringVar(&o.kind, "kind", "idle", "idle or busy")
	flag.DurationVar(&o.warm, "warm", 8*time.Second, "time for the console to settle")
	flag.DurationVar(&o.window, "window", 20*time.Second, "time that the console is watched")
	flag.IntVar(&o.keys, "keys", 100, "keys to press")
	flag.BoolVar(&o.header, "header", true, "print the head of the table")
	flag.BoolVar(&o.inside, "inside", false, "used by the program itself")
	flag.BoolVar(&o.paint, "paint", false, "used by the program itself")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if o.paint {
		paint(ctx)
		return
	}
	code, err := start(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		code = 1
	}
	os.Exit(code)
}

// start moves into a namespace, or measures if it is there already or cannot get one. The result is the exit status.
func start(ctx context.Context, o options) (int, error) {
	if o.seats < 1 || o.kind != "idle" && o.kind != "busy" {
		return 2, fmt.Errorf("want -seats of at least 1 and -kind idle or busy")
	}
	path, err := filepath.Abs(o.rig)
	if err != nil {
		return 1, fmt.Errorf("find %s: %w", o.rig, err)
	}
	o.rig = path
	if !o.inside {
		if code, err := isolated(ctx); err == nil {
			return code, nil
		}
		fmt.Fprintln(os.Stderr, "measure: no namespace of its own here: processes of the whole machine are counted")
	} else if err := ownProc(); err != nil {
		return 1, err
	}
	return 0, measure(ctx, o)
}

// measure runs the experiment and prints its row.
func measure(ctx context.Context, o options) error {
	w, err := build(ctx, o)
	if err != nil {
		return err
	}
	defer w.remove()
	r := result{options: o}
	if err := r.commands(ctx, w); err != nil {
		return err
	}
	c, err := r.open(ctx, w)
	if err != nil {
		return err
	}
	defer c.end()
	if err := wait(ctx, o.warm); err != nil {
		return err
	}
	if !c.alive() {
		return fmt.Errorf("the console ended by itself: %q", c.tail())
	}
	if err := r.watch(ctx, c, w, o.window); err != nil {
		return err
	}
	if err := r.press(ctx, c, o.keys); err != nil {
		return err
	}
	r.print(o.header)
	return nil
}

// openings is how often the console is opened for its first paint, an odd number: the median is one of them.
const openings = 5

// open opens the console a few times, for the time until it shows the rig, and leaves the last one open.
func (r *result) open(ctx context.Context, w *world) (*console, error) {
	var all []time.Duration
	for {
		c, err := w.console(ctx)
		if err != nil {
			return nil, err
		}
		took, err := c.shows(ctx, w.name, r.warm)
		if err != nil {
			c.end()
			return nil, err
		}
		if all = append(all, took); len(all) == openings {
			slices.Sort(all)
			r.paint = all[openings/2]
			return c, nil
		}
		if err := wait(ctx, time.Second); err != nil { // until it is at rest, as a person would
			return nil, err
		}
		c.end()
	}
}

// paint repaints a line five times a second, as a client at work does, without starting a process for it.
func paint(ctx context.Context) {
	for i := 0; wait(ctx, 200*time.Millisecond) == nil; i++ {
		fmt.Printf("\r\033[2K* Working (%ds)", i/5)
	}
}

// wait lets d pass, or fails when the measurement is cut off.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
