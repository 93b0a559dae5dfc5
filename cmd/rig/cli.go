package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"rig/engine"
)

// cli is one run of the command line: where it prints and how it ends.
type cli struct {
	out, err io.Writer
	json     bool
	code     int // exit code of a verb that ended without an error
}

// errShown ends a verb that has printed its own error.
var errShown = errors.New("shown")

// usageError marks what cobra says about flags and arguments.
type usageError struct{ err error }

func (u usageError) Error() string { return u.err.Error() }

func runCLI(ctx context.Context, args []string) int {
	c := &cli{}
	c.out, c.err = cleanWriter{os.Stdout, &c.json}, cleanWriter{os.Stderr, nil}
	root := c.root()
	root.SetArgs(args)
	root.SetOut(c.out)
	root.SetErr(c.err)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return c.code
	case errors.Is(err, errShown):
		return c.code
	}
	var u usageError
	var e *engine.Error
	if !errors.As(err, &e) && (errors.As(err, &u) || isUsage(err)) {
		err = engine.Errorf(engine.CodeInvalid, "%s", err.Error()).WithHint("`rig help` and `rig VERB --help` show the usage")
	}
	return c.fail(err)
}

// isUsage reports whether cobra refused the command line itself.
func isUsage(err error) bool {
	var e *engine.Error
	return !errors.As(err, &e)
}

func (c *cli) root() *cobra.Command {
	root := &cobra.Command{
		Use: "rig", Short: "Keep the seats of your agent teams alive, and tell the truth about them",
		Long:          "rig runs teams of coding agents in tmux. Without a verb it opens the console.",
		SilenceErrors: true, SilenceUsage: true, Version: buildName(),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.tui(cmd.Context(), tuiFlags{}) },
	}
	root.PersistentFlags().BoolVar(&c.json, "json", false, "print one JSON document")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.SetVersionTemplate("rig {{.Version}}\n")
	root.AddGroup(
		&cobra.Group{ID: "life", Title: "Bring up, take down:"},
		&cobra.Group{ID: "look", Title: "Look:"},
		&cobra.Group{ID: "seat", Title: "One seat:"},
		&cobra.Group{ID: "talk", Title: "Talk:"},
		&cobra.Group{ID: "self", Title: "The product itself:"},
	)
	for group, verbs := range map[string][]*cobra.Command{
		"life": {c.upCmd(), c.downCmd(), c.launchCmd(), c.discoverCmd(), c.adoptCmd(), c.releaseCmd(), c.demoCmd(), c.expandCmd(), c.shrinkCmd(), c.removeCmd(), c.forkCmd(), c.imageCmd(), c.snapshotCmd(), c.restoreCmd()},
		"look": {c.psCmd(), c.restoreCheckCmd(), c.eventsCmd(), c.waitCmd(), c.explainCmd(), c.opCmd(), c.tuiCmd(), c.compactPlanCmd(), c.watchCmd()},
		"seat": {c.handoverCmd(), c.seatCmd(), c.attachCmd(), c.captureCmd(), c.whoamiCmd(), c.compactCmd(), c.packetCmd(), c.contextCmd(), c.workCmd()},
		"talk": {c.sendCmd(), c.broadcastCmd()},
		"self": {c.specCmd(), c.doctorCmd(), c.setupCmd(), c.configCmd(), c.backupCmd(), c.gcCmd(), c.versionCmd(), c.manCmd()},
	} {
		for _, v := range verbs {
			v.GroupID = group
			root.AddCommand(v)
		}
	}
	return root
}
