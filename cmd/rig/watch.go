package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"rig/engine"
)

// watchCmd runs the engine's loop without a screen until it is interrupted:
// samples, compactions of any origin, the managed compaction policy, periodic
// snapshots, and what waits for a person.
func (c *cli) watchCmd() *cobra.Command {
	var install, dry bool
	cmd := &cobra.Command{
		Use: "watch", Short: "The engine loop without a screen: samples, managed compaction and periodic snapshots, until interrupted", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if install || dry {
				return c.installWatch(dry)
			}
			a, err := openApp(appWatch)
			if err != nil {
				return err
			}
			defer a.close()
			defer a.announce("watch")()
			w := a.engine().Watcher()
			feed := w.Subscribe()
			saved, told := a.keepSnapshots(cmd.Context(), w), map[string]engine.AttentionItem{}
			done := make(chan struct{})
			go func() { defer close(done); w.Run(cmd.Context()) }()
			verdicts := map[string]string{}
			for f := range feed {
				c.tellAttention(f, told)
				if err := c.tellVerdicts(f, verdicts); err != nil {
					return err
				}
			}
			<-done
			saved()
			return nil
		},
	}
	cmd.Flags().BoolVar(&install, "install", false, "write a service of your own account that runs this, and say how it is switched on")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print that service, and write nothing")
	return cmd
}

// tellVerdicts prints a line for each seat whose verdict on its compaction has
// changed.
func (c *cli) tellVerdicts(f *engine.Fleet, last map[string]string) error {
	for _, s := range f.Seats() {
		v := s.Compaction.Verdict
		if old, had := last[s.ID]; old == v && (had || v == "") {
			continue
		}
		last[s.ID] = v
		if v == "" {
			v = "audited"
		}
		if c.json {
			if err := c.print(map[string]any{"seat": s.Address, "verdict": v, "at": f.At}); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(c.out, "%s %s: %s\n", f.At.Local().Format("15:04:05"), s.Address, v)
	}
	return nil
}
