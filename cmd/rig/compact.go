package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"rig/engine"
)

// compactFollow is how long a guided compaction is followed before the prompt
// comes back; the operation goes on by itself.
const compactFollow = 180 * time.Second

func (c *cli) compactCmd() *cobra.Command {
	var m mutation
	var args engine.CompactArgs
	var state, cancel bool
	cmd := &cobra.Command{
		Use: "compact <seat>", Short: "Guided compaction of one Claude seat: prepare, /compact, restore, audit", Args: cobra.ExactArgs(1),
		Long: "Writes a restore packet, asks the seat for its restore map, types /compact once when it is idle, proves the compaction, and has the seat\n" +
			"restore and be audited. Until the audit passes the seat reads \"compacted, not audited\". This performs it; --dry-run is the plan.",
		RunE: func(cmd *cobra.Command, a []string) error {
			switch {
			case state && cancel:
				return engine.Errorf(engine.CodeInvalid, "--state and --cancel exclude each other").WithHint("give one of them")
			case state:
				return c.compactState(cmd.Context(), a[0])
			case cancel:
				return c.compactCancel(cmd.Context(), a[0], m.operator)
			}
			req, err := m.request(engine.VerbCompact, a[0], args)
			if err != nil {
				return err
			}
			ctx, done := context.WithTimeout(cmd.Context(), compactFollow)
			defer done()
			err = c.mutate(ctx, &m, req)
			if ctx.Err() != nil && cmd.Context().Err() == nil && err != nil {
				return c.stillRunning(cmd.Context(), a[0], err)
			}
			return err
		},
	}
	m.flags(cmd)
	f := cmd.Flags()
	f.BoolVar(&args.SkipMap, "skip-map", false, "do not ask the seat for a restore map; the packet alone stands in")
	f.BoolVar(&args.AuditOnly, "audit", false, "only audit a seat that was compacted by hand or by its client")
	f.BoolVar(&state, "state", false, "how the newest compaction of the seat stands; sends nothing")
	f.BoolVar(&cancel, "cancel", false, "stop one that has not typed /compact yet")
	return cmd
}

// stillRunning says that a compaction takes longer than it is followed.
func (c *cli) stillRunning(ctx context.Context, ref string, cause error) error {
	a, err := openApp(appRead)
	if err != nil {
		return err
	}
	defer a.close()
	s, err := a.engine().CompactState(ctx, ref)
	if err != nil || s.Operation == "" || s.State.Ended() {
		return cause
	}
	if c.json {
		return c.print(map[string]any{"ok": true, "outcome": "still running", "operation": s.Operation, "seat": s.Seat, "stage": s.Stage})
	}
	fmt.Fprintf(c.out, "%s: still running (%s) · operation %s\n  → rig compact %s --state\n", s.Seat, s.Stage, s.Operation, s.Seat)
	return nil
}

func (c *cli) compactState(ctx context.Context, ref string) error {
	a, err := openApp(appRead)
	if err != nil {
		return err
	}
	defer a.close()
	s, err := a.engine().CompactState(ctx, ref)
	if err != nil {
		return err
	}
	return c.showCompactState(s)
}

func (c *cli) compactCancel(ctx context.Context, ref, operator string) error {
	a, err := openApp(appWrite)
	if err != nil {
		return err
	}
	defer a.close()
	s, err := a.engine().CancelCompact(ctx, ref, engine.Operator{Name: operator})
	if err != nil {
		return err
	}
	return c.showCompactState(s)
}

func (c *cli) showCompactState(s *engine.CompactState) error {
	if c.json {
		return c.print(s)
	}
	if s.Operation == "" {
		fmt.Fprintf(c.out, "%s: no guided compaction on record\n", s.Seat)
	} else {
		fmt.Fprintf(c.out, "%s: %s · operation %s %s\n", s.Seat, s.Stage, s.Operation, s.State)
	}
	rows := [][]string{}
	add := func(name, value string) {
		if value != "" {
			rows = append(rows, []string{"  " + name, plain(value)})
		}
	}
	add("verdict", s.Verdict)
	add("packet", s.Packet)
	add("map", s.Map)
	add("delivery", s.Delivery)
	add("directive", string(s.Directive))
	add("cancelled by", s.Cancelled)
	add("error", s.Error)
	if s.Compaction.Managed {
		add("policy", s.Compaction.Why)
	}
	idle := "as the client decides"
	if s.Compaction.IdleOff {
		idle = "off since this launch"
	}
	add("idle compaction", idle)
	add("next launch", s.Compaction.NextLaunch)
	table(c.out, rows)
	return nil
}
