package main

import (
	"github.com/spf13/cobra"

	"rig/engine"
)

// expandCmd, shrinkCmd, removeCmd and forkCmd grow and shrink a rig while it
// runs.
func (c *cli) expandCmd() *cobra.Command {
	var m mutation
	cmd := &cobra.Command{
		Use: "expand <rig> <fragment.yaml>", Short: "Add members to a rig, and launch them", Args: cobra.ExactArgs(2),
		Long: "The fragment is a pod with its members, or more members for a pod that is there: {pod: {id, label, members, edges}, crossPodEdges}.\n" +
			"A session_source in it is honoured or refused, never dropped.",
		RunE: c.applies(&m, engine.VerbExpand, func(a []string) (string, any) { return a[0], engine.ExpandArgs{Fragment: a[1]} }),
	}
	m.flags(cmd)
	return cmd
}

func (c *cli) shrinkCmd() *cobra.Command {
	return c.takeOut("shrink <rig> <pod>", "Take a pod with all its seats out of a rig",
		"Ends the sessions of these seats, and no others; an adopted session is released and keeps running.",
		"also when inbound work of the seats is lost with them",
		engine.VerbShrink, func(args *engine.ShrinkArgs, word string) { args.Pod = word })
}

func (c *cli) removeCmd() *cobra.Command {
	return c.takeOut("remove <rig> <seat>", "Take one seat out of a rig",
		"Ends the seat's session, and no other; an adopted session is released and keeps running.",
		"also when inbound work of the seat is lost with it",
		engine.VerbRemove, func(args *engine.ShrinkArgs, word string) { args.Seat = word })
}

// takeOut makes a verb that makes a rig smaller; pick takes its second word.
func (c *cli) takeOut(use, short, long, dropWork string, verb engine.Verb, pick func(args *engine.ShrinkArgs, word string)) *cobra.Command {
	var m mutation
	var args engine.ShrinkArgs
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(2), Long: long,
		RunE: c.applies(&m, verb, func(a []string) (string, any) {
			pick(&args, a[1])
			return a[0], args
		}),
	}
	m.flags(cmd)
	cmd.Flags().BoolVar(&args.DropWork, "drop-work", false, dropWork)
	return cmd
}

func (c *cli) forkCmd() *cobra.Command {
	var m mutation
	var args engine.ForkArgs
	cmd := &cobra.Command{
		Use: "fork <source>", Short: "Add a seat that starts from another seat's conversation, or from an image", Args: cobra.ExactArgs(1),
		Long: "The source is a seat, the name of its session, or agent-image:<name>[:<version>].\n" +
			"The child takes over agent, profile, directory, model, effort, role, policies, label and environment of the source, and gets a conversation of its own.\n" +
			"The source goes on untouched. Nothing is typed into the child: `rig whoami` in it tells its own seat.",
		RunE: c.applies(&m, engine.VerbFork, func(a []string) (string, any) { return a[0], args }),
	}
	m.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&args.Rig, "rig", "", "the rig that the child joins (default: the source's)")
	f.StringVar(&args.Pod, "pod", "", "the pod that the child joins")
	f.StringVar(&args.Member, "member", "", "the child's id in its pod")
	f.BoolVar(&args.KeepImage, "keep-image", false, "keep the conversation as a pinned agent image, and start from that")
	f.StringVar(&args.ImageName, "image-name", "", "name of the kept image (default: fork-<member>)")
	f.StringVar(&args.ImageVersion, "image-version", "", "version of the kept image (default: 1)")
	for _, name := range []string{"pod", "member"} {
		if err := cmd.MarkFlagRequired(name); err != nil { // the flags are defined above
			panic(err)
		}
	}
	return cmd
}

// forkedFrom says which seat a seat was forked from, when and by whom. It names
// no conversation.
func forkedFrom(d seatStatus, f *engine.Fleet) string {
	if d.ForkedFrom == "" {
		return "—"
	}
	text := plain(d.ForkedFrom)
	for _, t := range d.Tenures { // newest first
		if t.Kind == "fork" || t.Kind == "handover" && t.Continuity == engine.ContinuityForked {
			return text + ", " + engine.Age(t.StartedAt, f.At) + ", by " + orDash(plain(t.Operator))
		}
	}
	return text
}
