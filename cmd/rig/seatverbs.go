package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"sync"

	"github.com/spf13/cobra"

	"rig/engine"
)

// seatVerbs are the verbs that change exactly one seat.
func (c *cli) seatVerbs() []*cobra.Command {
	return []*cobra.Command{
		c.seatStopCmd(), c.seatCleanCmd(), c.seatLaunchCmd(), c.setModelCmd(), c.setTokenCmd(), c.clearAttentionCmd(),
	}
}

// seatVerb makes a command that plans a request about one seat and applies it. A
// verb that needs a reason is refused without one before anything is contacted.
func (c *cli) seatVerb(cmd *cobra.Command, m *mutation, needs bool, verb engine.Verb, args func() any) *cobra.Command {
	m.flags(cmd)
	cmd.Args = cobra.ExactArgs(1)
	apply := c.applies(m, verb, func(a []string) (string, any) { return a[0], args() })
	cmd.RunE = func(cmd *cobra.Command, a []string) error {
		if needs {
			if err := m.needReason(string(verb)); err != nil {
				return err
			}
		}
		return apply(cmd, a)
	}
	return cmd
}

func noArgs() any { return struct{}{} }

func (c *cli) seatStopCmd() *cobra.Command {
	return c.seatVerb(&cobra.Command{
		Use: "stop <seat>", Short: "End exactly one live occupant; nothing else is touched",
	}, &mutation{}, true, engine.VerbSeatStop, noArgs)
}

func (c *cli) seatCleanCmd() *cobra.Command {
	return c.seatVerb(&cobra.Command{
		Use: "clean <seat>", Short: "Return a dead seat to launchable: end its occupants on record, clear its binding",
		Long: "Every occupant that has not ended on record is probed, and the binding; one that runs, or that cannot be told, refuses.\n" +
			"A dead pane that tmux has kept is ended.",
	}, &mutation{}, true, engine.VerbSeatClean, noArgs)
}

func (c *cli) seatLaunchCmd() *cobra.Command {
	var args engine.SeatLaunchArgs
	cmd := c.seatVerb(&cobra.Command{
		Use: "launch <seat> --fresh", Short: "Give one seat a deliberate blank occupant",
		Long: "No conversation is continued, forked or rebuilt, and no packet is delivered: `rig launch` resumes, `rig handover` carries context.",
	}, &mutation{}, true, engine.VerbSeatLaunch, func() any { return args })
	cmd.Flags().BoolVar(&args.Fresh, "fresh", false, "say that a blank occupant is wanted (required)")
	cmd.Flags().BoolVar(&args.Stop, "stop", false, "end the occupant that runs there first")
	return cmd
}

func (c *cli) setModelCmd() *cobra.Command {
	var args engine.SetModelArgs
	m := &mutation{tell: func(out io.Writer, s engine.SeatReceipt) {
		if s.Evidence["changed"] == true {
			fmt.Fprintf(out, "  %s -> %s (audited); the running occupant keeps its model\n", orDash(plain(text(s.Evidence["from"]))), plain(text(s.Evidence["to"])))
			return
		}
		fmt.Fprintf(out, "  it is %s already: no change was recorded\n", plain(text(s.Evidence["to"])))
	}}
	cmd := c.seatVerb(&cobra.Command{
		Use: "set-model <seat> --model <id>", Short: "Set the model that later launches of a seat use",
	}, m, true, engine.VerbSetModel, func() any { return args })
	cmd.Flags().StringVar(&args.Model, "model", "", "model `id`, as the client's own --model takes it")
	return cmd
}

// text gives a value of a receipt's evidence that should be a text.
func text(v any) string {
	s, _ := v.(string)
	return s
}

func (c *cli) clearAttentionCmd() *cobra.Command {
	m := &mutation{tell: func(out io.Writer, s engine.SeatReceipt) {
		fmt.Fprintf(out, "  Cleared %s: %s -> %s (%s)\n", s.Seat, text(s.Evidence["from"]), text(s.Evidence["to"]), text(s.Evidence["cleared_by"]))
	}}
	return c.seatVerb(&cobra.Command{
		Use: "clear-attention <seat>", Short: "Clear an attention with fresh evidence, or on your word",
		Long: "Without --reason the client's own files must show that it answers. With --reason you vouch for it.\n" +
			"A wrong process in the pane is only cleared by verifying it again. Nothing is ever typed into the pane.",
	}, m, false, engine.VerbClearAttention, noArgs)
}

// maxToken is how much of standard input is read for a token, in bytes: far more
// than any id has.
const maxToken = 64 << 10

// nativeID is the form in which both clients name a conversation; no seat has it.
var nativeID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`) })

func (c *cli) setTokenCmd() *cobra.Command {
	var m mutation
	var fromStdin bool
	cmd := &cobra.Command{
		Use: "set-resume-token <seat> --token-stdin", Short: "Set the native id that a seat's conversation is resumed by", Args: cobra.ExactArgs(1),
		Long: "The id is read from standard input and from nowhere else; it is shown in no output, log or event.\n" +
			"Setting it proves nothing about continuity.",
		RunE: func(cmd *cobra.Command, a []string) error {
			if err := m.needReason(string(engine.VerbSetToken)); err != nil {
				return err
			}
			if nativeID().MatchString(a[0]) {
				return engine.Errorf(engine.CodeInvalid, "the word given looks like a conversation's id, and a seat is asked for").WithHint("name the seat, and pipe the id in")
			}
			if !fromStdin {
				return engine.Errorf(engine.CodeInvalid, "the token is read from standard input only").WithHint("pipe it in and add --token-stdin")
			}
			if f, ok := cmd.InOrStdin().(*os.File); ok && isTerminal(f) {
				return engine.Errorf(engine.CodeInvalid, "standard input is a terminal, which would show the token").WithHint("pipe it in: … --token-stdin < file")
			}
			b, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxToken))
			if err != nil {
				return engine.Errorf(engine.CodeInvalid, "standard input cannot be read").Wrap(err).WithHint("pipe the id in")
			}
			req, err := m.request(engine.VerbSetToken, a[0], struct{}{})
			if err != nil {
				return err
			}
			req.Secret = engine.NewSecret(string(b))
			err = c.mutate(cmd.Context(), &m, req)
			if err != nil && !m.dryRun {
				c.noteTokenRefusal(cmd.Context(), req, err)
			}
			return err
		},
	}
	m.flags(cmd)
	cmd.Annotations = map[string]string{secretWords: "yes"}
	cmd.SetFlagErrorFunc(func(*cobra.Command, error) error { // cobra's own words repeat what was given
		return engine.Errorf(engine.CodeInvalid, "a flag is unknown, or has no value that it takes").WithHint("`rig seat set-resume-token --help` shows the usage")
	})
	cmd.Flags().BoolVar(&fromStdin, "token-stdin", false, "read the token from standard input (required)")
	return cmd
}

// noteTokenRefusal puts a refused token into the audit log. What prevents that is
// told, and does not hide the refusal itself.
func (c *cli) noteTokenRefusal(ctx context.Context, req engine.Request, cause error) {
	a, err := openApp(appWrite)
	if err == nil {
		defer a.close()
		err = a.engine().NoteTokenRefusal(ctx, req, cause)
	}
	if err != nil {
		fmt.Fprintf(c.err, "  warning: the refusal is not in the audit log: %s\n", plain(err.Error()))
	}
}
