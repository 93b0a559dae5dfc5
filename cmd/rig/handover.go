package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rig/engine"
)

// handoverCmd is the one action under both its names.
func (c *cli) handoverCmd() *cobra.Command {
	var m mutation
	var args engine.HandoverArgs
	cmd := &cobra.Command{
		Use: "handover <seat>", Short: "Replace a seat's occupant; the seat stays", Args: cobra.ExactArgs(1),
		Long: "Creates a successor, proves it, delivers context, and only then rebinds the seat. This performs the handover; --dry-run is the plan.\n" +
			"Sources: fresh (default), fork:<seat, session or id>, rebuild, discovered:<id>.",
		RunE: func(cmd *cobra.Command, a []string) error {
			if err := m.needReason("handover"); err != nil {
				return err
			}
			req, err := m.request(engine.VerbHandover, a[0], args)
			if err != nil {
				return err
			}
			return c.mutate(cmd.Context(), &m, req)
		},
	}
	m.flags(cmd)
	cmd.Flags().StringVar(&args.Source, "source", "", "fresh, fork:<ref>, rebuild or discovered:<id>")
	return cmd
}

// needReason refuses a blank reason before anything is contacted.
func (m *mutation) needReason(verb string) error {
	if strings.TrimSpace(m.reason) != "" {
		return nil
	}
	return engine.Errorf(engine.CodeMissingReason, "%s needs a reason", verb).
		WithHint(`add --reason "…"; it goes into the audit log`)
}

// opActions are the verbs on one operation.
func (c *cli) opActions() []*cobra.Command {
	undo := &cobra.Command{
		Use: "undo <id>", Short: "Put the incumbent of a handover back, inside its window", Args: cobra.ExactArgs(1),
	}
	var m mutation
	m.flags(undo)
	undo.RunE = func(cmd *cobra.Command, a []string) error {
		req, err := m.request(engine.VerbUndo, a[0], struct{}{})
		if err != nil {
			return err
		}
		return c.mutate(cmd.Context(), &m, req)
	}
	return []*cobra.Command{
		undo,
		c.recoverCmd("finish", "Finish an operation that was cut off after its commit"),
		c.recoverCmd("rollback", "Undo what a cut-off operation did before its commit"),
	}
}

// recoverCmd is `rig op finish` or `rig op rollback`; its dry run says how far
// each step came.
func (c *cli) recoverCmd(name, short string) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use: name + " <id>", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			mode := appWrite
			if dry {
				mode = appRead
			}
			a, err := openApp(mode)
			if err != nil {
				return err
			}
			defer a.close()
			if dry {
				steps, err := a.engine().ProbeOperation(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				return c.probed(steps)
			}
			act := a.engine().Rollback
			if name == "finish" {
				act = a.engine().Finish
			}
			rec, err := act(cmd.Context(), args[0], c.progress())
			if err != nil {
				return err
			}
			return c.showReceipt(rec)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say how far each step came, and change nothing")
	return cmd
}

func (c *cli) probed(steps []engine.Probed) error {
	if c.json {
		return c.print(map[string]any{"ok": true, "dry_run": true, "steps": steps})
	}
	rows := [][]string{}
	for _, s := range steps {
		rows = append(rows, []string{"  " + string(s.State), s.Seat, s.Title, plain(s.Why)})
	}
	table(c.out, rows)
	fmt.Fprintln(c.out, "No changes were made.")
	return nil
}
