package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"rig/engine"
	"rig/engine/packet"
)

func (c *cli) contextCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "context", Short: "What a seat keeps for its next occupant, and what its project declares"}
	cmd.AddCommand(c.recapWriteCmd(), c.contextGetCmd(), c.workInstallCmd())
	return cmd
}

// seatHere resolves a seat: the one that is named, within a rig if one is named,
// else the one that the caller sits in.
func seatHere(ctx context.Context, a *app, rig, seat string) (engine.PacketInput, error) {
	ref, err := seatRef(ctx, a, rig, seat)
	if err != nil {
		return engine.PacketInput{}, err
	}
	return a.engine().Gather(ctx, ref, 0)
}

func seatRef(ctx context.Context, a *app, rig, seat string) (string, error) {
	switch {
	case rig != "":
		return a.engine().SeatIn(ctx, rig, seat)
	case seat != "":
		return seat, nil
	}
	id, err := a.engine().Whoami(ctx, "")
	if engine.CodeOf(err) == engine.CodeNotInASeat {
		err = engine.AsError(err).WithHint("name one with --seat; `rig ps --seats` lists them")
	}
	return id.Seat, err
}

// seatNamed is seatHere for a verb that opens the record itself: the seat as it is
// named, without a look where its name is enough.
func seatNamed(ctx context.Context, rig, seat string) (string, error) {
	if rig == "" && seat != "" {
		return seat, nil
	}
	a, err := openApp(appRead)
	if err != nil {
		return "", err
	}
	defer a.close()
	return seatRef(ctx, a, rig, seat)
}

func (c *cli) recapWriteCmd() *cobra.Command {
	var rig, seat, file string
	m := mutation{tell: recapTold, beside: recapBeside}
	cmd := &cobra.Command{
		Use: "recap-write --rig <rig> --seat <seat> --file <draft>", Short: "Make a draft the seat's recap: what its next occupant must know", Args: cobra.NoArgs,
		Long: "The recap is read before LEARNED.md when the seat is rebuilt, and after a compaction. An earlier one is kept, byte for byte. Inside a seat,\n" +
			"--rig and --seat may be left out. What is refused is a text whose sections cannot be addressed by their headings, an empty one, and one\n" +
			"that is too long or no text.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			args := engine.RecapArgs{File: file}
			switch {
			case file == "":
				return engine.Errorf(engine.CodeInvalid, "the draft cannot be read").On("recap-write", file).WithHint("give --file FILE, or --file - for standard input")
			case file == "-":
				b, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxDraft))
				if err != nil {
					return engine.Errorf(engine.CodeInvalid, "the draft cannot be read").On("recap-write", file).Wrap(err).WithHint("check what standard input is")
				}
				args.Text = string(b)
			}
			target, err := seatNamed(cmd.Context(), rig, seat)
			if err != nil {
				return err
			}
			req, err := m.request(engine.VerbRecap, target, args)
			if err != nil {
				return err
			}
			return c.mutate(cmd.Context(), &m, req)
		},
	}
	f := cmd.Flags()
	f.StringVar(&rig, "rig", "", "the `rig`, by name or id (default: the one you sit in)")
	f.StringVar(&seat, "seat", "", "the `seat` (default: the one you sit in)")
	f.StringVar(&file, "file", "", "the draft, a Markdown `file`; - reads standard input")
	m.flags(cmd)
	return cmd
}

// maxDraft is how much of a draft is read, in bytes; the limit on a recap is lower.
const maxDraft = 2 << 20

// recapTold says where the recap is.
func recapTold(out io.Writer, s engine.SeatReceipt) {
	if path, _ := s.Evidence["path"].(string); path != "" {
		fmt.Fprintf(out, "%s: written to %s (%v earlier kept)\n", s.Seat, path, s.Evidence["earlier"])
	}
}

// recapBeside is what stands beside the plan or the receipt in the JSON: where the
// recap is, what it replaced, and the advice about it.
func recapBeside(p *engine.Plan, rec *engine.Receipt) map[string]any {
	v, _ := p.Input(engine.InputRecap)
	will, ok := v.(engine.RecapWritten)
	if !ok {
		return nil
	}
	doc := map[string]any{"seat": p.Target, "path": will.Path, "findings": will.Findings}
	if rec != nil {
		doc["digest"], doc["superseded"] = will.Digest, will.Superseded
		if done, ok := rec.Extra[engine.InputRecap].(engine.RecapWritten); ok {
			doc["superseded"] = done.Superseded
		}
	}
	return doc
}

func (c *cli) contextGetCmd() *cobra.Command {
	var seat string
	cmd := &cobra.Command{
		Use: "get [<address>]", Short: "Read one of a seat's kept texts, such as seat:RECAP.md#State; without an address, list them", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := openApp(appRead)
			if err != nil {
				return err
			}
			defer a.close()
			in, err := seatHere(cmd.Context(), a, "", seat)
			if err != nil {
				return err
			}
			seats := packet.Seats{Home: a.paths.home}
			if len(args) == 0 {
				chain, err := seats.Chain(cmd.Context(), in.Seat, in.Address)
				if err != nil {
					return err
				}
				return c.chainShown(in.Address, chain)
			}
			k, err := seats.Get(in.Seat, in.Address, args[0])
			if err != nil {
				return err
			}
			if c.json {
				return c.print(struct {
					OK   bool   `json:"ok"`
					Seat string `json:"seat"`
					packet.Kept
				}{true, in.Address, k})
			}
			return c.page(strings.TrimRight(k.Text, "\n") + "\n")
		},
	}
	cmd.Flags().StringVar(&seat, "seat", "", "the `seat` (default: the one you sit in)")
	return cmd
}

func (c *cli) chainShown(seat string, chain engine.Chain) error {
	if c.json {
		return c.print(struct {
			OK   bool   `json:"ok"`
			Seat string `json:"seat"`
			engine.Chain
		}{true, seat, chain})
	}
	rows := [][]string{}
	for _, a := range chain.Artifacts {
		rows = append(rows, []string{"  " + plain(a.Address), a.Label, a.Modified.Format("2006-01-02 15:04")})
	}
	fmt.Fprintf(c.out, "%s keeps, the most trusted first:\n", seat)
	table(c.out, rows)
	for _, g := range chain.Gaps {
		fmt.Fprintf(c.out, "  gap: %s\n", plain(g))
	}
	if chain.Empty != "" {
		fmt.Fprintf(c.out, "  %s\n", plain(chain.Empty))
	}
	return nil
}
