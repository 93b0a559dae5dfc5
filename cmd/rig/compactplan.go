package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"rig/engine"
)

func (c *cli) compactPlanCmd() *cobra.Command {
	var rig, tokens, percent string
	var refresh bool
	cmd := &cobra.Command{
		Use: "compact-plan", Short: "Which Claude seats are near their wall, and in which order to compact them; compacts nothing",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := planOptions(rig, tokens, percent, refresh)
			if err != nil {
				return err
			}
			mode := appRead
			if refresh {
				mode = appWrite
			}
			a, err := openApp(mode)
			if err != nil {
				return err
			}
			defer a.close()
			p, err := a.engine().CompactPlan(cmd.Context(), o)
			if err != nil {
				return err
			}
			if c.json {
				return c.print(p)
			}
			c.showCompactPlan(p)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&rig, "rig", "", "only this `rig`")
	f.BoolVar(&refresh, "refresh", false, "also store the samples that are taken; without them there is no plan")
	f.StringVar(&tokens, "threshold-tokens", "400000", "`tokens` in use from which a seat is a candidate")
	f.StringVar(&percent, "threshold-percent", "80", "share of its own window from which it is one, 0 to 100")
	return cmd
}

// planOptions checks the flags before anything is looked at.
func planOptions(rig, tokens, percent string, refresh bool) (engine.CompactPlanOptions, error) {
	o := engine.CompactPlanOptions{Rig: rig, Refresh: refresh}
	n, err := strconv.ParseInt(strings.TrimSpace(tokens), 10, 64)
	if err != nil || n < 1 {
		return o, engine.Errorf(engine.CodeInvalidThreshold, "--threshold-tokens %q is not a positive whole number", tokens).
			On("compact-plan", "").WithHint("give a number of tokens such as 400000")
	}
	p, err := strconv.ParseFloat(strings.TrimSpace(percent), 64)
	if err != nil || math.IsNaN(p) || p < 0 || p > 100 {
		return o, engine.Errorf(engine.CodeInvalidThreshold, "--threshold-percent %q is not a number from 0 to 100", percent).
			On("compact-plan", "").WithHint("give a share such as 80 or 72.5")
	}
	if o.Tokens, o.Percent = n, p; p == 0 {
		o.Percent = math.SmallestNonzeroFloat64 // 0 is a threshold too: every known share reaches it
	}
	return o, nil
}

// showCompactPlan prints a plan for a person; skipped seats are counted only.
func (c *cli) showCompactPlan(p *engine.CompactPlan) {
	fmt.Fprintln(c.out, "compact-plan (read-only: nothing is compacted and nothing is sent)")
	fmt.Fprintln(c.out, "policy: one seat at a time, an operator's word for each, no automatic compaction from here")
	fmt.Fprintf(c.out, "thresholds: %d tokens, %g %% of the seat's own window\n", p.Policy.Tokens, threshold(p.Policy.Percent))
	s := p.Summary
	fmt.Fprintf(c.out, "seats: %s | %d blocked | %d skipped%s\n\n", engine.Counted(s.CandidateCount, "candidate"), s.BlockedCount, s.SkippedCount, skipReasons(p.Skipped))
	fmt.Fprintln(c.out, "recommended order:")
	if len(p.RecommendedOrder) == 0 {
		fmt.Fprintln(c.out, "  none")
	}
	for i, seat := range p.RecommendedOrder {
		fmt.Fprintf(c.out, "  %d. %s\n", i+1, seat)
	}
	for _, slot := range p.Schedule {
		if len(slot.Seats) > 1 {
			fmt.Fprintf(c.out, "  round %d, side by side: %s\n", slot.Slot, strings.Join(slot.Seats, ", "))
		}
	}
	c.compactEntries("candidates:", p.Candidates)
	c.compactEntries("blocked:", p.Blocked)
	fmt.Fprintln(c.out, "\nnext: rig compact <seat>, one seat at a time; skill claude-compaction-restore describes the restore")
}

// skipReasons counts why seats were skipped.
func skipReasons(list []engine.CompactEntry) string {
	counts := map[string]int{}
	for i := range list {
		counts[list[i].Reason]++
	}
	if len(counts) == 0 {
		return ""
	}
	return " (" + countsText(counts) + ")"
}

// threshold undoes the stand-in for a threshold of 0.
func threshold(p float64) float64 {
	if p < 1e-300 {
		return 0
	}
	return p
}

func (c *cli) compactEntries(title string, list []engine.CompactEntry) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(c.out, "\n"+title)
	for i := range list {
		e := &list[i]
		age := ""
		if e.Age != "" {
			age = " · sample " + e.Age + ", " + e.Freshness
		}
		fmt.Fprintf(c.out, "  %s: %s%s\n", e.Seat, e.Amount(), age)
		fmt.Fprintf(c.out, "    reasons: %s\n", strings.Join(e.Reasons, ", "))
		if len(e.Missing) > 0 {
			fmt.Fprintf(c.out, "    missing: %s\n", strings.Join(e.Missing, ", "))
		}
		if e.Note != "" {
			fmt.Fprintf(c.out, "    note: %s\n", plain(e.Note))
		}
		fmt.Fprintf(c.out, "    %s\n", e.Forecast.Text())
		fmt.Fprintf(c.out, "    notify %s; %s\n", e.Notify.Recipient, e.Next)
	}
}
