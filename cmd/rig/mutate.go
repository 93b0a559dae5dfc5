package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rig/engine"
	"rig/store"
)

// mutation holds the flags that every mutating verb has.
type mutation struct {
	dryRun   bool
	apply    string
	reason   string
	operator string
	// tell prints what a person wants to read of a seat that ended well, below the
	// receipt; nil = nothing.
	tell func(io.Writer, engine.SeatReceipt)
	// beside gives what stands in the JSON beside the plan of a dry run, or beside the
	// receipt; nil = nothing.
	beside func(p *engine.Plan, rec *engine.Receipt) map[string]any
	// withFresh makes the request again with more seats to start afresh; nil = the
	// verb asks nobody.
	withFresh func(seats []string) (engine.Request, error)
}

// fingerprint is the value of --apply. An empty one, such as that of a script whose own
// look failed, is refused: it would apply any plan.
type fingerprint string

// String implements pflag.Value.
func (f *fingerprint) String() string { return string(*f) }

// Type implements pflag.Value.
func (*fingerprint) Type() string { return "string" }

// Set implements pflag.Value.
func (f *fingerprint) Set(s string) error {
	if *f = fingerprint(strings.TrimSpace(s)); *f == "" {
		return errors.New("it is empty; --dry-run prints the fingerprint of the plan")
	}
	return nil
}

func (m *mutation) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&m.dryRun, "dry-run", false, "print the plan and change nothing")
	f.Var((*fingerprint)(&m.apply), "apply", "apply only if the plan's `fingerprint` is still this one")
	f.StringVar(&m.reason, "reason", "", "why, for the audit log")
	f.StringVar(&m.operator, "operator", "", "who acts (default: the calling seat, else your login)")
}

// request makes the request of a verb.
func (m *mutation) request(verb engine.Verb, target string, args any) (engine.Request, error) {
	r := engine.Request{Verb: verb, Target: target, Reason: strings.TrimSpace(m.reason)}
	if m.operator != "" {
		r.Operator = engine.Operator{Name: strings.TrimSpace(m.operator)}
	}
	b, err := json.Marshal(args)
	r.Args = b
	return r, err
}

// applies makes the body of a verb that changes something: ask turns the words of
// the command line into the target and the arguments of the request.
func (c *cli) applies(m *mutation, verb engine.Verb, ask func(words []string) (target string, args any)) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, words []string) error {
		target, args := ask(words)
		req, err := m.request(verb, target, args)
		if err != nil {
			return err
		}
		return c.mutate(cmd.Context(), m, req)
	}
}

// mutate plans a request, prints the plan for a dry run, and otherwise applies
// that very plan and prints its receipt.
func (c *cli) mutate(ctx context.Context, m *mutation, req engine.Request) error {
	a, err := openForPlan(m.dryRun)
	if err != nil {
		return err
	}
	defer a.close()
	p, err := a.engine().Plan(ctx, req)
	if err != nil {
		return err
	}
	c.nameOtherBuilds(a)
	if m.dryRun {
		return c.showPlan(p, m.more(p, nil))
	}
	if err := p.MustBe(m.apply); err != nil {
		return err
	}
	if !p.Applicable() {
		_, err := a.engine().Apply(ctx, p, nil)
		return err
	}
	if p, err = c.decided(ctx, a.engine(), m, p); err != nil {
		return err
	}
	if afterPlan != nil {
		afterPlan()
	}
	w, err := openForApply(a, p)
	if err != nil {
		return err
	}
	if w != a {
		defer w.close()
	}
	rec, err := w.engine().Apply(ctx, p, c.progress())
	if err != nil {
		return err
	}
	if err := c.showReceipt(rec, m.more(p, rec)); err != nil || c.json {
		return err
	}
	for _, s := range rec.Seats {
		if m.tell != nil && s.Error == nil {
			m.tell(c.out, s)
		}
	}
	return c.undoLine(ctx, w.engine(), rec)
}

func (m *mutation) more(p *engine.Plan, rec *engine.Receipt) map[string]any {
	if m.beside == nil {
		return nil
	}
	return m.beside(p, rec)
}

