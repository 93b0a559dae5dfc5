package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rig/engine"
	"rig/engine/packet"
	"rig/engine/transcript"
)

func (c *cli) packetCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "restore-packet", Short: "Restore packets: what a seat knows, as files that another occupant reads", Args: cobra.NoArgs,
		Long: "A packet is a folder with which another occupant, of any runtime, takes up the work of a seat. It proves what was written, never that\n" +
			"anything was recovered: only the successor shows that.",
	}
	cmd.AddCommand(c.packetWriteCmd(), c.packetReadCmd(), c.packetValidateCmd(), c.packetSchemaCmd())
	return cmd
}

// packetFlags are the flags of `restore-packet write`.
type packetFlags struct {
	session, jsonl, runtime string
	generation              int64
	target                  string
	targetRig, targetRun    string
	root, repo, role        string
	work, why, owner        string
	caveats                 []string
	authority               string
	ranking                 []string
	generator               string
	sourceID, sourceRig     string
	noFull                  bool
}

func (c *cli) packetWriteCmd() *cobra.Command {
	var p packetFlags
	var d direct
	cmd := &cobra.Command{
		Use: "write --target <dir> (--source-session <seat> | --source-jsonl <file>)", Short: "Write a packet from a seat's conversation or from a transcript file",
		Long: "With --source-session the client's own transcript of the seat's occupant is read, and the seat's recap, notes, inbound work and startup\n" +
			"files are listed with their age. The source is never changed. The target must not exist, its parent must; the packet appears whole or not at all.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.packetWrite(cmd, &p, d) },
	}
	f := cmd.Flags()
	f.StringVar(&p.session, "source-session", "", "the `seat` whose conversation it is")
	f.Int64Var(&p.generation, "generation", 0, "an earlier occupant of the seat (default: the present one)")
	f.StringVar(&p.jsonl, "source-jsonl", "", "a transcript `file` of Claude Code or Codex")
	f.StringVar(&p.runtime, "source-runtime", "", "claude-code or codex (default: told from the content)")
	f.StringVar(&p.target, "target", "", "the `folder` to make")
	f.StringVar(&p.targetRig, "target-rig", "", "the rig that takes it up (default: the source's)")
	f.StringVar(&p.targetRun, "target-runtime", "", strings.Join(packet.Runtimes(), ", ")+" (default: the seat's own, else claude-code)")
	f.StringVar(&p.root, "target-workspace-root", "", "where the work is (default: the source's folder)")
	f.StringVar(&p.repo, "default-target-repo", "", "the repository that is meant unless another is named")
	f.StringVar(&p.role, "role-pointer", "", "where the successor finds its role")
	f.StringVar(&p.work, "current-work-summary", "", "what is being done now")
	f.StringVar(&p.why, "why-it-matters", "", "what the work is for")
	f.StringVar(&p.owner, "next-owner", "", "who acts next (default: self)")
	f.StringArrayVar(&p.caveats, "caveat", nil, "what to be careful about; may be given again")
	f.StringVar(&p.authority, "authority-boundaries", "", "what the successor may and may not do")
	f.StringSliceVar(&p.ranking, "source-trust-ranking", nil, "sources, the most trusted first (default: "+strings.Join(packet.TrustRanking(), ",")+")")
	f.StringVar(&p.generator, "generator-version", "", "name of the program that writes it")
	f.StringVar(&p.sourceID, "source-session-id-override", "", "the conversation's id, whatever the file says")
	f.StringVar(&p.sourceRig, "source-rig-override", "", "the rig it comes from")
	f.BoolVar(&p.noFull, "no-full-transcript", false, "leave "+packet.FullName+" out")
	d.flags(cmd)
	return cmd
}

