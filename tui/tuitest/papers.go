package tuitest

import (
	"context"
	"fmt"
	"strings"

	"rig/engine"
)

// paperMessages is how many messages the made-up transcript has, paperPage how many
// a page has; the "bytes" of its offsets are messages.
const (
	paperMessages = 90
	paperPage     = 20
)

// Papers lists one of each kind; one cannot be read.
func (c *Console) Papers(context.Context, string) ([]engine.Paper, error) {
	return []engine.Paper{
		{Address: engine.PaperTranscript, Label: "transcript", Note: "generation 4, 2310 kB, written 2026-03-04 10:28"},
		{Address: "seat:RECAP.md", Label: "recap", Note: "written 2026-03-04 08:10"},
		{Address: "seat:LEARNED.md", Label: "learned", Trouble: "LEARNED.md was never written"},
		{Address: "packet:dev-impl-01JD/restore-instructions.md", Label: "packet", Note: "written 2026-03-04 08:11, dev-impl-01JD"},
		{Address: engine.PaperWork, Label: "inbound work", Note: "2 pieces on record"},
	}, c.call("Papers")
}

// ReadPaper gives pages of a made-up conversation, and short texts for the rest.
// What it says is hostile: escapes, and a word that turns the writing.
func (c *Console) ReadPaper(_ context.Context, _ string, ask engine.PaperAsk) (engine.PaperPage, error) {
	if err := c.call("ReadPaper"); err != nil {
		return engine.PaperPage{}, err
	}
	if ask.Address != engine.PaperTranscript {
		text := "# Recap\n\n## State\n\nThe cart is renamed in four files; the tests are still to run.\n\n## Decisions\n\nNone of the old names stay.\x1b[31m red \u202e"
		return engine.PaperPage{Parts: []engine.PaperPart{{Text: text}}, To: 1, Size: 1}, nil
	}
	from := max(int(ask.At), 0)
	if ask.Find != "" {
		at, step := from, 1
		if ask.Back {
			at, step = from-1, -1
		}
		for ; at >= 0 && at < paperMessages; at += step {
			if strings.Contains(strings.ToLower(paperText(at)), strings.ToLower(ask.Find)) {
				return paperFrom(at, min(at+paperPage, paperMessages)), nil
			}
		}
		return engine.PaperPage{Missing: true}, nil
	}
	if !ask.Back {
		return paperFrom(from, min(from+paperPage, paperMessages)), nil
	}
	end := int(ask.At)
	if end < 0 {
		end = paperMessages
	}
	return paperFrom(max(end-paperPage, 0), end), nil
}

func paperFrom(from, to int) engine.PaperPage {
	p := engine.PaperPage{From: int64(from), To: int64(to), Size: paperMessages}
	for i := from; i < to; i++ {
		who := []string{"operator", "tool Edit", "assistant"}[i%3]
		p.Parts = append(p.Parts, engine.PaperPart{Head: who + fmt.Sprintf("  2026-03-04 09:%02d:00", i%60), Text: paperText(i)})
	}
	return p
}

func paperText(i int) string {
	switch i % 3 {
	case 0:
		return fmt.Sprintf("Rename step %d, please: the cart's module, its tests and 買い物かご in the page. A longer sentence shows how lines break between words.", i)
	case 1:
		return fmt.Sprintf("src/cart/step%d.go", i)
	}
	return fmt.Sprintf("Step %d is done.\n\x1b]0;owned\x07\tIndented \x1b[2Jline.", i)
}
