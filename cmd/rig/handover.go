package main

import (
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
	return []*cobra.Command{
		c.opAction(engine.VerbUndo, "undo", "Put the incumbent of a handover back, inside its window"),
		c.opAction(engine.VerbFinish, "finish", "Finish an operation that was cut off after its commit"),
		c.opAction(engine.VerbRollback, "rollback", "Undo what a cut-off operation did before its commit"),
	}
}

// opAction is a verb on one operation.
func (c *cli) opAction(verb engine.Verb, name, short string) *cobra.Command {
	var m mutation
	cmd := &cobra.Command{
		Use: name + " <id>", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, a []string) error {
			req, err := m.request(verb, a[0], struct{}{})
			if err != nil {
				return err
			}
			return c.mutate(cmd.Context(), &m, req)
		},
	}
	m.flags(cmd)
	return cmd
}
