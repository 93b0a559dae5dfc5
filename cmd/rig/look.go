package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"rig/engine"
)

// psFlags select what `rig ps` prints.
type psFlags struct {
	rig       string
	seats     bool
	attention bool
	filter    []string
}

func (c *cli) psCmd() *cobra.Command {
	var f psFlags
	cmd := &cobra.Command{
		Use: "ps", Short: "Rigs and seats: lifecycle, activity, context, outcome, attention", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.ps(cmd.Context(), f) },
	}
	cmd.Flags().StringVar(&f.rig, "rig", "", "only this rig (name or id)")
	cmd.Flags().BoolVar(&f.seats, "seats", false, "one line a seat")
	cmd.Flags().BoolVar(&f.seats, "nodes", false, "same as --seats")
	cmd.Flags().BoolVar(&f.attention, "attention", false, "only seats that need a person")
	cmd.Flags().StringArrayVar(&f.filter, "filter", nil, "`key=value`: runtime, activity, lifecycle, pod, member, outcome")
	return cmd
}

func (c *cli) ps(ctx context.Context, f psFlags) error {
	a, err := openApp(appLook)
	if err != nil {
		return err
	}
	defer a.close()
	fleet, err := a.engine().Fleet(ctx)
	if err != nil {
		return err
	}
	if fleet.Server.State == engine.Unknown {
		c.code = 2
	}
	rigs, err := f.apply(fleet)
	if err != nil {
		return err
	}
	if c.json {
		return c.print(map[string]any{"server": fleet.Server, "sockets": fleet.Sockets, "totals": fleet.Totals, "rigs": rigs, "attention": fleet.Attention})
	}
	c.psHuman(fleet, rigs, f)
	return nil
}

// apply filters the picture; an unknown rig or key is an error.
func (f psFlags) apply(fleet *engine.Fleet) ([]engine.RigView, error) {
	keys := map[string]func(engine.SeatView) string{
		"runtime": func(s engine.SeatView) string { return string(s.Runtime) }, "activity": func(s engine.SeatView) string { return string(s.Activity.State) },
		"lifecycle": func(s engine.SeatView) string { return string(s.Life) }, "pod": func(s engine.SeatView) string { return s.Pod },
		"member": func(s engine.SeatView) string { return s.Member }, "outcome": func(s engine.SeatView) string { return string(s.Continuity) },
	}
	want := map[string]string{}
	for _, kv := range f.filter {
		k, v, ok := strings.Cut(kv, "=")
		if !ok || keys[k] == nil {
			return nil, engine.Errorf(engine.CodeInvalid, "no filter %q", kv).WithHint("runtime, activity, lifecycle, pod, member or outcome = a value")
		}
		want[k] = v
	}
	out := []engine.RigView{}
	for _, r := range fleet.Rigs {
		if f.rig != "" && r.Name != f.rig && r.ID != f.rig {
			continue
		}
		if !f.attention && len(want) == 0 {
			out = append(out, r)
			continue
		}
		seats := []engine.SeatView{}
		for _, s := range r.Seats {
			keep := !f.attention || len(s.Attention) > 0
			for k, v := range want {
				keep = keep && keys[k](s) == v
			}
			if keep {
				seats = append(seats, s)
			}
		}
		r.Seats = seats
		out = append(out, r)
	}
	if f.rig != "" && len(out) == 0 {
		return nil, engine.Errorf(engine.CodeRigNotFound, "no rig %q", f.rig).WithHint("`rig ps` lists them")
	}
	return out, nil
}

// elsewhereCount counts the seats that other tmux servers hold, or may hold.
func elsewhereCount(fleet *engine.Fleet) int {
	n := 0
	for _, v := range fleet.Sockets {
		if !v.Ours {
			n += len(v.Seats) - v.Count(engine.Absent)
		}
	}
	return n
}

func (c *cli) psHuman(fleet *engine.Fleet, rigs []engine.RigView, f psFlags) {
	if len(rigs) == 0 {
		fmt.Fprintln(c.out, "No rigs. `rig demo` shows one, `rig spec list` lists starters, `rig up <spec>` brings one up.")
		return
	}
	t := fleet.Totals
	need := "need"
	if t.Attention == 1 {
		need = "needs"
	}
	fmt.Fprintf(c.out, "%s · %s · %s running · %d %s attention", engine.Counted(t.Rigs, "rig"), engine.Counted(t.Seats, "seat"), engine.Untold(t.Running, t.Unknown), t.Attention, need)
	if fleet.Server.State != engine.Present {
		fmt.Fprintf(c.out, " · tmux %s", fleet.Server.State)
	}
	if n := elsewhereCount(fleet); n > 0 {
		fmt.Fprintf(c.out, " · %d on another tmux server (rig doctor)", n)
	}
	fmt.Fprintln(c.out)
	if f.seats || f.attention || f.rig != "" || len(f.filter) > 0 {
		rows := [][]string{{"SEAT", "RUNTIME", "LIFECYCLE", "ACTIVITY", "CONTEXT", "OUTCOME", "ATTENTION"}}
		for _, r := range rigs {
			for _, s := range r.Seats {
				rows = append(rows, seatRow(s, fleet))
			}
		}
		table(c.out, rows)
		c.psOperations(fleet)
		return
	}
	rows := [][]string{{"RIG", "LIFECYCLE", "SEATS", "RUN", "BUSY", "ATTENTION", "CREATED"}}
	for _, r := range rigs {
		rows = append(rows, []string{
			r.Name, string(r.Life), fmt.Sprint(len(r.Seats)), engine.Untold(r.Running, r.Unknown), engine.Untold(r.Busy, r.Unknown), mark(r.Attention), engine.Age(r.CreatedAt, fleet.At),
		})
	}
	table(c.out, rows)
	c.psOperations(fleet)
}