// openForPlan opens for reading. What a reader cannot read, a record of an older
// program or one that a dead process left half written, is put in order first
// when the verb is going to change something anyway.
func openForPlan(dryRun bool) (*app, error) {
	a, err := openApp(appRead)
	if dryRun || !repairable(err) {
		return a, err
	}
	w, err := openApp(appWrite)
	if err != nil {
		return nil, err
	}
	w.close()
	return openApp(appRead)
}

// openForApply opens for what a plan changes. A detached operation writes in its own
// process, so that whoever asked for it goes on with the record that is open.
func openForApply(a *app, p *engine.Plan) (*app, error) {
	if _, err := os.Stat(a.paths.record()); err != nil || !p.Detached {
		return openApp(appWrite)
	}
	return a, ownHome(a.paths.home, os.Geteuid())
}

// repairable reports whether opening the record for writing cures an error.
func repairable(err error) bool {
	code := engine.CodeOf(err)
	return code == store.CodeRecordOlder || code == store.CodeRecordTorn
}

// showPlan prints a plan; more stands beside it in the JSON.
func (c *cli) showPlan(p *engine.Plan, more map[string]any) error {
	if !p.Applicable() {
		c.code = 1
	}
	if c.json {
		plan, err := asMap(p)
		if err != nil {
			return err
		}
		plan["fingerprint"] = p.Fingerprint()
		doc := map[string]any{"ok": p.Applicable(), "dry_run": true, "plan": plan}
		maps.Copy(doc, more)
		return c.print(doc)
	}
	for _, l := range p.Lines() {
		words := plain(l.Text)
		if l.Kind == engine.LineBlocker || l.Kind == engine.LineHint {
			words = shortened(words)
		}
		fmt.Fprintln(c.out, planPrefix(l.Kind)+words)
	}
	fmt.Fprintf(c.out, "\nfingerprint %s\nNo changes were made.\n", p.Fingerprint())
	return nil
}

// asMap is a document as its keys.
func asMap(v any) (doc map[string]any, err error) {
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &doc)
	}
	return doc, err
}

func planPrefix(k engine.LineKind) string {
	switch k {
	case engine.LineTitle, engine.LineBlocker:
		return ""
	case engine.LinePhase:
		return "  ▸ "
	case engine.LineStep:
		return "      "
	case engine.LineCommit:
		return "    ● "
	case engine.LineCommand:
		return "  $ "
	case engine.LineIntent, engine.LineChange, engine.LineUnchanged, engine.LineHint, engine.LineWarning, engine.LineNote,
		engine.LineTextHead, engine.LineTextSame, engine.LineTextGone, engine.LineTextNew, engine.LineTextGap:
	}
	return "  "
}

// progress prints each step once as it ends, on stderr, for a person who waits.
func (c *cli) progress() func(engine.OpProgress) {
	if c.json || !isTerminal(os.Stderr) {
		return nil
	}
	told := map[string]engine.StepState{}
	return func(p engine.OpProgress) {
		for _, s := range p.Steps {
			if g := s.Gate(); g != nil && told["gate "+s.StepID] == "" {
				told["gate "+s.StepID] = s.State
				fmt.Fprintf(c.err, "  ▲ %s\n", plain(g.Words(s.Seat, time.Local)))
			}
			if told[s.StepID] == s.State {
				continue
			}
			told[s.StepID] = s.State
			switch s.State {
			case engine.StepDone:
				fmt.Fprintf(c.err, "  ✓ %s\n", strings.TrimSpace(s.Seat+" "+s.Title))
			case engine.StepFailed:
				fmt.Fprintf(c.err, "  ✗ %s: %s\n", strings.TrimSpace(s.Seat+" "+s.Title), plain(s.Error))
			case engine.StepUndone:
				fmt.Fprintf(c.err, "  ↩ %s\n", strings.TrimSpace(s.Seat+" "+s.Title))
			case engine.StepPending, engine.StepStarted, engine.StepUnknown, engine.StepSkipped:
			}
		}
	}
}
