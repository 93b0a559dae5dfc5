package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rig/engine"
)

func (c *cli) restoreCmd() *cobra.Command {
	var m mutation
	var args engine.RestoreArgs
	var rig string
	var detach bool
	cmd := &cobra.Command{
		Use: "restore <snapshot>", Short: "Bring a rig back from a snapshot that you name", Args: cobra.ExactArgs(1),
		Long: "Seats that run are left alone. It waits for the end; with --detach it prints the attempt's id.",
		RunE: func(cmd *cobra.Command, a []string) error {
			args.Snapshot = a[0]
			req, err := m.request(engine.VerbRestore, rig, args)
			if err != nil {
				return err
			}
			if detach && !m.dryRun {
				return c.restoreDetached(cmd.Context(), &m, req)
			}
			m.withFresh = func(seats []string) (engine.Request, error) {
				args.Fresh = append(args.Fresh, seats...)
				return m.request(engine.VerbRestore, rig, args)
			}
			return c.mutate(cmd.Context(), &m, req)
		},
	}
	m.flags(cmd)
	cmd.Flags().StringVar(&rig, "rig", "", "the rig (name or id)")
	cmd.Flags().BoolVar(&detach, "detach", false, "do not wait for the end")
	cmd.Flags().StringSliceVar(&args.Fresh, "fresh", nil, "start this `seat` (pod.member) deliberately afresh")
	cmd.Flags().BoolVar(&args.FreshUnprompted, "fresh-unprompted", false, "start every agent afresh that was never prompted")
	cmd.AddCommand(c.restoreStatusCmd())
	return cmd
}

// restoreDetached begins a restore and prints how to follow it.
func (c *cli) restoreDetached(ctx context.Context, m *mutation, req engine.Request) error {
	a, err := openApp(appWrite)
	if err != nil {
		return err
	}
	defer a.close()
	p, err := a.engine().Plan(ctx, req)
	if err != nil {
		return err
	}
	if err := p.MustBe(m.apply); err != nil {
		return err
	}
	id, err := a.engine().Start(ctx, p)
	if err != nil {
		return err
	}
	if c.json {
		return c.print(map[string]any{"ok": true, "attempt": id, "rig": p.Target, "status": "started"})
	}
	fmt.Fprintf(c.out, "attempt %s has begun; `rig restore status %s --rig %s` tells how it ended\n", id, id, p.Target)
	return nil
}

func (c *cli) restoreStatusCmd() *cobra.Command {
	var rig string
	cmd := &cobra.Command{
		Use: "status <attempt>", Short: "What a restore came to, and what became of it since", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, a []string) error {
			if rig == "" {
				return engine.Errorf(engine.CodeInvalid, "a rig is required").WithHint("rig restore status <attempt> --rig <rig>")
			}
			app, err := openApp(appRead)
			if err != nil {
				return err
			}
			defer app.close()
			st, err := app.engine().RestoreStatus(cmd.Context(), a[0], rig)
			if err != nil {
				return err
			}
			if len(st.Unresolved) > 0 {
				c.code = 1
			}
			if c.json {
				return c.print(st)
			}
			c.restoreStatus(st)
			return nil
		},
	}
	cmd.Flags().StringVar(&rig, "rig", "", "the rig (name or id)")
	return cmd
}

func (c *cli) restoreStatus(st engine.RestoreStatus) {
	fmt.Fprintf(c.out, "attempt %s of %s, %s\n", st.Attempt, plain(st.Rig), st.StartedAt.Local().Format(time.DateTime))
	c.selection(st.Selection)
	fmt.Fprintf(c.out, "original verdict: %s\ncurrent verdict:  %s\n", st.Original, st.Current)
	rows := [][]string{}
	for _, s := range st.Seats {
		word := string(s.Original)
		if word == "" {
			word = s.Action
		}
		if s.Current != s.Original {
			word += " → " + string(s.Current)
		}
		rows = append(rows, []string{"  " + s.Seat, word, plain(engine.InWords(s.Why))})
	}
	table(c.out, rows)
	c.excluded(st.Excluded)
	if len(st.Unresolved) > 0 {
		fmt.Fprintf(c.out, "unresolved: %s\n", strings.Join(st.Unresolved, ", "))
	}
}

func (c *cli) selection(s engine.SnapshotSelection) {
	what := "the record"
	if s.ID != "" {
		what = fmt.Sprintf("snapshot %s (%s, %s)", s.ID, s.Kind, engine.Old(s.Age))
	}
	fmt.Fprintf(c.out, "  from %s: %s\n", what, plain(s.Rationale))
	if s.Newer != "" {
		fmt.Fprintf(c.out, "  a newer usable one is %s\n", s.Newer)
	}
}

