package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rig/engine"
)

// broadcastFlags choose who is told.
type broadcastFlags struct {
	rig, pod, runtime string
	seats             []string
	verify, dry       bool
}

// told is what became of a message at one seat.
type told struct {
	Seat     string      `json:"seat"`
	Outcome  string      `json:"outcome"` // as of send; refused; would be sent
	Why      string      `json:"why,omitempty"`
	Queued   bool        `json:"queued,omitempty"` // delivered, and not taken yet
	Code     engine.Code `json:"code,omitempty"`
	Hint     string      `json:"hint,omitempty"`
	Warnings []string    `json:"warnings,omitempty"`
	word     string      // of a delivery, for people
}

func (c *cli) broadcastCmd() *cobra.Command {
	var f broadcastFlags
	cmd := &cobra.Command{
		Use: "broadcast <text>…", Short: "Send a message to every agent that runs, or to those you choose", Args: cobra.MinimumNArgs(1),
		Long: "Each seat is sent to as by `rig send`: one that waits for a person, or has a draft in its input box, is left alone and named.\n" +
			"A shell is never sent to, because it would run the text, and neither is the seat that calls. Exit 1: not everyone got it.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.broadcast(cmd.Context(), strings.Join(args, " "), f)
		},
	}
	cmd.Flags().StringVar(&f.rig, "rig", "", "only this rig (name or id)")
	cmd.Flags().StringVar(&f.pod, "pod", "", "only this pod")
	cmd.Flags().StringVar(&f.runtime, "runtime", "", "only this runtime")
	cmd.Flags().StringSliceVar(&f.seats, "seats", nil, "only these `seats`")
	cmd.Flags().BoolVar(&f.verify, "verify", false, "wait for proof at each; exit 1 without")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "say who would be told, and send nothing")
	return cmd
}

func (c *cli) broadcast(ctx context.Context, text string, f broadcastFlags) error {
	if strings.TrimSpace(text) == "" {
		return engine.Errorf(engine.CodeInvalid, "the message is empty").WithHint("rig broadcast <text>")
	}
	mode := appWrite
	if f.dry {
		mode = appRead
	}
	a, err := openApp(mode)
	if err != nil {
		return err
	}
	defer a.close()
	seats, err := a.audience(ctx, f)
	if err != nil {
		return err
	}
	list := []told{}
	for _, s := range seats {
		t := told{Seat: s.Address, Outcome: "would be sent"}
		if !f.dry {
			t = a.tell(ctx, s.Address, text, f.verify)
		}
		if t.Code != "" || f.verify && !f.dry && t.Outcome != engine.OutcomeDelivered {
			c.code = 1
		}
		list = append(list, t)
	}
	if c.json {
		return c.print(map[string]any{"ok": c.code == 0, "dry_run": f.dry, "seats": list})
	}
	rows := [][]string{}
	for _, t := range list {
		rows = append(rows, []string{"  " + t.Seat, cmp.Or(t.word, t.Outcome), plain(t.Why)})
		if t.Hint != "" {
			rows = append(rows, []string{"", "", "→ " + plain(t.Hint)})
		}
		for _, w := range t.Warnings {
			rows = append(rows, []string{"", "", "warning: " + plain(w)})
		}
	}
	table(c.out, rows)
	if f.dry {
		fmt.Fprintln(c.out, "No changes were made.")
	}
	return nil
}

// audience is who is meant: agents that run and match, without the caller.
func (a *app) audience(ctx context.Context, f broadcastFlags) ([]engine.SeatView, error) {
	fleet, err := a.engine().Fleet(ctx)
	if err != nil {
		return nil, err
	}
	if fleet.Server.State == engine.Unknown {
		return nil, engine.Errorf(engine.CodeTmuxProbeFailed, "%s", fleet.Server.Why).On("broadcast", "").WithHint("`rig doctor` says what is wrong with tmux")
	}
	rigs, err := psFlags{rig: f.rig}.apply(fleet)
	if err != nil {
		return nil, err
	}
	var out []engine.SeatView
	named := map[string]bool{}
	for _, r := range rigs {
		for _, s := range r.Seats {
			names := []string{s.Address, s.Pod + "." + s.Member, s.Pod + "." + s.Member + "@" + r.Name}
			wanted := len(f.seats) == 0
			for _, n := range names {
				if slices.Contains(f.seats, n) {
					wanted, named[n] = true, true
				}
			}
			if wanted && (f.pod == "" || s.Pod == f.pod) && (f.runtime == "" || string(s.Runtime) == f.runtime) &&
				s.Runtime != engine.RuntimeTerminal && s.Life == engine.LifeRunning && s.Address != a.deps.Self.Seat {
				out = append(out, s)
			}
		}
	}
	for _, n := range f.seats {
		if !named[n] {
			return nil, engine.Errorf(engine.CodeSeatNotFound, "no seat %q", n).On("broadcast", n).WithHint("`rig ps --seats` lists them")
		}
	}
	if len(out) == 0 {
		return nil, engine.Errorf(engine.CodeNotFound, "no agent runs that this would reach").On("broadcast", "").WithHint("`rig ps --seats` shows what runs; a shell is told with `rig send`")
	}
	return out, nil
}

// tell sends to one seat; what prevents it is an outcome, so that the others are
// told all the same.
func (a *app) tell(ctx context.Context, seat, text string, verify bool) told {
	d, err := a.engine().Send(ctx, seat, text, verify)
	if err == nil {
		return told{Seat: seat, Outcome: d.Outcome, Why: d.Why, Queued: d.Queued, Warnings: d.Warnings, word: d.Word()}
	}
	t := told{Seat: seat, Outcome: cmp.Or(d.Outcome, "refused"), Why: err.Error(), Code: engine.CodeOf(err), Warnings: d.Warnings}
	var e *engine.Error
	if errors.As(err, &e) {
		t.Why, t.Hint = e.Msg, e.Hint
	}
	return t
}
