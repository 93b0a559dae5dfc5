package engine

import (
	"context"
	"strings"
)

// RecapConsole is what the recap wizard asks for before it has a draft.
type RecapConsole interface {
	// SeatRecap gives the present recap of a seat, to be written anew. It only reads.
	SeatRecap(ctx context.Context, seat string) (RecapDraft, error)
}

// RecapDraft is a recap to begin a new one with.
type RecapDraft struct {
	Text string // as it is on disk; "" = none was written
	// Shown has as many lines, redacted: what of it may be on a screen.
	Shown string
	Note  string // its size and age
}

// SeatRecap gives the present recap of a seat.
func (e *Engine) SeatRecap(ctx context.Context, seat string) (RecapDraft, error) {
	if e.d.Recaps == nil {
		return RecapDraft{}, errNoRecaps()
	}
	w, err := e.look(ctx)
	if err != nil {
		return RecapDraft{}, err
	}
	s, err := w.seat(seat)
	if err != nil {
		return RecapDraft{}, err
	}
	now, err := e.d.Recaps.Recap(w.address(s))
	if err != nil || now.Digest == "" {
		return RecapDraft{}, err
	}
	rows := strings.Split(now.Text, "\n")
	if e.d.RedactScreen != nil {
		rows = e.d.RedactScreen(rows)
	}
	return RecapDraft{Text: now.Text, Shown: strings.Join(rows, "\n"), Note: now.words(w)}, nil
}

// SeatRecap implements RecapConsole.
func (l *Local) SeatRecap(ctx context.Context, seat string) (RecapDraft, error) {
	return l.e.SeatRecap(ctx, seat)
}
