package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"rig/engine"
)

// showReceipt prints what really happened; anything that is not clean exits 1. more
// stands beside it in the JSON.
func (c *cli) showReceipt(rec *engine.Receipt, more map[string]any) error {
	if !rec.OK {
		c.code = 1
	}
	if c.json && more != nil {
		doc, err := asMap(rec)
		if err != nil {
			return err
		}
		maps.Copy(doc, more)
		return c.print(doc)
	}
	if c.json {
		return c.print(rec)
	}
	c.receiptSeats(rec, c.err)
	for _, w := range rec.Warnings {
		fmt.Fprintf(c.err, "  warning: %s\n", plain(w))
	}
	c.receiptExtra(rec.Extra)
	fmt.Fprintf(c.out, "%s · operation %s\n", rec.Outcome, rec.Operation.ID)
	return nil
}

// receiptSeats prints what became of each seat. What helps with an error goes to
// details.
func (c *cli) receiptSeats(rec *engine.Receipt, details io.Writer) {
	rows := [][]string{}
	told := func() {
		table(c.out, rows)
		rows = nil
	}
	for _, s := range rec.Seats {
		row := []string{"  " + s.Seat, receiptWord(s)}
		if s.Binding != engine.BindingNone && string(s.Binding) != s.Action && (s.Error != nil || s.Binding != engine.BindingUnchanged) {
			row = append(row, "binding "+string(s.Binding))
		}
		rows = append(rows, row)
		if list := handedOver(s); len(list) > 0 {
			told()
			for _, line := range list {
				fmt.Fprintln(c.out, "    "+plain(line))
			}
		}
	}
	told()
	for _, s := range rec.Seats {
		if s.Error != nil {
			c.receiptError(s.Error, s.Seat, details)
		}
	}
	if rec.Error != nil && len(rec.Seats) == 0 {
		c.receiptError(rec.Error, rec.Error.Target, details)
	}
}

func (c *cli) receiptError(e *engine.Error, about string, details io.Writer) {
	if e.Target == "" {
		e = e.On(e.Op, about)
	}
	fmt.Fprintf(c.out, "  %s\n", plain(message(e)))
	printDetails(details, e)
	if e.Hint != "" {
		fmt.Fprintf(c.out, "    → %s\n", shortened(e.Hint))
	}
}

// actionHandedOver and actionAdopted are the actions by which an occupant takes a seat
// that is not its own.
const (
	actionHandedOver = "handed_over"
	actionAdopted    = "adopted"
)

// receiptWord is what became of a seat: where its occupant comes from, and what was
// done.
func receiptWord(s engine.SeatReceipt) string {
	word := string(s.Outcome)
	if s.Action == actionHandedOver || s.Action == actionAdopted {
		word = continuityWord(s.Outcome, s.ContextDelivered)
		if s.Outcome == engine.ContinuityRebuilt && packetOf(s).Empty != "" {
			word = string(s.Outcome) // the lines below say what it lacks
		}
	}
	switch {
	case word == "":
		return s.Action
	case s.Action != "" && s.Action != word:
		return word + " (" + s.Action + ")"
	}
	return word
}

// continuityWord is where an occupant comes from. A new conversation says nothing
// about what its occupant knows, so whether it was told stands beside it; of a
// session of the operator's own nobody can tell.
func continuityWord(outcome engine.Continuity, delivered bool) string {
	switch {
	case outcome == "":
		return "unverified"
	case delivered:
		return string(outcome) + ", context delivered"
	case outcome == engine.ContinuityFresh || outcome == engine.ContinuityRebuilt:
		return string(outcome) + ", no context delivered"
	}
	return string(outcome)
}

// packetFacts are what a handover keeps of what it gave to the successor.
type packetFacts struct {
	Artifacts []engine.Artifact `json:"artifacts"`
	Gaps      []string          `json:"gaps"`
	Empty     string            `json:"empty_reason"`
}

func packetOf(s engine.SeatReceipt) (p packetFacts) {
	b, err := json.Marshal(s.Evidence["packet"])
	if err != nil || json.Unmarshal(b, &p) != nil {
		return packetFacts{} // another build's: its receipt has it in JSON
	}
	return p
}

// handedOver says who followed whom in a handover, and what the successor was given.
func handedOver(s engine.SeatReceipt) []string {
	if s.Action != actionHandedOver {
		return nil
	}
	var out []string
	if was := text(s.Evidence["previous_occupant"]); was != "" {
		out = append(out, fmt.Sprintf("%s → generation %d", was, s.Generation))
	}
	p := packetOf(s)
	if s.Outcome == engine.ContinuityForked {
		out = append(out, "a copy of the conversation of "+text(s.Evidence["source_of"])+"; nothing was delivered to it")
	}
	for _, a := range p.Artifacts {
		out = append(out, "primed with "+a.Address+" ("+a.Label+")")
	}
	for _, g := range p.Gaps {
		out = append(out, "gap: "+g)
	}
	if p.Empty != "" {
		out = append(out, "nothing primes the successor: "+p.Empty)
	}
	return out
}

// undoLine says until when a handover can be taken back.
func (c *cli) undoLine(ctx context.Context, e *engine.Engine, rec *engine.Receipt) error {
	if !slices.ContainsFunc(rec.Seats, func(s engine.SeatReceipt) bool { return s.Action == actionHandedOver }) {
		return nil
	}
	op, _, err := e.Operation(ctx, rec.Operation.ID)
	if err == nil {
		if line := undoUntil(op); line != "" {
			fmt.Fprintln(c.out, line)
		}
	}
	return err
}

// undoUntil is the command that takes an operation back, and until when; "" = it
// cannot be taken back any more.
func undoUntil(op engine.Operation) string {
	if !op.UndoOpen(time.Now()) {
		return ""
	}
	return "`rig op undo " + op.ID + "` puts the incumbent back, until " + op.UndoUntil.Local().Format("15:04:05")
}
