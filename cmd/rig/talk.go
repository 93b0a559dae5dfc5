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
			if verify && d.Outcome != engine.OutcomeDelivered {
				c.code = 1
			}
			if c.json {
				out := map[string]any{"ok": c.code == 0, "outcome": d.Outcome, "why": d.Why, "source": d.Source, "queued": d.Queued}
				if len(d.Warnings) > 0 {
					out["warnings"] = d.Warnings
				}
				return c.print(out)
			}
			fmt.Fprintf(c.out, "%s: %s\n", d.Word(), d.Why)
			for _, w := range d.Warnings {
				fmt.Fprintf(c.err, "  warning: %s\n", plain(w))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&verify, "verify", false, "wait for proof that its client has it, read or queued; exit 1 without")
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
