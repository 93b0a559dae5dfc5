package engine

import (
	"context"
	"slices"
	"strings"
	"time"
)

// shotRest is how long after a change the screen is kept once more: the client
// has drawn by then what it does now.
const shotRest = 1500 * time.Millisecond

// Bounds of a shot.
const (
	shotLines = 120 // newest rows that are kept of a screen
	shotCells = 400 // runes of a row
)

// tape watches an observer's looks and hands the screens around each change of
// state to the recorder. It captures nothing itself: what it keeps was read to
// judge the seat. A nil tape records nothing.
type tape struct {
	e     *Engine
	last  map[string][]string // by seat: the lines kept last
	owed  map[string]Shot     // by seat: the change whose rest is still to be kept
	prior map[string]Screen   // by seat: the screen before the look under way
}

func (e *Engine) newTape() *tape {
	if e.d.Recorder == nil {
		return nil
	}
	return &tape{e: e, last: map[string][]string{}, owed: map[string]Shot{}, prior: map[string]Screen{}}
}

// before remembers the screens as they were before a look.
func (t *tape) before(probes []*Probe, screens map[string]Screen) {
	if t == nil {
		return
	}
	clear(t.prior)
	for _, p := range probes {
		t.prior[p.Seat.ID] = screens[p.Seat.ID]
	}
}

// looked takes one seat's look: a change keeps the screen before and after it, and
// the first look after a rest keeps it once more.
func (t *tape) looked(p *Probe, old, act Activity, had bool, lookedAt time.Time) {
	if t == nil || !had { // a console that opens has seen no change
		return
	}
	s := Shot{
		SeatID: p.Seat.ID, Generation: p.Seat.Generation, At: p.Now, From: old.State, To: act.State, Why: act.Why, Source: act.Source,
		Cols: p.Pane.Width, Rows: p.Pane.Height, Moment: ShotAfter, Lines: p.Screen.Lines,
	}
	if old.State == act.State && (old.Code == act.Code || act.State == ActivityBusy) { // there is one way of being busy
		t.settle(s)
		return
	}
	b := s
	b.Moment, b.At, b.Lines = ShotBefore, lookedAt, t.prior[s.SeatID].Lines
	t.keep(b)
	t.keep(s)
	t.owed[s.SeatID] = s
}

// settle keeps the screen some time after a change, once.
func (t *tape) settle(s Shot) {
	owed, is := t.owed[s.SeatID]
	if !is || !Passed(owed.At, s.At, shotRest) {
		return
	}
	delete(t.owed, s.SeatID)
	s.From, s.To, s.Moment = owed.From, owed.To, ShotRest
	t.keep(s)
}

// gone keeps the last screen of a seat whose pane has ended or is not there.
func (t *tape) gone(s Seat, old Activity, screen []string, why string, now time.Time) {
	if t == nil || old.State == "" {
		return
	}
	delete(t.owed, s.ID)
	moment := ShotAfter
	if old.State == ActivityExited { // that its client ended was told when it did; the pane went later
		moment = ShotRest
	}
	t.keep(Shot{
		SeatID: s.ID, Generation: s.Generation, At: now, From: old.State, To: ActivityExited, Moment: moment,
		Why: why, Source: "tmux", Lines: screen,
	})
}

// keep redacts a shot and hands it on, unless it shows what the last one showed
// and tells of no change.
func (t *tape) keep(s Shot) {
	lines := trimScreen(s.Lines)
	if len(lines) == 0 || s.Moment != ShotAfter && slices.Equal(lines, t.last[s.SeatID]) {
		return
	}
	t.last[s.SeatID] = lines
	s.Lines, s.Why = t.e.redactScreen(lines), t.e.redactPrompt(s.Why)
	if err := t.e.d.Recorder.Keep(s); err != nil {
		t.e.d.Log.Warn("seat recorder", "seat", s.SeatID, "err", err)
	}
}

// trimScreen bounds a screen and drops the blank rows at its end.
func trimScreen(lines []string) []string {
	end := len(lines)
	for end > 0 && strings.TrimSpace(lines[end-1]) == "" {
		end--
	}
	out := slices.Clone(lines[max(0, end-shotLines):end])
	for i, l := range out {
		l = strings.TrimRight(l, " ")
		if r := []rune(l); len(r) > shotCells {
			l = string(r[:shotCells])
		}
		out[i] = l
	}
	return out
}

// forgetShots drops what was recorded of seats that are not on record any more.
func (o *observer) forgetShots() {
	if o.tape == nil || o.recErr != nil {
		return
	}
	ids := make([]string, 0, len(o.rec.Seats))
	for _, s := range o.rec.Seats {
		ids = append(ids, s.ID)
	}
	if err := o.e.d.Recorder.Forget(ids); err != nil {
		o.e.d.Log.Debug("seat recorder", "err", err)
	}
}

// Shots gives what was recorded of a seat, oldest first.
func (e *Engine) Shots(ctx context.Context, seatID string) ([]Shot, error) {
	if e.d.Recorder == nil {
		return nil, Errorf(CodeUnavailable, "nothing records the seats here").WithHint("recorder.off in the configuration switches it off")
	}
	return e.d.Recorder.Shots(ctx, seatID)
}

// ShotConsole is the part of the Console that scrubs back through a seat.
type ShotConsole interface {
	// Shots gives what was recorded of a seat around the changes of its state,
	// oldest first.
	Shots(ctx context.Context, seatID string) ([]Shot, error)
}

// Shots implements Console.
func (l *Local) Shots(ctx context.Context, seatID string) ([]Shot, error) {
	return l.e.Shots(ctx, seatID)
}
