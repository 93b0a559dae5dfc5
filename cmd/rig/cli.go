package main

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rig/engine"
)

// cli is one run of the command line: where it prints and how it ends.
type cli struct {
	out, err io.Writer
	json     bool
	begun    bool // the body of a verb was entered: what fails from now on is no usage error
	code     int  // exit code of a verb that ended without an error
}

// errShown ends a verb that has printed its own error.
var errShown = errors.New("shown")

func runCLI(ctx context.Context, args []string) int {
	c := &cli{}
	c.out, c.err = cleanWriter{os.Stdout, &c.json}, cleanWriter{os.Stderr, nil}
	root := c.root(args...)
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
	var e *engine.Error
	if !c.begun && !errors.As(err, &e) { // cobra refused the command line itself, maybe before it came to --json
		c.json = c.json || slices.Contains(args, "--json")
		err = engine.Errorf(engine.CodeInvalid, "%s", err.Error()).WithHint("`rig help` and `rig VERB --help` show the usage")
	}
	return c.fail(err)
}

// noSuchVerb refuses a word where the name of a verb stands, and names what was
// probably meant.
func noSuchVerb(cmd *cobra.Command, words []string) error {
	if len(words) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	hint := "`" + cmd.CommandPath() + " --help` lists them"
	if near := cmd.SuggestionsFor(words[0]); len(near) > 0 {
		hint = "did you mean `" + cmd.CommandPath() + " " + strings.Join(near, "` or `"+cmd.CommandPath()+" ") + "`?"
	}
	return engine.Errorf(engine.CodeInvalid, "%s has no verb %q", cmd.CommandPath(), words[0]).WithHint("%s", hint)
}

// secretWords marks a verb that people give a token to where none belongs: what was
// given to it is repeated in no refusal.
const secretWords = "secret-words"

// wordsAsked says in words of the usage line what cobra counts.
func wordsAsked(cmd *cobra.Command, words []string, err error) error {
	var e *engine.Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	takes, _, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(cmd.Use, cmd.Name())), "--")
	if takes = strings.TrimSpace(takes); takes == "" {
		takes = "no further word"
	}
	got, hint := "nothing was given", "`"+cmd.CommandPath()+" --help` shows the usage"
	switch {
	case len(words) > 0 && cmd.Annotations[secretWords] != "":
		got = engine.Counted(len(words), "word") + " given, not repeated here"
	case len(words) > 0:
		got = "given was " + engine.CommandLine(words...)
		if takes == "no further word" && len(words) == 1 && cmd.Flags().Lookup("rig") != nil {
			hint = "for one rig: `" + cmd.CommandPath() + " " + engine.CommandLine("--rig", words[0]) + "`"
		}
	}
	return engine.Errorf(engine.CodeInvalid, "%s takes %s; %s", cmd.CommandPath(), takes, got).WithHint("%s", hint)
}

// marked makes the bodies of a verb and of those below it say that they were entered.
// A verb that only has verbs below it prints its help, and takes no other word.
func (c *cli) marked(cmd *cobra.Command) *cobra.Command {
	if cmd.HasSubCommands() && cmd.RunE == nil {
		cmd.Args, cmd.RunE = noSuchVerb, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	if check := cmd.Args; check != nil && cmd.Name() != "rig" {
		cmd.Args = func(cmd *cobra.Command, words []string) error { return wordsAsked(cmd, words, check(cmd, words)) }
	}
	if body := cmd.RunE; body != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			c.begun = true
			args, err := wholeIDs(cmd, args)
			if err != nil {
				return err
			}
			return body(cmd, args)
		}
	}
	for _, below := range cmd.Commands() {
		c.marked(below)
	}
	return cmd
}

// root makes the command line. Where the words begin with the name of a verb only
// that one is made: most runs end soon after, and eighty commands that nobody asked
// for would be a good part of them.
func (c *cli) root(args ...string) *cobra.Command {
	root := &cobra.Command{
		Use: "rig", Short: "Keep the seats of your agent teams alive, and tell the truth about them",
		Long:          "rig runs teams of coding agents in tmux. Without a verb it opens the console.",
		SilenceErrors: true, SilenceUsage: true, Version: buildName(),
		Args: noSuchVerb,
		RunE: func(cmd *cobra.Command, _ []string) error { c.begun = true; return c.tui(cmd.Context(), tuiFlags{}) },
	}
	root.PersistentFlags().BoolVar(&c.json, "json", false, "print one JSON document")
	root.SetVersionTemplate("rig {{.Version}}\n")
	root.AddGroup(
		&cobra.Group{ID: "life", Title: "Bring up, take down:"},
		&cobra.Group{ID: "look", Title: "Look:"},
		&cobra.Group{ID: "seat", Title: "One seat:"},
		&cobra.Group{ID: "talk", Title: "Talk:"},
		&cobra.Group{ID: "self", Title: "The product itself:"},
	)
	verbs := c.verbs()
	if len(args) > 0 {
		if i := slices.IndexFunc(verbs, func(v maker) bool { return v.name == args[0] }); i >= 0 {
			verbs = verbs[i : i+1]
		}
	}
	root.CompletionOptions.DisableDefaultCmd = true // completionCmd is ours
	for _, v := range verbs {
		cmd := c.marked(v.make())
		cmd.GroupID = v.group
		root.AddCommand(cmd)
	}
	if completes(args) {
		offering(root)
	}
	return root
}

// maker is a verb of the command line that was not made yet.
type maker struct {
	name, group string
	make        func() *cobra.Command
}

// verbs lists them in the order of their groups.
func (c *cli) verbs() []maker {
	return []maker{
		{"up", "life", c.upCmd},
		{"down", "life", c.downCmd},
		{"launch", "life", c.launchCmd},
		{"discover", "life", c.discoverCmd},
		{"adopt", "life", c.adoptCmd},
		{"release", "life", c.releaseCmd},
		{"demo", "life", c.demoCmd},
		{"expand", "life", c.expandCmd},
		{"shrink", "life", c.shrinkCmd},
		{"remove", "life", c.removeCmd},
		{"fork", "life", c.forkCmd},
		{"agent-image", "life", c.imageCmd},
		{"snapshot", "life", c.snapshotCmd},
		{"restore", "life", c.restoreCmd},
		{"ps", "look", c.psCmd},
		{"restore-check", "look", c.restoreCheckCmd},
		{"events", "look", c.eventsCmd},
		{"wait", "look", c.waitCmd},
		{"explain", "look", c.explainCmd},
		{"op", "look", c.opCmd},
		{"tui", "look", c.tuiCmd},
		{"compact-plan", "look", c.compactPlanCmd},
		{"watch", "look", c.watchCmd},
		{"handover", "seat", c.handoverCmd},
		{"seat", "seat", c.seatCmd},
		{"attach", "seat", c.attachCmd},
		{"capture", "seat", c.captureCmd},
		{"whoami", "seat", c.whoamiCmd},
		{"compact", "seat", c.compactCmd},
		{"restore-packet", "seat", c.packetCmd},
		{"context", "seat", c.contextCmd},
		{"work", "seat", c.workCmd},
		{"send", "talk", c.sendCmd},
		{"broadcast", "talk", c.broadcastCmd},
		{"spec", "self", c.specCmd},
		{"doctor", "self", c.doctorCmd},
		{"setup", "self", c.setupCmd},
		{"config", "self", c.configCmd},
		{"backup", "self", c.backupCmd},
		{"gc", "self", c.gcCmd},
		{"version", "self", c.versionCmd},
		{"man", "self", c.manCmd},
		{"completion", "self", c.completionCmd},
	}
}