func (c *cli) excluded(list []engine.ExcludedSeat) {
	for _, x := range list {
		fmt.Fprintf(c.out, "  %s left out: %s\n", x.Seat, plain(engine.InWords(x.Reason)))
	}
}

// restoreExtra prints what a receipt says of each rig's restore.
func (c *cli) restoreExtra(extra map[string]any) {
	for _, v := range engine.RestoreVerdicts(extra) {
		fmt.Fprintf(c.out, "%s: %s\n", plain(v.Rig), v.Result)
		if v.Why != nil {
			fmt.Fprintf(c.out, "  %s\n    → %s\n", plain(message(v.Why)), v.Why.Hint)
			continue
		}
		c.selection(v.Selection)
		c.excluded(v.Excluded)
	}
}

func (c *cli) restoreCheckCmd() *cobra.Command {
	var opts engine.RestoreCheckOptions
	cmd := &cobra.Command{
		Use: "restore-check", Short: "Would everything come back if this machine rebooted now?", Args: cobra.NoArgs,
		Long: "Exit 0: yes, perhaps with caveats. 1: no. 2: it cannot be told.",
		RunE: func(cmd *cobra.Command, _ []string) error { return c.restoreCheck(cmd.Context(), opts) },
	}
	f := cmd.Flags()
	f.StringVar(&opts.Rig, "rig", "", "only this rig (name or id)")
	f.BoolVar(&opts.Full, "full", false, "print every check")
	f.BoolVar(&opts.Ready, "ready", false, "also print the green checks of seats that would come back")
	f.BoolVar(&opts.NoQueue, "no-queue", false, "leave out inbound work")
	f.BoolVar(&opts.NoHooks, "no-hooks", false, "leave out the clients' settings and hooks")
	return cmd
}

func (c *cli) restoreCheck(ctx context.Context, opts engine.RestoreCheckOptions) error {
	a, err := openApp(appRead)
	if err != nil {
		return err
	}
	defer a.close()
	opts.Host = hostChecks(a.paths)
	rep, err := a.engine().RestoreCheck(ctx, opts)
	if err != nil {
		return err
	}
	c.code = rep.ExitCode()
	if c.json {
		return c.print(rep)
	}
	printRestoreCheck(c.out, rep)
	return nil
}

// hostChecks looks at what the engine itself cannot see. It writes nothing.
func hostChecks(p paths) []engine.RestoreCheckItem {
	it := engine.RestoreCheckItem{Check: "host.state-dir-writable", Status: engine.CheckGreen, Evidence: p.home}
	info, err := os.Stat(p.home)
	switch {
	case os.IsNotExist(err):
		it.Evidence = p.home + " is not there yet"
	case err != nil:
		it.Status, it.Evidence, it.Remedy = engine.CheckUnknown, err.Error(), "make "+p.home+" readable, or set RIG_HOME"
	case !info.IsDir() || info.Mode().Perm()&0o200 == 0:
		it.Status, it.Evidence, it.Remedy = engine.CheckRed, p.home+" cannot be written", "chmod u+rwx "+p.home
	case !mayWrite(p.home): // the disk is mounted read-only, or the folder is somebody else's
		it.Status, it.Evidence, it.Remedy = engine.CheckRed, p.home+" cannot be written", "make it writable for yourself, or set RIG_HOME"
	}
	space := spaceCheck(p.home)
	return []engine.RestoreCheckItem{it, {
		Check: "host.space", Status: engine.CheckStatus(space.Status), Evidence: space.Found, Source: "file system", Remedy: space.Hint,
	}}
}

var checkSigns = map[engine.CheckStatus]string{
	engine.CheckGreen: "✓", engine.CheckYellow: "!", engine.CheckRed: "✗", engine.CheckUnknown: "?",
}

func printRestoreCheck(out io.Writer, rep engine.RestoreCheckReport) {
	fmt.Fprintf(out, "%s — if this machine rebooted now: %s would come back · to decide or repair: %d · cannot be told: %d\n",
		rep.Verdict, engine.Counted(rep.Seats.Restorable, "seat"), rep.Seats.Not, rep.Seats.Unknown)
	rows := [][]string{}
	for _, r := range rep.Rigs {
		for _, s := range r.Seats {
			rows = append(rows, []string{"  " + checkSigns[s.Status], s.Seat, s.Action, plain(engine.InWords(s.Why))})
		}
	}
	table(out, rows)
	rows = [][]string{}
	for _, k := range rep.Checks {
		rows = append(rows, []string{checkSigns[k.Status], k.Check, plain(engine.InWords(k.Evidence))})
		if k.Remedy != "" && k.Status != engine.CheckGreen {
			rows = append(rows, []string{"", "", "→ " + k.Remedy})
		}
	}
	table(out, rows)
}
