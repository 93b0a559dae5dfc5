package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rig/engine"
)

func (c *cli) workCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "work", Short: "Inbound work of a seat: it stays when the occupant changes", Args: cobra.NoArgs,
		Long: "Work is addressed to a seat. A claim belongs to the present occupant; when that one is replaced, the work is pending again, and the\n" +
			"successor's opening names it.",
	}
	cmd.AddCommand(c.workAddCmd(), c.workListCmd(), c.workShowCmd(), c.workHandoffCmd(),
		c.workChangeCmd("claim", engine.WorkClaim, "Take a piece of work, as the seat's present occupant"),
		c.workChangeCmd("block", engine.WorkBlock, "Say with --note what a piece of work waits for"),
		c.workChangeCmd("release", engine.WorkRelease, "Give a piece of work back to the seat"),
		c.workChangeCmd("done", engine.WorkFinish, "Say that a piece of work is done"))
	return cmd
}

// workDo performs a change, or shows its plan.
func (c *cli) workDo(cmd *cobra.Command, words []string, ch engine.WorkChange, d direct) error {
	a, err := openApp(d.mode())
	if err != nil {
		return err
	}
	defer a.close()
	if d.dryRun {
		p, res, err := a.engine().PlanWork(cmd.Context(), ch)
		if err != nil {
			return err
		}
		p.Command = shellLine(cmd, words)
		more := map[string]any{"seat": res.Seat, "item": res.Item}
		if res.Next != nil {
			more["next"], more["to"] = res.Next, res.To
		}
		return c.showPlan(p, more)
	}
	res, err := a.engine().ChangeWork(cmd.Context(), ch, d.apply)
	if err != nil {
		return err
	}
	if c.json {
		return c.print(struct {
			OK bool `json:"ok"`
			engine.WorkResult
		}{true, res})
	}
	fmt.Fprintf(c.out, "%s  %s  %s  %s\n", res.Item.ID, res.Seat, res.Item.State, plain(res.Item.Title))
	if res.Next != nil {
		fmt.Fprintf(c.out, "%s  %s  %s  %s\n", res.Next.ID, res.To, res.Next.State, plain(res.Next.Title))
	}
	return nil
}

// workVerb makes a verb that changes inbound work. fill takes its words.
func (c *cli) workVerb(use, short, note, verb string, words cobra.PositionalArgs, fill func(ch *engine.WorkChange, words []string)) (*cobra.Command, *engine.WorkChange) {
	ch := engine.WorkChange{Verb: verb}
	var d direct
	cmd := &cobra.Command{
		Use: use, Short: short, Args: words,
		RunE: func(cmd *cobra.Command, words []string) error {
			fill(&ch, words)
			return c.workDo(cmd, words, ch, d)
		},
	}
	cmd.Flags().StringVar(&ch.Note, "note", "", note)
	d.flags(cmd)
	return cmd, &ch
}

func (c *cli) workAddCmd() *cobra.Command {
	cmd, ch := c.workVerb("add <seat> <title>…", "Ask a seat for something", "a remark", engine.WorkAdd, cobra.MinimumNArgs(2),
		func(ch *engine.WorkChange, words []string) {
			ch.Seat, ch.Title = words[0], strings.Join(words[1:], " ")
		})
	cmd.Flags().StringVar(&ch.Body, "body", "", "more about it")
	return cmd
}

func (c *cli) workChangeCmd(word, verb, short string) *cobra.Command {
	cmd, _ := c.workVerb(word+" <id>", short, "a remark: how it ended, what it waits for", verb, cobra.ExactArgs(1),
		func(ch *engine.WorkChange, words []string) { ch.ID = words[0] })
	return cmd
}

func (c *cli) workHandoffCmd() *cobra.Command {
	cmd, _ := c.workVerb("handoff <id> <seat>", "Ask another seat for the same, and end it here", "what the other seat should know", engine.WorkHandoff, cobra.ExactArgs(2),
		func(ch *engine.WorkChange, words []string) { ch.ID, ch.Seat = words[0], words[1] })
	return cmd
}

func (c *cli) workListCmd() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "list [<seat>]", Short: "What a seat was asked for and has not done", Args: cobra.MaximumNArgs(1),
		Long: "What a seat was asked for and has not done. Without a seat it is the one that you are in, and outside of one every seat.",
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := openApp(appRead)
			if err != nil {
				return err
			}
			defer a.close()
			ref := ""
			if len(args) == 1 {
				ref = args[0]
			} else if id, err := a.engine().Whoami(cmd.Context(), ""); err == nil {
				ref = id.Seat
			}
			if ref == "" {
				return c.allWork(cmd.Context(), a, all)
			}
			address, items, err := a.engine().WorkOf(cmd.Context(), ref, all)
			if err != nil {
				return err
			}
			if c.json {
				return c.print(map[string]any{"ok": true, "seat": address, "work": append([]engine.WorkItem{}, items...)})
			}
			if len(items) == 0 {
				fmt.Fprintf(c.out, "%s has no open work.\n", address)
				return nil
			}
			rows := [][]string{}
			for _, it := range items {
				rows = append(rows, []string{it.ID, workState(it), plain(it.Title), plain(it.From)})
			}
			table(c.out, rows)
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "also what is done")
	return cmd
}

// allWork shows what is open anywhere.
func (c *cli) allWork(ctx context.Context, a *app, all bool) error {
	list, err := a.engine().AllWork(ctx, all)
	if err != nil {
		return err
	}
	if c.json {
		return c.print(map[string]any{"ok": true, "work": list})
	}
	if len(list) == 0 {
		fmt.Fprintln(c.out, "No seat has open work.")
		return nil
	}
	rows := [][]string{}
	for _, w := range list {
		rows = append(rows, []string{w.Item.ID, w.Seat, workState(w.Item), plain(w.Item.Title), plain(w.Item.From)})
	}
	table(c.out, rows)
	return nil
}

// workState says in whose hands a piece is.
func workState(it engine.WorkItem) string {
	if it.State == engine.WorkClaimed {
		return fmt.Sprintf("claimed by generation %d", it.Generation)
	}
	return it.State
}

func (c *cli) workShowCmd() *cobra.Command {
	return &cobra.Command{
		Use: "show <id>", Short: "One piece of work in full", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := openApp(appRead)
			if err != nil {
				return err
			}
			defer a.close()
			res, err := a.engine().WorkByID(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if c.json {
				return c.print(struct {
					OK bool `json:"ok"`
					engine.WorkResult
				}{true, res})
			}
			it := res.Item
			rows := [][]string{{"Work", it.ID}, {"Seat", res.Seat}, {"Title", plain(it.Title)}, {"State", workState(it)}, {"From", orDash(plain(it.From))}, {"Since", it.CreatedAt.Format("2006-01-02 15:04")}}
			if it.Note != "" {
				rows = append(rows, []string{"Note", plain(it.Note)})
			}
			table(c.out, rows)
			if it.Body != "" {
				fmt.Fprintln(c.out)
				for line := range strings.Lines(it.Body) {
					fmt.Fprintln(c.out, plain(strings.TrimRight(line, "\r\n")))
				}
			}
			return nil
		},
	}
}
