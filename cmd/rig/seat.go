package main

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"rig/engine"
)

func (c *cli) seatCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "seat", Short: "Look at one seat, and act on it alone"}
	cmd.AddCommand(c.seatStatusCmd(), c.switchClientCmd(), c.handoverCmd())
	cmd.AddCommand(c.seatVerbs()...)
	return cmd
}

// seatStatus is the JSON of `rig seat status`.
type seatStatus struct {
	OK bool `json:"ok"`
	*engine.SeatView
	Occupants []engine.Session       `json:"occupants"`
	Tenures   []engine.Tenure        `json:"tenures"`
	Drift     engine.SpecDrift       `json:"spec_drift"`
	Items     []engine.AttentionItem `json:"attention_items"`
}

func (c *cli) seatStatusCmd() *cobra.Command {
	return &cobra.Command{
		Use: "status <seat>", Short: "Who sits there, since when, from where, and what it does", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := openApp(appLook)
			if err != nil {
				return err
			}
			defer a.close()
			s, err := a.engine().SeatInFull(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			f := s.Fleet
			doc := seatStatus{
				OK: true, SeatView: s.SeatView, Occupants: s.Occupants, Tenures: s.Tenures, Drift: s.Drift, Items: []engine.AttentionItem{},
			}
			for _, it := range f.Attention {
				if it.SeatID == s.ID {
					doc.Items = append(doc.Items, it)
				}
			}
			if f.Server.State == engine.Unknown {
				c.code = 2
			}
			if c.json {
				return c.print(doc)
			}
			c.seatHuman(doc, f)
			return nil
		},
	}
}

func (c *cli) seatHuman(d seatStatus, f *engine.Fleet) {
	or := func(s, other string) string {
		if s == "" {
			return other
		}
		return plain(s)
	}
	s := d.SeatView
	rows := [][]string{
		{"Seat", s.Address},
		{"Rig", s.Rig},
		{"Logical ID", s.Logical},
		{"Runtime", strings.TrimSpace(string(s.Runtime) + " " + s.Model)},
		{"Lifecycle", string(s.Life) + "  (" + plain(s.LifeWhy) + ")"},
		{"Activity", seatRow(*s, f)[3] + "  (" + or(s.Activity.Source, "no source") + ", " + or(s.Activity.Rule, "no rule") + ")"},
		{"Context", contextCell(*s) + "  " + plain(s.Usage.Note)},
		{"Startup", or(string(s.Startup), "none")},
		{"Generation", strconv.FormatInt(s.Generation, 10)},
		{"Continuity outcome", continuityWord(s.Continuity, s.ContextDelivered)},
		{"Binding outcome", or(string(s.Binding), "none")},
		{"Last error", or(plain(s.LastError), "none")},
		{"Previous occupant", or(s.Previous, "none")},
		{"Forked from", forkedFrom(d, f)},
		{"Since", engine.Age(s.StartedAt, f.At)},
		{"Session", or(s.SessionName, "none")},
		{"Pane", or(string(s.Pane), "none")},
		{"Spec", plain(d.Drift.Spec + "  (" + d.Drift.Words() + ")")},
		{"Inbound work", fmt.Sprintf("%d pending, %d claimed, %d blocked", s.Work.Pending, s.Work.Claimed, s.Work.Blocked)},
	}
	for _, e := range s.Edges {
		arrow := "→"
		if !e.Out {
			arrow = "←"
		}
		rows = append(rows, []string{"Edge", arrow + " " + string(e.Kind) + " " + e.Seat})
	}
	for _, it := range d.Items {
		rows = append(rows, []string{"▲ Attention", plain(it.Reason)}, []string{"", "→ " + it.Remedy})
	}
	table(c.out, rows)
}

func (c *cli) switchClientCmd() *cobra.Command {
	args := engine.SwitchArgs{Window: -1}
	var window string
	cmd := &cobra.Command{
		Use: "switch-client <seat>", Short: "Show a seat in an attached tmux client; nothing else changes", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, a []string) error {
			if window != "" {
				n, err := strconv.Atoi(window)
				if err != nil || n < 0 {
					return engine.Errorf("invalid_window", "%q is not a window index", window).WithHint("a number from 0")
				}
				args.Window = n
			}
			ap, err := openApp(appRead)
			if err != nil {
				return err
			}
			defer ap.close()
			done, err := ap.engine().SwitchClient(cmd.Context(), a[0], args)
			if err != nil {
				return err
			}
			if c.json {
				return c.print(done)
			}
			fmt.Fprintf(c.out, "%s now shows %s\n", done.Client, done.Session)
			return nil
		},
	}
	cmd.Flags().StringVar(&args.Client, "client", "", "which client (its tty); needed when several are attached")
	cmd.Flags().StringVar(&window, "to-window", "", "window `index` of the seat's session")
	return cmd
}

