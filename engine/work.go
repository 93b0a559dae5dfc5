package engine

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"
)

// The states of inbound work.
const (
	WorkPending = "pending"
	WorkClaimed = "claimed"
	WorkBlocked = "blocked"
	WorkDone    = "done"
)

// The verbs of inbound work.
const (
	WorkAdd     = "add"
	WorkClaim   = "claim"
	WorkBlock   = "block"
	WorkRelease = "release"
	WorkFinish  = "done"
	WorkHandoff = "handoff"
)

// Bounds of a piece of work, in bytes.
const (
	maxWorkTitle = 300
	maxWorkText  = 16 << 10
)

// WorkChange asks for one change of inbound work.
type WorkChange struct {
	Verb string
	// ID names the piece; WorkAdd makes one instead.
	ID string
	// Seat is whose work it becomes: for WorkAdd and WorkHandoff.
	Seat string
	// Title and Body are what is asked for (WorkAdd).
	Title, Body string
	// Note says why, or how it ended.
	Note string
}

// WorkResult is a change of inbound work: the piece as it stands, and the one that
// was made from it by a handoff.
type WorkResult struct {
	Seat string    `json:"seat"`
	Item WorkItem  `json:"item"`
	Next *WorkItem `json:"next,omitempty"`
	To   string    `json:"to,omitempty"` // address of the seat that Next is addressed to
}

// ChangeWork performs one change. Work stays with its seat whoever sits there: a
// claim belongs to the present occupant and is given back when it is replaced; a
// handoff ends the piece and asks the other seat for the same. shown is the
// fingerprint of a plan that somebody saw: another one is refused; "" = nobody did.
//
// Refused: a piece that is done, a claim of what another occupant holds, and texts
// beyond the bounds.
func (e *Engine) ChangeWork(ctx context.Context, c WorkChange, shown string) (WorkResult, error) {
	if err := c.check(); err != nil {
		return WorkResult{}, err
	}
	w, err := e.look(ctx)
	if err != nil {
		return WorkResult{}, err
	}
	var res WorkResult
	err = e.d.Store.Write(ctx, func(tx Tx) error {
		tx.Durable()
		var p *Plan
		if p, res, err = e.planWork(tx, w, c); err != nil {
			return err
		}
		if err := p.MustBe(shown); err != nil {
			return err
		}
		return e.storeWork(tx, w, c, &res)
	})
	return res, orErr(err, &res)
}

// orErr empties the result of what was refused.
func orErr(err error, res *WorkResult) error {
	if err != nil {
		*res = WorkResult{}
	}
	return err
}

func (c WorkChange) check() error {
	refuse := func(hint, format string, args ...any) error {
		return Errorf(CodeInvalid, format, args...).On("work "+c.Verb, c.ID).WithHint("%s", hint)
	}
	switch {
	case c.Verb == WorkAdd && strings.TrimSpace(c.Title) == "":
		return refuse("rig work add <seat> <what is asked for>", "the title is empty")
	case c.Verb == WorkBlock && strings.TrimSpace(c.Note) == "":
		return refuse("say with --note what it waits for", "nothing says what blocks it")
	case len(c.Title) > maxWorkTitle || strings.ContainsAny(c.Title, "\n\r"):
		return refuse("put the rest into --body", "the title is longer than %d bytes, or not one line", maxWorkTitle)
	case len(c.Body) > maxWorkText || len(c.Note) > maxWorkText:
		return refuse("put it into a file and name the file", "a text is longer than %d bytes", maxWorkText)
	case !utf8.ValidString(c.Title + c.Body + c.Note):
		return refuse("write it as UTF-8", "a text is not UTF-8")
	}
	return nil
}

