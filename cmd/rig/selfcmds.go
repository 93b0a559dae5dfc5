package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"rig/engine"
	"rig/specs"
)

func (c *cli) specCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "spec", Short: "Check, preview and list rig specs"}
	var agent bool
	schema := &cobra.Command{
		Use: "schema", Short: "The JSON Schema of a rig spec, for your editor", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			doc := specs.Schema()
			if agent {
				doc = specs.AgentSchema()
			}
			_, err := c.out.Write(append(doc, '\n'))
			return err
		},
	}
	schema.Flags().BoolVar(&agent, "agent", false, "the schema of an agent spec instead")
	list := &cobra.Command{
		Use: "list", Short: "Built-in starters", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if c.json {
				return c.print(map[string]any{"starters": specs.List()})
			}
			rows := [][]string{{"STARTER", "SEATS", "WHAT"}}
			for _, s := range specs.List() {
				rows = append(rows, []string{s.Name, fmt.Sprint(s.Seats), s.Summary})
			}
			table(c.out, rows)
			return nil
		},
	}
	cmd.AddCommand(c.specValidateCmd(), c.specPreviewCmd(), schema, list)
	return cmd
}

func (c *cli) specValidateCmd() *cobra.Command {
	return &cobra.Command{
		Use: "validate <spec>", Short: "Every fault of a spec at file:line:column", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			res, err := loader().Validate(args[0])
			if err != nil {
				return err
			}
			if len(res.Problems) > 0 {
				c.code = 1
			}
			if c.json {
				return c.print(map[string]any{"ok": len(res.Problems) == 0, "errors": res.Problems, "advisories": res.Advisories})
			}
			c.problems(res.Problems)
			for _, a := range res.Advisories {
				fmt.Fprintf(c.err, "%s: note: %s\n", a.Place(), a.Msg)
			}
			if len(res.Problems) == 0 {
				fmt.Fprintf(c.out, "%s: valid\n", args[0])
			} else {
				fmt.Fprintln(c.err, engine.Counted(len(res.Problems), "fault"))
			}
			return nil
		},
	}
}

func (c *cli) specPreviewCmd() *cobra.Command {
	return &cobra.Command{
		Use: "preview <spec>", Short: "The seats, edges and launch order that a spec gives", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			spec, err := loader().Load(cmd.Context(), args[0], engine.SpecOptions{})
			if err != nil {
				return err
			}
			g, err := engine.LaunchOrder(spec)
			if err != nil {
				return err
			}
			if c.json {
				return c.print(map[string]any{"ok": true, "spec": spec, "launch_order": g})
			}
			fmt.Fprintf(c.out, "%s — %s\n", spec.Name, engine.Counted(len(g.Order), "seat"))
			rows := [][]string{}
			for _, id := range g.Order {
				m, _ := spec.Member(id)
				after := "at once"
				if len(g.After[id]) > 0 {
					after = fmt.Sprintf("after %v", g.After[id])
				}
				rows = append(rows, []string{"  " + id, string(m.Runtime), after, m.Cwd})
			}
			table(c.out, rows)
			for _, e := range spec.AllEdges() {
				fmt.Fprintf(c.out, "  %s %s %s\n", e.From, e.Kind, e.To)
			}
			return nil
		},
	}
}