func (c *cli) packetWrite(cmd *cobra.Command, p *packetFlags, d direct) error {
	q, err := p.request(cmd.Context())
	if err != nil {
		return err
	}
	p.stated(&q, cmd.Flags().Changed)
	pre, err := packet.Check(q)
	if err != nil {
		return err
	}
	plan, err := packetPlan(pre, q.SourcePath, p)
	if err != nil {
		return err
	}
	if d.dryRun {
		plan.Command = shellLine(cmd, nil)
		return c.showPlan(plan, map[string]any{"packet": pre})
	}
	if err := plan.MustBe(d.apply); err != nil {
		return err
	}
	res, err := packet.Write(q)
	if err != nil {
		return err
	}
	if c.json {
		return c.print(struct {
			OK bool `json:"ok"`
			packet.Result
		}{true, res})
	}
	c.packetWritten(res)
	return nil
}

// request makes the request from its source: a seat or a file, exactly one.
func (p *packetFlags) request(ctx context.Context) (packet.Request, error) {
	if (p.session == "") == (p.jsonl == "") {
		return packet.Request{}, engine.Errorf(engine.CodeInvalid, "exactly one source is needed").
			WithHint("give --source-session SEAT or --source-jsonl FILE")
	}
	if p.jsonl != "" {
		if p.generation != 0 {
			return packet.Request{}, engine.Errorf(engine.CodeInvalid, "--generation is for --source-session").WithHint("leave it out")
		}
		return packet.Request{SourcePath: p.jsonl, SourceRuntime: transcript.Runtime(p.runtime), Now: wallClock{}.Now()}, nil
	}
	a, err := openApp(appRead)
	if err != nil {
		return packet.Request{}, err
	}
	defer a.close()
	in, err := a.engine().Gather(ctx, p.session, p.generation)
	if err != nil {
		return packet.Request{}, err
	}
	if in.Transcript == "" {
		return packet.Request{}, engine.Errorf(packet.CodeUnreadable, "the seat has no transcript to read: %s", in.TranscriptW).On("restore-packet write", in.Address).
			WithHint("name the file with --source-jsonl, if you know it")
	}
	q, err := packet.Seats{Home: a.paths.home}.RequestOf(in)
	q.TargetRuntime = string(in.Seat.Runtime)
	if p.runtime != "" {
		q.SourceRuntime = transcript.Runtime(p.runtime)
	}
	return q, err
}

// stated puts in what the flags say; what they leave out stays as the source has it.
func (p *packetFlags) stated(q *packet.Request, given func(string) bool) {
	q.Target, q.NoFullTranscript = p.target, p.noFull
	q.SourceSessionID, q.SourceRig = p.sourceID, p.sourceRig
	for flag, to := range map[string]struct {
		to   *string
		from string
	}{
		"target-rig": {&q.TargetRig, p.targetRig}, "target-runtime": {&q.TargetRuntime, p.targetRun}, "target-workspace-root": {&q.TargetWorkspaceRoot, p.root},
		"default-target-repo": {&q.DefaultTargetRepo, p.repo}, "role-pointer": {&q.RolePointer, p.role}, "current-work-summary": {&q.CurrentWork, p.work},
		"why-it-matters": {&q.WhyItMatters, p.why}, "next-owner": {&q.NextOwner, p.owner}, "authority-boundaries": {&q.AuthorityBoundaries, p.authority},
		"generator-version": {&q.GeneratorVersion, p.generator},
	} {
		if given(flag) {
			*to.to = to.from
		}
	}
	q.Caveats = append(q.Caveats, p.caveats...)
	for _, r := range p.ranking {
		if r = strings.TrimSpace(r); r != "" {
			q.TrustRanking = append(q.TrustRanking, r)
		}
	}
}

