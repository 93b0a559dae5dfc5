package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rig/engine"
)

func (c *cli) opCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "op", Short: "Operations and their journals"}
	cmd.AddCommand(c.opListCmd(), c.opShowCmd())
	cmd.AddCommand(c.opActions()...)
	return cmd
}

// listedOp is an operation in a list. Its plan, by far the most of it, stands in
// `rig op show`.
type listedOp struct {
	engine.Operation
	Plan *struct{} `json:"plan,omitempty"`
}

func (c *cli) opListCmd() *cobra.Command {
	var open bool
	cmd := &cobra.Command{
		Use: "list", Short: "Operations, newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := openApp(appRead)
			if err != nil {
				return err
			}
			defer a.close()
			ops, err := a.engine().Operations(cmd.Context(), engine.OperationFilter{Open: open})
			if err != nil {
				return err
			}
			if c.json {
				list := make([]listedOp, len(ops))
				for i, op := range ops {
					list[i].Operation = op
				}
				return c.print(map[string]any{"operations": list})
			}
			rows := [][]string{{"ID", "VERB", "TARGET", "STATE", "BY", "STARTED"}}
			for _, op := range ops {
				rows = append(rows, []string{op.ID, string(op.Verb), plain(op.Target), string(op.State), plain(op.Operator), localTime(op.StartedAt)})
			}
			table(c.out, rows)
			return nil
		},
	}
	cmd.Flags().BoolVar(&open, "open", false, "only those that have not ended")
	return cmd
}

func localTime(t time.Time) string { return t.Local().Format(time.DateTime) }

func (c *cli) opShowCmd() *cobra.Command {
	return &cobra.Command{
		Use: "show <id>", Short: "One operation with its steps and evidence", Args: cobra.ExactArgs(1),
		Long: "Who asked for it and why, how it ended, what can be done about it, and its steps. The evidence of steps that did not end well is printed\n" +
			"beside them; --json has that of each step, and the plan.",
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := openApp(appRead)
			if err != nil {
				return err
			}
			defer a.close()
			op, steps, err := a.engine().Operation(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if c.json {
				return c.print(map[string]any{"operation": op, "steps": steps})
			}
			c.opPage(op, steps)
			return nil
		},
	}
}

// opPage is one operation as a person reads it.
func (c *cli) opPage(op engine.Operation, steps []engine.OperationStep) {
	fmt.Fprintln(c.out, strings.TrimSpace(string(op.Verb)+" "+plain(op.Target))+"  "+string(op.State))
	ended := "—"
	if !op.EndedAt.IsZero() {
		ended = localTime(op.EndedAt) + ", after " + op.EndedAt.Sub(op.StartedAt).Round(time.Millisecond).String()
	}
	rows := [][]string{
		{"  Operation", op.ID},
		{"  Reason", orDash(plain(op.Reason))},
		{"  Operator", orDash(plain(op.Operator))},
		{"  Started", localTime(op.StartedAt)},
		{"  Ended", ended},
	}
	if op.Error != "" && op.Receipt == nil {
		rows = append(rows, []string{"  Error", shortened(plain(op.Error))})
	}
	if next := opNext(op); next != "" {
		rows = append(rows, []string{"  Next", next})
	}
	table(c.out, rows)
	var rec engine.Receipt
	if json.Unmarshal(op.Receipt, &rec) == nil && (len(rec.Seats) > 0 || rec.Error != nil || len(rec.Warnings) > 0) {
		fmt.Fprintln(c.out, "\nWhat became of it")
		c.receiptSeats(&rec, c.out)
		for _, w := range rec.Warnings {
			fmt.Fprintf(c.out, "  warning: %s\n", plain(w))
		}
	}
	if len(steps) > 0 {
		fmt.Fprintln(c.out, "\nSteps")
		c.opSteps(steps)
	}
}

// opNext is what a person can do about an operation; "" = nothing.
func opNext(op engine.Operation) string {
	switch {
	case op.State == engine.OpUnfinished && op.Committed:
		return "`rig op finish " + op.ID + "` does what is left: some of it is committed"
	case op.State == engine.OpUnfinished:
		return "`rig op rollback " + op.ID + "` undoes what it did: none of it is committed"
	case !op.State.Ended():
		return fmt.Sprintf("it runs in process %d; look again", op.Owner.PID)
	}
	return undoUntil(op)
}

// opSteps prints a journal, and below each step that did not end well what it saw.
func (c *cli) opSteps(steps []engine.OperationStep) {
	rows := make([][]string, len(steps))
	for i, s := range steps {
		rows[i] = []string{"  " + string(s.State), s.Seat, s.Title}
	}
	for i, line := range columns(rows) {
		fmt.Fprintln(c.out, line)
		s := steps[i]
		if s.Error != "" {
			fmt.Fprintln(c.out, "      "+shortened(plain(s.Error)))
		}
		if s.State != engine.StepFailed && s.State != engine.StepUnknown && s.State != engine.StepStarted {
			continue
		}
		var ev map[string]any
		if json.Unmarshal(s.Evidence, &ev) != nil {
			continue
		}
		for _, line := range evidenceLines("      ", ev) {
			fmt.Fprintln(c.out, line)
		}
	}
}

// shownValue is how much of one value of evidence a page shows, in runes, and
// shownLines of a text of several lines.
const (
	shownValue = 200
	shownLines = 20
)

// evidenceLines are the facts of a step, one a line; what is empty is left out.
func evidenceLines(indent string, ev map[string]any) (out []string) {
	for _, k := range slices.Sorted(maps.Keys(ev)) {
		if list := lines(ev[k]); len(list) > 0 {
			out = append(out, indent+plain(k)+":")
			for _, l := range list[max(0, len(list)-shownLines):] {
				out = append(out, indent+"  │ "+cutTo(plain(l), shownValue))
			}
			continue
		}
		switch v := ev[k].(type) {
		case nil:
		case map[string]any:
			out = append(out, evidenceLines(indent, v)...)
		default:
			b, err := json.Marshal(v)
			word, isText := v.(string)
			if !isText && err == nil {
				word = string(b)
			}
			if word != "" && word != "[]" {
				out = append(out, indent+plain(k)+": "+cutTo(plain(word), shownValue))
			}
		}
	}
	return out
}