func (c *cli) attachCmd() *cobra.Command {
	return &cobra.Command{
		Use: "attach <seat>", Short: "Open a seat in this terminal; detaching comes back", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := openApp(appRead)
			if err != nil {
				return err
			}
			s, _, err := a.engine().SeatView(cmd.Context(), args[0])
			if err == nil && s.SessionName == "" {
				err = engine.Errorf(engine.CodeSessionMissing, "the seat has no live pane: %s", s.LifeWhy).On("attach", s.Address).
					WithHint("`rig launch %s %s` starts it", s.Rig, s.Logical)
			}
			if err != nil {
				return err
			}
			argv := a.deps.Mux.AttachArgv(s.ToSee())
			if c.json {
				return c.print(map[string]any{"ok": true, "seat": s.Address, "argv": argv})
			}
			if !isTerminal(os.Stdin) || !isTerminal(os.Stdout) {
				fmt.Fprintln(c.out, engine.CommandLine(argv...))
				return nil
			}
			if sock := a.deps.Self.Socket; sock != "" && sock == a.paths.socket {
				return engine.Errorf("client_inside", "you are inside this tmux server already").On("attach", s.Address).
					WithHint("rig seat switch-client %s", s.Address)
			}
			a.close()
			return execArgv(argv)
		},
	}
}

// execArgv becomes another program, outside of any tmux client.
func execArgv(argv []string) error {
	path, err := lookPath(argv[0])
	if err != nil {
		return engine.Errorf(engine.CodeRuntimeMissing, "%s cannot be found", argv[0]).Wrap(err).WithHint("install tmux")
	}
	return syscall.Exec(path, argv, withoutTmux(os.Environ()))
}

// withoutTmux is an environment in which tmux does not think it is nested.
func withoutTmux(env []string) []string {
	var out []string
	for _, kv := range env {
		if !strings.HasPrefix(kv, "TMUX=") && !strings.HasPrefix(kv, "TMUX_PANE=") {
			out = append(out, kv)
		}
	}
	return out
}

func (c *cli) captureCmd() *cobra.Command {
	var history int
	cmd := &cobra.Command{
		Use: "capture <seat>", Short: "Print a seat's screen", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if history < 0 {
				return engine.Errorf(engine.CodeInvalid, "--lines cannot be below zero").On("capture", args[0]).WithHint("leave the sign out")
			}
			a, err := openApp(appRead)
			if err != nil {
				return err
			}
			defer a.close()
			got, err := a.engine().Capture(cmd.Context(), args[0], history)
			if err != nil {
				return err
			}
			if c.json {
				return c.print(got)
			}
			for _, line := range got.Lines {
				fmt.Fprintln(c.out, plain(line))
			}
			return nil
		},
	}
	cmd.Flags().IntVar(&history, "lines", 0, "also this many lines above the screen")
	return cmd
}

func (c *cli) whoamiCmd() *cobra.Command {
	var seat string
	var full bool
	cmd := &cobra.Command{
		Use: "whoami", Short: "Which seat this shell sits in, its peers and edges", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := openApp(appRead)
			if err != nil {
				return err
			}
			defer a.close()
			id, err := a.engine().Whoami(cmd.Context(), seat)
			if err != nil && id.Seat == "" {
				return err
			}
			if err != nil {
				c.code = 2
			}
			if c.json {
				return c.print(id)
			}
			rows := [][]string{{"Seat", id.Seat}, {"Rig", id.Rig}, {"Role", orDash(id.Role)}, {"Runtime", id.Runtime}, {"Generation", strconv.FormatInt(id.Generation, 10)}}
			if full {
				rows = append(rows, []string{"Directory", plain(id.Cwd)}, []string{"Session", orDash(id.Session)})
			}
			for _, p := range id.Peers {
				rows = append(rows, []string{"Peer", p.Seat + "  " + p.Runtime + "  " + p.Role})
			}
			for _, e := range id.Edges {
				arrow := "→"
				if !e.Out {
					arrow = "←"
				}
				rows = append(rows, []string{"Edge", arrow + " " + string(e.Kind) + " " + e.Seat})
			}
			if id.Partial {
				rows = append(rows, []string{"Partial", id.Why})
			}
			table(c.out, rows)
			return nil
		},
	}
	cmd.Flags().StringVar(&seat, "seat", "", "ask about this seat instead")
	cmd.Flags().BoolVar(&full, "full", false, "also directory and session")
	return cmd
}

func orDash(s string) string { return cmp.Or(s, "—") }