// psOperations names what needs a person and belongs to no seat.
func (c *cli) psOperations(f *engine.Fleet) {
	for _, it := range f.Attention {
		if it.SeatID == "" && it.Acked == "" {
			fmt.Fprintf(c.out, "▲ %s\n  → %s\n", plain(it.Reason), it.Remedy)
		}
	}
}

func mark(n int) string {
	if n == 0 {
		return "—"
	}
	return fmt.Sprintf("▲%d", n)
}

// whyWidth is how much of a reason stands in a column, in cells.
const whyWidth = 24

func seatRow(s engine.SeatView, f *engine.Fleet) []string {
	act := string(s.Activity.State)
	switch {
	case s.Activity.State == engine.ActivityUnknown:
		act = "?"
	case s.Activity.Held():
		act = "held"
	}
	if s.Activity.Why != "" && (s.Activity.State == engine.ActivityWaiting || s.Activity.State == engine.ActivityLimit) {
		act += ": " + ansi.Truncate(plain(s.Activity.Why), whyWidth, "…") // whole under ATTENTION
	}
	if s.Life == engine.LifeNever {
		act = "—"
	}
	outcome := string(s.Continuity)
	if outcome == "" {
		outcome = "unverified"
	}
	reason := "—"
	for _, it := range f.Attention {
		if it.SeatID == s.ID {
			reason = "▲ " + plain(it.Reason)
			break
		}
	}
	return []string{s.Address, string(s.Runtime), string(s.Life), act, contextCell(s), outcome, reason}
}

// contextCell is the share of a seat's context window. A shell has none, which is known.
func contextCell(s engine.SeatView) string {
	u := s.Usage
	switch {
	case s.Runtime == engine.RuntimeTerminal:
		return "—"
	case !u.Known:
		return "?"
	case u.Window > 0:
		return u.Share()
	}
	return fmt.Sprintf("%dk", u.Tokens/1000)
}

func (c *cli) eventsCmd() *cobra.Command {
	var f engine.EventFilter
	var follow bool
	var since time.Duration
	var rig, seat string
	cmd := &cobra.Command{
		Use: "events", Short: "The audit log", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := openApp(appRead)
			if err != nil {
				return err
			}
			defer a.close()
			if since < 0 || f.Limit < 0 {
				return engine.Errorf(engine.CodeInvalid, "--since and --limit cannot be below zero").On("events", "").WithHint("leave the sign out")
			}
			if since > 0 {
				f.Since = time.Now().Add(-since)
			}
			if f.RigID, f.SeatID, err = a.eventScope(cmd.Context(), rig, seat); err != nil {
				return err
			}
			return c.events(cmd.Context(), a, f, follow)
		},
	}
	fl := cmd.Flags()
	fl.BoolVarP(&follow, "follow", "f", false, "go on printing new ones")
	fl.DurationVar(&since, "since", 0, "only those younger than this, such as 1h")
	fl.StringVar(&rig, "rig", "", "only of this rig")
	fl.StringVar(&seat, "seat", "", "only of this seat")
	fl.StringSliceVar(&f.Types, "type", nil, "only of these types")
	fl.IntVar(&f.Limit, "limit", 200, "at most this many")
	return cmd
}

// eventScope turns names into ids.
func (a *app) eventScope(ctx context.Context, rig, seat string) (rigID, seatID string, err error) {
	if seat != "" {
		s, _, err := a.engine().SeatView(ctx, seat)
		if err != nil {
			return "", "", err
		}
		return "", s.ID, nil
	}
	if rig == "" {
		return "", "", nil
	}
	f, err := a.engine().Fleet(ctx)
	if err != nil {
		return "", "", err
	}
	for _, r := range f.Rigs {
		if r.Name == rig || r.ID == rig {
			return r.ID, "", nil
		}
	}
	return "", "", engine.Errorf(engine.CodeRigNotFound, "no rig %q", rig).WithHint("`rig ps` lists them")
}

func (c *cli) events(ctx context.Context, a *app, f engine.EventFilter, follow bool) error {
	f.Newest = true
	list, err := a.engine().Events(ctx, f)
	if err != nil {
		return err
	}
	last := f.After
	for i := len(list) - 1; i >= 0; i-- {
		last = max(last, list[i].Seq)
	}
	if c.json && !follow {
		if list == nil {
			list = []engine.Event{}
		}
		return c.print(map[string]any{"events": list})
	}
	for i := len(list) - 1; i >= 0; i-- {
		c.event(list[i])
	}
	if len(list) == 0 && !follow {
		fmt.Fprintln(c.err, "no event is like that") // beside the answer, which is empty
	}
	f.Newest, f.Limit = false, 0
	t := time.NewTicker(200 * time.Millisecond)
	defer t.Stop()
	for follow {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		f.After = last
		if list, err = a.engine().Events(ctx, f); err != nil {
			return err
		}
		for _, ev := range list {
			c.event(ev)
			last = max(last, ev.Seq)
		}
	}
	return nil
}

func (c *cli) event(ev engine.Event) {
	if c.json {
		b, err := json.Marshal(ev)
		if err == nil {
			fmt.Fprintln(c.out, string(b))
		}
		return
	}
	who := ev.Seat
	if who == "" {
		who = ev.Rig
	}
	fmt.Fprintf(c.out, "%s  %-24s  %-28s  %s  %s\n", ev.At.Local().Format("2006-01-02 15:04:05"), ev.Type, plain(who), plain(ev.Operator), plain(string(ev.Payload)))
}