// packetPlan is the plan of a packet: it stands on the source, on what is stated,
// and on a target that is not there. How far the conversation has come is live.
func packetPlan(pre packet.Preview, source string, p *packetFlags) (*engine.Plan, error) {
	a, err := openApp(appRead)
	if err != nil {
		return nil, err
	}
	defer a.close()
	plan := a.engine().DirectPlan(engine.VerbPacketWrite, pre.Path, fmt.Sprintf("write %s, by one rename", strings.Join(pre.Files, ", ")))
	plan.AddFact("packet/"+pre.Path, "absent")
	plan.AddFact("source", pre.SourceRuntime+" "+source)
	plan.AddFact("target", pre.TargetRuntime+" "+pre.TargetRig)
	plan.AddFact("stated", textDigest(*p))
	plan.Changes = append(plan.Changes, engine.Change{
		Field: "packet", After: fmt.Sprintf("%s, from %s of rig %s (%d bytes now), for %s of rig %s", pre.Path, pre.SourceRuntime, pre.SourceRig, pre.SourceBytes, pre.TargetRuntime, pre.TargetRig),
	})
	plan.Unchanged = append(plan.Unchanged, "the conversation: it is only read")
	return plan, nil
}

// packetWritten says what was written, in numbers: never text of the conversation.
func (c *cli) packetWritten(res packet.Result) {
	fmt.Fprintf(c.out, "written: %s\n", res.Path)
	rows := [][]string{
		{"  files", fmt.Sprintf("%d: %s", len(res.Files), strings.Join(res.Files, ", "))},
		{"  messages", fmt.Sprint(res.Messages)},
		{"  omitted", countsText(res.Omitted)},
		{"  secrets", countsText(res.Redactions)},
	}
	table(c.out, rows)
	if n := len(res.Summary.Unknown); n > 0 {
		names := make([]string, n)
		for i, u := range res.Summary.Unknown {
			names[i] = u.Field
		}
		fmt.Fprintf(c.err, "  not stated: %s\n", strings.Join(names, ", "))
	}
	for _, s := range res.Skipped {
		fmt.Fprintf(c.err, "  line %d was skipped: %s\n", s.Line, plain(s.Reason))
	}
	if more := res.SkippedTotal - len(res.Skipped); more > 0 {
		fmt.Fprintf(c.err, "  %s more skipped\n", engine.Counted(more, "line"))
	}
}

func countsText(counts map[string]int) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%s=%d", k, counts[k]))
	}
	if len(out) == 0 {
		return "(none)"
	}
	return strings.Join(out, ",")
}

func (c *cli) packetReadCmd() *cobra.Command {
	return &cobra.Command{
		Use: "read <packet-dir>", Short: "Read a packet; --json prints its summary exactly", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := packet.Read(args[0])
			if err != nil {
				return err
			}
			for _, w := range p.Warnings {
				fmt.Fprintf(c.err, "warning: %s\n", plain(w))
			}
			if c.json {
				raw, err := p.JSON()
				if err != nil {
					return err
				}
				_, err = c.out.Write(raw)
				return err
			}
			return c.page(p.Text())
		},
	}
}

func (c *cli) packetValidateCmd() *cobra.Command {
	return &cobra.Command{
		Use: "validate <packet-dir>", Short: "Check a packet's files and its summary against the schema; exit 1 with errors, 0 with warnings alone", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			rep, err := packet.Validate(args[0])
			if err != nil {
				return err
			}
			c.code = rep.ExitCode()
			if c.json {
				return c.print(struct {
					OK bool `json:"ok"`
					packet.Report
				}{rep.Valid, rep})
			}
			rows := [][]string{}
			errors := 0
			for _, p := range rep.Errors {
				if p.Severity == packet.SeverityError {
					errors++
				}
				rows = append(rows, []string{"  " + p.Severity, plain(p.Field), plain(p.Rule), plain(p.Value)})
			}
			verdict := "valid"
			if !rep.Valid {
				verdict = "not valid"
			}
			fmt.Fprintf(c.out, "%s: %s, %s\n", verdict, engine.Counted(errors, "error"), engine.Counted(len(rep.Errors)-errors, "warning"))
			table(c.out, rows)
			return nil
		},
	}
}

func (c *cli) packetSchemaCmd() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "The JSON Schema of a packet's summary", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := c.out.Write(packet.Schema)
			return err
		},
	}
}
