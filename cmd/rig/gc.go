package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rig/engine"
	"rig/engine/packet"
	"rig/engine/runtimes"
)

// attic is everything that the product keeps in files.
type attic struct {
	files   *runtimes.Files
	packets packet.Seats
}

var _ engine.Attic = attic{}

// Relics lists what lies below RIG_HOME and in the seats' directories.
func (a attic) Relics(_ context.Context, seats []engine.Seat) ([]engine.Relic, error) {
	return append(a.files.Relics(), a.packets.Relics(seats)...), nil
}

// Discard removes one of them.
func (a attic) Discard(_ context.Context, r engine.Relic) error { return a.files.Discard(r) }

// age is a flag for a length of time that may be given in days: 30d, 12h.
type age time.Duration

func (a *age) String() string { return time.Duration(*a).String() }

// Set reads days, or what Go calls a duration.
func (a *age) Set(s string) error {
	if n, ok := strings.CutSuffix(s, "d"); ok {
		days, err := strconv.Atoi(n)
		*a = age(time.Duration(days) * 24 * time.Hour)
		return err
	}
	d, err := time.ParseDuration(s)
	*a = age(d)
	return err
}

// Type is what the help calls the value.
func (a *age) Type() string { return "age" }

func (c *cli) gcCmd() *cobra.Command {
	var older age
	m := &mutation{}
	cmd := &cobra.Command{
		Use: "gc", Short: "Remove old files and snapshots that nothing living needs; --dry-run lists them", Args: cobra.NoArgs,
		Long: "Goes: launch and hook files of ended occupants (7 days), logs (14), restore packets, maps and automatic snapshots (30),\n" +
			"half-written files and requests that nobody took up (1). Stays: whatever runs or may run, the newest three of each series,\n" +
			"snapshots that somebody asked for, the audit log, images, and every file of a client.",
		RunE: c.applies(m, engine.VerbGC, func(_ []string) (string, any) { return "", engine.GCArgs{OlderThan: time.Duration(older)} }),
	}
	m.flags(cmd)
	cmd.Flags().Var(&older, "older-than", "one age for everything, such as 12h or 30d; at least 1h")
	return cmd
}
