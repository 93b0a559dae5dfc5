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
			verdicts := map[string]toldVerdict{}
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

// toldVerdict is the verdict on a compaction that was told of a seat, and of which
// occupant.
type toldVerdict struct {
	verdict    string
	generation int64
}

// tellVerdicts prints a line for each seat whose verdict on its compaction has
// changed. A seat that lost its verdict with its occupant was not audited.
func (c *cli) tellVerdicts(f *engine.Fleet, last map[string]toldVerdict) error {
	for _, s := range f.Seats() {
		v, old := s.Compaction.Verdict, last[s.ID]
		last[s.ID] = toldVerdict{v, s.Generation}
		if old.verdict == v {
			continue
		}
		if v == "" {
			if old.generation != s.Generation || s.Life != engine.LifeRunning {
				continue
			}
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
