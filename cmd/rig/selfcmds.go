package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"rig/engine"
	"rig/specs"
)

func (c *cli) versionCmd() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Version, commit and schema of this build", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if c.json {
				return c.print(map[string]any{"version": version, "commit": commit})
			}
			fmt.Fprintln(c.out, "rig "+buildName())
			return nil
		},
	}
}

func (c *cli) specCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "spec", Short: "Check, preview and list rig specs", Args: cobra.NoArgs}
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
				fmt.Fprintf(c.err, "%d faults\n", len(res.Problems))
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
			fmt.Fprintf(c.out, "%s — %d seats\n", spec.Name, len(g.Order))
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

// check is one line of `rig doctor`.
type check struct {
	Name   string `json:"check"`
	Status string `json:"status"` // green, yellow, red, unknown
	Found  string `json:"found"`
	Hint   string `json:"hint,omitempty"`
}

func (c *cli) doctorCmd() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "What is there, what is missing, and what to do about it", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list := doctor(cmd.Context())
			worst := "green"
			for _, k := range list {
				if k.Status == "red" || (k.Status == "unknown" && worst != "red") {
					worst = k.Status
				}
			}
			switch worst {
			case "red":
				c.code = 1
			case "unknown":
				c.code = 2
			}
			if c.json {
				return c.print(map[string]any{"ok": c.code == 0, "checks": list})
			}
			rows := [][]string{}
			for _, k := range list {
				sign := map[string]string{"green": "✓", "yellow": "!", "red": "✗", "unknown": "?"}[k.Status]
				rows = append(rows, []string{sign, k.Name, plain(k.Found)})
				if k.Hint != "" {
					rows = append(rows, []string{"", "", "→ " + k.Hint})
				}
			}
			table(c.out, rows)
			return nil
		},
	}
}

// env reads a JSON document of the environment for `rig doctor --json`; kept
// small on purpose.
func homeWritable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return err
	}
	name := f.Name()
	if err := json.NewEncoder(f).Encode("ok"); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Remove(name)
}
