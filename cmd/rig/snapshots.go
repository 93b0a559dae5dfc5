package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"rig/engine"
)

func (c *cli) snapshotCmd() *cobra.Command {
	cmd := c.snapshotCreate("snapshot <rig>")
	cmd.Short = "Save, list and show snapshots of a rig"
	cmd.Long = "`rig snapshot <rig>` is the same as `rig snapshot create <rig>`."
	list := &cobra.Command{
		Use: "list <rig>", Short: "The snapshots of a rig, newest first, and which one `rig up` would choose", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, a []string) error { return c.snapshotList(cmd, a[0]) },
	}
	show := &cobra.Command{
		Use: "show <snapshot>", Short: "What a snapshot holds, without tokens", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, a []string) error { return c.snapshotShow(cmd, a[0]) },
	}
	cmd.AddCommand(c.snapshotCreate("create <rig>"), list, show)
	return cmd
}

func (c *cli) snapshotCreate(use string) *cobra.Command {
	var m mutation
	var args engine.SnapshotArgs
	cmd := &cobra.Command{
		Use: use, Short: "Save a snapshot of a rig", Args: cobra.ExactArgs(1),
		RunE: c.applies(&m, engine.VerbSnapshot, func(a []string) (string, any) { return a[0], args }),
	}
	m.flags(cmd)
	cmd.Flags().StringSliceVar(&args.Intended, "intended-seats", nil, "the `seats` (pod.member) that a later restore is to judge (default: all)")
	return cmd
}

func (c *cli) snapshotList(cmd *cobra.Command, rig string) error {
	a, err := openApp(appRead)
	if err != nil {
		return err
	}
	defer a.close()
	list, err := a.engine().Snapshots(cmd.Context(), rig)
	if err != nil {
		return err
	}
	if c.json {
		return c.print(map[string]any{"snapshots": list})
	}
	if len(list) == 0 {
		fmt.Fprintf(c.out, "no snapshots of %s; `rig snapshot create %s` makes one\n", plain(rig), plain(rig))
		return nil
	}
	rows := [][]string{{"ID", "KIND", "STATUS", "CREATED", "SEATS", "USE"}}
	for _, s := range list {
		rows = append(rows, []string{
			s.ID, s.Kind, s.Status, s.CreatedAt.Local().Format(time.DateTime),
			fmt.Sprintf("%d of %d", len(s.Intended), s.Seats), snapshotUse(s),
		})
	}
	table(c.out, rows)
	return nil
}

func snapshotUse(s engine.SnapshotView) string {
	switch {
	case s.Chosen:
		return "rig up would choose it"
	case s.Usable:
		return "usable"
	}
	return "not usable: " + plain(s.Why)
}

func (c *cli) snapshotShow(cmd *cobra.Command, id string) error {
	a, err := openApp(appRead)
	if err != nil {
		return err
	}
	defer a.close()
	s, err := a.engine().Snapshot(cmd.Context(), id)
	if err != nil {
		return err
	}
	if c.json {
		return c.print(s)
	}
	fmt.Fprintf(c.out, "%s  %s  %s  of %s, made %s\n%s\n", s.ID, s.Kind, s.Status, plain(s.Rig), s.CreatedAt.Local().Format(time.DateTime), snapshotUse(s.SnapshotView))
	rows := [][]string{{"SEAT", "RUNTIME", "GENERATION", "PANE THEN", "TOKEN", "INTENDED"}}
	for _, d := range s.Detail {
		word := "yes"
		if !d.Intended {
			word = "no"
		}
		rows = append(rows, []string{d.Seat, string(d.Runtime), fmt.Sprint(d.Generation), d.Pane, d.Token, word})
	}
	table(c.out, rows)
	return nil
}
