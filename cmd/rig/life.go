package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rig/engine"
)

func (c *cli) upCmd() *cobra.Command {
	var m mutation
	var args engine.UpArgs
	var env []string
	cmd := &cobra.Command{
		Use: "up <spec.yaml | starter | rig>", Short: "Bring a rig up from a spec, or back by name",
		Long: "A file or starter: create the rig and launch its seats.\nThe name of a rig on record: bring it back, each seat by its own conversation where it has one.\nIn a terminal it asks about each seat that awaits a decision; in a pipe it names them and starts nothing in them.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, a []string) error {
			var err error
			if args.All != (len(a) == 0) {
				return engine.Errorf(engine.CodeInvalid, "a spec, a starter or a rig is required").WithHint("or --all for every rig on record")
			}
			if args.All {
				a = []string{""}
			}
			args.Spec = a[0]
			if args.Env, err = parseEnv(env); err != nil {
				return err
			}
			if args.Cwd, err = startDir(a[0], args.Cwd); err != nil {
				return err
			}
			req, err := m.request(engine.VerbUp, a[0], args)
			if err != nil {
				return err
			}
			if !args.All {
				m.withFresh = func(seats []string) (engine.Request, error) {
					args.Fresh = append(args.Fresh, seats...)
					return m.request(engine.VerbUp, a[0], args)
				}
			}
			if err := c.mutate(cmd.Context(), &m, req); err != nil {
				return err
			}
			if !c.json && !m.dryRun && c.code == 0 {
				fmt.Fprintln(c.err, "rig attach <seat> opens a seat; rig opens the console")
			}
			return nil
		},
	}
	m.flags(cmd)
	cmd.Flags().BoolVar(&m.dryRun, "plan", false, "same as --dry-run")
	cmd.Flags().StringSliceVar(&args.Fresh, "fresh", nil, "start this `seat` (pod.member) deliberately afresh")
	cmd.Flags().BoolVar(&args.FreshUnprompted, "fresh-unprompted", false, "start every agent afresh that was never prompted")
	cmd.Flags().BoolVar(&args.All, "all", false, "bring every rig on record back, with one receipt")
	cmd.Flags().StringVar(&args.Cwd, "cwd", "", "where relative directories of the spec start")
	cmd.Flags().StringArrayVar(&env, "env", nil, "`KEY=VALUE` for every seat")
	return cmd
}

// startDir is where relative directories of a spec start: what was asked for; for
// a built-in starter, which has no folder of its own, the shell's directory.
func startDir(ref, asked string) (string, error) {
	if asked != "" {
		return filepath.Abs(asked)
	}
	if loader().IsStarter(ref) {
		return os.Getwd()
	}
	return "", nil
}

func parseEnv(list []string) (map[string]string, error) {
	if len(list) == 0 {
		return nil, nil //nolint:nilnil // no environment is a valid answer
	}
	out := map[string]string{}
	for _, kv := range list {
		k, v, ok := strings.Cut(kv, "=")
		if !ok || k == "" {
			return nil, engine.Errorf(engine.CodeInvalid, "%q is not KEY=VALUE", kv).WithHint("write --env KEY=VALUE")
		}
		out[k] = v
	}
	return out, nil
}

func (c *cli) downCmd() *cobra.Command {
	var m mutation
	var args engine.DownArgs
	cmd := &cobra.Command{
		Use: "down <rig>", Short: "Stop a rig; a snapshot is attempted first", Args: cobra.ExactArgs(1),
		RunE: c.applies(&m, engine.VerbDown, func(a []string) (string, any) { return a[0], args }),
	}
	m.flags(cmd)
	cmd.Flags().BoolVar(&args.Snapshot, "snapshot", false, "state that a snapshot is wanted (one is attempted anyway)")
	cmd.Flags().BoolVar(&args.Delete, "delete", false, "forget the rig once everything has stopped")
	cmd.Flags().BoolVar(&args.DropWork, "drop-work", false, "with --delete: the seats' open inbound work goes too")
	cmd.Flags().BoolVar(&args.Force, "force", false, "accepted for scripts: a stop is immediate anyway")
	return cmd
}

func (c *cli) launchCmd() *cobra.Command {
	var m mutation
	var hold string
	cmd := &cobra.Command{
		Use: "launch <rig> [<pod.member>…]", Short: "Launch what does not run", Args: cobra.MinimumNArgs(1),
		RunE: c.applies(&m, engine.VerbLaunch, func(a []string) (string, any) {
			return a[0], engine.LaunchArgs{Seats: a[1:], HoldReason: hold}
		}),
	}
	m.flags(cmd)
	cmd.Flags().StringVar(&hold, "hold-reason", "", "why the seats that you did not name stay as they are; it goes into the receipt")
	return cmd
}

func (c *cli) discoverCmd() *cobra.Command {
	var rescan bool
	cmd := &cobra.Command{
		Use: "discover", Short: "List sessions that nobody manages", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := openApp(appWrite)
			if err != nil {
				return err
			}
			defer a.close()
			began := time.Now()
			list, err := a.engine().Discover(cmd.Context(), rescan)
			if err != nil {
				return err
			}
			if list == nil {
				list = []engine.DiscoveredSession{}
			}
			if c.json {
				return c.print(map[string]any{"sessions": list})
			}
			rows := [][]string{{"ID", "SESSION", "PANE", "LOOKS LIKE", "STATUS", "DIRECTORY"}}
			for _, d := range list {
				hint := string(d.RuntimeHint)
				if hint == "" {
					hint = "?"
				}
				rows = append(rows, []string{d.ID, plain(d.SessionName), string(d.Pane), hint, d.Status, plain(d.Cwd)})
			}
			if len(list) == 0 {
				fmt.Fprintln(c.out, "no unmanaged session on "+a.paths.socket)
				return nil
			}
			table(c.out, rows)
			if seen := list[0].LastSeen; seen.Before(began.Add(-time.Second)) { // the record's: what is there may be another by now
				when := "a moment ago"
				if age := engine.Age(seen, began); age != "now" {
					when = age + " ago"
				}
				fmt.Fprintf(c.err, "as seen %s; `rig discover --rescan` looks again\n", when)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&rescan, "rescan", false, "look at tmux again")
	return cmd
}

func (c *cli) adoptCmd() *cobra.Command {
	var m mutation
	cmd := &cobra.Command{
		Use: "adopt <discovered-id> <seat>", Short: "Bind a session of yours to an empty seat", Args: cobra.ExactArgs(2),
		RunE: c.applies(&m, engine.VerbAdopt, func(a []string) (string, any) { return a[1], engine.AdoptArgs{Discovered: a[0]} }),
	}
	m.flags(cmd)
	return cmd
}

func (c *cli) releaseCmd() *cobra.Command {
	var m mutation
	cmd := &cobra.Command{
		Use: "release <seat>", Short: "Give an adopted session back; it keeps running", Args: cobra.ExactArgs(1),
		RunE: c.applies(&m, engine.VerbRelease, func(a []string) (string, any) { return a[0], struct{}{} }),
	}
	m.flags(cmd)
	return cmd
}