// decideWork computes how the pieces stand after the change.
func (e *Engine) decideWork(r Reader, w *world, c WorkChange) (WorkResult, error) {
	now, from := e.d.Clock.Now(), e.Operator().String()
	fresh := func(seat Seat, title, body string) WorkItem {
		return WorkItem{ID: e.d.IDs.New(), SeatID: seat.ID, Title: title, Body: body, State: WorkPending, From: from, Note: c.Note, CreatedAt: now, UpdatedAt: now, Version: 1}
	}
	var to Seat
	if c.Verb == WorkAdd || c.Verb == WorkHandoff {
		var err error
		if to, err = w.seat(c.Seat); err != nil {
			return WorkResult{}, err
		}
	}
	if c.Verb == WorkAdd {
		return WorkResult{Seat: w.address(to), Item: fresh(to, strings.TrimSpace(c.Title), c.Body)}, nil
	}
	item, err := r.WorkItem(c.ID)
	if err != nil {
		return WorkResult{}, err
	}
	seat, err := r.Seat(item.SeatID)
	if err != nil {
		return WorkResult{}, err
	}
	res := WorkResult{Seat: w.address(seat)}
	if err := mayChange(c.Verb, item, seat); err != nil {
		return res, err
	}
	item.UpdatedAt = now
	if c.Note != "" {
		item.Note = c.Note
	}
	switch c.Verb {
	case WorkClaim:
		item.State, item.Generation = WorkClaimed, seat.Generation
	case WorkBlock:
		item.State = WorkBlocked
	case WorkRelease:
		item.State, item.Generation = WorkPending, 0
	case WorkFinish:
		item.State = WorkDone
	case WorkHandoff:
		if to.ID == seat.ID {
			return res, Errorf(CodeInvalid, "it is addressed to that seat already").On("work handoff", item.ID).WithHint("name another seat")
		}
		next := fresh(to, item.Title, item.Body)
		res.Next, res.To = &next, w.address(to)
		item.State = WorkDone
		item.Note = strings.TrimSpace("handed off to " + res.To + " as " + next.ID + ". " + c.Note)
	default:
		return res, Errorf(CodeInvalid, "unknown change of work %q", c.Verb).WithHint("use add, claim, block, release, done or handoff")
	}
	res.Item = item
	return res, nil
}

func mayChange(verb string, item WorkItem, seat Seat) error {
	refuse := func(hint, format string, args ...any) error {
		return Errorf("work_"+Code(item.State), format, args...).On("work "+verb, item.ID).WithHint("%s", hint)
	}
	switch {
	case item.State == WorkDone:
		return refuse("add it again if it is needed once more", "it is done already")
	case verb == WorkClaim && item.State == WorkClaimed && item.Generation == seat.Generation:
		return refuse("go on with it", "the present occupant has claimed it already")
	case verb == WorkRelease && item.State == WorkPending:
		return refuse("it waits for whoever claims it: there is nothing to give back", "nobody has claimed it")
	}
	return nil
}

// storeWork writes what was decided, with its event.
func (e *Engine) storeWork(tx Tx, w *world, c WorkChange, res *WorkResult) error {
	var err error
	if c.Verb == WorkAdd {
		err = tx.InsertWork(res.Item)
	} else {
		err = tx.UpdateWork(&res.Item)
	}
	if err == nil && res.Next != nil {
		err = tx.InsertWork(*res.Next)
	}
	if err != nil {
		return err
	}
	seat := w.seats[res.Item.SeatID]
	_, err = tx.AppendEvent(Event{
		At: res.Item.UpdatedAt, Type: "work." + c.Verb, RigID: seat.RigID, SeatID: seat.ID, Seat: res.Seat, Rig: w.rigs[seat.RigID].Name,
		Operator: e.Operator().String(), Payload: mustJSON(map[string]any{"work": res.Item.ID, "state": res.Item.State, "generation": res.Item.Generation, "to": res.To}),
	})
	return err
}

// WorkOf lists the inbound work of a seat, oldest first; what is done only with
// all.
func (e *Engine) WorkOf(ctx context.Context, ref string, all bool) (address string, items []WorkItem, err error) {
	w, err := e.look(ctx)
	if err != nil {
		return "", nil, err
	}
	seat, err := w.seat(ref)
	if err != nil {
		return "", nil, err
	}
	err = e.d.Store.Read(ctx, func(r Reader) error {
		items, err = openWork(r, seat.ID, all)
		return err
	})
	return w.address(seat), items, err
}

// AllWork lists the open work of every seat of an active rig, seat by seat; all adds
// what is done.
func (e *Engine) AllWork(ctx context.Context, all bool) ([]WorkResult, error) {
	w, err := e.look(ctx)
	if err != nil {
		return nil, err
	}
	out := []WorkResult{}
	err = e.d.Store.Read(ctx, func(r Reader) error {
		for _, seat := range w.rec.Seats {
			items, err := openWork(r, seat.ID, all)
			if err != nil {
				return err
			}
			for _, it := range items {
				out = append(out, WorkResult{Seat: w.address(seat), Item: it})
			}
		}
		return nil
	})
	return out, err
}

// openWork is what a seat has to do; all adds what is done.
func openWork(r Reader, seatID string, all bool) ([]WorkItem, error) {
	items, err := r.Work(seatID)
	return slices.DeleteFunc(items, func(it WorkItem) bool { return !all && it.State == WorkDone }), err
}

// WorkByID reads one piece of work and the address of its seat.
func (e *Engine) WorkByID(ctx context.Context, id string) (WorkResult, error) {
	w, err := e.look(ctx)
	if err != nil {
		return WorkResult{}, err
	}
	var res WorkResult
	err = e.d.Store.Read(ctx, func(r Reader) error {
		res.Item, err = r.WorkItem(id)
		return err
	})
	res.Seat = w.address(w.seats[res.Item.SeatID])
	return res, orErr(err, &res)
}
