package engine

import (
	"context"
	"sort"
	"time"
)

// world is what a planner looks at: the record and tmux at one moment, with
// indexes. It is read once per plan.
type world struct {
	rec *Record
	inv Inventory
	now time.Time

	rigs     map[string]Rig
	seats    map[string]Seat
	latest   map[string]Session   // by seat id: of the seat's generation
	live     map[string][]Session // by seat id: every one that is not terminal
	bindings map[string]Binding
	leases   map[string]Lease
	shots    []CaptureResult // what a planner's verb shows of its panes
}

// look reads the record and the inventory.
func (e *Engine) look(ctx context.Context) (*world, error) {
	w, _, err := e.lookAt(ctx, func(*world) []CaptureRequest { return nil })
	return w, err
}

// lookAt is look with the screens that the record makes one want; they come in the
// same exchange with tmux.
func (e *Engine) lookAt(ctx context.Context, screens func(*world) []CaptureRequest) (*world, []CaptureResult, error) {
	w := &world{now: e.d.Clock.Now()}
	err := e.d.Store.Read(ctx, func(r Reader) error {
		rec, err := r.Record()
		w.rec = rec
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	w.index()
	inv, shots := e.d.Mux.Look(ctx, screens(w))
	inv.Elsewhere = e.askElsewhere(ctx, w.rec.Bindings)
	w.inv = inv
	return w, shots, nil
}

func (w *world) index() {
	w.rigs = make(map[string]Rig, len(w.rec.Rigs))
	w.seats = make(map[string]Seat, len(w.rec.Seats))
	w.latest = make(map[string]Session, len(w.rec.Seats))
	w.live = map[string][]Session{}
	w.bindings = make(map[string]Binding, len(w.rec.Bindings))
	w.leases = make(map[string]Lease, len(w.rec.Leases))
	for _, r := range w.rec.Rigs {
		w.rigs[r.ID] = r
	}
	for _, s := range w.rec.Seats {
		w.seats[s.ID] = s
	}
	for _, s := range w.rec.Sessions {
		cur, ok := w.latest[s.SeatID]
		if now := w.seats[s.SeatID].Generation; !ok || s.Generation == now || (s.Generation > cur.Generation && cur.Generation != now) {
			w.latest[s.SeatID] = s
		}
		if !s.Status.Terminal() {
			w.live[s.SeatID] = append(w.live[s.SeatID], s)
		}
	}
	for _, b := range w.rec.Bindings {
		w.bindings[b.SeatID] = b
	}
	for _, l := range w.rec.Leases {
		w.leases[l.Key] = l
	}
}

// holder gives the operation that holds a seat and has not ended; without an id, none.
func (w *world) holder(seatID string) Operation {
	l, held := w.leases["seat:"+seatID]
	for _, op := range w.rec.Open {
		if held && op.ID == l.OpID {
			return op
		}
	}
	return Operation{}
}

// address gives a seat's canonical address.
func (w *world) address(s Seat) string { return Address(s.Pod, s.Member, w.rigs[s.RigID].Name) }

// seatsOf lists a rig's seats in spec order.
func (w *world) seatsOf(rigID string) []Seat {
	var out []Seat
	for _, s := range w.rec.Seats {
		if s.RigID == rigID {
			out = append(out, s)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Ordinal < out[j].Ordinal })
	return out
}

// rig finds an active rig by id or name.
func (w *world) rig(ref string) (Rig, error) {
	if r, ok := w.rigs[ref]; ok {
		return r, nil
	}
	var found []Rig
	for _, r := range w.rec.Rigs {
		if r.Name == ref {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return Rig{}, Errorf(CodeRigNotFound, "no rig %q", ref).On("", ref).
			WithHint("`rig ps` lists the rigs; `rig spec list` the starters")
	}
	ids := make([]string, len(found))
	for i, r := range found {
		ids[i] = r.ID
	}
	return Rig{}, Errorf(CodeAmbiguousName, "%d active rigs are named %q", len(found), ref).
		WithHint("use one of the ids").With("candidates", ids)
}

// SeatMatch is one candidate of an ambiguous reference.
type SeatMatch struct {
	Seat    string `json:"seat"`
	Rig     string `json:"rig"`
	Logical string `json:"logical_id"`
}

// seat resolves a reference to exactly one seat of an active rig. It never picks
// among several.
func (w *world) seat(text string) (Seat, error) {
	ref, err := ParseSeatRef(text)
	if err != nil {
		return Seat{}, err
	}
	var found []SeatName
	for _, s := range w.rec.Seats {
		if rig := w.rigs[s.RigID].Name; ref.Matches(rig, s) {
			found = append(found, SeatName{ID: s.ID, Rig: rig, Pod: s.Pod, Member: s.Member})
		}
	}
	name, err := oneSeat(text, found)
	if err != nil {
		return Seat{}, err
	}
	return w.seats[name.ID], nil
}

// oneSeat is the seat that a reference means, if it means one.
func oneSeat(text string, found []SeatName) (SeatName, error) {
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return SeatName{}, Errorf(CodeSeatNotFound, "no seat %q in an active rig", text).On("", text).
			WithHint("`rig ps --seats` lists the seats")
	}
	matches := make([]SeatMatch, len(found))
	for i, n := range found {
		matches[i] = SeatMatch{Address(n.Pod, n.Member, n.Rig), n.Rig, Logical(n.Pod, n.Member)}
	}
	return SeatName{}, Errorf(CodeSeatAmbiguous, "%q means %d seats", text, len(found)).On("", text).
		WithHint("use the full address, such as %s", matches[0].Seat).With("matches", matches)
}

// where says whether a seat's bound occupant is in tmux now.
type where struct {
	presence Presence // of the bound pane with our tags
	pane     Pane
	dead     bool   // the pane is kept, its process has ended
	why      string // in words

	unread    bool   // tmux told of panes that could not be read; presence is Unknown then
	elsewhere string // the socket of another server that holds it or may hold it; presence is Unknown then
}

// locate compares a binding with the inventory. A pane counts only in its own
// server epoch and with the seat's tag.
func (w *world) locate(seatID string) where {
	b, bound := w.bindings[seatID]
	if !bound {
		why := "no binding on record"
		if w.latest[seatID].Status == SessionDetached {
			why = "its session was released, and is no longer the seat's"
		}
		return where{presence: Absent, why: why}
	}
	return locate(b, &w.inv)
}

func locate(b Binding, inv *Inventory) where {
	switch {
	case b.Socket != "" && inv.Socket != "" && b.Socket != inv.Socket && (inv.Server != Present || b.Epoch != inv.Epoch):
		return elsewhere(b, inv)
	case inv.Server == Unknown:
		return where{presence: Unknown, why: "tmux did not answer"}
	case inv.Server == Absent:
		return where{presence: Absent, why: "no tmux server on this socket"}
	case b.Epoch != inv.Epoch:
		return where{presence: Absent, why: "the tmux server it ran in is gone"}
	}
	p, ok := inv.Pane(b.Pane)
	switch {
	case !ok && len(inv.Faults) > 0: // it may be one of those
		return where{presence: Unknown, unread: true, why: "what tmux said of some panes cannot be read: " + inv.Faults[0]}
	case !ok:
		return where{presence: Absent, why: "its pane is gone"}
	}
	if p.Seat != b.SeatID {
		return where{presence: Absent, pane: p, why: "its pane no longer carries the seat's tag"}
	}
	if p.Dead {
		return where{presence: Present, pane: p, dead: true, why: "its process has ended"}
	}
	return where{presence: Present, pane: p, why: "its pane is there"}
}

// guard names the pane of a bound seat for tmux's own check. A person may have
// renamed its session or moved the pane, so it is the session that was seen; a pane
// in a staging session is refused, because there it waits for an undo.
func (w *world) guard(s Seat) Guard {
	b := w.bindings[s.ID]
	g := Guard{Pane: b.Pane, Epoch: b.Epoch, Seat: s.ID, Gen: genTag(s.Generation), Session: b.SessionName}
	if at := w.locate(s.ID); at.presence == Present && !staged(at.pane) {
		g.Session = at.pane.Session
	}
	return g
}

func genTag(g int64) string { return itoa(g) }
