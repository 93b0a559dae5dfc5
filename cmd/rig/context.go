package main

import (
	"context"
	"fmt"
	"io"
	"os"
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
	ref := seat
	if rig != "" {
		named, err := a.engine().SeatIn(ctx, rig, seat)
		if err != nil {
			return engine.PacketInput{}, err
		}
		ref = named
	}
	if ref == "" {
		id, err := a.engine().Whoami(ctx, "")
		if err != nil {
			return engine.PacketInput{}, err
		}
		ref = id.Seat
	}
	return a.engine().Gather(ctx, ref, 0)
}

func (c *cli) recapWriteCmd() *cobra.Command {
	var rig, seat, file string
	var d direct
	cmd := &cobra.Command{
		Use: "recap-write --rig <rig> --seat <seat> --file <draft>", Short: "Make a draft the seat's recap: what its next occupant must know", Args: cobra.NoArgs,
		Long: "The recap is read before LEARNED.md when the seat is rebuilt, and after a compaction. An earlier one is kept, byte for byte. Inside a seat,\n" +
			"--rig and --seat may be left out. The only thing refused is a text whose sections cannot be addressed by their headings.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			draft, err := readDraft(cmd.InOrStdin(), file)
			if err != nil {
				return err
			}
			a, err := openApp(d.mode())
			if err != nil {
				return err
			}
			defer a.close()
			in, err := seatHere(cmd.Context(), a, rig, seat)
			if err != nil {
				return err
			}
			return c.recapWrite(cmd, a, in, draft, d)
		},
	}
	f := cmd.Flags()
	f.StringVar(&rig, "rig", "", "the `rig`, by name or id (default: the one you sit in)")
	f.StringVar(&seat, "seat", "", "the `seat` (default: the one you sit in)")
	f.StringVar(&file, "file", "", "the draft, a Markdown `file`; - reads standard input")
	d.flags(cmd)
	return cmd
}

// readDraft reads the draft, bounded.
func readDraft(stdin io.Reader, file string) ([]byte, error) {
	refuse := func(err error, hint string) ([]byte, error) {
		e := engine.Errorf(engine.CodeInvalid, "the draft cannot be read").On("recap-write", file).WithHint("%s", hint)
		if err != nil {
			e = e.Wrap(err)
		}
		return nil, e
	}
	if file == "" {
		return refuse(nil, "give --file FILE, or --file - for standard input")
	}
	src := stdin
	if file != "-" {
		info, err := os.Stat(file)
		if err != nil || !info.Mode().IsRegular() {
			return refuse(err, "name a plain file that you may read")
		}
		f, err := os.Open(file)
		if err != nil {
			return refuse(err, "check that you may read it")
		}
		defer f.Close()
		src = f
	}
	b, err := io.ReadAll(io.LimitReader(src, maxDraft))
	if err != nil {
		return refuse(err, "check the file")
	}
	return b, nil
}

// maxDraft is how much of a draft is read, in bytes; the limit on a recap is lower.
const maxDraft = 2 << 20

func (c *cli) recapWrite(cmd *cobra.Command, a *app, in engine.PacketInput, draft []byte, d direct) error {
	seats := packet.Seats{Home: a.paths.home}
	found, err := seats.CheckRecap(in.Address, draft)
	if err != nil {
		return err
	}
	path, err := seats.SeatFile(in.Address, "seat:RECAP.md")
	if err != nil {
		return err
	}
	plan := a.engine().DirectPlan(engine.VerbRecap, in.Address, "move the present recap aside, byte for byte, and publish the draft by one rename")
	before := "none"
	if old, err := os.ReadFile(path); err == nil {
		before = textDigest(string(old))
	}
	plan.AddFact("seat/"+in.Address+"/generation", fmt.Sprint(in.Seat.Generation))
	plan.AddFact("seat/"+in.Address+"/recap", before)
	plan.AddFact("draft", textDigest(string(draft)))
	plan.Changes = append(plan.Changes, engine.Change{Seat: in.Address, Field: path, Before: before, After: textDigest(string(draft))})
	plan.Unchanged = append(plan.Unchanged, "LEARNED.md and every older recap")
	if d.dryRun {
		plan.Command = shellLine(cmd, nil)
		c.advise(found)
		return c.showPlanWith(plan, map[string]any{"seat": in.Address, "path": path, "findings": found})
	}
	if err := plan.MustBe(d.apply); err != nil {
		return err
	}
	res, err := seats.WriteRecap(in.Address, draft, in.Now)
	if err != nil {
		return err
	}
	if err := a.engine().NoteRecap(cmd.Context(), in, res.Digest, len(res.Superseded)); err != nil {
		fmt.Fprintf(c.err, "  the recap is written; the audit log was not: %s\n", plain(err.Error()))
	}
	c.advise(res.Findings)
	if c.json {
		return c.print(map[string]any{
			"ok": true, "seat": in.Address, "path": res.Path, "digest": res.Digest, "superseded": res.Superseded, "findings": res.Findings,
		})
	}
	fmt.Fprintf(c.out, "%s: written to %s (%d earlier kept)\n", in.Address, res.Path, len(res.Superseded))
	return nil
}

// advise prints what could be better in a draft; it changes no exit code.
func (c *cli) advise(found []packet.Finding) {
	for _, f := range found {
		at := ""
		if f.Line > 0 {
			at = fmt.Sprintf("line %d: ", f.Line)
		}
		fmt.Fprintf(c.err, "  advice: %s%s [%s]\n", at, plain(f.Message), f.Code)
	}
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
