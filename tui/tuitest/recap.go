package tuitest

import (
	"context"
	"strings"

	"rig/engine"
)

// someRecap is the present recap of every seat: a secret, escapes and a word that
// turns the writing are in it.
const someRecap = "# Recap\n\n## State\n\nThe cart is renamed in four files; the tests are still to run.\n" +
	"token hunter2\x1b[31m red \u202e\n\n## Decisions\n\nNone of the old names stay.\n"

// SeatRecap gives the recap that the console was made with.
func (c *Console) SeatRecap(context.Context, string) (engine.RecapDraft, error) {
	if err := c.call("SeatRecap"); err != nil {
		return engine.RecapDraft{}, err
	}
	text := c.recap()
	if text == "" {
		return engine.RecapDraft{}, nil
	}
	return engine.RecapDraft{Text: text, Shown: strings.ReplaceAll(text, "hunter2", "[redacted:secret]"), Note: "10 lines, 152 bytes, written 2 h ago"}, nil
}

func (c *Console) recap() string {
	switch c.Recap {
	case "":
		return someRecap
	case "-":
		return ""
	}
	return c.Recap
}

// recapPlan makes the plan of a recap; false for any other verb.
func (c *Console) recapPlan(p *engine.Plan) bool {
	if p.Verb != engine.VerbRecap {
		return false
	}
	a, err := engine.DecodeArgs[engine.RecapArgs](p.Request)
	if err != nil {
		return false
	}
	file := a.File
	if file == "" {
		file = "-"
	}
	p.Detached = false
	p.Command = engine.CommandLine("rig", "context", "recap-write", "--seat", p.Target, "--file", file)
	p.Unchanged = []string{"LEARNED.md, every packet and every conversation", "the occupant: nothing is typed", "the present recap: it is kept, byte for byte, beside 2 earlier ones"}
	p.Changes = []engine.Change{{Seat: p.Target, Field: "RECAP.md", Before: "10 lines, 152 bytes, written 2 h ago", After: "9 lines, 141 bytes"}}
	p.Texts = []engine.TextChange{{Seat: p.Target, Field: "RECAP.md", Lines: []engine.TextLine{
		{Kind: engine.LineTextGap, Text: "2 lines the same"},
		{Kind: engine.LineTextSame, Text: "## State"},
		{Kind: engine.LineTextSame},
		{Kind: engine.LineTextGone, Text: "The cart is renamed in four files; the tests are still to run."},
		{Kind: engine.LineTextGone, Text: "token [redacted:secret]\x1b[31m red \u202e"},
		{Kind: engine.LineTextNew, Text: "The cart is renamed in all seven files, and the tests of the checkout run clean; 買い物かご in the page is still the old one, and waits for a word of the designer's."},
		{Kind: engine.LineTextSame},
		{Kind: engine.LineTextSame, Text: "## Decisions"},
		{Kind: engine.LineTextGap, Text: "2 lines the same"},
	}}}
	p.Warnings = []string{"advice: line 5: mark what was not checked with UNVERIFIED: so that it can be found [nonstandard-unverified-marker]"}
	p.Phases = []engine.Phase{{ID: "recap", Unit: "recap", Title: "Write the recap of " + p.Target, Steps: []engine.Step{
		{ID: "recap/write", Kind: engine.StepRecapWrite, Effect: engine.EffectReversible, Title: "keep the present recap, byte for byte, and publish the draft by one rename"},
		{ID: "recap/event", Kind: engine.StepRecapEvent, Effect: engine.EffectCommit, Title: "record the event: a digest, never the text"},
	}}}
	if c.Refuse {
		for _, lines := range []string{"3 and 9 have the same path: Recap / State", "5 and 12 have the same path: Recap / Decisions"} {
			p.BlockSeat(p.Target, engine.Errorf("recap_not_addressable", "the headings in lines %s", lines).
				WithHint("sections are addressed by their headings; change the draft and write again"))
		}
	}
	return true
}
