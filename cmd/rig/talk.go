package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rig/engine"
)

func (c *cli) sendCmd() *cobra.Command {
	var verify bool
	cmd := &cobra.Command{
		Use: "send <seat> <text>…", Short: "Type a message into a seat and submit it", Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := openApp(appWrite)
			if err != nil {
				return err
			}
			defer a.close()
			d, err := a.engine().Send(cmd.Context(), args[0], strings.Join(args[1:], " "), verify)
			if err != nil {
				return err
			}
			if verify && d.Outcome != "delivered" {
				c.code = 1
			}
			if c.json {
				return c.print(map[string]any{"ok": c.code == 0, "outcome": d.Outcome, "why": d.Why, "source": d.Source})
			}
			fmt.Fprintf(c.out, "%s: %s\n", d.Outcome, d.Why)
			return nil
		},
	}
	cmd.Flags().BoolVar(&verify, "verify", false, "wait for proof that it was taken; exit 1 without")
	return cmd
}

func (c *cli) waitCmd() *cobra.Command {
	var until []string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "wait <seat>", Short: "Wait until a seat is idle, busy, waiting, at a limit, exited or needs attention", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := openApp(appRead)
			if err != nil {
				return err
			}
			defer a.close()
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			s, err := a.engine().Wait(ctx, args[0], until)
			if err != nil {
				return err
			}
			if c.json {
				return c.print(map[string]any{"ok": true, "seat": s.Address, "activity": s.Activity, "attention": s.Attention})
			}
			fmt.Fprintf(c.out, "%s %s %s\n", s.Address, s.Activity.State, plain(s.Activity.Why))
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&until, "until", []string{"idle"}, "idle, busy, waiting, attention, limit or exited")
	cmd.Flags().DurationVar(&timeout, "timeout", 2*time.Minute, "give up after this long")
	return cmd
}

func (c *cli) explainCmd() *cobra.Command {
	topics := []string{"status", "context", "identity"}
	return &cobra.Command{
		Use: "explain <seat> [status|context|identity]", Short: "Where each fact comes from: source, rule, age, competing evidence",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			topic := ""
			if len(args) == 2 {
				if topic = args[1]; !slices.Contains(topics, topic) {
					return engine.Errorf(engine.CodeInvalid, "no topic %q", topic).WithHint("status, context or identity")
				}
			}
			a, err := openApp(appRead)
			if err != nil {
				return err
			}
			defer a.close()
			x, err := a.engine().Explain(cmd.Context(), args[0], topic)
			if err != nil {
				return err
			}
			if c.json {
				return c.print(x)
			}
			fmt.Fprintln(c.out, x.Seat)
			for _, f := range x.Facts {
				table(c.out, [][]string{
					{"  " + f.Name, plain(f.Value)},
					{"    source", f.Source},
					{"    rule", plain(f.Rule)},
					{"    age", f.Age},
					{"    confidence", string(f.Confidence)},
				})
				for _, other := range f.Agreeing {
					fmt.Fprintln(c.out, "    also "+plain(other))
				}
				for _, other := range f.Competing {
					fmt.Fprintln(c.out, "    but "+plain(other))
				}
			}
			return nil
		},
	}
}

func (c *cli) opCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "op", Short: "Operations and their journals"}
	var open bool
	list := &cobra.Command{
		Use: "list", Short: "Operations, newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := openApp(appRead)
			if err != nil {
				return err
			}
			defer a.close()
			ops, err := a.engine().Operations(cmd.Context(), engine.OperationFilter{Open: open})
			if err != nil {
				return err
			}
			if c.json {
				if ops == nil {
					ops = []engine.Operation{}
				}
				return c.print(map[string]any{"operations": ops})
			}
			rows := [][]string{{"ID", "VERB", "TARGET", "STATE", "BY", "STARTED"}}
			for _, op := range ops {
				rows = append(rows, []string{op.ID, string(op.Verb), plain(op.Target), string(op.State), plain(op.Operator), op.StartedAt.Local().Format("2006-01-02 15:04:05")})
			}
			table(c.out, rows)
			return nil
		},
	}
	list.Flags().BoolVar(&open, "open", false, "only those that have not ended")
	show := &cobra.Command{
		Use: "show <id>", Short: "One operation with its steps and evidence", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := openApp(appRead)
			if err != nil {
				return err
			}
			defer a.close()
			op, steps, err := a.engine().Operation(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if c.json {
				return c.print(map[string]any{"operation": op, "steps": steps})
			}
			fmt.Fprintf(c.out, "%s %s  %s\n", op.Verb, plain(op.Target), op.State)
			rows := [][]string{}
			for _, s := range steps {
				rows = append(rows, []string{"  " + string(s.State), s.Seat, s.Title, plain(s.Error)})
			}
			table(c.out, rows)
			return nil
		},
	}
	cmd.AddCommand(list, show)
	cmd.AddCommand(c.opActions()...)
	return cmd
}
